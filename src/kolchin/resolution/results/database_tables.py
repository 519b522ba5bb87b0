"""The results of a run as tables of a database."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from kolchin.databases import OwnTable, WriteReceipt, write_tables
from kolchin.records.columns.column_types import restore_type
from kolchin.resolution.golden.golden_rules import KEPT_RULES
from kolchin.resolution.results.events import list_events

if TYPE_CHECKING:
    from kolchin.resolution.results.result import Result


def write_result(
    result: "Result",
    target: Any,
    prefix: str = "kolchin_",
    append: bool = False,
    rules: str | Path | Mapping[str, Any] | None = None,
) -> WriteReceipt:
    """Write entities, links and golden records, and events where there are any.

    Golden records follow the rules that the run's directory keeps, unless others are given.
    """
    from kolchin import __version__

    if rules is None and result.directory is not None:
        kept = result.directory / KEPT_RULES
        rules = kept if kept.exists() else None
    tables = [
        OwnTable("entities", result.entities, key=(0,), lookups=(1,)),
        OwnTable("links", result.links, key=(0, 1), lookups=(1,)),
        OwnTable("golden", _restore_golden_types(result, rules), key=(0,)),
    ]
    if result.events is not None:
        tables.append(OwnTable("events", list_events(result.events), key=(1,)))
    about = {
        "version": __version__,
        "input": result._given.title,
        "n_records": result.entities.height,
        "n_entities": result.entities["entity"].n_unique(),
    }
    return write_tables(target, tables, about, prefix, append)


def _restore_golden_types(
    result: "Result", rules: str | Path | Mapping[str, Any] | None
) -> pl.DataFrame:
    """Return the golden records, each field in the type that its column had."""
    types = result._given.types
    columns = result.golden(rules).iter_columns()
    return pl.DataFrame([restore_type(one, _find_type(one, types)) for one in columns])


def _find_type(column: pl.Series, types: Mapping[str, str]) -> str | None:
    return types.get(column.name) if column.dtype == pl.String else None

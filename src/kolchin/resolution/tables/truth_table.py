"""True entities, from a file, a table, or as they are given."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import polars as pl

from kolchin.records.faults_and_notes import FaultsAndNotes, list_some
from kolchin.records.files.any_table import read_table
from kolchin.resolution.tables.input_table import InputTable

ENTITY_NAMES = ("entity", "truth", "ent_id")
"""Columns taken for the true entities where none is named."""


class TrueEntities(NamedTuple):
    """A true entity a record, how they were matched, and whether a table was by row."""

    entities: Sequence[Any]
    matched: str
    by_row: bool = False


def read_truth(truth: Any, given: InputTable) -> TrueEntities:
    """Return a value a record: of values as they are, of files, tables and mappings by the ids."""
    if isinstance(truth, str | os.PathLike):
        path, column = _split_column(os.fspath(truth))
        return _read_table(path, column, str(path), given)
    if isinstance(truth, Mapping) and not all(map(_is_column, truth.values())):
        truth = {"record": list(truth), "truth": list(truth.values())}
    if isinstance(truth, Mapping) or hasattr(truth, "columns"):
        return _read_table(truth, None, "the truth", given)
    return _read_values(truth, given)


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def _read_values(values: Any, given: InputTable) -> TrueEntities:
    """Take one value a record; a pandas index that is another order is that of the ids, or told."""
    if not nw.dependencies.is_pandas_like_series(values):
        return TrueEntities(values, "row by row, in the order given")
    index = pl.Series([str(name) for name in values.index], dtype=pl.String)
    if index.equals(pl.Series(map(str, range(index.len())), dtype=pl.String)):
        return TrueEntities(values, "row by row, in the order given")
    ids = given.ids.cast(pl.String)
    if holds_ids(index, ids):
        pairs = {"record": index, "truth": list(values)}
        return _read_table(pairs, None, "the truth", given)._replace(
            matched="by the ids in its index"
        )
    return TrueEntities(values, "row by row: its index is not that of the ids", by_row=True)


def _read_table(table: Any, column: str | None, name: str, given: InputTable) -> TrueEntities:
    """Read entities from a table and bring them into the order of the records."""
    findings = FaultsAndNotes()
    frame = read_table(table, None, findings)
    findings.stop_on_faults()
    assert frame is not None
    key, ids = _find_key(frame, column, given)
    column = column or _find_only_column(frame, key, name, findings)
    if column is not None and column not in frame.columns:
        findings.fault(f"{name} has no column {column!r}; it has {list_some(frame.columns)}.")
    if key is None and frame.height != given.ids.len():
        findings.fault(
            f"{name} has {frame.height:,} rows and no column of ids ({given.id_column or 'record'})"
            f" to find the {given.ids.len():,} records by."
        )
    findings.stop_on_faults()
    assert column is not None
    if key is None:
        lacking = f" ({given.id_column!r} or 'record')" if given.id_column else " ('record')"
        return TrueEntities(
            frame[column].to_list(),
            f"row by row: {name} has as many rows as the run has records, and no column of ids"
            f"{lacking} to find them by",
            by_row=True,
        )
    return TrueEntities(_order_by_id(frame, key, column, ids, findings), f"by the ids in {key!r}")


def _find_key(
    frame: pl.DataFrame, column: str | None, given: InputTable
) -> tuple[str | None, pl.Series]:
    """Find the column of ids, by its name or since it holds the id of each record; and the ids."""
    for name in (given.id_column, "record", *given.identifiers):
        if name is not None and name in frame.columns:
            return name, given.ids_under(name).cast(pl.String)
    ids = given.ids.cast(pl.String)
    entities = ENTITY_NAMES if column is None else (column,)
    for name in frame.columns if frame.width > 1 else ():
        texts = frame[name].cast(pl.String, strict=False).drop_nulls()
        if name not in entities and holds_ids(texts, ids):
            return name, ids
    return None, ids


def holds_ids(texts: pl.Series, ids: pl.Series) -> bool:
    """Tell whether texts that all differ hold each of the ids.

    >>> holds_ids(pl.Series(["3", "1", "2"]), pl.Series(["1", "2"]))
    True
    >>> holds_ids(pl.Series(["1", "1", "2"]), pl.Series(["1", "2"]))
    False
    """
    return bool(texts.is_unique().all() and ids.is_in(texts.implode()).all())


def _split_column(text: str) -> tuple[Path, str | None]:
    whole = Path(text)
    path, colon, column = text.rpartition(":")
    return (Path(path), column) if colon and path and not whole.exists() else (whole, None)


def _find_only_column(
    frame: pl.DataFrame, key: str | None, name: str, findings: FaultsAndNotes
) -> str | None:
    """Find the column of entities where none is named."""
    others = [column for column in frame.columns if column != key]
    known = [column for column in ENTITY_NAMES if column in others]
    if len(others) != 1 and not known:
        findings.fault(
            f"{name} has several columns ({list_some(others)}); name one as {name}:COLUMN."
            if name != "the truth"
            else f"{name} has several columns ({list_some(others)}); keep the ids and one of them."
        )
        return None
    return known[0] if known else others[0]


def _order_by_id(
    frame: pl.DataFrame, key: str, column: str, ids: pl.Series, findings: FaultsAndNotes
) -> list[Any]:
    table = frame.select(
        pl.col(key).cast(pl.String).alias("record"), pl.col(column).alias("truth")
    ).drop_nulls("record")
    twice = table.filter(pl.col("record").is_duplicated())["record"].unique().sort()
    if twice.len():
        findings.fault(f"column {key!r} has ids more than once: {list_some(twice.to_list())}.")
    records = ids.alias("record").to_frame()
    if not ids.is_in(table["record"].to_list()).any():
        findings.fault(
            f"column {key!r} has none of the ids of the run, such as {list_some(ids.head(3))}."
        )
    findings.stop_on_faults()
    return records.join(table, on="record", how="left", maintain_order="left")["truth"].to_list()

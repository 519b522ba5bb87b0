"""True entities, from a file or as they are given."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from kolchin.records.faults_and_notes import FaultsAndNotes, list_some
from kolchin.records.files.any_table import read_table
from kolchin.resolution.tables.input_table import InputTable


class TrueEntities(NamedTuple):
    """A true entity a record, how they were matched, and whether a file was by row."""

    entities: Sequence[Any]
    matched: str
    by_row: bool = False


def read_truth(truth: Any, given: InputTable) -> TrueEntities:
    """Return a value a record: of a sequence as it is, of FILE or FILE:COLUMN by the ids."""
    if isinstance(truth, str | os.PathLike):
        return _read_file(os.fspath(truth), given)
    return TrueEntities(truth, "row by row, in the order given")


def _read_file(text: str, given: InputTable) -> TrueEntities:
    """Read entities from a file and bring them into the order of the records."""
    path, column = _split_column(text)
    findings = FaultsAndNotes()
    frame = read_table(path, None, findings)
    findings.stop_on_faults()
    assert frame is not None
    names = (given.id_column, "record", *given.identifiers)
    key = next((name for name in names if name is not None and name in frame.columns), None)
    column = column or _find_only_column(frame, key, path, findings)
    if column is not None and column not in frame.columns:
        findings.fault(f"{path} has no column {column!r}; it has {list_some(frame.columns)}.")
    if key is None and frame.height != given.ids.len():
        findings.fault(
            f"{path} has {frame.height:,} rows and no column of ids ({given.id_column or 'record'})"
            f" to find the {given.ids.len():,} records by."
        )
    findings.stop_on_faults()
    assert column is not None
    if key is None:
        ids = f" ({given.id_column!r} or 'record')" if given.id_column else " ('record')"
        return TrueEntities(
            frame[column].to_list(),
            f"row by row: {path} has as many rows as the run has records, and no column of ids"
            f"{ids} to find them by",
            by_row=True,
        )
    return TrueEntities(_order_by_id(frame, key, column, given, findings), f"by the ids in {key!r}")


def _split_column(text: str) -> tuple[Path, str | None]:
    whole = Path(text)
    path, colon, column = text.rpartition(":")
    return (Path(path), column) if colon and path and not whole.exists() else (whole, None)


def _find_only_column(
    frame: pl.DataFrame, key: str | None, path: Path, findings: FaultsAndNotes
) -> str | None:
    """Find the column of entities where none is named."""
    others = [name for name in frame.columns if name != key]
    known = [name for name in ("entity", "truth", "ent_id") if name in others]
    if len(others) != 1 and not known:
        findings.fault(
            f"{path} has several columns ({list_some(others)}); name one as {path}:COLUMN."
        )
        return None
    return known[0] if known else others[0]


def _order_by_id(
    frame: pl.DataFrame, key: str, column: str, given: InputTable, findings: FaultsAndNotes
) -> list[Any]:
    table = frame.select(
        pl.col(key).cast(pl.String).alias("record"), pl.col(column).alias("truth")
    ).drop_nulls("record")
    twice = table.filter(pl.col("record").is_duplicated())["record"].unique().sort()
    if twice.len():
        findings.fault(f"column {key!r} has ids more than once: {list_some(twice.to_list())}.")
    ids = given.ids_under(key).cast(pl.String).to_frame("record")
    if not ids["record"].is_in(table["record"].to_list()).any():
        findings.fault(
            f"column {key!r} has none of the ids of the run, such as "
            f"{list_some(ids['record'].head(3))}."
        )
    findings.stop_on_faults()
    return ids.join(table, on="record", how="left", maintain_order="left")["truth"].to_list()

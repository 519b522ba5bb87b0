"""Columns with a part of their own: ids, sources and the truth, which are never fields."""

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.records.columns.column_kinds import Kind
from kolchin.records.columns.values import tidy_values, write_as_text
from kolchin.records.faults_and_notes import FaultsAndNotes, show_value, suggest

MOST_SHOWN = 3
WHY = {
    Kind.ID: "it names the records",
    Kind.SOURCE: "it says where a record comes from",
    Kind.TRUTH: "it is the truth, which never informs the model",
}


class Roles(NamedTuple):
    """The columns that were given as the id, the source and the truth."""

    id: str | None
    source: str | None
    truth: str | None

    def list_given(self) -> Iterator[tuple[Kind, str]]:
        """Yield each part that a column was given for."""
        for kind, column in zip((Kind.ID, Kind.SOURCE, Kind.TRUTH), self, strict=True):
            if column is not None:
                yield kind, column

    @property
    def kinds(self) -> dict[str, Kind]:
        """The part that each of these columns plays."""
        return {column: kind for kind, column in self.list_given()}


def check_roles(
    roles: Roles, columns: Sequence[str], single: Container[str], findings: FaultsAndNotes
) -> None:
    """Find fault with columns that were given and are not there, or for two parts at once."""
    taken: dict[str, Kind] = {}
    for kind, column in roles.list_given():
        if column not in columns:
            hint = suggest(str(column), columns)
            findings.fault(f"the table has no column {column!r} to be the {kind}.{hint}")
        elif column not in single:
            findings.fault(f"column {column!r} holds compound values and cannot be the {kind}.")
        elif column in taken:
            findings.fault(f"column {column!r} cannot be both the {taken[column]} and the {kind}.")
        taken[column] = kind


def read_as_text(values: pl.Series, codes: NDArray[np.int32], name: str) -> pl.Series:
    """Return a column as text under another name, null where it is missing by its codes."""
    text = write_as_text(values).str.strip_chars()
    return text.set(pl.Series(codes < 0), None).alias(name)


def read_ids(values: pl.Series, source: pl.Series | None, findings: FaultsAndNotes) -> pl.Series:
    """Return a name a record, all different, or note which are missing or given twice."""
    column = values.name
    rows = number_rows(values.len())
    ids = tidy_values(values.alias("record"))
    if not ids.dtype.is_integer():
        ids = write_as_text(ids).str.strip_chars()
        ids = ids.set(ids == "", None)
    if ids.null_count():
        findings.fault(
            f"column {column!r}, the id, has no value in {ids.null_count():,} rows (the first has "
            f"number 0): {_list_names(rows.filter(ids.is_null()))}. Fill them, or leave the id out."
        )
        return ids
    if ids.n_unique() == ids.len():
        return ids
    if source is not None:
        told_apart = (source.fill_null("") + ":" + write_as_text(ids)).alias("record")
        if told_apart.n_unique() == ids.len():
            findings.note(
                f"the ids in {column!r} recur in several sources: records are named by both, "
                f"such as {show_value(told_apart[0])}."
            )
            return told_apart
    findings.fault(_describe_repeated(ids, column))
    return ids


def number_rows(n_records: int) -> pl.Series:
    """Return the names of records that have no ids."""
    return pl.int_range(n_records, dtype=pl.Int64, eager=True).alias("record")


def _describe_repeated(ids: pl.Series, column: str) -> str:
    """Say which ids several rows have, and which rows."""
    table = pl.DataFrame({"record": ids}).with_row_index("row")
    groups = table.group_by("record", maintain_order=True).agg("row")
    repeated = groups.filter(pl.col("row").list.len() > 1)
    first = "; ".join(
        f"{show_value(value)} in rows {_list_names(rows)}"
        for value, rows in repeated.head(MOST_SHOWN).iter_rows()
    )
    rest = f" and {repeated.height - MOST_SHOWN:,} more" if repeated.height > MOST_SHOWN else ""
    return (
        f"column {column!r}, the id, must differ in every row (the first has number 0): {first}"
        f"{rest}. If it numbers entities, give it as the truth."
    )


def _list_names(rows: pl.Series | list[int]) -> str:
    shown_rows = ", ".join(f"{row:,}" for row in rows[:MOST_SHOWN])
    return shown_rows + (f" and {len(rows) - MOST_SHOWN:,} more" if len(rows) > MOST_SHOWN else "")

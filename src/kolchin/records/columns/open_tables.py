"""A table by columns, each looked at alone: in this process, or by tasks of an engine.

A task reads one column of a Parquet table, cleans it, finds out what it is, and puts its codes
and values into the store. So no process has more than a column of the table in memory.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import polars as pl

from kolchin.errors import DataError
from kolchin.records.columns.cleaning import CleanColumn, CleaningRules, clean, clean_table
from kolchin.records.columns.column_kinds import Kind
from kolchin.records.columns.column_texts import Texts
from kolchin.records.columns.column_types import describe_types
from kolchin.records.columns.inference import ColumnReport, describe_column
from kolchin.records.columns.values import WritingForm, choose_form, is_nested
from kolchin.records.faults_and_notes import FaultsAndNotes
from kolchin.records.files.any_table import can_be_scanned
from kolchin.records.files.column_renames import Renames
from kolchin.records.files.parquet import (
    UNREADABLE,
    ParquetParts,
    describe_fault,
    describe_unreadable,
)
from kolchin.records.files.several_files import find_parquet_path, read_tables
from kolchin.store import Store
from kolchin.workplace import Workplace


class ColumnFindings(NamedTuple):
    """What each column is, and the cleaned values of those that hold single ones."""

    reports: list[ColumnReport]
    cleaned: Mapping[str, CleanColumn]


class OpenTable(Protocol):
    """The columns of a table.

    Attributes
    ----------
    names : the columns' names.
    single : those of the columns that hold single values, not compound ones.
    n_records : the number of rows.
    types : the types of columns that are no text, by name.
    """

    names: list[str]
    single: set[str]
    n_records: int
    types: dict[str, str]

    def look(
        self, how: CleaningRules, roles: Mapping[str, Kind], findings: FaultsAndNotes
    ) -> ColumnFindings | None:
        """Clean each column and find out what it is, or note why that cannot be done."""

    def column(self, name: str) -> pl.Series:
        """Return a column as it was read."""

    def texts(self) -> Texts:
        """Return all columns as text, once they were looked at."""

    def close(self) -> None:
        """Let go of the cleaned columns."""


def open_table(
    table: Any, findings: FaultsAndNotes, work: Workplace | None, renames: Renames | None = None
) -> tuple[OpenTable, pl.Series | None] | None:
    """Return a table and, of several files, which one each row comes from; note what is wrong.

    Tasks look at the columns of a Parquet table, where there is an engine for them; other tables
    are read into memory.
    """
    path = None if work is None or work.is_here or renames else find_parquet_path(table)
    if work is None or path is None:
        read = read_tables(table, findings, renames)
        return None if read is None else (FrameTable(read[0]), read[1])
    if not can_be_scanned(path, findings):
        return None
    try:
        return ParquetTable(path, work), None
    except UNREADABLE as error:
        findings.fault(describe_unreadable(path, describe_fault(error)))
    return None


class FrameTable:
    """A table in memory."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame
        self.names = frame.columns
        self.single = {column.name for column in frame if not is_nested(column)}
        self.n_records = frame.height
        self.types = describe_types(frame.schema)

    def look(
        self, how: CleaningRules, roles: Mapping[str, Kind], findings: FaultsAndNotes
    ) -> ColumnFindings:
        """Clean each column and find out what it is."""
        cleaned = clean_table(self.frame, how)
        return ColumnFindings(make_reports(self.names, cleaned, roles), cleaned)

    def column(self, name: str) -> pl.Series:
        """Return a column as it was read."""
        return self.frame.get_column(name)

    def texts(self) -> Texts:
        """Return all columns as text."""
        return Texts.of(self.frame)

    def close(self) -> None:
        """Nothing to let go of."""


def make_reports(
    names: Iterable[str], cleaned: Mapping[str, CleanColumn], roles: Mapping[str, Kind]
) -> list[ColumnReport]:
    """Say what each column is."""
    return [describe_column(name, cleaned.get(name), roles.get(name)) for name in names]


class ParquetTable:
    """A table in Parquet files, of which tasks look at one column each."""

    def __init__(self, path: Path, work: Workplace) -> None:
        self.path = path
        self.work = work
        self.parts = ParquetParts.of(path.absolute())
        schema = self.parts.scan().collect_schema()
        self.names = list(schema)
        self.single = {name for name, dtype in schema.items() if not dtype.is_nested()}
        self.types = describe_types(schema)
        (self.n_records,) = self.parts.scan().select(pl.len()).collect()["len"]
        self.cleaned = StoredColumns(work.store, {})
        self.writing: dict[str, WritingForm] = {}

    def look(
        self, how: CleaningRules, roles: Mapping[str, Kind], findings: FaultsAndNotes
    ) -> ColumnFindings | None:
        """Clean each column and find out what it is, or note that it cannot be read."""
        columns = [
            ColumnTask(
                self.work.store, self.parts, place, name in self.single, roles.get(name), how
            )
            for place, name in enumerate(self.names)
        ]
        stored = {self.names[one.place]: one.stored for one in columns if one.single}
        self.cleaned = StoredColumns(self.work.store, stored)
        reports = []
        for column, looked in zip(columns, self.work.run(_look, columns), strict=True):
            if isinstance(looked, str):  # to workers on other machines the file may not be there
                looked = _look(column)
            if isinstance(looked, str):
                findings.fault(describe_unreadable(self.path, looked))
                return None
            report, self.writing[self.names[column.place]] = looked
            reports.append(report)
        return ColumnFindings(reports, self.cleaned)

    def column(self, name: str) -> pl.Series:
        """Return a column as it was read."""
        self.parts.check()
        return _read(self.parts, self.names.index(name))

    def texts(self) -> Texts:
        """Return all columns as text, once they were looked at."""
        return Texts.over(self.parts, self.writing)

    def close(self) -> None:
        """Let go of the cleaned columns."""
        self.cleaned.clear()


class ColumnTask(NamedTuple):
    """A column to look at: its place in some files, and what is known of it."""

    store: Store
    parts: ParquetParts
    place: int
    single: bool
    role: Kind | None
    how: CleaningRules

    @property
    def stored(self) -> str:
        """The name of the cleaned column in the store."""
        return f"column-{self.place}"


def _look(column: ColumnTask) -> tuple[ColumnReport, WritingForm] | str:
    """Say what a column is and how it is written, or why it cannot be read; store it cleaned."""
    try:
        column.parts.check()
        values = _read(column.parts, column.place)
    except (DataError, *UNREADABLE) as error:
        return describe_fault(error)
    cleaned = clean(values, column.how) if column.single else None
    if cleaned is not None:
        column.store.put(column.stored, cleaned)
    return describe_column(values.name, cleaned, column.role), choose_form(values)


def _read(parts: ParquetParts, place: int) -> pl.Series:
    return parts.scan().select(pl.nth(place)).collect().to_series()


class StoredColumns(Mapping[str, CleanColumn]):
    """Cleaned columns in a store, each read when it is asked for."""

    def __init__(self, store: Store, names: Mapping[str, str]) -> None:
        self._store = store
        self._names = dict(names)

    def __getitem__(self, column: str) -> CleanColumn:
        cleaned: CleanColumn = self._store.get(self._names[column])
        return cleaned

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, column: object) -> bool:
        return column in self._names

    def clear(self) -> None:
        """Delete the columns."""
        self._store.delete(*self._names.values())

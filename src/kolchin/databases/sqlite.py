"""SQLite databases, by the standard library."""

import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
from polars import selectors

from kolchin.databases.base import Writable, quote_name
from kolchin.databases.column_types import make_column
from kolchin.errors import DataError

TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
)
SECONDS_TO_WAIT = 30.0
"""How long a writer waits for another one."""


class Sqlite(Writable):
    """A connection of the standard library."""

    faults = (sqlite3.Error, sqlite3.Warning)

    def __init__(self, connection: sqlite3.Connection, where: str, own: bool = False) -> None:
        self.where = where
        self._connection = connection
        self._own = own

    @classmethod
    def open(cls, path: Path, write: bool = False) -> "Sqlite":
        """Open a file, which is made only by writing."""
        if not path.is_file() and not write:
            raise DataError(f"There is no database {str(path)!r}.")
        mode = "rwc" if write else "ro"
        try:
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=SECONDS_TO_WAIT
            )
        except sqlite3.Error as error:
            raise DataError(f"The database {str(path)!r} cannot be opened: {error}.") from None
        return cls(connection, repr(str(path)), own=True)

    def tables(self) -> dict[str, str]:
        """Return the tables and views by name, each as a query writes it."""
        return {row[0]: quote_name(row[0]) for row in self._connection.execute(TABLES)}

    def select(self, query: str) -> pl.DataFrame:
        """Return what a query selects, each column in the type of its values."""
        return self._rows(query, {})

    def select_all(self, name: str) -> pl.DataFrame:
        """Return a whole table in the types that its columns were declared with."""
        rows = self._connection.execute(f"PRAGMA table_info({name})")
        declared = {row[1]: str(row[2] or "").upper() for row in rows}
        return self._rows(f"SELECT * FROM {name}", declared)

    def _rows(self, query: str, declared: dict[str, str]) -> pl.DataFrame:
        with closing(self._connection.cursor()) as cursor:
            cursor.row_factory = None
            cursor.execute(query)
            names = [column[0] for column in cursor.description or ()]
            rows = cursor.fetchall()
        columns = list(zip(*rows, strict=True)) if rows else [() for _ in names]
        series = [
            make_column("", values, declared.get(name, ""))
            for name, values in zip(names, columns, strict=True)
        ]
        return make_frame(names, series)

    def begin(self) -> None:
        """Begin a transaction, in which nobody else writes."""
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Let what was written stay."""
        self._connection.commit()

    def rollback(self) -> None:
        """Take back what was written."""
        self._connection.rollback()

    def execute(self, statement: str) -> None:
        """Run a statement that returns nothing."""
        self._connection.execute(statement)

    def insert(self, name: str, rows: pl.DataFrame) -> None:
        """Add rows to a table, by its plain name; dates are text, as SQLite has them."""
        plain = rows.with_columns(selectors.temporal().cast(pl.String))
        places = ", ".join("?" * rows.width)
        statement = f"INSERT INTO {quote_name(name)} VALUES ({places})"
        self._connection.executemany(statement, plain.iter_rows())

    def close(self) -> None:
        """Close the connection, if it was opened here."""
        if self._own:
            self._connection.close()


def make_frame(names: list[str], series: list[pl.Series]) -> pl.DataFrame:
    """Return columns as a frame; refuse two of one name."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        listed = ", ".join(map(repr, twice))
        raise DataError(f"The query has columns of one name: {listed}. Rename them with AS.")
    return pl.DataFrame([one.alias(name) for one, name in zip(series, names, strict=True)])

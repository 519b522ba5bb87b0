"""Tables of SQLite databases, read by the standard library."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import polars as pl

from kolchin.errors import DataError
from kolchin.records.findings import some, suggestion

SCHEME = "sqlite:///"
MAGIC = b"SQLite format 3\x00"


class Place(NamedTuple):
    """The file of a database, and the table or query that is read from it."""

    path: Path
    table: str | None = None
    query: str | None = None

    @property
    def title(self) -> str:
        """The name of the file and, where one was named, of the table."""
        return self.path.name if self.table is None else f"{self.path.name}: {self.table}"


def is_sqlite(source: Any) -> bool:
    """Tell the address, the file or a connection of an SQLite database from other tables."""
    if isinstance(source, sqlite3.Connection):
        return True
    if not isinstance(source, str | Path):
        return False
    if str(source).startswith(SCHEME):
        return True
    try:
        with Path(source).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False


def path_of(source: str | Path) -> Path:
    """Return the file that an address or a path names.

    >>> path_of("sqlite:///crm.db").as_posix()
    'crm.db'
    """
    text = str(source)
    return Path(unquote(text.removeprefix(SCHEME)) if text.startswith(SCHEME) else text)


def read_sqlite(source: Any, table: str | None, query: str | None) -> pl.DataFrame:
    """Return a table, or what a query selects, in the types that its columns were declared with."""
    if table is not None and query is not None:
        raise DataError("Name a table or give a query, not both.")
    if isinstance(source, sqlite3.Connection):
        return _selected(source, "the database", table, query)
    path = path_of(source)
    if not path.is_file():
        raise DataError(f"There is no database {str(path)!r}.")
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise DataError(f"The database {str(path)!r} cannot be opened: {error}.") from None
    with closing(connection):
        return _selected(connection, repr(str(path)), table, query)


def _selected(
    connection: sqlite3.Connection, where: str, table: str | None, query: str | None
) -> pl.DataFrame:
    try:
        if query is None:
            name = _table_name(connection, where, table)
            quoted = name.replace('"', '""')
            declared = _declared(connection, quoted)
            query = f'SELECT * FROM "{quoted}"'
        else:
            declared = {}
        with closing(connection.cursor()) as cursor:
            cursor.row_factory = None
            cursor.execute(query)
            names = [column[0] for column in cursor.description or ()]
            rows = cursor.fetchall()
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise DataError(f"{where} cannot be read: {error}.") from None
    if not names:
        raise DataError(f"The query selects nothing from {where}: it must be a SELECT.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"The query has columns of one name: {some(twice)}. Rename them with AS.")
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in names]
    return pl.DataFrame(
        [
            _column(name, values, declared.get(name, ""))
            for name, values in zip(names, columns, strict=True)
        ]
    )


def _table_name(connection: sqlite3.Connection, where: str, table: str | None) -> str:
    """Return the table to read: the named one, or the only one."""
    listed = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    known = [row[0] for row in listed]
    if not known:
        raise DataError(f"{where} has no tables.")
    if table is None and len(known) == 1:
        return str(known[0])
    by_lower = {name.lower(): name for name in known}
    if table is None:
        raise DataError(
            f"{where} has {len(known)} tables: {some(known, 20)}. Name one with --table "
            "(table=), or give a --query (query=)."
        )
    if table.lower() not in by_lower:
        raise DataError(
            f"{where} has no table {table!r}.{suggestion(table, known)} It has {some(known, 20)}."
        )
    return str(by_lower[table.lower()])


def _declared(connection: sqlite3.Connection, quoted: str) -> dict[str, str]:
    """Return the declared type of each column, in capitals."""
    rows = connection.execute(f'PRAGMA table_info("{quoted}")')
    return {row[1]: str(row[2] or "").upper() for row in rows}


def _column(name: str, values: Sequence[Any], declared: str) -> pl.Series:
    """Return a column in one type: SQLite lets each value have its own."""
    if "BOOL" in declared and all(value in (None, 0, 1) for value in values):
        made = [None if value is None else bool(value) for value in values]
        return pl.Series(name, made, dtype=pl.Boolean)
    if "DATE" in declared or "TIMESTAMP" in declared:
        times = _times(values)
        if times is not None:
            return times.alias(name)
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int}:
        if all(value is None or -(2**63) <= value < 2**63 for value in values):
            return pl.Series(name, values, dtype=pl.Int64)
    elif kinds <= {int, float}:
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    return pl.Series(name, [_text(value) for value in values], dtype=pl.String)


def _times(values: Sequence[Any]) -> pl.Series | None:
    """Return dates, or times where there are any; None if a value is neither."""
    try:
        made = [None if value is None else datetime.fromisoformat(value) for value in values]
        if any(value is not None and value.tzinfo is not None for value in made):
            return None
        if all(value is None or len(value) == len("2000-01-01") for value in values):
            days: list[date | None] = [None if time is None else time.date() for time in made]
            return pl.Series(days, dtype=pl.Date)
        return pl.Series(made, dtype=pl.Datetime("us"))
    except (TypeError, ValueError):
        return None


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

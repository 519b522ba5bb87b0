"""Which database an address, a file or a connection is, and what it can be asked."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kolchin.databases.addresses import (
    describe_place,
    hide_secrets,
    is_duckdb,
    is_postgres,
    is_sqlite,
    read_database_name,
    read_path,
)
from kolchin.databases.base import Database
from kolchin.databases.connections import Connection, is_connection
from kolchin.databases.duckdb import DuckDB
from kolchin.databases.postgres import Postgres, describe_fault
from kolchin.databases.sqlite import Sqlite
from kolchin.errors import DataError, hide_credentials


def is_database(source: Any) -> bool:
    """Tell the address, the file or a connection of a database from other tables."""
    return (
        is_postgres(source)
        or is_sqlite(source)
        or is_duckdb(source)
        or _is_of_duckdb(source)
        or is_connection(source)
    )


def make_title(source: Any, table: str | None) -> str:
    """Return what to call a table of a database; no user and no password."""
    if not isinstance(source, str | Path):
        return table or "table"
    name = read_database_name(str(source)) if is_postgres(source) else read_path(source).name
    return name if table is None else f"{name}: {table}"


@contextmanager
def open_database(source: Any, write: bool = False) -> Iterator[Database]:
    """Open a database; what its driver raises is told without what is secret in the address."""
    database = _open(source, write)
    try:
        yield database
    except DataError:
        raise
    except database.faults as error:
        doing = "written to" if write else "read"
        words = describe_fault(error)
        told = hide_secrets(words, source) if is_postgres(source) else words
        raise DataError(f"{database.where} cannot be {doing}: {told.rstrip('.')}.") from None
    finally:
        database.close()


def _open(source: Any, write: bool) -> Database:
    if is_postgres(source):
        return Postgres.open(source, describe_place(source), write)
    if isinstance(source, sqlite3.Connection):
        return Sqlite(source, "the database")
    if _is_of_duckdb(source):
        return DuckDB(source, "the database")
    if isinstance(source, str | Path):
        return _open_file(source, write)
    if _is_of_postgres(source):
        return Postgres(source, "the database")
    return Connection(source)


def _open_file(source: str | Path, write: bool) -> Database:
    path = read_path(source)
    if is_duckdb(source):
        return DuckDB.open(path, write)
    if is_sqlite(source):
        return Sqlite.open(path, write)
    scheme, is_address, _ = str(source).partition("://")
    told = f"An address of {scheme!r}" if is_address else repr(hide_credentials(str(source)))
    raise DataError(
        f"{told} is no database that kolchin knows: give sqlite:///FILE, duckdb:///FILE or postgresql://..."
    )


def _is_of_duckdb(source: Any) -> bool:
    return type(source).__name__ == "DuckDBPyConnection"


def _is_of_postgres(source: Any) -> bool:
    """Tell an ADBC connection to a Postgres server."""
    ask = getattr(source, "adbc_get_info", None)
    return ask is not None and ask().get("vendor_name") == "PostgreSQL"

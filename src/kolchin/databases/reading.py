"""Tables and queries of databases as frames."""

from typing import Any

import polars as pl

from kolchin.databases.base import Database
from kolchin.databases.connections import Connection
from kolchin.databases.opening import open_database
from kolchin.errors import DataError
from kolchin.options import option
from kolchin.records.faults_and_notes import list_some, suggest


def read_database(source: Any, table: str | None, query: str | None) -> pl.DataFrame:
    """Return a table, or what a query selects, in the types that people expect."""
    if table is not None and query is not None:
        raise DataError("Name a table or give a query, not both.")
    with open_database(source) as database:
        if query is None:
            rows = database.select_all(_choose_table(database, table))
        else:
            rows = database.select(query)
    if not rows.width:
        raise DataError(f"The query selects nothing from {database.where}: it must be a SELECT.")
    return rows


def _choose_table(database: Database, table: str | None) -> str:
    """Return the table to read, as a query writes it: the named one, or the only one."""
    where = database.where
    if isinstance(database, Connection):
        if table is None:
            raise DataError(
                f"Name the table to read with {option('table')}, or give {option('query')}."
            )
        return table
    known = database.tables()
    if not known:
        raise DataError(f"{where} has no tables.")
    if table is None and len(known) == 1:
        return next(iter(known.values()))
    if table is None:
        raise DataError(
            f"{where} has {len(known)} tables: {list_some(list(known), 20)}. Name one with "
            f"{option('table')}, or give {option('query')}."
        )
    by_lower = {name.lower(): written for name, written in known.items()}
    found = known.get(table) or by_lower.get(table.lower()) or _find_schema(known, table)
    if found is None:
        raise DataError(
            f"{where} has no table {table!r}.{suggest(table, list(known))} It has "
            f"{list_some(list(known), 20)}."
        )
    return found


def _find_schema(known: dict[str, str], table: str) -> str | None:
    """Return a table of the usual schema that was named together with it."""
    wanted = {written.replace('"', "").lower(): written for written in known.values()}
    return wanted.get(table.replace('"', "").lower())

"""Connections that Python users have: of any driver, for reading."""

from typing import Any

import polars as pl

from kolchin.databases.base import Database, quote_name
from kolchin.databases.column_types import convert_columns


class Connection(Database):
    """A connection of DB-API or ADBC, or an engine or connection of SQLAlchemy."""

    where = "the database"
    faults = (Exception,)  # each driver has its own, with no common base

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def tables(self) -> dict[str, str]:
        """Return nothing: each kind of database lists its tables in its own way."""
        return {}

    def select(self, query: str) -> pl.DataFrame:
        """Return what a query selects."""
        rows = pl.read_database(query, self._connection, infer_schema_length=None)
        return convert_columns(rows)

    def select_all(self, name: str) -> pl.DataFrame:
        """Return a whole table, by its plain name."""
        return self.select(f"SELECT * FROM {quote_name(name)}")

    def close(self) -> None:
        """Leave the connection to whoever opened it."""


def is_connection(source: object) -> bool:
    """Tell a connection from tables."""
    if type(source).__module__.split(".")[0] == "sqlalchemy":
        return True
    return all(callable(getattr(source, name, None)) for name in ("cursor", "commit", "close"))

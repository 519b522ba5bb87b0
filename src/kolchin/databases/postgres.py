"""Postgres databases, by ADBC: columns come and go as Arrow, in Postgres's own binary form."""

from importlib import import_module
from typing import Any

import polars as pl

from kolchin.databases.addresses import hide_secrets
from kolchin.databases.base import Writable, quote_name
from kolchin.databases.column_types import convert_columns, convert_numbers
from kolchin.databases.sqlite import make_frame
from kolchin.errors import DataError, MissingExtraError

TABLES = """
SELECT n.nspname, c.relname, n.nspname = current_schema()
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname <> 'information_schema'
AND n.nspname NOT LIKE 'pg\\_%' ORDER BY 1, 2
"""
PLAIN = (
    *("bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "bpchar"),
    *("date", "timestamp", "timestamptz"),
)
"""Types that columns keep; of all others the text is read."""

NUMBERS = ("numeric", "money")
LOCK = 0x6B6F6C6368696E
"""Two writers wait for each other on this number ('kolchin')."""


class Postgres(Writable):
    """A connection of ADBC's driver for Postgres."""

    def __init__(self, connection: Any, where: str, own: bool = False) -> None:
        self.where = where
        self.faults = (_import_package().Error,)
        self._connection = connection
        self._own = own

    @classmethod
    def open(cls, address: str, where: str, write: bool = False) -> "Postgres":
        """Connect to a server; what only reads cannot write, whatever the query."""
        driver = _import_package()
        try:
            connection = driver.connect(address)
        except driver.Error as error:
            words = hide_secrets(describe_fault(error), address)
            raise DataError(f"{where} cannot be opened: {words}") from None
        made = cls(connection, where, own=True)
        if not write:
            made.execute("SET default_transaction_read_only = on")
            made.commit()
        return made

    def tables(self) -> dict[str, str]:
        """Return the tables and views by name, each as a query writes it."""
        return {
            name if own else f"{schema}.{name}": f"{quote_name(schema)}.{quote_name(name)}"
            for schema, name, own in self._arrow(TABLES)[0].iter_rows()
        }

    def select(self, query: str) -> pl.DataFrame:
        """Return what a query selects; types that tables do not know are read as text."""
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            if cursor.description is None:
                raise DataError(
                    f"The query selects nothing from {self.where}: it must be a SELECT."
                )
            with cursor.fetch_record_batch() as reader:
                kinds = {field.name: _find_kind(field) for field in reader.schema}
                make_frame(reader.schema.names, [pl.Series() for _ in reader.schema])
                if set(kinds.values()) <= set(PLAIN):
                    return convert_columns(pl.DataFrame(reader.read_all()))
        wanted = ", ".join(_write_plain(name, kind) for name, kind in kinds.items())
        inner = query.strip().rstrip(";")
        frame, _ = self._arrow(f"SELECT {wanted} FROM (\n{inner}\n) AS kolchin_query")
        return convert_columns(
            pl.DataFrame(
                [
                    convert_numbers(column) if kinds[column.name] in NUMBERS else column
                    for column in frame.iter_columns()
                ]
            )
        )

    def _arrow(self, query: str) -> tuple[pl.DataFrame, Any]:
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            table = cursor.fetch_arrow_table()
            return pl.DataFrame(table), table.schema

    def begin(self) -> None:
        """Wait for other writers; ADBC has begun a transaction by itself."""
        self.execute(f"SELECT pg_advisory_xact_lock({LOCK})")

    def commit(self) -> None:
        """Let what was written stay."""
        self._connection.commit()

    def rollback(self) -> None:
        """Take back what was written."""
        self._connection.rollback()

    def execute(self, statement: str) -> None:
        """Run a statement that returns nothing that matters."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    def insert(self, name: str, rows: pl.DataFrame) -> None:
        """Add rows to a table, by its plain name."""
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest(name, rows.to_arrow(), mode="append")

    def close(self) -> None:
        """Close the connection, if it was opened here."""
        if self._own:
            self._connection.close()


def describe_fault(error: Exception) -> str:
    """Return what a server says, without the words of its driver.

    >>> describe_fault(ValueError("IO: [libpq] Failed to connect: no such host. SQLSTATE: 08001"))
    'Failed to connect: no such host.'
    """
    words = str(error).split("[libpq]")[-1].split("SQLSTATE")[0]
    return words.split("\nQuery was:")[0].strip()


def _find_kind(field: Any) -> str:
    """Return the name that Postgres has for a column's type."""
    about = field.metadata or {}
    named = about.get(b"POSTGRESQL:type") or about.get(b"ADBC:postgresql:typname") or b""
    return str(named.decode())


def _write_plain(name: str, kind: str) -> str:
    column = quote_name(name)
    if kind in PLAIN:
        return column
    cast = "numeric::text" if kind == "money" else "text"
    return f"{column}::{cast} AS {column}"


def _import_package() -> Any:
    try:
        import_module("pyarrow")
        return import_module("adbc_driver_postgresql.dbapi")
    except ImportError:
        raise MissingExtraError(
            "Postgres databases need three more packages. Install them with "
            "'pip install \"kolchin[postgres]\"'."
        ) from None

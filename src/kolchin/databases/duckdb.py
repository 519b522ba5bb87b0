"""DuckDB databases, by the package of that name."""

from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from kolchin.databases.base import Writable, quote_name
from kolchin.databases.column_types import convert_columns
from kolchin.databases.sqlite import make_frame
from kolchin.errors import DataError, MissingExtraError

TABLES = (
    "SELECT table_schema, table_name, table_schema = current_schema() "
    "FROM information_schema.tables WHERE table_catalog = current_database() ORDER BY 1, 2"
)
PLAIN = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT", "DOUBLE", "DECIMAL"),
    *("VARCHAR", "DATE", "TIMESTAMP", "ENUM"),
)
"""Types that columns keep; of all others the text is read."""

ROWS = "kolchin_rows_to_insert"


class DuckDB(Writable):
    """A connection to DuckDB."""

    def __init__(self, connection: Any, where: str, own: bool = False) -> None:
        self.where = where
        self.faults = (_import_package().Error,)
        self._connection = connection
        self._own = own

    @classmethod
    def open(cls, path: Path, write: bool = False) -> "DuckDB":
        """Open a file, which is made only by writing."""
        duckdb = _import_package()
        if not path.is_file() and not write:
            raise DataError(f"There is no database {str(path)!r}.")
        try:
            connection = duckdb.connect(str(path), read_only=not write)
        except duckdb.Error as error:
            raise DataError(f"The database {str(path)!r} cannot be opened: {error}") from None
        return cls(connection, repr(str(path)), own=True)

    def tables(self) -> dict[str, str]:
        """Return the tables and views by name, each as a query writes it."""
        rows = self._connection.execute(TABLES).fetchall()
        return {
            name if own else f"{schema}.{name}": f"{quote_name(schema)}.{quote_name(name)}"
            for schema, name, own in rows
        }

    def select(self, query: str) -> pl.DataFrame:
        """Return what a query selects; types that tables do not know are read as text."""
        relation = self._connection.sql(query)
        if relation is None:
            raise DataError(f"The query selects nothing from {self.where}: it must be a SELECT.")
        names, kinds = list(relation.columns), [str(kind) for kind in relation.types]
        make_frame(names, [pl.Series() for _ in names])
        if not all(_is_plain(kind) for kind in kinds):
            wanted = ", ".join(
                quote_name(name)
                if _is_plain(kind)
                else f"{quote_name(name)}::VARCHAR AS {quote_name(name)}"
                for name, kind in zip(names, kinds, strict=True)
            )
            relation = relation.project(wanted)
        return convert_columns(pl.DataFrame(relation))

    def begin(self) -> None:
        """Begin a transaction, or go on with the one that is open."""
        if not self._in_transaction():
            self._connection.execute("BEGIN TRANSACTION")

    def _in_transaction(self) -> bool:
        """Tell whether two statements are of one transaction; to begin a second would end both."""
        numbers = [self._connection.execute("SELECT txid_current()").fetchone() for _ in range(2)]
        return bool(numbers[0] == numbers[1])

    def commit(self) -> None:
        """Let what was written stay."""
        self._connection.execute("COMMIT")

    def rollback(self) -> None:
        """Take back what was written."""
        self._connection.execute("ROLLBACK")

    def execute(self, statement: str) -> None:
        """Run a statement that returns nothing."""
        self._connection.execute(statement)

    def insert(self, name: str, rows: pl.DataFrame) -> None:
        """Add rows to a table, by its plain name."""
        self._connection.register(ROWS, rows.to_arrow())
        try:
            self._connection.execute(f"INSERT INTO {quote_name(name)} SELECT * FROM {ROWS}")
        finally:
            self._connection.unregister(ROWS)

    def close(self) -> None:
        """Close the connection, if it was opened here."""
        if self._own:
            self._connection.close()


def _is_plain(kind: str) -> bool:
    return kind.split("(")[0] in PLAIN


def _import_package() -> Any:
    try:
        import_module("pyarrow")
        return import_module("duckdb")
    except ImportError:
        raise MissingExtraError(
            "DuckDB databases need two more packages. Install them with "
            "'pip install \"kolchin[duckdb]\"'."
        ) from None

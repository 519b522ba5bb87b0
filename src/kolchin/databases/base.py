"""What reading and writing need of a database, whatever its kind."""

from abc import ABC, abstractmethod

import polars as pl


class Database(ABC):
    """One connection to a database.

    Attributes
    ----------
    where : what to call it in messages; no user and no password.
    faults : what its driver raises.
    """

    where: str
    faults: tuple[type[Exception], ...]

    @abstractmethod
    def tables(self) -> dict[str, str]:
        """Return the tables and views by name, each as a query writes it."""

    @abstractmethod
    def select(self, query: str) -> pl.DataFrame:
        """Return what a query selects, in the types that people expect."""

    def select_all(self, name: str) -> pl.DataFrame:
        """Return a whole table, by its name as a query writes it."""
        return self.select(f"SELECT * FROM {name}")

    @abstractmethod
    def close(self) -> None:
        """Close the connection, if it was opened here."""


class Writable(Database):
    """A database that tables can be written to, all of them in one transaction."""

    longest_name = 63
    float_type = "DOUBLE PRECISION"

    @abstractmethod
    def begin(self) -> None:
        """Begin a transaction."""

    @abstractmethod
    def commit(self) -> None:
        """Let what was written stay."""

    @abstractmethod
    def rollback(self) -> None:
        """Take back what was written."""

    @abstractmethod
    def execute(self, statement: str) -> None:
        """Run a statement that returns nothing."""

    @abstractmethod
    def insert(self, name: str, rows: pl.DataFrame) -> None:
        """Add rows to a table, by its plain name; its columns are those of the rows."""


def quote_name(name: str) -> str:
    """Return a name as SQL writes it.

    >>> quote_name('pe"ople')
    '"pe""ople"'
    """
    return '"' + name.replace('"', '""') + '"'

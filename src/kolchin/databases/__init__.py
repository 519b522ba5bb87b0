"""Tables that are kept in databases."""

from kolchin.databases.sqlite import Place, is_sqlite, read_sqlite

__all__ = ["Place", "is_sqlite", "read_sqlite"]

"""Tables that are kept in databases: read from there, and results written there."""

from kolchin.databases.addresses import path_of
from kolchin.databases.opening import is_database, title_of
from kolchin.databases.reading import read_database
from kolchin.databases.writing import OwnTable, Written, write_tables

__all__ = [
    "OwnTable",
    "Written",
    "is_database",
    "path_of",
    "read_database",
    "title_of",
    "write_tables",
]

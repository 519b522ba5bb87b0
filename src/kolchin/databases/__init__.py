"""Tables that are kept in databases: read from there, and results written there."""

from kolchin.databases.addresses import read_path
from kolchin.databases.opening import is_database, make_title
from kolchin.databases.reading import read_database
from kolchin.databases.writing import OwnTable, WriteReceipt, write_tables

__all__ = [
    "OwnTable",
    "WriteReceipt",
    "is_database",
    "make_title",
    "read_database",
    "read_path",
    "write_tables",
]

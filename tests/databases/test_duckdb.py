import datetime
import sqlite3
import sys
from decimal import Decimal
from types import SimpleNamespace
from uuid import UUID

import duckdb
import polars as pl
import pytest

import kolchin as kp
from kolchin.databases import read_database
from kolchin.errors import DataError

NAME = 'pe"ople of 2024'


@pytest.fixture
def crm(tmp_path):
    path = tmp_path / "crm.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            'CREATE TABLE "pe""ople of 2024" (id INTEGER, name VARCHAR, born DATE, '
            "paid DECIMAL(10, 2), key UUID, stay INTERVAL, tags VARCHAR[], big HUGEINT)"
        )
        connection.execute(
            "INSERT INTO \"pe\"\"ople of 2024\" VALUES (1, 'ann', '1990-01-02', 1.5, uuid(), "
            "INTERVAL 1 DAY, ['a'], 7), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
        )
        connection.execute("CREATE TABLE other (a INTEGER)")
    return path


def test_types_are_those_that_people_expect(crm):
    frame = read_database(f"duckdb:///{crm}", NAME, None)
    text = pl.String
    kinds = (pl.Int32, text, pl.Date, pl.Float64, text, text, text, pl.Int64)
    assert tuple(frame.dtypes) == kinds
    assert frame.row(0)[:4] == (1, "ann", datetime.date(1990, 1, 2), 1.5)
    assert frame.row(1) == (2, *[None] * 7)


def test_file_connection_and_query_read_the_same(crm):
    whole = read_database(crm, NAME, None)
    with duckdb.connect(str(crm)) as connection:
        assert read_database(connection, NAME, None).equals(whole)
    assert read_database(crm, None, "SELECT a FROM other").shape == (0, 1)


@pytest.mark.parametrize(
    ("table", "query", "words"),
    [
        (None, None, "2 tables: 'other', 'pe"),
        ("othre", None, "Did you mean 'other'"),
        (None, "SELEC 1", "syntax error"),
        (None, "DROP TABLE other", "read-only"),
        (None, "SELECT 1 AS a, 2 AS a", "'a'. Rename"),
    ],
)
def test_faults_say_what_to_do(crm, table, query, words):
    with pytest.raises(DataError) as error:
        read_database(crm, table, query)
    assert words in str(error.value)


def test_an_absent_database_is_not_made(tmp_path):
    with pytest.raises(DataError, match="no database"):
        read_database(f"duckdb:///{tmp_path}/none.db", None, None)
    assert not list(tmp_path.iterdir())


class Driver:
    """A connection of a driver that kolchin does not know."""

    def __init__(self, connection):
        self._connection = connection

    def cursor(self):
        return self._connection.cursor()

    def commit(self):
        self._connection.commit()

    def close(self):
        self._connection.close()


def test_a_connection_of_any_driver_is_read():
    connection = Driver(sqlite3.connect(":memory:"))
    cursor = connection.cursor()
    cursor.execute('CREATE TABLE "my people" (name TEXT, year INTEGER)')
    rows = [("ann", 1), ("ann", 1), ("bob", 2), ("eve", None)] * 3
    cursor.executemany('INSERT INTO "my people" VALUES (?, ?)', rows)
    how = {"chains": 2, "draws": 20, "seed": 1, "progress": True, "time_limit": None}
    result = kp.resolve(connection, table="my people", **how)
    plain = kp.resolve({"name": [r[0] for r in rows], "year": [r[1] for r in rows]}, **how)
    assert result.entities.equals(plain.entities)
    with pytest.raises(DataError, match="Name the table"):
        read_database(connection, None, None)
    with pytest.raises(DataError, match=r"cannot be read: .*nothing"):
        read_database(connection, None, "SELECT a FROM nothing")
    connection.close()


BORN = datetime.date(1990, 1, 2)


class Cursor:
    """What drivers of Python return of columns that are not plain."""

    rows = (
        (1, Decimal("1.50"), UUID(int=10), BORN, {"a": [1]}, ["x", "y"], datetime.time(1, 2)),
        (2, None, None, None, None, None, None),
    )

    def execute(self, query):
        self.description = [(name, *[None] * 6) for name in ("id", *"bcdefg")]

    def fetchall(self):
        return list(self.rows)

    def close(self):
        pass


def test_values_that_are_objects_of_python_are_plain():
    connection = Driver(SimpleNamespace(cursor=Cursor))
    frame = read_database(connection, None, "SELECT 1")
    assert frame.dtypes == [pl.Int64, pl.Float64, pl.String, pl.Date, *[pl.String] * 3]
    key = "00000000-0000-0000-0000-00000000000a"
    assert frame.row(0)[1:] == (1.5, key, BORN, '{"a": [1]}', '["x", "y"]', "01:02:00")
    assert frame.row(1) == (2, *[None] * 6)


@pytest.mark.parametrize(
    ("package", "address", "extra"),
    [
        ("duckdb", "duckdb:///x.duckdb", "kolchin[duckdb]"),
        ("adbc_driver_postgresql.dbapi", "postgresql://ann:secret@host/x", "kolchin[postgres]"),
    ],
)
def test_a_package_that_is_not_there_is_named(monkeypatch, package, address, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(kp.MissingExtraError) as error:
        read_database(address, None, None)
    assert extra in str(error.value)
    assert "secret" not in str(error.value)

import datetime
import sqlite3

import polars as pl
import pytest

import kolchin as kp
from kolchin.databases import read_database
from kolchin.errors import DataError

NAME = 'pe"ople of 2024'


@pytest.fixture
def crm(tmp_path):
    path = tmp_path / "crm.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            'CREATE TABLE "pe""ople of 2024" (id INTEGER, name TEXT, born DATE, seen TIMESTAMP, '
            "paid NUMERIC, member BOOLEAN, mixed)"
        )
        rows = [
            (1, "ann", "1990-01-02", "2024-01-01 10:00:00", 1.5, 1, 7),
            (2, None, None, "2024-01-02 11:30:00", 2, 0, "x"),
        ]
        connection.executemany('INSERT INTO "pe""ople of 2024" VALUES (?,?,?,?,?,?,?)', rows)
        connection.execute("CREATE TABLE other (a INTEGER)")
    connection.close()
    return path


def test_types_are_those_that_people_expect(crm):
    frame = read_database(f"sqlite:///{crm}", NAME, None)
    kinds = (pl.Int64, pl.String, pl.Date, pl.Datetime("us"), pl.Float64, pl.Boolean, pl.String)
    assert tuple(frame.dtypes) == kinds
    assert frame.row(1)[:3] == (2, None, None)
    assert frame["born"][0] == datetime.date(1990, 1, 2)
    assert frame["mixed"].to_list() == ["7", "x"]


def test_file_connection_and_query_read_the_same(crm):
    whole = read_database(crm, NAME, None)
    connection = sqlite3.connect(crm)
    assert read_database(connection, NAME, None).equals(whole)
    connection.close()
    assert read_database(crm, None, "SELECT a FROM other").shape == (0, 1)


@pytest.mark.parametrize(
    ("table", "query", "words"),
    [
        (None, None, "2 tables: 'other', 'pe"),
        ("othre", None, "Did you mean 'other'"),
        (None, "SELEC 1", "syntax error"),
        (None, "DROP TABLE other", "readonly"),
        (None, "SELECT 1 AS a, 2 AS a", "'a'. Rename"),
        ("other", "SELECT 1", "not both"),
    ],
)
def test_faults_say_what_to_do(crm, table, query, words):
    with pytest.raises(DataError) as error:
        read_database(crm, table, query)
    assert words in str(error.value)


def test_an_absent_database_is_not_made(tmp_path):
    with pytest.raises(DataError, match="no database"):
        read_database(f"sqlite:///{tmp_path}/none.db", None, None)
    assert not list(tmp_path.iterdir())


def test_a_resumed_run_needs_no_database(tmp_path):
    path = tmp_path / "crm.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (name TEXT, year INTEGER)")
        rows = [("ann", 1), ("ann", 1), ("bob", 2), ("eve", 3)] * 3
        connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
    connection.close()
    how = {"chains": 2, "draws": 20, "seed": 1, "progress": True}
    result = kp.resolve(f"sqlite:///{path}", table="people", out=tmp_path / "run", **how)
    plain = kp.resolve({"name": [r[0] for r in rows], "year": [r[1] for r in rows]}, **how)
    assert result.entities.equals(plain.entities)
    assert result.summary()["settings"]["input"] == "crm.db: people"
    path.unlink()
    assert kp.resume(tmp_path / "run", draws=30, progress=True).posterior.n_draws == 30


def test_only_databases_have_tables(tmp_path):
    with pytest.raises(DataError, match="of a database"):
        kp.resolve({"a": [1, 2]}, table="people")

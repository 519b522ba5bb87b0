import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from datetime import date

import polars as pl
import pytest

import kolchin as kp
from kolchin.databases import OwnTable, read_database, write_tables
from kolchin.databases.sqlite import Sqlite
from kolchin.errors import DataError

ABOUT = {"version": "1", "input": "people.csv", "n_records": 3, "n_entities": 2}


@pytest.fixture(params=["sqlite", "duckdb", "postgres"])
def target(request, tmp_path):
    if request.param == "postgres":
        return request.getfixturevalue("server")
    return f"{request.param}:///{tmp_path}/out put.db"


@pytest.fixture(scope="module")
def result():
    people = {
        "id": [f"r{k}" for k in range(12)],
        "name": ["ann", "ann", "bob", "eve"] * 3,
        "born": [date(1990, 1, 1), date(1990, 1, 1), date(1980, 5, 5), None] * 3,
        "Paid": [1.5, 1.5, 2.0, 3.25] * 3,
    }
    how = {"chains": 2, "draws": 20, "seed": 1, "progress": True}
    return kp.resolve(people, id="id", fields=["name", "born", "Paid"], **how)


def read(target, table):
    return read_database(target, table, None)


def some_rows(n=3, first=0, name="name"):
    rows = {"record": range(first, first + n), name: [f"{k}" for k in range(n)]}
    return OwnTable("entities", pl.DataFrame(rows), key=(0,), lookups=(1,))


def test_results_come_back_as_they_were(result, target):
    written = result.write(target)
    assert written.run == 1
    for name, own in [("entities", result.entities), ("links", result.links)]:
        back = read(target, f"kolchin_{name}").sort("record" if name == "entities" else "record_a")
        assert back.columns == ["run", *own.columns]
        back = back.drop("run").sort(own.columns[:2])
        assert back.equals(own.sort(own.columns[:2]))
    golden = read(target, "kolchin_golden").sort("entity")
    assert golden["name"].to_list() == result.golden()["name"].to_list()
    assert golden.schema["born"] == pl.Date
    assert golden.schema["Paid"] == pl.Float64
    assert golden["born"].null_count() == result.golden()["born"].null_count() > 0
    runs = read(target, "kolchin_runs")
    assert runs.row(0, named=True)["n_records"] == 12


def test_a_second_write_replaces_or_appends_as_asked(result, target):
    result.write(target)
    result.write(target)
    assert read(target, "kolchin_entities")["run"].unique().to_list() == [2]
    result.write(target, append=True)
    entities = read(target, "kolchin_entities")
    assert entities.height == 2 * result.entities.height
    assert sorted(entities["run"].unique()) == [2, 3]
    assert sorted(read(target, "kolchin_runs")["run"]) == [2, 3]


def test_other_columns_are_replaced_and_never_appended(target):
    write_tables(target, [some_rows()], ABOUT)
    with pytest.raises(DataError, match="other columns"):
        write_tables(target, [some_rows(name="label")], ABOUT, append=True)
    assert read(target, "kolchin_entities").columns == ["run", "record", "name"]
    write_tables(target, [some_rows(name="label")], ABOUT)
    assert read(target, "kolchin_entities").columns == ["run", "record", "label"]


def test_a_table_that_is_not_ours_is_left_alone(result, target):
    own = OwnTable("people", pl.DataFrame({"a": [1]}), key=(0,))
    write_tables(target, [own], ABOUT, prefix="x_")
    foreign = OwnTable("x_people", pl.DataFrame({"a": [2]}), key=(0,))
    with pytest.raises(DataError, match=r"did not write.*'x_people'"):
        write_tables(target, [foreign], ABOUT, prefix="")
    assert read(target, "x_people")["a"].to_list() == [1]
    assert read_database(target, None, "SELECT count(*) AS n FROM x_runs")["n"].to_list() == [1]


def test_keys_hold(target):
    twice = OwnTable("entities", pl.DataFrame({"record": [1, 1]}), key=(0,))
    with pytest.raises(DataError, match="cannot be written to"):
        write_tables(target, [some_rows()._replace(name="links"), twice], ABOUT)
    with pytest.raises(DataError):
        read(target, "kolchin_links")  # half of it is nothing


def test_names_with_quotes_spaces_and_other_letters(target):
    rows = pl.DataFrame({'a "b" c': [1], "Run": ["x"], "Ä" * 60: [True], "*": [None]})
    written = write_tables(target, [OwnTable("t", rows, key=(0,))], ABOUT, prefix='my "own" ')
    assert written.n_rows == {'my "own" t': 1}
    back = read(target, 'my "own" t')
    assert back.columns[:3] == ["run", 'a "b" c', "Run_2"]
    assert back.row(0)[1:] == (1, "x", True, None)


KILLED = """
import os, signal, sys
import polars as pl
from kolchin.databases import OwnTable, write_tables
from kolchin.databases.{module} import {kind} as Kind
inserted = Kind.insert
def insert(self, name, rows):
    inserted(self, name, rows)
    if name == "kolchin_links":
        os.kill(os.getpid(), signal.SIGKILL)
Kind.insert = insert
rows = pl.DataFrame({{"record": range(1000, 21000), "name": ["new"] * 20000}})
tables = [OwnTable("entities", rows, key=(0,)), OwnTable("links", rows, key=(0,))]
about = {{"version": "1", "input": "people.csv", "n_records": 3, "n_entities": 2}}
write_tables(sys.argv[1], tables, about)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_a_killed_write_leaves_what_was_there(target):
    tables = [some_rows(), some_rows()._replace(name="links")]
    write_tables(target, tables, ABOUT)
    kind = {"sqlite": "Sqlite", "duckdb": "DuckDB", "postgres": "Postgres"}
    module = next(name for name in kind if target.startswith(name))
    code = KILLED.format(module=module, kind=kind[module])
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code), target], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert read(target, "kolchin_entities")["record"].to_list() == [0, 1, 2]
    assert write_tables(target, tables, ABOUT).run == 2  # and nothing is in the way


@pytest.mark.parametrize("n", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_many_rows_come_back(target, n):
    rows = pl.DataFrame({"record": range(n), "sure": [0.1] * n, "same": [True] * n})
    write_tables(target, [OwnTable("entities", rows, key=(0,))], ABOUT)
    back = read(target, "kolchin_entities")
    assert back.sort("record").drop("run").equals(rows)


def test_a_connection_stays_open(result, tmp_path):
    import duckdb

    plain = sqlite3.connect(tmp_path / "a.db")
    result.write(plain)
    assert plain.execute("SELECT count(*) FROM kolchin_entities").fetchone() == (12,)
    plain.close()
    duck = duckdb.connect()
    duck.execute("BEGIN")
    result.write(duck)
    assert duck.execute("SELECT count(*) FROM kolchin_entities").fetchone() == (12,)
    duck.close()


def test_what_cannot_be_written_to_is_said(result, tmp_path):
    with pytest.raises(DataError, match="no database"):
        result.write(str(tmp_path / "people.csv"))

    for odd in ("postgresql:/ann:secret@host/db", "host=db password=secret dbname=crm"):
        with pytest.raises(DataError, match="is no database") as error:
            result.write(odd)
        assert "secret" not in str(error.value)

    class Other:
        cursor = commit = close = lambda self: None

    with pytest.raises(DataError, match="SQLite, DuckDB and Postgres"):
        result.write(Other())


@pytest.mark.skipif(os.name == "nt", reason="file modes")
def test_a_file_that_is_another_writers_is_waited_for(result, tmp_path, monkeypatch):
    path = tmp_path / "a.db"
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr("kolchin.databases.sqlite.SECONDS_TO_WAIT", 0.1)
    with pytest.raises(DataError, match="locked"):
        result.write(f"sqlite:///{path}")
    other.rollback()
    other.close()
    assert Sqlite.open(path).tables() == {}


def test_the_command_writes_what_a_directory_has(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from kolchin.cli import app

    monkeypatch.chdir(tmp_path)
    with sqlite3.connect("crm.db") as connection:
        connection.execute("CREATE TABLE people (name TEXT, year INTEGER)")
        rows = [("ann", 1), ("ann", 1), ("bob", 2), ("eve", 3)] * 3
        connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
    connection.close()
    how = ["--chains", "2", "--draws", "20", "--seed", "1"]
    ran = CliRunner().invoke(app, ["resolve", "sqlite:///crm.db", "--table", "people", *how])
    assert ran.exit_code == 0, ran.output
    ran = CliRunner().invoke(app, ["write", "crm.db.resolved", "sqlite:///crm.db"])
    assert "kolchin_entities: 12 rows of run 1." in ran.output
    assert read_database("crm.db", "people", None).height == 12
    ran = CliRunner().invoke(app, ["write", "crm.db.resolved", "mysql://ann:secret@host/db"])
    assert ran.exit_code == 2
    assert "secret" not in ran.output

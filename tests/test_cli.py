"""The command line: what it writes, says and returns."""

import os
import sqlite3
import subprocess
import sys
import tomllib
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import kolchin.cli
from kolchin.cli import app
from kolchin.errors import DataError, SamplerError
from kolchin.simulation import simulate_paper
from kolchin.simulation.people import simulate_people

runner = CliRunner()


@pytest.mark.parametrize("name", ["table.csv", "table.parquet", "new/table.CSV"])
def test_simulate_writes_the_table(tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    args = ["simulate", "italy", "--delta", "0.1", "--seed", "3", "--out", str(out)]
    result = runner.invoke(app, args)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "789 records of 587 entities (delta 0.1, seed 3)" in result.stderr
    if out.suffix == ".parquet":
        written = pl.read_parquet(out)
    else:
        written = pl.read_csv(out, infer_schema=False).cast({"rec_id": int, "ent_id": int})
    assert written.equals(simulate_paper("italy", delta=0.1, seed=3))
    assert [file.name for file in out.parent.iterdir()] == [out.name]


def test_simulate_tells_the_seed_that_it_chose(tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    told = runner.invoke(app, ["simulate", "syria2000", "--out", str(first)]).stderr
    seed = told.split("seed ")[1].split(")")[0]
    runner.invoke(app, ["simulate", "syria2000", "--seed", seed, "--out", str(second)])
    assert first.read_text() == second.read_text()


def test_simulate_writes_people(tmp_path: Path) -> None:
    out = tmp_path / "people.parquet"
    settings = ["--delta", "0.1", "--set", "households=0", "--set", "gaps=0.5"]
    result = runner.invoke(
        app, ["simulate", "people", "--n", "500", *settings, "--seed", "3", "--out", str(out)]
    )
    assert result.exit_code == 0, result.output
    expected = simulate_people(500, 3, typos=0.1, households=0.0, gaps=0.5)
    assert pl.read_parquet(out).equals(expected)
    n_entities = expected["ent_id"].n_unique()
    assert f"500 records of {n_entities} entities (seed 3)" in result.stderr


PEOPLE = "id,name,born\n1,Ada,1970\n2,ADA,1970\n3,Zoë,NA\n"


def test_fields_are_shown_and_written(tmp_path: Path) -> None:
    people, out = tmp_path / "people.csv", tmp_path / "FIELDS.toml"
    people.write_text(PEOPLE)
    shown = runner.invoke(app, ["fields", str(people), "--id", "id"])
    assert shown.exit_code == 0, shown.output
    assert "id is left out: it names the records." in shown.stderr
    assert "Note: 'born' has values that count as missing: 'NA' (1)." in shown.stderr
    written = runner.invoke(app, ["fields", str(people), "--id", "id", "--out", str(out)])
    assert written.exit_code == 0, written.output
    assert written.stdout == ""
    assert f"Wrote {out}" in written.stderr
    assert out.read_text() == shown.stdout
    assert tomllib.loads(shown.stdout)["fields"]["name"] == {"use": True, "kind": "text"}


def test_fields_are_not_overwritten_unasked(tmp_path: Path) -> None:
    people, out = tmp_path / "people.csv", tmp_path / "FIELDS.toml"
    people.write_text(PEOPLE)
    out.write_text("edited")
    args = ["fields", str(people), "--out", str(out)]
    result = runner.invoke(app, args)
    assert (result.exit_code, out.read_text()) == (2, "edited")
    assert "is there already" in result.stderr
    assert runner.invoke(app, [*args, "--overwrite"]).exit_code == 0
    assert "[fields.name]" in out.read_text()


def test_fields_of_several_files(tmp_path: Path) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        path.write_text(PEOPLE)
    result = runner.invoke(app, ["fields", *map(str, paths)])
    assert result.exit_code == 0
    assert "the records come from 2 files" in result.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["fields", "none.csv"], "file 'none.csv' does not exist"),
        (["fields"], "Missing argument"),
        (["simulate", "italy", "--n", "10", "--out", "x.csv"], "options are for people alone"),
        (["simulate", "italy", "--out", "x.xlsx"], "must end in .csv or .parquet. Got 'x.xlsx'"),
        (["simulate", "italy", "--delta", "-1", "--out", "x.csv"], "'delta' parameter must be 0"),
        (["simulate", "italy", "--seed", "-1", "--out", "x.csv"], "--seed"),
        (
            ["simulate", "people", "--n", "0", "--out", "x.csv"],
            "'n' parameter must be a whole number",
        ),
        (["simulate", "people", "--set", "cats=1", "--out", "x.csv"], "no parameter 'cats'"),
        (["simulate", "people", "--set", "prior=1", "--out", "x.csv"], "no parameter 'prior'"),
        (["simulate", "people", "--set", "moved", "--out", "x.csv"], "must be like households=0.2"),
        (["simulate", "people", "--delta", "2", "--out", "x.csv"], "'typos' parameter must be"),
        (["simulate", "atlantis", "--out", "x.csv"], "atlantis"),
        (["simulate", "italy"], "--out"),
        (["reproduce", "table2"], "table2"),
        (["reproduce", "table1", "--replicates", "0"], "replicates"),
        (["reproduce", "table1", "--cores", "0"], "cores"),
    ],
)
def test_faults_are_told_in_words(
    args: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) < 24
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    result = runner.invoke(app, ["simulate", "italy", "--out", str(blocked / "table.csv")])
    assert result.exit_code == 2
    assert str(blocked) in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "goes on from there"),
        (SamplerError("stuck"), 1, "Error: stuck"),
        (DataError("no such column"), 2, "Error: no such column"),
    ],
)
def test_exit_codes(
    error: BaseException, code: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr("kolchin.paper.reproduce_table1", fail)
    result = runner.invoke(app, ["reproduce", "table1"])
    assert result.exit_code == code
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_reproduce_passes_its_options_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kolchin.paper import Reproduction

    given: dict[str, object] = {}

    def make(out: Path, **options: object) -> Reproduction:
        given.update(options, out=out)
        return Reproduction([out / "table1.csv"], ["Something was left out."])

    monkeypatch.setattr("kolchin.paper.reproduce_figure2", make)
    args = ["reproduce", "figure2", "--quick", "--cores", "1", "--seed", "5", "--out"]
    result = runner.invoke(app, [*args, str(tmp_path)])
    assert result.exit_code == 0
    assert "Something was left out." in result.stderr
    assert f"Wrote {tmp_path / 'table1.csv'}" in result.stderr
    assert (given["quick"], given["cores"], given["seed"]) == (True, 1, 5)
    assert given["out"] == tmp_path


def test_the_version_is_shown() -> None:
    result = runner.invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.stdout == f"kolchin {kolchin.__version__}\n"


def test_help_loads_nothing_heavy() -> None:
    heavy = ["numpy", "polars", "numba", "scipy", "matplotlib", "arviz", "rich"]
    code = (
        "import sys; from kolchin.cli import app; app(['--help'], standalone_mode=False); "
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    source = str(Path(kolchin.cli.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert "simulate" in done.stdout
    assert done.stderr.strip() == "[]"


def test_fields_of_a_database_are_shown(tmp_path):
    with closing(sqlite3.connect(tmp_path / "crm.db")) as connection:
        connection.execute("CREATE TABLE people (name TEXT, city TEXT)")
        rows = [("Ann", "Bern"), ("Bob", "Bern"), ("Ann", "Basel")]
        connection.executemany("INSERT INTO people VALUES (?, ?)", rows)
        connection.commit()
    shown = runner.invoke(app, ["fields", f"sqlite:///{tmp_path / 'crm.db'}", "--table", "people"])
    assert shown.exit_code == 0, shown.stderr
    assert "city" in tomllib.loads(shown.stdout)["fields"]
    told = runner.invoke(app, ["fields", "https://host/people.csv"])
    assert told.exit_code == 2
    assert "'https://host/people.csv' is a web address" in told.stderr

"""Cells that a spreadsheet would run as formulas."""

import polars as pl
import pytest
from typer.testing import CliRunner

from kolchin.cli import app
from kolchin.resolution.results.spreadsheet_formulas import quote_formulas

SHORT = ["--draws", "5", "--chains", "1", "--seed", "1"]
FORMULAS = ("=1+1", "@SUM(A1)", "+cmd|x", "-x+1", "\tx", "-2+3+cmd|' /C calc'!A0", "+1+sum(A1)")
OTHERS = ("x=1", "-5", "+39 06 1234", "-", "", "- x", "+39 (06) 12", "-1e5")
LINK = '=HYPERLINK("http://example.org","x")'


@pytest.mark.parametrize(
    "cell", ["=1+1", "@SUM(A1)", "+cmd|x", "-x+1", "\tx", "-2+3+cmd|' /C calc'!A0", "+1+sum(A1)"]
)
def test_formulas_are_quoted(cell):
    assert quote_formulas(pl.DataFrame({"^a.*$": [cell, None]})).to_series().to_list() == [
        "'" + cell,
        None,
    ]


@pytest.mark.parametrize(
    "cell", ["x=1", "-5", "+39 06 1234", "-", "", "- x", "+39 (06) 12", "-1e5"]
)
def test_other_cells_stay(cell):
    assert quote_formulas(pl.DataFrame({"a": [cell], "n": [-1]})).row(0) == (cell, -1)


@pytest.fixture
def table(tmp_path):
    rows = {
        "rec_id": [f"={k}" for k in range(12)],
        "name": ["ann", "bob", LINK] * 4,
        "y": [1, 2, 3] * 4,
    }
    pl.DataFrame(rows).write_csv(tmp_path / "t.csv")
    return tmp_path / "t.csv"


def test_the_columns_are_named_and_the_option_quotes_them(table, tmp_path):
    run = CliRunner().invoke(app, ["resolve", str(table), *SHORT, "--merged"])
    assert run.exit_code == 0, run.stderr
    assert "'name' has values that a spreadsheet would run as formulas" in run.stderr
    out = tmp_path / "safe"
    run = CliRunner().invoke(
        app, ["resolve", str(table), *SHORT, "--merged", "--safe-csv", "--out", str(out)]
    )
    assert run.exit_code == 0, run.stderr
    assert "would run as formulas" not in run.stderr
    CliRunner().invoke(app, ["golden", str(out)])
    for name in ("entities.csv", "merged.csv", "golden.csv"):
        cells = pl.read_csv(out / name, infer_schema=False)
        assert not any(cells[column].str.starts_with("=").any() for column in cells.columns)
    merged = pl.read_csv(out / "merged.csv", infer_schema=False)
    assert "'" + LINK in merged["name"].to_list()


def test_names_of_columns_are_quoted_and_told(table, tmp_path):
    cells = pl.read_csv(table).rename({"name": LINK})
    assert "'" + LINK in quote_formulas(cells).columns
    cells.write_csv(table)
    run = CliRunner().invoke(app, ["resolve", str(table), *SHORT])
    assert f"{LINK!r} is a name that a spreadsheet would run as a formula" in run.stderr


@pytest.mark.parametrize("likelihood", ["compared", "categorical"])
def test_an_updated_run_quotes_as_the_first_did(table, tmp_path, likelihood):
    out, new = tmp_path / "safe", tmp_path / "new.csv"
    options = [*SHORT, "--merged", "--safe-csv", "--likelihood", likelihood, "--out", str(out)]
    CliRunner().invoke(app, ["resolve", str(table), *options])
    pl.DataFrame({"rec_id": ["=x"], "name": [LINK], "y": [2]}).write_csv(new)
    run = CliRunner().invoke(app, ["add", str(out), str(new)])
    assert run.exit_code == 0, run.stderr
    assert "1 new row; 13 records now" in run.stderr
    for name in ("entities.csv", "merged.csv"):
        cells = pl.read_csv(out / name, infer_schema=False)
        assert cells.height == 13
        assert not any(cells[column].str.starts_with("=").any() for column in cells.columns)

"""Cells that a spreadsheet would run as formulas."""

import polars as pl
import pytest
from typer.testing import CliRunner

from kolchin.cli import app
from kolchin.resolution.results.spreadsheet_formulas import quote_formulas

SHORT = ["--draws", "5", "--chains", "1", "--seed", "1"]
LINK = '=HYPERLINK("http://example.org","x")'


@pytest.mark.parametrize("cell", ["=1+1", "@SUM(A1)", "+cmd|x", "-x+1", "\tx"])
def test_formulas_are_quoted(cell):
    assert quote_formulas(pl.DataFrame({"^a.*$": [cell, None]})).to_series().to_list() == [
        "'" + cell,
        None,
    ]


@pytest.mark.parametrize("cell", ["x=1", "-5", "+39 06 1234", "-", "", "- x"])
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

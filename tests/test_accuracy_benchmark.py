"""The parts of benchmarks/accuracy that are easily wrong and never look it."""

import importlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return lambda name: importlib.import_module(f"accuracy.{name}")


def test_best_threshold_keeps_true_links_and_cuts_wrong_ones(load):
    truth = np.array([0, 0, 1, 1, 2])
    scores = pl.DataFrame({"a": [0, 2, 1], "b": [1, 3, 2], "weight": [9.0, 5.0, 3.0]})
    threshold, labels = load("measures").best_threshold(scores, truth)
    assert 3 < threshold <= 5
    assert load("measures").rates(labels, truth)["f1"] == 1


def test_calibration_error_is_the_weighted_distance_of_said_and_true(load):
    measures = load("measures")
    said = np.array([0.95, 0.95, 0.95, 0.95, 0.25, 1.0, 0.001])
    is_true = np.array([True, True, True, False, False, True, True])
    rows = measures.reliability(said, is_true)
    assert [row["pairs"] for row in rows] == [1, 5]  # 1 is in the last bin, 0.001 in none
    expected = (1 * 0.25 + 5 * abs(0.96 - 0.8)) / 6
    assert measures.calibration_error(rows) == pytest.approx(expected)
    assert measures.calibration_error(measures.added([rows, rows])) == pytest.approx(expected)
    assert measures.calibration_error([]) is None


def test_wrong_links_tells_households_and_twins(load):
    table = pl.DataFrame(
        {
            "street": ["A", "A", "A", "B"],
            "house_number": ["1"] * 4,
            "postcode": ["9"] * 4,
            "birth_date": ["2000-01-01", "2000-01-01", None, "2000-01-01"],
        }
    )
    counts = load("measures").wrong_links(np.zeros(4, int), np.array([0, 1, 2, 0]), table)
    # Records 0 and 3 are one person; 0-1, 0-2 and 1-2 share an address, 0-1 a birthday too.
    assert counts == {"links": 5, "one_address": 3, "twins": 1}


def test_germans_have_one_error_in_each_duplicate(load):
    table = load("germans").simulate_germans(1_000, 1)
    assert table.height == 1_000
    assert table["ent_id"].n_unique() == 900
    pairs = table.join(table, on="ent_id", suffix="_b").filter(
        pl.col("rec_id") < pl.col("rec_id_b")
    )
    errors = pairs.select(
        pl.sum_horizontal(
            pl.col(name).ne_missing(pl.col(f"{name}_b")) for name in table.columns[2:]
        )
    ).to_series()
    assert errors.to_list() == [1] * 100


def test_every_table_is_described_by_its_own_columns(load):
    columns, tables = load("columns"), load("tables")
    for table in tables.all_tables(None, 50, 1):
        description = columns.DESCRIPTIONS[table.description]
        known = {*table.make().columns, *description.prepare}
        assert set(description.kinds) <= known
        assert {*description.fewer, *description.instead, *(description.names or ())} <= known
        for specification in columns.specifications(description).values():
            assert specification["comparisons"]


def test_the_page_has_every_table(load, tmp_path):
    page = load("page")
    rates = {"f1": 0.9, "precision": 1.0, "recall": 0.8, "n_clusters": 5}
    bins = [{"bin": 9, "pairs": 4, "said": 0.97, "true": 1.0}]
    calibrated = {"reliability": bins, "calibration_error": 0.03, "seconds": 1.0}
    found = {"mean": 5.0, "q05": 4.0, "q95": 6.0}
    ours = {**rates, **calibrated, "n_entities": found, "rhat": 1.02, "converged": False}
    best = {**rates, "threshold": 2.5}
    theirs = {"plain": {**calibrated, "default": rates, "best": best, "version": "5.0.0"}}
    row = {"records": 9, "entities": 5, "simulated": True, "kolchin": ours, "splink": theirs}
    failed = {**row, "kolchin": {"error": "no field"}, "splink": {"plain": {"error": "none"}}}
    file = page.write_page({"one": row, "two": failed}, "python benchmarks/accuracy", tmp_path)
    text = file.read_text(encoding="utf-8")
    assert "| one | 9 | 5 | 0.900 * | 1.000 | 0.800 | 5 (4 to 6) | 1 | 0.900 (plain) |" in text
    assert "| two | 9 | 5 | no field | - |" in text
    assert (tmp_path / "figures" / "accuracy.svg").stat().st_size > 1000

"""The parts of benchmarks/scale that are easily wrong and never look it; nothing long is run."""

import importlib
import json
import sys
from pathlib import Path

import polars as pl
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def load(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


SUMMARY = {
    "n_records": 1000,
    "n_entities": {"mean": 700.0, "sd": 2.0, "q05": 697.0, "q50": 700.0, "q95": 703.0},
    "diagnostics": {
        "rhat": 1.008,
        "ess": 410.0,
        "converged": True,
        "quantities": {"n_entities": {"rhat": 1.001, "ess": 800.0}},
    },
    "candidates": {"n_pairs": 5000},
    "ended": "enough",
    "draws": 250,
    "moves": [100, 120, 80, 100],
    "evaluation": {"point_estimate": {"f1": 0.99, "precision": 1.0, "recall": 0.98}},
    "seconds": {"reading": 0.5, "comparing": 2.0, "dependence": 1.0, "sampling": 4.0},
    "settings": {"chains": 4, "warmup": 150, "thin": 1},
    "version": "0.1.0",
}

COMMON = {
    "seed": 1,
    "time_limit": None,
    "machine": {"cores": 2, "memory_gb": 24},
    "versions": {"Python": "3.11.0"},
}


def test_speeds_come_from_the_seconds_of_sampling(load):
    numbers = load("scale.parts").numbers(SUMMARY)
    assert numbers["moves_a_second"] == 400 * (150 + 250) / 4
    assert numbers["ess_a_second"] == 800 / 4
    assert (numbers["ess"], numbers["rhat"]) == (410, 1.008)
    assert numbers["phases"] == SUMMARY["seconds"]


def test_calibration_is_of_links_by_their_ids(load):
    known = pl.DataFrame({"rec_id": ["7", "8", "9"], "ent_id": ["a", "a", "b"]})
    links = pl.DataFrame(
        {"record_a": ["7", "8"], "record_b": ["8", "9"], "probability": ["0.9", "0.9"]}
    )
    measured = load("scale.parts").calibrated(links, known)
    assert measured == {"entities": 2, "calibration_error": pytest.approx(0.4)}


def test_a_run_goes_on_with_what_is_missing(load, tmp_path):
    keeping = load("scale.keeping")
    done = []

    def work(name):
        return lambda: done.append(name) or {"seconds": 1.0}

    file = tmp_path / "new" / "scale.json"
    keeping.Kept(file, COMMON).part("simulate 10", work("first"))
    again = keeping.Kept(file, COMMON)
    assert again.part("simulate 10", work("again"))["seconds"] == 1
    again.part("kolchin 10", work("second"))
    assert done == ["first", "second"]
    assert set(json.loads(file.read_text())["parts"]) == {"simulate 10", "kolchin 10"}
    with pytest.raises(SystemExit, match="Name another file"):
        keeping.Kept(file, {**COMMON, "seed": 2})


def test_time_and_memory_are_those_of_the_command(load):
    measured = load("measured").measured
    small = measured([sys.executable, "-c", "print('done')"])
    large = measured([sys.executable, "-c", "x = bytearray(2 * 10**8)"], cores=1)
    assert small["printed"] == "done\n"
    assert 150 < large["peak_mb"] - small["peak_mb"] < 250
    failed = measured([sys.executable, "-c", "raise SystemExit('no such thing')"])
    assert failed["error"] == "no such thing"
    assert "error" in measured(["/no/such/program"])


def made_up(load):
    rates = {"f1": 0.9, "precision": 0.95, "recall": 0.85}
    ours = load("scale.parts").numbers(SUMMARY)
    taken = {"seconds": 9.5, "peak_mb": 500.0, "date": "2030-01-01", "commit": "abc"}
    found = {**ours, **taken, "entities": 701, "calibration_error": 0.01}
    scored = {"pairs": 1200, "pair_recall": 0.99, "version": "5.0.0", "whole_seconds": 6.0}
    theirs = {**taken, **scored, "default": rates, "best": {**rates, "threshold": 4.5}}
    on_cores = {**taken, "phases": SUMMARY["seconds"], "content": "same"}
    faster = {**on_cores, "phases": {**SUMMARY["seconds"], "sampling": 2.0}}
    return {
        "simulate 1000": taken,
        "kolchin 1000": found,
        "splink first 1000": theirs,
        "splink expert 1000": {**taken, "error": "out | of memory"},
        "kolchin 2000": {**found, "seconds": 20.0},
        "cores 1 2000": on_cores,
        "cores 2 2000": faster,
        "kolchin 3000": {**taken, "error": "ended with -9"},
    }


def test_the_page_has_every_part(load, tmp_path):
    parts = made_up(load)
    page = load("scale.page")
    text = page.write_page(parts, COMMON, "python benchmarks/scale", tmp_path).read_text()
    assert "| 1,000 | 9.5 | 9.5 | 0.5 | 2.0 | 1.0 | - | 4.0 | - | - | 2.0 | 500 MB |" in text
    assert "| 1,000 | 701 | 700 | 2.0 | 697 to 703 | 0.990 | 1.000 | 0.980 | 0.010 |" in text
    assert "| 1,000 | 150 | 4 x 250 | enough | 1.008 | 410 | yes | 40,000 | 200.00 |" in text
    assert "| 1,000 | Splink, first | 6.0 | 500 MB | 0.900 | 0.950 | 0.850 | 0.900 |" in text
    assert "Splink, expert: out / of memory" in text
    assert "| 3,000 | ended with -9 | - |" in text
    assert "| 2,000 | 1 over 2 | 1.00 | 1.00 | 1.00 | 1.00 | - | 2.00 |" in text
    assert "the same, byte by byte" in text
    assert "Measured 2030-01-01 with kolchin 0.1.0 (abc), Python 3.11.0, seed 1" in text
    for table in text.split("\n\n"):
        if table.startswith("|"):
            assert len({line.count("|") for line in table.splitlines()}) == 1
    for name in ("scale-time", "scale-memory"):
        assert (tmp_path / "figures" / f"{name}.svg").stat().st_size > 1000


def test_the_page_says_so_where_cores_make_a_difference(load):
    parts = made_up(load)
    parts["cores 2 2000"]["content"] = "other"
    assert "DIFFER" in "\n".join(load("scale.page").tables(parts))

"""Splink in its own environment: made once, run as another process, and scored with the truth."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from measured import measured

from accuracy.columns import DESCRIPTIONS, specifications
from accuracy.measures import (
    WEIGHTS,
    Floats,
    Ints,
    best_threshold,
    calibration_error,
    linked_above,
    rates,
    reliability,
    wrong_links,
)

DEFAULT_THRESHOLD = 0.95
SCRIPT = Path(__file__).with_name("splink_peer.py")
REQUIREMENT = "splink>=5,<6"


class Scoring(NamedTuple):
    """How scores are looked at: thresholds to try, and whether wrong links are told apart."""

    thresholds: Floats = WEIGHTS
    wrong: bool = True


EVERYTHING = Scoring()


def environment(python: str | None) -> str:
    """Return a Python that has Splink: the one named, or that of a cached environment."""
    if python is not None:
        return python
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "kolchin-benchmarks" / "splink-5"
    own = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if subprocess.run([own, "-c", "import splink"], check=False).returncode if own.exists() else 1:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([own, "-m", "pip", "install", "-q", REQUIREMENT], check=True)
    return str(own)


def run_splink(
    python: str,
    name: str,
    table: pl.DataFrame,
    truth: Ints,
    seed: int,
    only: Sequence[str] | None = None,
    scoring: Scoring = EVERYTHING,
) -> dict[str, Any]:
    """Run all specifications of a table, or some only, and return each with its measures."""
    chosen = specifications(DESCRIPTIONS[name])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        fields = table.drop("rec_id", "ent_id")
        fields.select(unique_id=pl.int_range(pl.len())).hstack(fields).write_csv(file)
        return {
            each: _scored(python, file, {**chosen[each], "seed": seed}, table, truth, scoring)
            for each in only or chosen
        }


def _scored(
    python: str,
    file: Path,
    description: dict[str, Any],
    table: pl.DataFrame,
    truth: Ints,
    scoring: Scoring,
) -> dict[str, Any]:
    told, result = file.with_suffix(".json"), file.with_suffix(".parquet")
    told.write_text(json.dumps(description), encoding="utf-8")
    taken = measured([python, SCRIPT, file, told, result])
    if "error" in taken:
        return {"error": taken["error"]}
    scores = pl.read_parquet(result)
    is_true = truth[scores["a"].to_numpy()] == truth[scores["b"].to_numpy()]
    began = time.monotonic()
    usual = linked_above(scores, truth.size, "probability", DEFAULT_THRESHOLD)
    clustering = time.monotonic() - began
    weight, best = best_threshold(scores, truth, scoring.thresholds)
    bins = reliability(scores["probability"].to_numpy(), is_true)
    about = json.loads(taken["printed"].splitlines()[-1])
    sizes = np.bincount(truth)
    return {
        **about,
        "seconds": about["seconds"] + clustering,
        "whole_seconds": taken["seconds"] + clustering,
        "peak_mb": taken["peak_mb"],
        "default": _measured(usual, truth, table, scoring),
        "best": {**_measured(best, truth, table, scoring), "threshold": weight},
        "reliability": bins,
        "calibration_error": calibration_error(bins),
        "pairs": scores.height,
        "pair_recall": int(is_true.sum()) / max(int(sizes @ (sizes - 1)) // 2, 1),
    }


def _measured(labels: Ints, truth: Ints, table: pl.DataFrame, scoring: Scoring) -> dict[str, Any]:
    result: dict[str, Any] = rates(labels, truth)
    if scoring.wrong and "birth_date" in table.columns:
        result["wrong_links"] = wrong_links(labels, truth, table)
    return result


def best_of(runs: dict[str, Any], at: str) -> tuple[str, dict[str, Any]] | None:
    """Return the specification with the best F1 at the default or the best threshold."""
    finished = {name: run for name, run in runs.items() if "error" not in run}
    if not finished:
        return None
    name = max(finished, key=lambda each: finished[each][at]["f1"])
    return name, finished[name]

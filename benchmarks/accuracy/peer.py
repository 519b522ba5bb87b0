"""Splink in its own environment: made once, run as another process, and scored with the truth."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from accuracy.columns import DESCRIPTIONS, specifications
from accuracy.measures import (
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
    python: str, name: str, table: pl.DataFrame, truth: Ints, seed: int
) -> dict[str, Any]:
    """Run all specifications of a table, and return each with its measures."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        fields = table.drop("rec_id", "ent_id")
        fields.select(unique_id=pl.int_range(pl.len())).hstack(fields).write_csv(file)
        return {
            each: _scored(python, file, {**description, "seed": seed}, table, truth)
            for each, description in specifications(DESCRIPTIONS[name]).items()
        }


def _scored(
    python: str, file: Path, description: dict[str, Any], table: pl.DataFrame, truth: Ints
) -> dict[str, Any]:
    told, result = file.with_suffix(".json"), file.with_suffix(".parquet")
    told.write_text(json.dumps(description), encoding="utf-8")
    done = subprocess.run(
        [python, SCRIPT, file, told, result], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return {"error": " ".join(done.stderr.split())[-300:]}
    scores = pl.read_parquet(result)
    is_true = truth[scores["a"].to_numpy()] == truth[scores["b"].to_numpy()]
    began = time.monotonic()
    usual = linked_above(scores, truth.size, "probability", DEFAULT_THRESHOLD)
    clustering = time.monotonic() - began
    weight, best = best_threshold(scores, truth)
    bins = reliability(scores["probability"].to_numpy(), is_true)
    about = json.loads(done.stdout.splitlines()[-1])
    sizes = np.bincount(truth)
    return {
        **about,
        "seconds": about["seconds"] + clustering,
        "default": _measured(usual, truth, table),
        "best": {**_measured(best, truth, table), "threshold": weight},
        "reliability": bins,
        "calibration_error": calibration_error(bins),
        "pairs": scores.height,
        "pair_recall": int(is_true.sum()) / max(int(sizes @ (sizes - 1)) // 2, 1),
    }


def _measured(labels: Ints, truth: Ints, table: pl.DataFrame) -> dict[str, Any]:
    measured: dict[str, Any] = rates(labels, truth)
    if "birth_date" in table.columns:
        measured["wrong_links"] = wrong_links(labels, truth, table)
    return measured


def best_of(runs: dict[str, Any], at: str) -> tuple[str, dict[str, Any]] | None:
    """Return the specification with the best F1 at the default or the best threshold."""
    finished = {name: run for name, run in runs.items() if "error" not in run}
    if not finished:
        return None
    name = max(finished, key=lambda each: finished[each][at]["f1"])
    return name, finished[name]

"""The parts of the benchmark: each starts processes, and returns plain numbers."""

import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from accuracy.measures import calibration_error, reliability, truly_linked
from accuracy.peer import Scoring, run_splink
from measured import measured

from kolchin.evaluation import encode

KOLCHIN = (sys.executable, "-m", "kolchin")
ROUNDS = Path(__file__).parents[1] / "rounds.py"

SPLINK = {"first": "plain", "expert": "fewer columns"}
"""Specifications of `accuracy/columns.py`: one that is tried first, and the best one for people."""

SCORING = Scoring(np.arange(-10.0, 40.5, 0.5), wrong=False)
"""Thresholds half a bit apart. Pairs of wrong links may be too many to list."""

DRAWS_BY_CORES = 50
FEW_RECORDS = 2_000


def warm_up(folder: Path, seed: int) -> None:
    """Compile the kernels, those of shards too, so that the first run does not pay for it."""
    file = folder / f"people-{FEW_RECORDS}.csv"
    simulate(file, FEW_RECORDS, seed)
    few = ("--draws", "5", "--truth", "ent_id")
    for command in (
        resolving(file, folder / "warm-up", seed, *few),
        [sys.executable, ROUNDS, "--n", FEW_RECORDS, "--rounds", 1, "--warmup", 2],
    ):
        failed = measured(command).get("error")
        if failed:
            raise SystemExit(f"The warm-up failed: {failed}")
    shutil.rmtree(folder / "warm-up")


def simulate(file: Path, n_records: int, seed: int) -> dict[str, Any]:
    """Simulate people with the defaults of the command."""
    command = [*KOLCHIN, "simulate", "people", "--n", n_records, "--seed", seed, "--out", file]
    taken = measured(command)
    taken.pop("printed", None)
    return taken


def resolving(file: Path, out: Path, seed: int, *options: str) -> list[Any]:
    """Return the command that resolves a file."""
    given = ["--id", "rec_id", "--seed", seed, "--quiet", "--overwrite", *options]
    return [*KOLCHIN, "resolve", file, "--out", out, *given]


def resolve(file: Path, out: Path, seed: int, time_limit: str | None) -> dict[str, Any]:
    """Resolve a file with defaults in a fresh process, and read what it wrote."""
    limits = () if time_limit is None else ("--time-limit", time_limit)
    taken = measured(resolving(file, out, seed, "--truth", "ent_id", *limits))
    taken.pop("printed", None)
    if "error" in taken:
        return taken
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    links = pl.read_csv(out / "links.csv", infer_schema=False, columns=[0, 1, 2])
    known = pl.read_csv(file, infer_schema=False, columns=["rec_id", "ent_id"])
    shutil.rmtree(out)
    return {**taken, **numbers(summary), **calibrated(links, known)}


def numbers(summary: dict[str, Any]) -> dict[str, Any]:
    """Take what is shown from a summary."""
    checks, sampling = summary["diagnostics"], summary["seconds"]["sampling"]
    settings, found = summary["settings"], summary["evaluation"]["point_estimate"]
    steps = settings["warmup"] + summary["draws"] * settings["thin"]
    ess = checks["quantities"]["n_entities"]["ess"]
    return {
        "records": summary["n_records"],
        "phases": summary["seconds"],
        "draws": summary["draws"],
        "chains": settings["chains"],
        "warmup": settings["warmup"],
        "ended": summary["ended"],
        "rhat": checks["rhat"],
        "ess": checks["ess"],
        "converged": checks["converged"],
        "n_entities": summary["n_entities"],
        **{name: found[name] for name in ("f1", "precision", "recall")},
        "candidates": summary.get("candidates", {}).get("n_pairs"),
        "moves_a_step": sum(summary["moves"]),
        "moves_a_second": sum(summary["moves"]) * steps / sampling,
        "ess_of_entities": ess,
        "ess_a_second": None if ess is None else ess / sampling,
        "version": summary["version"],
    }


def calibrated(links: pl.DataFrame, known: pl.DataFrame) -> dict[str, Any]:
    """Return the true number of entities, and how far probabilities are from shares of links."""
    truth = encode(known["ent_id"].to_list())
    is_true = truly_linked(links, known["rec_id"], truth)
    bins = reliability(links["probability"].cast(pl.Float64).to_numpy(), is_true)
    return {"entities": int(truth.max()) + 1, "calibration_error": calibration_error(bins)}


def splink(file: Path, python: str, specification: str, seed: int) -> dict[str, Any]:
    """Run Splink on the same file, told about its columns."""
    table = pl.read_csv(file, infer_schema=False)
    truth = encode(table["ent_id"].to_list())
    runs = run_splink(python, "people", table, truth, seed, [specification], SCORING)
    run: dict[str, Any] = runs[specification]
    run.pop("reliability", None)
    return {**run, "specification": specification}


def on_cores(file: Path, out: Path, seed: int, cores: int) -> dict[str, Any]:
    """Make a fixed number of draws on some cores, and name what was written by its content."""
    options = ("--draws", str(DRAWS_BY_CORES), "--cores", str(cores), "--time-limit", "none")
    taken = measured(resolving(file, out, seed, "--truth", "ent_id", *options), cores)
    taken.pop("printed", None)
    if "error" in taken:
        return taken
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    written = [(out / name).read_bytes() for name in ("links.csv", "entities.csv")]
    shutil.rmtree(out)
    content = hashlib.sha256(b"".join(written)).hexdigest()
    return {**taken, "phases": summary["seconds"], "content": content, "cores": cores}

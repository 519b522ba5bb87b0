"""kolchin with defaults alone, measured."""

import time
import warnings
from typing import Any

import polars as pl

import kolchin as kp
from accuracy.measures import (
    Ints,
    calibration_error,
    rates,
    reliability,
    truly_linked,
    wrong_links,
)


def run_kolchin(
    table: pl.DataFrame, truth: Ints, seed: int, limits: dict[str, Any]
) -> dict[str, Any]:
    """Resolve a table as anybody would, and compare with the truth.

    ``limits`` is empty but for a quick look, which may have no time for a converged run.
    """
    began = time.monotonic()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # notes about the table, which are kept below
            result = kp.resolve(
                table, id="rec_id", truth="ent_id", seed=seed, progress=False, **limits
            )
    except kp.KolchinError as error:
        return {"error": str(error).splitlines()[0]}
    links, labels = result.links, result.labels
    seconds = time.monotonic() - began
    summary = result.summary()
    is_true = truly_linked(links, result.entities["record"], truth)
    bins = reliability(links["probability"].to_numpy(), is_true)
    measured: dict[str, Any] = rates(labels, truth)
    if "birth_date" in table.columns:
        measured["wrong_links"] = wrong_links(labels, truth, table)
    return {
        **measured,
        "n_entities": summary["n_entities"],
        "seconds": seconds,
        "reliability": bins,
        "calibration_error": calibration_error(bins),
        "rhat": summary["diagnostics"]["rhat"],
        "converged": summary["diagnostics"]["converged"],
        "ended": summary["ended"],
        "fields": summary["settings"]["fields"],
        "notes": summary["notes"],
        "version": summary["version"],
    }


def warm_up() -> None:
    """Compile or load the kernels, so that the first table does not pay for it."""
    people = {"name": ["ann", "ann", "bob", "eve"] * 3, "who": [1, 1, 2, 3] * 3}
    people["born"] = ["1970-01-31", "1970-01-30", "1981-02-03", "1992-03-04"] * 3
    result = kp.resolve(people, truth="who", chains=2, draws=20, seed=1, progress=False)
    assert result.links.height
    assert result.summary()

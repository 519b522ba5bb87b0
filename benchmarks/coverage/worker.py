"""Resolve one table with the kolchin that is first on the path, and print its numbers as JSON.

    python benchmarks/coverage/worker.py TABLE.parquet '{"seed": 1, "time_limit": 120}'

Settings are those of `kp.resolve`. An error is printed as a number is, and does not stop anything.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import polars as pl

sys.path.append(str(Path(__file__).parents[1]))  # last: it has a folder `coverage`

from accuracy.measures import calibration_error, rates, reliability, truly_linked

import kolchin as kp
from kolchin.evaluation import encode

MIDDLE = range(1, 9)
"""The bins of probabilities from 0.1 to 0.9, where links are neither sure nor hardly possible."""

LEAST_SD = 0.5
MOST_ERROR = 300


def resolve(table: pl.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Resolve a table, and compare with the truth; an error is a result as well."""
    began = time.monotonic()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # notes about the table, which are kept below
            result = kp.resolve(
                table, id="rec_id", truth="ent_id", progress=False, cores=1, **settings
            )
            links, labels = result.links, result.labels
            seconds = time.monotonic() - began
            summary = result.summary()
    except Exception as error:
        said = " ".join(str(error).split())[:MOST_ERROR]
        return {"error": f"{type(error).__name__}: {said}"}
    truth = encode(table["ent_id"].to_list())
    is_true = truly_linked(links, result.entities["record"], truth)
    bins = reliability(links["probability"].to_numpy(), is_true)
    return {
        **count_entities(summary["n_entities"], int(truth.max()) + 1),
        **rates(labels, truth),
        "reliability": bins,
        **measure_middle(bins),
        "rhat": summary["diagnostics"]["rhat"],
        "ess": summary["diagnostics"]["ess"],
        "converged": bool(summary["diagnostics"]["converged"]),
        "ended": summary["ended"],
        "seconds": seconds,
        "notes": list(summary["notes"]),
        "fields": summary["settings"]["fields"],
    }


def count_entities(found: dict[str, float], n_entities: int) -> dict[str, Any]:
    """Compare the posterior of the number of entities with the true number."""
    mean, sd, low, high = (float(found[name]) for name in ("mean", "sd", "q05", "q95"))
    return {
        "mean": mean,
        "sd": sd,
        "q05": low,
        "q95": high,
        "covered": low <= n_entities <= high,
        "z": (mean - n_entities) / max(sd, LEAST_SD),
    }


def measure_middle(bins: list[dict[str, float]]) -> dict[str, float | None]:
    """Return the pairs of middle probabilities, and how far these are from shares of links."""
    middle = [row for row in bins if row["bin"] in MIDDLE]
    pairs = sum(row["pairs"] for row in middle)
    return {"middle_pairs": pairs, "middle_error": calibration_error(middle)}


def main() -> None:
    """Resolve a table as asked."""
    file, settings = sys.argv[1:]
    numbers = resolve(pl.read_parquet(file), json.loads(settings))
    print(json.dumps({**numbers, "package": str(Path(kp.__file__).parent)}))


if __name__ == "__main__":
    main()

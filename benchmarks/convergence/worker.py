"""Resolve one table with the kolchin that is first on the path, and print how its chains went.

    python benchmarks/convergence/worker.py TABLE.parquet '{"seed": 1, "time_limit": 120}'

Settings are those of `kp.resolve`, and `diagnose` (CPU seconds of a chain from the truth; 0: not at
all) and `most_cpu` (seconds of sampling of all cores after which it ends, if there are draws). An
error is printed as a number is, and does not stop anything.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.append(str(Path(__file__).parents[1]))

import kolchin as kp
from convergence.elsewhere import import_first
from convergence.looking import Looks, efficiency, first_below, worst_quantity

# Other checkouts have it elsewhere.
session = import_first("kolchin.resolution.running.session", "kolchin.resolution.session")

MOST_ERROR = 300
BOUNDS = (1.05, 1.01)

kept: list[Any] = []


class Kept(session.Run):  # type: ignore[misc, name-defined]
    """A run that can be looked into after it has ended."""

    def go_on(self, **options: Any) -> None:
        """Go on, and be remembered."""
        kept.append(self)
        super().go_on(**options)


def resolve(table: pl.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Resolve a table, and tell how its chains went; an error is a result as well."""
    session.Run = Kept
    diagnosed = settings.pop("diagnose", 0)
    looks = Looks(settings.pop("most_cpu", None))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = kp.resolve(table, id="rec_id", truth="ent_id", progress=looks.look, **settings)
            summary = result.summary()
    except Exception as error:
        said = " ".join(str(error).split())[:MOST_ERROR]
        return {"error": f"{type(error).__name__}: {said}"}
    found = summary["n_entities"]
    numbers = {
        **{name: float(found[name]) for name in ("mean", "q05", "q95")},
        "ended": summary["ended"],
        "rhat": summary["diagnostics"]["rhat"],
        "converged": bool(summary["diagnostics"]["converged"]),
        "draws": summary["draws"],
        "whole_seconds": looks.whole_seconds(),
        "sampling_seconds": summary["seconds"]["sampling"],
        **_traced(result.posterior, looks),
    }
    truth = np.unique(table["ent_id"].to_numpy(), return_inverse=True)[1]
    return {**numbers, **_look_inside(result.posterior, truth, diagnosed)}


def _traced(posterior: Any, looks: Looks) -> dict[str, Any]:
    """Say when R-hat fell, what is worst, and how many effective samples a CPU second gives."""
    ends = {str(bound): first_below(posterior, bound) for bound in BOUNDS}
    return {
        "first_draw": looks.seconds_of(1),
        "below": {name: looks.seconds_of(n) for name, n in ends.items()},
        "cpu": {name: looks.cpu_seconds_of(n) for name, n in {"first draw": 1, **ends}.items()},
        "worst": worst_quantity(posterior),
        "ess_a_cpu_second": efficiency(posterior, looks.cpu_seconds),
    }


def _look_inside(posterior: Any, truth: Any, diagnosed: float) -> dict[str, Any]:
    """Look into the chains, if those of the checkout are such as they are here."""
    try:
        from convergence.diagnosing import diagnose
        from convergence.moving import costs_by_size
    except ImportError as error:
        return {"costs": {"error": str(error)[:MOST_ERROR]}}
    run = kept[-1]
    costs = costs_by_size(run)
    return {"costs": costs} | (
        {"verdict": diagnose(run, posterior, truth, diagnosed)} if diagnosed else {}
    )


def main() -> None:
    """Resolve a table as asked."""
    file, settings = sys.argv[1:]
    began = time.monotonic()
    numbers = resolve(pl.read_parquet(file), json.loads(settings))
    told = {**numbers, "process_seconds": time.monotonic() - began}
    print(json.dumps({**told, "package": str(Path(kp.__file__).parent)}))


if __name__ == "__main__":
    main()

"""When things happened in a run: its progress is noted, and its draws are judged afterwards."""

import time
from typing import Any

import numpy as np

from convergence.elsewhere import import_first, take_first

# Other checkouts have it elsewhere.
_judging = import_first("kolchin.posterior.convergence", "kolchin.posterior.diagnostics")
convergence = take_first(_judging, "measure_convergence", "convergence")
diagnostics = take_first(_judging, "tabulate_diagnostics", "diagnostics")

WAITED_FOR = ("n_clusters", "singletons")
"""What a run must know before it ends."""

FEWEST_DRAWS, GROWTH = 20, 1.1


class Looks:
    """Seconds since the beginning, by how many draws every chain had made.

    After ``most_cpu`` seconds of all cores in sampling, if there are draws, it interrupts the run.
    """

    def __init__(self, most_cpu: float | None = None) -> None:
        self.most_cpu = most_cpu
        self.began = time.monotonic()
        self.sampling_cpu: float | None = None
        self.cpu_seconds = 0.0
        self.began_cpu = time.process_time()
        self.draws: list[int] = []
        self.seconds: list[float] = []
        self.cpu: list[float] = []

    def look(self, state: Any) -> None:
        """Take note of a moment; the first comes a quarter of a second after sampling began."""
        now = time.process_time()
        if self.sampling_cpu is None:
            self.sampling_cpu = now - state.seconds
        self.cpu_seconds = now - self.sampling_cpu
        self.draws.append(int(state.n_clusters.shape[-1]) if state.n_clusters.ndim == 2 else 0)
        self.seconds.append(self.whole_seconds())
        self.cpu.append(now - self.began_cpu)
        if self.most_cpu is not None and self.draws[-1] and self.cpu_seconds > self.most_cpu:
            raise KeyboardInterrupt

    def whole_seconds(self) -> float:
        """Return the seconds since the table was given."""
        return time.monotonic() - self.began

    def seconds_of(self, n_draws: int | None) -> float | None:
        """Return when every chain had so many draws; None if that was never seen."""
        return self._at(self.seconds, n_draws)

    def cpu_seconds_of(self, n_draws: int | None) -> float | None:
        """Return the seconds of all cores until then."""
        return self._at(self.cpu, n_draws)

    def _at(self, seconds: list[float], n_draws: int | None) -> float | None:
        if n_draws is None:
            return None
        place = int(np.searchsorted(self.draws, n_draws))
        return seconds[place] if place < len(seconds) else None


def first_below(posterior: Any, bound: float) -> int | None:
    """Return the number of draws from which on R-hat of what is waited for stays below a bound."""
    values = [np.asarray(posterior.statistics[name]) for name in WAITED_FOR]
    n_draws = values[0].shape[1]
    if n_draws < FEWEST_DRAWS:
        return None
    steps = np.geomspace(FEWEST_DRAWS, n_draws, 1 + int(np.log(n_draws / 20) / np.log(GROWTH)))
    looks = np.unique(np.append(steps.astype(int), n_draws))
    first = None
    for n in looks[::-1].tolist():
        rhats = [convergence(value[:, :n])[0] for value in values]
        if not all(rhat < bound for rhat in rhats):
            break
        first = n
    return first


def worst_quantity(posterior: Any) -> dict[str, Any]:
    """Return the quantity whose R-hat is largest, of all that are sampled."""
    table = diagnostics(posterior).drop_nulls("rhat")
    rows = [row for row in table.iter_rows(named=True) if not np.isnan(row["rhat"])]
    if not rows:
        return {"name": "-", "rhat": None}
    worst = max(rows, key=lambda row: row["rhat"])
    return {"name": worst["quantity"], "rhat": float(min(worst["rhat"], 99.0))}


def efficiency(posterior: Any, cpu_seconds: float) -> float | None:
    """Return the effective samples of K that a CPU second of sampling gives, warm-up included."""
    size = convergence(np.asarray(posterior.statistics["n_clusters"], dtype=float))[1]
    return float(size / cpu_seconds) if np.isfinite(size) and cpu_seconds > 0 else None

"""What the results of a run cost once it is drawn: memory and seconds of every summary.

A posterior of many records is made up: entities of one to four records, some records that are
undecided between two entities, and of these some that change their mind from draw to draw.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from kolchin.posterior import Posterior, Recorder
from kolchin.posterior.recorder import recorded


@njit
def change(following: Any, records: Any, targets: Any) -> None:
    """Take records out of their rings and put each behind its target, or alone behind itself."""
    for n, target in zip(records, targets):  # noqa: B905
        before = n
        while following[before] != n:
            before = following[before]
        following[before] = following[n]
        following[n] = n
        if target != n:
            following[n] = following[target]
            following[target] = n


def entities(rng: np.random.Generator, n_records: int) -> np.ndarray:
    """Return the true entity of each record, in no order."""
    sizes = rng.choice(4, n_records, p=[0.35, 0.35, 0.2, 0.1]) + 1
    return rng.permutation(np.repeat(np.arange(n_records), sizes)[:n_records])


def rings(truth: np.ndarray) -> np.ndarray:
    """Turn entities into rings."""
    order = np.argsort(truth, kind="stable")
    following = np.empty(truth.size, dtype=np.int32)
    starts = np.flatnonzero(np.diff(truth[order], prepend=-1))
    following[order[:-1]] = order[1:]
    following[order[np.append(starts[1:], truth.size) - 1]] = order[starts]
    return following


def made_up(n_records: int, n_chains: int, n_draws: int, n_changes: int) -> tuple[Any, Any]:
    """Return recorders, one a chain, and the true entities."""
    rng = np.random.default_rng(1)
    truth = entities(rng, n_records)
    undecided = rng.choice(n_records, min(8 * n_changes, n_records // 4), replace=False)
    settled = np.setdiff1d(np.arange(n_records), undecided)
    homes = np.column_stack((undecided, rng.choice(settled, (undecided.size, 2))))
    recorders = []
    for _ in range(n_chains):
        following = rings(truth)
        recorder = Recorder(n_records)
        for _ in range(n_draws):
            some = rng.choice(undecided.size, n_changes, replace=False)
            change(following, undecided[some], homes[some, rng.integers(3, size=n_changes)])
            recorder.add(following, {"delta": rng.random()}, rng.normal())
        recorders.append(recorder)
    return recorders, truth


def peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(name: str, step: Callable[[], Any]) -> Any:
    """Do something and say how long it took."""
    began = time.perf_counter()
    result = step()
    print(f"{name:16} {time.perf_counter() - began:7.2f} s   peak {peak():6.0f} MB", flush=True)
    return result


def main() -> None:
    """Make a posterior up, store it, and summarise it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--changes", type=int, default=5_000)
    given = parser.parse_args()
    made_up(100, 2, 3, 5)  # compiles
    shape = given.n, given.chains, given.draws, given.changes
    recorders, truth = timed("recording", lambda: made_up(*shape))
    posterior = timed("posterior", lambda: recorded(recorders, {}))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draws.npz"
        timed("save", lambda: posterior.save(path))
        print(f"{path.stat().st_size / 2**20:.0f} MB on disk")
        posterior = timed("load", lambda: Posterior.load(path))
    timed("statistics", lambda: posterior.statistics)
    timed("diagnostics", posterior.diagnostics)
    timed("distinct", lambda: posterior.distinct)
    timed("links", lambda: posterior.links(0.01))
    labels = timed("point estimate", posterior.point_estimate)
    timed("confidence", lambda: posterior.confidence(labels))
    timed("evaluate", lambda: posterior.evaluate(truth))


if __name__ == "__main__":
    main()

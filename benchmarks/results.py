"""What the results of a run cost once it is drawn: memory and seconds of every summary.

python benchmarks/results.py [--n 1000000] [--chains 4] [--draws 200] [--changes 5000]

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
from numpy.typing import NDArray

from kolchin.posterior import Posterior, Recorder
from kolchin.posterior.recorder import collect_posterior
from kolchin.resolution.running.directory import choose_part_length


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


def entities(rng: np.random.Generator, n_records: int) -> NDArray[np.int64]:
    """Return the true entity of each record, in no order."""
    sizes = rng.choice(4, n_records, p=[0.35, 0.35, 0.2, 0.1]) + 1
    return rng.permutation(np.repeat(np.arange(n_records), sizes)[:n_records])


def rings(truth: NDArray[np.int64]) -> NDArray[np.int32]:
    """Turn entities into rings."""
    order = np.argsort(truth, kind="stable")
    following = np.empty(truth.size, dtype=np.int32)
    starts = np.flatnonzero(np.diff(truth[order], prepend=-1))
    following[order[:-1]] = order[1:]
    following[order[np.append(starts[1:], truth.size) - 1]] = order[starts]
    return following


def record(
    folder: Path, n_records: int, n_chains: int, n_draws: int, n_changes: int
) -> NDArray[np.int64]:
    """Make up chains, write their draws in parts as a run does, and return the true entities."""
    rng = np.random.default_rng(1)
    truth = entities(rng, n_records)
    undecided = rng.choice(n_records, min(8 * n_changes, n_records // 4), replace=False)
    settled = np.setdiff1d(np.arange(n_records), undecided)
    homes = np.column_stack((undecided, rng.choice(settled, (undecided.size, 2))))
    chains = [(rings(truth), Recorder(n_records)) for _ in range(n_chains)]
    saved = 0
    for t in range(n_draws):
        for following, recorder in chains:
            some = rng.choice(undecided.size, n_changes, replace=False)
            change(following, undecided[some], homes[some, rng.integers(3, size=n_changes)])
            recorder.add(following, {"delta": rng.random()}, rng.normal())
        if t + 1 - saved == choose_part_length(n_records) or t + 1 == n_draws:
            collect_posterior([recorder for _, recorder in chains], {}, saved).append(folder)
            saved = t + 1
            for _, recorder in chains:
                recorder.forget(saved)
    return truth


def peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(name: str, step: Callable[[], Any]) -> Any:
    """Do something and say how long it took."""
    began, used = time.perf_counter(), time.process_time()
    result = step()
    seconds, cpu = time.perf_counter() - began, time.process_time() - used
    print(f"{name:16} {seconds:7.2f} s {cpu:7.2f} CPU s   peak {peak():6.0f} MB", flush=True)
    return result


def main() -> None:
    """Make a posterior up, store it, and summarise it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--changes", type=int, default=5_000)
    given = parser.parse_args()
    shape = given.n, given.chains, given.draws, given.changes
    with tempfile.TemporaryDirectory() as folder:
        record(Path(folder) / "compiling", 100, 2, 3, 5)
        draws = Path(folder) / "draws"
        truth = timed("recording", lambda: record(draws, *shape))
        print(f"{sum(p.stat().st_size for p in draws.iterdir()) / 2**20:.0f} MB on disk")
        posterior = timed("loading", lambda: Posterior.load(draws))
    timed("statistics", lambda: posterior.statistics)
    timed("diagnostics", posterior.diagnostics)
    timed("distinct", lambda: posterior.distinct)
    timed("links", lambda: posterior.links(0.01))
    labels = timed("point estimate", posterior.point_estimate)
    timed("confidence", lambda: posterior.confidence(labels))
    timed("evaluate", lambda: posterior.evaluate(truth))


if __name__ == "__main__":
    main()

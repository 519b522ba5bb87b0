"""Many runs at the same time.

Each finished run is one JSON file, written by the worker that made it, so a stop loses only
what is under way.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from kolchin.errors import ModelError
from kolchin.paper.experiment import execute, rehearse
from kolchin.paper.printed import MODELS
from kolchin.paper.result import Progress, ignore
from kolchin.paper.run import Effort, ExperimentRun, RunResult
from kolchin.simulation import paper_dataset


def plan_runs(
    datasets: Iterable[str],
    deltas: Iterable[float],
    replicates: int,
    seed: int,
    effort: Effort,
) -> list[ExperimentRun]:
    """Return all runs: first data sets first, and among those the longest runs first."""
    if replicates < 1:
        raise ModelError(
            f"The 'replicates' parameter must be 1 or more. Got {replicates!r} instead."
        )
    datasets, deltas = list(datasets), list(deltas)
    longest_first = sorted(datasets, key=lambda name: -paper_dataset(name).n_records)
    return [
        ExperimentRun(dataset, delta, model, replicate, seed, effort)
        for replicate in range(replicates)
        for dataset in longest_first
        for delta in deltas
        for model in MODELS
    ]


def complete(
    runs: Sequence[ExperimentRun],
    directory: Path,
    cores: int | None = None,
    progress: Progress = ignore,
) -> list[RunResult]:
    """Return the results of all runs, making those that the directory does not hold yet."""
    results = {run: RunResult.load(run, directory) for run in runs}
    missing = [run for run, result in results.items() if result is None]
    n_workers = min(cores or os.cpu_count() or 1, len(missing))
    progress(len(runs) - len(missing), len(runs), "starting")
    made = _make_all(missing, directory, n_workers)
    for done, result in enumerate(made, len(runs) - len(missing) + 1):
        results[result.run] = result
        progress(done, len(runs), f"{result.run.name} took {result.seconds:.0f} s")
    return [result for result in results.values() if result is not None]


def _make_all(
    runs: Sequence[ExperimentRun], directory: Path, n_workers: int
) -> Iterator[RunResult]:
    """Yield results as they are finished."""
    if n_workers <= 1:
        for run in runs:
            yield _make(run, directory)
        return
    # The first run is made here, and a worker rehearses its end: between them they fill the cache
    # of compiled code, for which workers would race.
    first = min(runs, key=lambda run: paper_dataset(run.dataset).n_records)
    with _workers(n_workers) as pool:
        rehearsal = pool.submit(rehearse, first)
        yield _make(first, directory)
        rehearsal.result()
        futures = [pool.submit(_make, run, directory) for run in runs if run != first]
        for future in as_completed(futures):
            yield future.result()


@contextmanager
def _workers(n_workers: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of processes that ends at once when something goes wrong."""
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(
        n_workers,
        # A fork would copy the thread pools of Polars and the progress bar in an unknown state.
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_serve,
        initargs=(os.getpid(),),
    )
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(multiprocessing.active_children()) - before:
            worker.terminate()
        raise
    pool.shutdown()


def _serve(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _make(run: ExperimentRun, directory: Path) -> RunResult:
    """Simulate the data set of a run, sample the posterior, measure and keep the result."""
    result = execute(run)
    result.save(directory)
    return result

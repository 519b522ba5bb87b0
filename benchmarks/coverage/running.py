"""Tables resolved in worker processes, several at a time, by this checkout or by another one."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from kinds import KINDS, Table

WORKER = Path(__file__).with_name("worker.py")
ONE_THREAD = dict.fromkeys(
    ("NUMBA_NUM_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)
PATIENCE = 300
"""Seconds that a worker may take beside sampling."""

MOST_ERROR = 300
WARM_UP = ("people, all together", "survey, errors")
"""Kinds that between them need all that is compiled: compared fields, and categories alone."""


class Checkout(NamedTuple):
    """Sources to run: the name of their rows, and where they are."""

    name: str
    folder: Path

    @property
    def commit(self) -> str:
        """The commit that is checked out, and whether its package was changed since."""
        try:
            name = self._git("rev-parse", "--short", "HEAD")
            changed = self._git("status", "--porcelain", "--", "src")
        except (OSError, subprocess.CalledProcessError):
            return "unknown"
        return f"{name}, changed" if changed else name

    def _git(self, *words: str) -> str:
        asked = ["git", "-C", str(self.folder), *words]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


class Job(NamedTuple):
    """A table, and the sources that resolve it."""

    table: Table
    checkout: Checkout


def run_worker(
    checkout: Checkout,
    table: pl.DataFrame,
    settings: dict[str, Any],
    seconds: float,
    worker: Path = WORKER,
) -> dict[str, Any]:
    """Resolve a table in a process of its own, with the package of a checkout."""
    source = str(checkout.folder.resolve() / "src")
    path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.parquet"
        table.write_parquet(file)
        command = [sys.executable, str(worker), str(file), json.dumps(settings)]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                timeout=seconds,
                env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
            )
        except subprocess.TimeoutExpired:
            return {"error": f"not done after {seconds:.0f} s"}
    if done.returncode or not done.stdout.strip():
        said = " ".join(done.stderr.split())[-MOST_ERROR:]
        return {"error": said or f"ended with {done.returncode}"}
    numbers: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if not Path(numbers.pop("package")).is_relative_to(source):
        raise SystemExit(f"The worker did not take the package of {source}.")
    return numbers


def run_job(job: Job, seed: int, limit: float, commit: str) -> dict[str, Any]:
    """Draw a table, resolve it, and return its row."""
    table = job.table.draw(seed)
    settings = {"seed": seed, "time_limit": limit, **job.table.settings}
    if "source" not in settings:
        table = table.drop("source", strict=False)
    numbers = run_worker(job.checkout, table, settings, 3 * limit + PATIENCE)
    return {
        "kind": job.table.kind,
        "number": job.table.number,
        "name": job.table.name,
        "seed": seed,
        "limit": limit,
        "checkout": job.checkout.name,
        "commit": commit,
        "n_records": table.height,
        "n_entities": table["ent_id"].n_unique(),
        **numbers,
    }


def run_all(jobs: list[Job], n_at_once: int, seed: int, limit: float) -> Iterator[dict[str, Any]]:
    """Run jobs, some at once, and yield the row of each as it ends."""
    commits = {job.checkout.name: job.checkout.commit for job in jobs}
    with ThreadPoolExecutor(n_at_once) as pool:
        begun = [pool.submit(run_job, job, seed, limit, commits[job.checkout.name]) for job in jobs]
        try:
            for ended in as_completed(begun):
                yield ended.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def warm_up(checkout: Checkout, tell: Callable[[str], None]) -> None:
    """Compile what is compiled, so that workers neither do it at once nor pay for it."""
    tell(f"compiling in {checkout.folder.resolve()}")
    for kind in WARM_UP:
        table = KINDS[kind][0].draw(1, 100)
        run_worker(checkout, table, {"seed": 1, "chains": 2, "draws": 20}, 2 * PATIENCE)

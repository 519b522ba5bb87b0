"""A whole run on worker processes: seconds by phase, and the memory of each process.

python benchmarks/workers.py [--n 1000000] [--workers 2] [--chains 4] [--draws N] [--file PARQUET]

Memory is what a process has for itself (anonymous pages): files of the store that are mapped are
shared by all processes of a machine, and given back when memory is short. The store is in the
directory of the run; its largest size is measured too.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SECONDS_BETWEEN_LOOKS = 0.5


def memory(process):
    """Return what a process has in memory for itself and of files, in bytes; None if it is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return None
    found = dict(line.split(":", 1) for line in lines if ":" in line)
    if "RssAnon" not in found:
        return None
    return tuple(int(found[name].split()[0]) * 1024 for name in ("RssAnon", "RssFile"))


def children(process):
    """Return the processes that a process has started."""
    listed = Path(f"/proc/{process}/task/{process}/children")
    try:
        return [int(number) for number in listed.read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def is_worker(process):
    """Tell workers of the pool from helpers of Python's multiprocessing."""
    try:
        return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


class Watch:
    """Looks at a process, its workers and a folder until told to end."""

    def __init__(self, process, folder):
        self.process = process
        self.folder = folder
        self.peaks = {}
        self.store = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self):
        while not self._ended.wait(SECONDS_BETWEEN_LOOKS):
            workers = [one for one in children(self.process) if is_worker(one)]
            for name, process in [("driver", self.process), *((str(w), w) for w in workers)]:
                now = memory(process)
                if now is not None:
                    before = self.peaks.get(name, (0, 0))
                    self.peaks[name] = tuple(map(max, before, now))
            self.store = max(self.store, sum(map(size_of, self.folder.glob("store-*/*"))))

    def end(self):
        self._ended.set()
        self._thread.join()


def size_of(path):
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=1_000_000, help="people to simulate")
    parser.add_argument("--file", type=Path, help="people that were simulated already")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--draws", type=int, help="of each chain; until it is enough by default")
    parser.add_argument("--time-limit", default="auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", help="by default a pool of the workers")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = given.file or Path(folder) / "people.parquet"
        if given.file is None:
            simulate = ["simulate", "people", "--n", str(given.n), "--seed", str(given.seed)]
            command = [sys.executable, "-m", "kolchin", *simulate, "--out", str(file)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        out = Path(folder) / "out"
        command = [sys.executable, "-m", "kolchin", "resolve", str(file), "--out", str(out)]
        command += ["--id", "rec_id", "--truth", "ent_id", "--seed", str(given.seed), "--quiet"]
        command += ["--engine", given.engine or f"pool:{given.workers}"]
        command += ["--chains", str(given.chains), "--time-limit", given.time_limit]
        command += ["--draws", str(given.draws)] if given.draws else []
        began = time.perf_counter()
        process = subprocess.Popen(command)
        watch = Watch(process.pid, out / "posterior")
        code = process.wait()
        seconds = time.perf_counter() - began
        watch.end()
        if code:
            raise SystemExit(f"kolchin ended with {code}")
        tell(json.loads((out / "summary.json").read_text()), seconds, watch)


def tell(summary, seconds, watch):
    """Print what was measured."""
    n_records = summary["n_records"]
    phases = ", ".join(f"{name} {value:,.1f}" for name, value in summary["seconds"].items())
    print(f"{n_records:,} records, {seconds:,.0f} s ({phases}).")
    scores = summary["evaluation"]["point_estimate"]
    found = ", ".join(f"{name} {scores[name]:.4f}" for name in ("precision", "recall", "f1"))
    how = summary["diagnostics"]
    rhat = f"R-hat {how['rhat']:.3f}, {summary['draws']} draws a chain ({summary['ended']})"
    print(f"{found}; K {summary['n_entities']['mean']:,.0f}; {rhat}.\n")
    print("| process | own memory | a record | mapped |\n|---|---:|---:|---:|")
    workers = sorted(name for name in watch.peaks if name != "driver")
    for name in ("driver", *workers):
        own, mapped = watch.peaks[name]
        shown = name if name == "driver" else f"worker {workers.index(name) + 1}"
        size = f"{own / 2**20:,.0f} MB | {own / n_records:,.0f} B | {mapped / 2**20:,.0f} MB"
        print(f"| {shown} | {size} |")
    store = f"{watch.store / 2**20:,.0f} MB, {watch.store / n_records:,.0f} B a record"
    print(f"\nThe store had at most {store}.")


if __name__ == "__main__":
    main()

"""Whether this checkout has become slower than another one: a few ratios, measured in one run.

    python benchmarks/ratios.py --beside OTHER_CHECKOUT [--rounds 3] [--people 10000]

Both checkouts do the same work in turn, each in processes of their own on one core, so that what
else the machine does hits both: sampling of categorical records (`moves`), in units of a reference
loop that reads random rows; and whole runs of people. The ratio of the medians is printed.
A loss of more than 20% (`--most 1.2`) ends with exit code 1.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
PHASES = ("comparing", "dependence", "sampling")
JUDGED = ("moves", "people")
"""What is measured in seconds of the processor; phases are by the clock, and only told."""
N_READS = 20_000_000


def reference_seconds() -> float:
    """Return how long a plain loop over random rows takes: the speed of the machine just now."""
    import numpy as np
    from numba import njit

    @njit
    def read(rng, rows, n_reads):
        total = 0
        for _ in range(n_reads):
            total += rows[int(rng.random() * rows.shape[0]), 0]
        return total

    rng, rows = np.random.default_rng(1), np.zeros((10_000, 16), dtype=np.int32)
    read(rng, rows, 10)
    began = time.process_time()
    read(rng, rows, N_READS)
    return time.process_time() - began


def measure(table: str) -> dict[str, float]:
    """Measure the kolchin that is first on the path; once before, so that nothing is compiled."""
    import kolchin as kp
    from kolchin.simulation import simulate_paper

    simulated = simulate_paper("italy", delta=0.05, seed=1).drop("rec_id", "ent_id")
    model = kp.Model(kp.Records.from_table(simulated), prior=kp.NBD())
    how = {"chains": 1, "cores": 1, "seed": 1, "progress": False}
    kp.sample(model, draws=5, **how)
    began = time.process_time()
    kp.sample(model, draws=150, **how)
    found = {"moves": (time.process_time() - began) / reference_seconds()}
    for draws in (5, 60):
        began = time.process_time()
        result = kp.resolve(
            table, id="rec_id", draws=draws, chains=2, seed=1, cores=1, progress=False
        )
        found["people"] = time.process_time() - began
    return found | {phase: result.seconds.get(phase, 0.0) for phase in PHASES}


def measured(checkout: Path, table: Path) -> dict[str, float]:
    """Measure a checkout in a process of its own."""
    one = dict.fromkeys(("NUMBA_NUM_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS"), "1")
    path = str(checkout.resolve() / "src")
    done = subprocess.run(
        [sys.executable, __file__, "--measure", str(table)],
        env={**os.environ, **one, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{checkout} could not be measured:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def ratios(ours: list[dict[str, float]], theirs: list[dict[str, float]]) -> dict[str, float]:
    """Return how many times as long this checkout takes, of what is judged."""
    found = {}
    for name in ours[0]:
        new, old = (statistics.median(row[name] for row in rows) for rows in (ours, theirs))
        print(f"{name:12} {new:8.2f} here {old:8.2f} beside {new / max(old, 1e-9):6.2f} times")
        if name in JUDGED:
            found[name] = new / max(old, 1e-9)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--beside", type=Path, help="another checkout")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--people", type=int, default=10_000, help="records of the whole runs")
    parser.add_argument("--most", type=float, default=1.2, help="a ratio above this is a loss")
    parser.add_argument("--measure", metavar="TABLE", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        warnings.simplefilter("ignore")
        print(json.dumps(measure(asked.measure)))
        return 0
    if asked.beside is None or not (asked.beside / "src" / "kolchin").is_dir():
        parser.error("--beside must be another checkout of this project, with src/kolchin in it")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "people.csv"
        words = ["simulate", "people", "--n", str(asked.people), "--seed", "7", "--out", str(table)]
        subprocess.run([sys.executable, "-m", "kolchin", *words], check=True)
        rows: tuple[list, list] = ([], [])
        for _ in range(asked.rounds):
            for kept, checkout in zip(rows, (HERE, asked.beside), strict=True):
                kept.append(measured(checkout, table))
    lost = {name: ratio for name, ratio in ratios(*rows).items() if ratio > asked.most}
    if lost:
        print("LOST: " + ", ".join(f"{name} {ratio:.2f} times" for name, ratio in lost.items()))
    return int(bool(lost))


if __name__ == "__main__":
    sys.exit(main())

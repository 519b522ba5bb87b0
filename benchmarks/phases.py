"""Seconds and memory of everything before sampling, by phase and number of records.

python benchmarks/phases.py [--records 10000 100000 1000000] [--seed 1]
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

PHASES = (
    ("reading", "kolchin.records.columns.open_tables", "read_tables"),
    ("cleaning", "kolchin.records.columns.open_tables", "clean_table"),
    ("inferring", "kolchin.records.columns.open_tables", "make_reports"),
    ("encoding", "kolchin.records.loading", "encode_fields"),
    ("fingerprint", "kolchin.records.loading", "_compute_fingerprint"),
    ("preparing", "kolchin.comparison.comparisons", "prepare_all"),
    ("candidates", "kolchin.comparison.comparisons", "find_candidates"),
    ("levels", "kolchin.comparison.comparisons", "compare_candidates"),
    ("chance", "kolchin.comparison.comparisons", "_assemble"),
    ("patterns", "kolchin.likelihoods.exemplar", "describe_outcomes"),
    ("dependence", "kolchin.likelihoods.exemplar", "learn_dependence"),
)
"""What is timed: a function, by the module that calls it."""


def peak():
    """Return the most memory since the last call, in GB, where the system tells it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    line = next(one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5")
    return int(line.split()[1]) / 2**20


def timed(rows, name, function):
    def wrapped(*given, **named):
        rows.append(("", 0.0, 0.0, peak()))
        wall, cpu = time.perf_counter(), time.process_time()
        result = function(*given, **named)
        rows.append((name, time.perf_counter() - wall, time.process_time() - cpu, peak()))
        return result

    return wrapped


def recall(pairs, truth):
    """Return the share of true links among the candidates."""
    entity = np.unique(truth, return_inverse=True)[1]
    sizes = np.bincount(entity)
    found = np.count_nonzero(entity[pairs[:, 0]] == entity[pairs[:, 1]])
    return found / max(int((sizes * (sizes - 1) // 2).sum()), 1)


def measure(file):
    """Go from a file to a model, and print what each phase took."""
    import importlib

    from kolchin import Model, compare
    from kolchin.records.loading import load

    warnings.simplefilter("ignore")
    rows = []
    for name, module, function in PHASES:
        home = importlib.import_module(module)
        setattr(home, function, timed(rows, name, getattr(home, function)))
    wall, cpu = time.perf_counter(), time.process_time()
    loaded = load(file, id="rec_id", truth="ent_id")
    records, truth = loaded.records, loaded.truth
    del loaded
    model = Model(records, likelihood=compare(records))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    pairs = model.comparisons.pairs
    rows.append(("all", wall, cpu, max(peak(), *(row[3] for row in rows))))
    facts = {
        "pairs a record": len(pairs) / records.n_records,
        "recall": recall(pairs, truth.to_numpy()),
        "patterns": model.likelihood.n_patterns,
    }
    print(json.dumps({"rows": [row for row in rows if row[0]], "facts": facts}))


def run(n_records, seed, folder):
    """Measure in a fresh process, so that nothing is left over from what came before."""
    file = Path(folder) / f"people{n_records}.csv"
    simulate = [sys.executable, "-m", "kolchin", "simulate", "people"]
    command = [*simulate, "--n", str(n_records), "--seed", str(seed), "--out", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    command = [sys.executable, __file__, "--file", str(file)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", help="measure a file that is there, in this process")
    given = parser.parse_args()
    if given.file:
        measure(given.file)
        return
    with tempfile.TemporaryDirectory() as folder:
        run(1_000, 1, folder)  # compiles what was not yet
        for n_records in given.records:
            found = run(n_records, given.seed, folder)
            print(
                f"{n_records:,} records\n| phase | seconds | CPU | peak GB |\n|---|---:|---:|---:|"
            )
            for name, wall, cpu, memory in found["rows"]:
                print(f"| {name} | {wall:.1f} | {cpu:.1f} | {memory:.2f} |")
            facts = found["facts"]
            print(
                f"{facts['pairs a record']:.1f} candidates a record, recall {facts['recall']:.4f}, "
                f"{facts['patterns']:,} patterns\n",
                flush=True,
            )


if __name__ == "__main__":
    main()

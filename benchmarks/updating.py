"""How long it takes to add records to a finished run, and how much the result differs.

    python benchmarks/updating.py --records 100000 --new 1000

People are simulated; all but the new ones are resolved, then the new ones are added. With --whole
all are resolved together as well, and the two lists are compared.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

import kolchin as kp
from kolchin.evaluation import evaluate
from kolchin.simulation.people import simulate_people


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, default=100_000)
    options.add_argument("--new", type=int, default=1_000)
    options.add_argument("--draws", type=int, default=100)
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--whole", action="store_true", help="resolve all together as well")
    asked = options.parse_args()
    table = simulate_people(asked.records, asked.seed)
    table = table[np.random.default_rng(asked.seed).permutation(table.height)]
    truth, table = table["ent_id"].to_numpy(), table.drop("ent_id")
    n_old = asked.records - asked.new
    how = {"id": "rec_id", "draws": asked.draws, "seed": 1, "progress": False}
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        before = kp.resolve(table[:n_old], **how, out=Path(folder) / "before")
        tell("resolving the others", began)
        began = time.monotonic()
        after = before.update(table[n_old:])
        tell("adding, the result in memory", began)
        print(f"  of it {', '.join(f'{name} {s:.1f} s' for name, s in after.seconds.items())}")
        score("after adding", after.labels, truth)
        began = time.monotonic()
        kp.Result.load(Path(folder) / "before").update(table[n_old:], out=Path(folder) / "after")
        tell("adding, from one directory to another", began)
    if asked.whole:
        began = time.monotonic()
        whole = kp.resolve(table, **how)
        tell("resolving all", began)
        score("resolved together", whole.labels, truth)
        score("the two lists", after.labels, whole.labels)


def tell(what, began):
    print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)


def score(what, labels, truth):
    found = evaluate(labels, truth)
    told = f"precision {found.precision:.4f}, recall {found.recall:.4f}, F1 {found.f1:.4f}"
    print(f"{what}: {told}, {found.n_clusters:,} entities of {found.n_true_clusters:,}", flush=True)


if __name__ == "__main__":
    main()

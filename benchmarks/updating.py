"""How long it takes to add records to a finished run, and how much the result differs.

    python benchmarks/updating.py --records 100000 --new 1000
    python benchmarks/updating.py --records 2000 --new 100 --links

People are simulated; all but the new ones are resolved, then the new ones are added. With --whole
all are resolved together as well, and the two lists are compared. With --links all records are
drawn anew twice, with the parameters of the same draws: the probabilities of links after adding
differ from these no more than they do from each other, or something is wrong.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np

import kolchin as kp
from kolchin.evaluation import evaluate
from kolchin.sampling import updating
from kolchin.simulation.people import simulate_people


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--records", type=int, default=100_000)
    options.add_argument("--new", type=int, default=1_000)
    options.add_argument("--draws", type=int, default=100)
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--whole", action="store_true", help="resolve all together as well")
    options.add_argument("--chains", type=int, default=4)
    options.add_argument("--links", action="store_true", help="compare probabilities of links")
    asked = options.parse_args()
    table = simulate_people(asked.records, asked.seed)
    table = table[np.random.default_rng(asked.seed).permutation(table.height)]
    truth, table = table["ent_id"].to_numpy(), table.drop("ent_id")
    n_old = asked.records - asked.new
    how = {"id": "rec_id", "draws": asked.draws, "seed": 1, "progress": False}
    how["chains"] = asked.chains
    with tempfile.TemporaryDirectory() as folder:
        began = started()
        before = kp.resolve(table[:n_old], **how, out=Path(folder) / "before")
        tell("resolving the others", began)
        began = started()
        after = before.update(table[n_old:])
        tell("adding, the result in memory", began)
        print(f"  of it {', '.join(f'{name} {s:.1f} s' for name, s in after.seconds.items())}")
        score("after adding", after.labels, truth)
        began = started()
        kp.Result.load(Path(folder) / "before").update(table[n_old:], out=Path(folder) / "after")
        tell("adding, from one directory to another", began)
    if asked.links:
        compare_links(before, after)
    if asked.whole:
        began = started()
        whole = kp.resolve(table, **how)
        tell("resolving all", began)
        score("resolved together", whole.labels, truth)
        score("the two lists", after.labels, whole.labels)


def compare_links(before, after):
    """Draw all records anew, given the parameters of the same draws, and compare the links."""
    n_records = after.posterior.n_records
    everywhere = np.full(n_records, -1), np.ones(n_records, dtype=bool)
    updating.FIRST_STEPS, updating.STEPS = 400, 10
    anew = [
        updating.update_draws(before.posterior, after._model, *everywhere, seed).links(0.0)
        for seed in (1, 2)
    ]
    keys = ["record_a", "record_b"]
    table = anew[0].join(anew[1], on=keys, how="full", coalesce=True, suffix="_2")
    added = after.posterior.links(0.0)
    table = table.join(added, on=keys, how="full", coalesce=True, suffix="_added").fill_null(0.0)
    one, other, now = (table[f"probability{end}"].to_numpy() for end in ("", "_2", "_added"))
    for what, off in (("two runs", one - other), ("adding and one of them", now - one)):
        print(
            f"{what}: {table.height:,} pairs, links differ by {np.abs(off).mean():.5f} on average, "
            f"at most {np.abs(off).max():.3f}, by {off.mean():+.6f} with their sign",
            flush=True,
        )


def tell(what, began):
    seconds, load = time.monotonic() - began[0], os.getloadavg()[0]
    print(
        f"{what}: {seconds:.1f} s, {time.process_time() - began[1]:.1f} s of one core "
        f"(load of the machine {load:.1f})",
        flush=True,
    )


def started():
    return time.monotonic(), time.process_time()


def score(what, labels, truth):
    found = evaluate(labels, truth)
    told = f"precision {found.precision:.4f}, recall {found.recall:.4f}, F1 {found.f1:.4f}"
    print(f"{what}: {told}, {found.n_clusters:,} entities of {found.n_true_clusters:,}", flush=True)


if __name__ == "__main__":
    main()

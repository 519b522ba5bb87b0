"""Chaperones moves per second on one core, from 1,000 to 1,000,000 records.

    python benchmarks/moves.py [--out docs]

Records have 9 fields of 50 values; half of them are singletons, the others in pairs, as the
sampler meets them. Pairs come from a list of candidates (95%) and uniformly (5%). As a yardstick
in the same run: how long it takes to read four random rows of a table of the same size, which
is what a move cannot avoid (two records, and their places in the partition).
"""

import argparse
import time
from pathlib import Path

import numpy as np
from numba import njit

from kolchin import kernels
from kolchin.sampling.layout import Layout
from kolchin.sampling.proposals.mixture import PairMixture
from kolchin.sampling.proposals.pair_tables import PairTables

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
N_FIELDS, N_VALUES, DELTA = 9, 50, 0.05


@njit(cache=True)
def read_rows(rng, rows, n_reads):
    total = 0
    for _ in range(n_reads):
        for _ in range(4):
            total += rows[int(rng.random() * rows.shape[0]), 0]
    return total


def problem(n_records, rng, paired):
    entity = np.arange(n_records)
    if paired:
        entity[1 : n_records // 2 : 2] = entity[0 : n_records // 2 - 1 : 2]
    values = rng.integers(0, N_VALUES, (n_records, N_FIELDS))[entity]
    wrong = rng.random(values.shape) < DELTA
    values[wrong] = rng.integers(0, N_VALUES, wrong.sum())
    codes = (values + N_VALUES * np.arange(N_FIELDS)).astype(np.int32)
    data = kernels.Data(codes, np.full(N_FIELDS * N_VALUES, float(N_VALUES)))
    first = rng.integers(0, n_records, 5 * n_records)
    second = (first + 1 + rng.integers(0, n_records - 1, first.size)) % n_records
    listed = np.stack([first, second], axis=1).astype(np.int32)
    layout = Layout.single(n_records)
    mixture = PairMixture(0.05, PairTables.of(layout, listed, np.ones(len(listed))))
    pairs = mixture.in_shard(layout.make_shard(0))
    _, labels = np.unique(entity, return_inverse=True)
    return data, pairs, labels


def measure(n_records, paired, n_moves=1_000_000):
    rng = np.random.Generator(np.random.SFC64(1))
    data, pairs, labels = problem(n_records, rng, paired)
    log_size = np.append(0.0, np.cumsum(np.log(np.arange(1.0, 65.0))))
    log_size[1] = 0.0
    opening = kernels.Opening(-np.log(n_records), 1.0, 1.0, 0.0)
    size = np.exp(log_size[: kernels.LARGEST_ENUMERATED + 1])
    weights = kernels.Weights(log_size, size, opening, np.empty(0), np.empty(0))
    following = kernels.make_rings(labels)
    sizes = np.bincount(np.bincount(labels), minlength=66)
    evidence = kernels.Evidence(np.full(N_FIELDS, DELTA))
    state = kernels.Partition(following, sizes, np.array([sizes.sum()]), np.array([-1, -1]))
    what = pairs, data, evidence, weights, state
    kernels.make_chaperones_moves(rng, 1000, False, *what)
    best = np.inf
    for _ in range(3):
        start = time.thread_time()
        kernels.make_chaperones_moves(rng, n_moves, False, *what)
        best = min(best, time.thread_time() - start)
    rows = np.zeros((n_records, 16), dtype=np.int32)
    read_rows(rng, rows, 1000)
    start = time.thread_time()
    read_rows(rng, rows, n_moves)
    return best / n_moves, (time.thread_time() - start) / n_moves


def plot(results, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    labels = ("two singletons", "half of the records in pairs", "yardstick: four random reads")
    columns = zip(*[(a, b, c) for _, a, b, c in results], strict=True)
    for label, values in zip(labels, columns, strict=True):
        axes.loglog([row[0] for row in results], [1e9 * v for v in values], "o-", label=label)
    axes.set(xlabel="records", ylabel="nanoseconds a move", ylim=(5, 3000))
    axes.legend(frameon=False)
    for suffix in ("svg", "png"):
        figure.savefig(path / f"moves.{suffix}", dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    results = []
    print(
        "| records | moves a second, all singletons | moves a second, half in pairs | "
        "a singletons move / four random reads |"
    )
    print("|---:|---:|---:|---:|")
    for n_records in SIZES:
        alone, yardstick = measure(n_records, paired=False)
        mixed, _ = measure(n_records, paired=True)
        results.append((n_records, alone, mixed, yardstick))
        print(f"| {n_records:,} | {1 / alone:,.0f} | {1 / mixed:,.0f} | {alone / yardstick:.1f} |")
    if out:
        (out / "figures").mkdir(parents=True, exist_ok=True)
        plot(results, out / "figures")


if __name__ == "__main__":
    main()

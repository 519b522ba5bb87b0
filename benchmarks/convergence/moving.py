"""How many records moves are made on, and how much of the time they take by that number."""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.sampling.layout import Layout
from kolchin.sampling.proposals.mixture import PairMixture
from kolchin.sampling.proposals.pair_tables import PairTables

CLASSES = (2, 4, 8, 16, 32, 64, 128, 256)
"""Largest |S| of each class but the last, which has all that are larger."""

DRAWN, MOST_TIMED, LONGEST = 20_000, 2_000, 0.5

Ints = NDArray[np.int64]


def costs_by_size(run: Any) -> list[dict[str, float]]:
    """Return the share of moves and of time by |S|, as the first chain would move now."""
    chain = run.chains[0]
    pairs = _proposed(chain.tuning.pairs.mixture.tables)
    if not len(pairs):
        return []
    unions = _union_sizes(chain.state.following, pairs)
    place = np.searchsorted(CLASSES, unions)
    rows = []
    for k, most in enumerate((*CLASSES, 0)):
        own = pairs[place == k]
        if len(own):
            seconds = _seconds_a_move(chain.problem, chain.state, own)
            rows.append({"most": most, "moves": len(own) / len(pairs), "seconds": seconds})
    whole = sum(row["moves"] * row["seconds"] for row in rows)
    return [{**row, "time": row["moves"] * row["seconds"] / max(whole, 1e-300)} for row in rows]


def _proposed(tables: Any) -> NDArray[np.int32]:
    """Draw pairs as chains propose them, whichever blocks they are of."""
    rng = np.random.default_rng(0)
    totals = np.maximum(tables.totals, 0.0)
    if not totals.sum() > 0:
        return np.empty((0, 2), dtype=np.int32)
    which = rng.choice(totals.size, DRAWN, p=totals / totals.sum())
    low, high = tables.begins[which], tables.begins[which + 1]
    rows = tables.table[(low + rng.random(DRAWN) * (high - low)).astype(np.int64)]
    first = rng.random(DRAWN) * (1 << 31) < rows[:, 4]
    pairs: NDArray[np.int32] = np.where(first[:, None], rows[:, :2], rows[:, 2:4])
    return pairs


def _union_sizes(following: NDArray[np.int32], pairs: NDArray[np.int32]) -> Ints:
    """Return how many records the two clusters of each pair have."""
    labels = labels_of(following)
    size = np.bincount(labels)[labels]
    i, j = pairs.T
    union: Ints = np.where(labels[i] == labels[j], size[i], size[i] + size[j])
    return union


def labels_of(following: NDArray[np.int32]) -> Ints:
    """Return a number for each ring of records."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = following.size
    graph = coo_array((np.ones(n, bool), (np.arange(n), following)), shape=(n, n))
    labels: Ints = connected_components(graph, directed=False)[1].astype(np.int64)
    return labels


def _seconds_a_move(problem: Any, state: Any, pairs: NDArray[np.int32]) -> float:
    """Time moves on some pairs; the chain stays where it is."""
    single = Layout.single(problem.n_records)
    listed = PairTables.of(single, pairs, np.ones(len(pairs)))
    mixture = PairMixture(0.0, listed).in_shard(single.whole)
    rng = np.random.Generator(np.random.SFC64(0))
    what = mixture, problem.data, state.evidence, state.weights
    seconds, made = 0.0, 0
    while made < MOST_TIMED and seconds < LONGEST:
        # From where the chain is, again and again: sizes are to stay what they are.
        copied = kernels.Partition(*(array.copy() for array in state.partition))
        began = time.thread_time()
        done = kernels.make_chaperones_moves(rng, 20, False, *what, copied)
        seconds += time.thread_time() - began
        made += max(int(done), 1)
    return seconds / made

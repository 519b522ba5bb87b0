"""Partitions from which chains start, spread wider than the posterior."""

import numpy as np
from numpy.typing import NDArray

from kolchin.errors import ModelError
from kolchin.parameters import IntArray
from kolchin.partitions import NO_SOURCES, Sources, canonical, clashing
from kolchin.sampling.layout import Layout

STARTS = ("singletons", "random", "blocks")
LARGEST_START = 5
"""No cluster of a start is larger, so that chance agreement does not chain into giants."""


def start_labels(
    rng: np.random.Generator,
    kind: str,
    n_records: int,
    likely: NDArray[np.int32],
    sources: Sources = NO_SOURCES,
    layout: Layout | None = None,
) -> IntArray:
    """Return the labels of a start: all singletons, random pairs, or all likely pairs linked.

    No cluster has two records of one source, where there are sources. Random pairs do not reach
    across blocks: they would have to wait until their blocks meet to come apart.
    """
    if kind == "singletons":
        return np.arange(n_records)
    if kind == "random":
        labels = np.arange(n_records)
        pairs = _random_pairs(rng, Layout.single(n_records) if layout is None else layout)
        pairs = pairs[~clashing(sources, pairs)]
        labels[pairs[:, 0]] = labels[pairs[:, 1]]
        return canonical(labels)
    if kind == "blocks":
        return _linked(n_records, likely, sources)
    raise ModelError(f"The 'start' parameter must be one of {', '.join(STARTS)}. Got {kind!r}.")


def _random_pairs(rng: np.random.Generator, layout: Layout) -> IntArray:
    """Pair half of the records, each with one of its own block."""
    n_records = int(layout.bounds[-1])
    order = rng.permutation(n_records)
    block = layout.blocks_of(order.astype(np.int32))
    order = order[np.argsort(block, kind="stable")][: n_records // 2 * 2]
    pairs: IntArray = order.reshape(-1, 2)[rng.permutation(n_records // 2)[: n_records // 4]]
    blocks = layout.blocks_of(pairs.astype(np.int32))
    inside: IntArray = pairs[blocks[:, 0] == blocks[:, 1]]
    return inside


def _linked(n_records: int, pairs: NDArray[np.int32], sources: Sources) -> IntArray:
    """Join the clusters of each pair in turn, while they stay small."""
    cluster_of: dict[int, list[int]] = {}
    for i, j in pairs.tolist():
        left = cluster_of.setdefault(i, [i])
        right = cluster_of.setdefault(j, [j])
        if (
            left is not right
            and len(left) + len(right) <= LARGEST_START
            and not (sources.size and _clash(sources, left + right))
        ):
            left.extend(right)
            for n in right:
                cluster_of[n] = left
    labels = np.arange(n_records)
    for n, members in cluster_of.items():
        labels[n] = members[0]
    return canonical(labels)


def _clash(sources: Sources, members: list[int]) -> bool:
    known = [source for source in sources[members].tolist() if source >= 0]
    return len(set(known)) < len(known)

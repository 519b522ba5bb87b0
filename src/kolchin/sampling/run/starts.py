"""Partitions from which chains start, spread wider than the posterior."""

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.errors import ModelError
from kolchin.parameters import IntArray
from kolchin.partitions import NO_SOURCES, Sources, find_clashing, make_canonical
from kolchin.sampling.layout import Layout, Places
from kolchin.sampling.proposals.answered import list_parted_pairs

NO_ANSWERS = kernels.AnswerLists()
STARTS = ("singletons", "random", "blocks")
LARGEST_START = 5
"""No cluster of a start is larger, so that chance agreement does not chain into giants."""


def make_start_labels(
    rng: np.random.Generator,
    kind: str,
    n_records: int,
    likely: Places,
    sources: Sources = NO_SOURCES,
    answers: kernels.AnswerLists = NO_ANSWERS,
    layout: Layout | None = None,
) -> IntArray:
    """Return the labels of a start: all singletons, random pairs, or all likely pairs linked.

    No cluster has two records of one source, where there are sources, and none says otherwise than
    answers that are certain: alone are only those who may be. Random pairs do not reach
    across blocks: they would have to wait until their blocks meet to come apart.
    """
    alone = _label_tied(n_records, answers)
    if kind == "singletons":
        return make_canonical(alone)
    if kind == "random":
        labels = alone.copy()
        pairs = _draw_random_pairs(rng, Layout.single(n_records) if layout is None else layout)
        pairs = pairs[~find_clashing(sources, pairs)]
        if answers.starts.size:
            pairs = pairs[~_are_answered(pairs, answers)]
        labels[pairs[:, 0]] = labels[pairs[:, 1]]
        return make_canonical(labels)
    if kind == "blocks":
        return _link_pairs(alone, likely, sources, list_parted_pairs(answers))
    raise ModelError(f"The 'start' parameter must be one of {', '.join(STARTS)}. Got {kind!r}.")


def _label_tied(n_records: int, answers: kernels.AnswerLists) -> IntArray:
    """Return labels in which all are alone but those that are certainly the same."""
    labels = np.arange(n_records)
    if answers.group.size:
        tied = np.flatnonzero(answers.group >= 0)
        _, first, which = np.unique(answers.group[tied], return_index=True, return_inverse=True)
        labels[tied] = tied[first[which]]
    return labels


def _are_answered(pairs: IntArray, answers: kernels.AnswerLists) -> NDArray[np.bool_]:
    """Tell which pairs have a record that is tied, or of which something certain is said."""
    parted = list_parted_pairs(answers)
    said = np.array([(i, j) in parted for i, j in pairs.tolist()], dtype=np.bool_)
    tied: NDArray[np.bool_] = np.any(answers.group[pairs] >= 0, axis=1) | said
    return tied


def _draw_random_pairs(rng: np.random.Generator, layout: Layout) -> IntArray:
    """Pair half of the records, each with one of its own block."""
    n_records = int(layout.bounds[-1])
    order = rng.permutation(n_records)
    block = layout.find_blocks(Places(order.astype(np.int32)))
    order = order[np.argsort(block, kind="stable")][: n_records // 2 * 2]
    pairs: IntArray = order.reshape(-1, 2)[rng.permutation(n_records // 2)[: n_records // 4]]
    blocks = layout.find_blocks(Places(pairs.astype(np.int32)))
    inside: IntArray = pairs[blocks[:, 0] == blocks[:, 1]]
    return inside


def _link_pairs(
    alone: IntArray, pairs: Places, sources: Sources, parted: set[tuple[int, int]]
) -> IntArray:
    """Join the clusters of each pair in turn, while they stay small and nobody says otherwise."""
    cluster_of = _list_clusters(alone)
    for i, j in pairs.tolist():
        left = cluster_of.setdefault(i, [i])
        right = cluster_of.setdefault(j, [j])
        if (
            left is not right
            and len(left) + len(right) <= LARGEST_START
            and not (sources.size and _has_clash(sources, left + right))
            and not (parted and any((a, b) in parted for a in left for b in right))
        ):
            left.extend(right)
            for n in right:
                cluster_of[n] = left
    labels = alone.copy()
    for n, members in cluster_of.items():
        labels[n] = members[0]
    return make_canonical(labels)


def _list_clusters(labels: IntArray) -> dict[int, list[int]]:
    """Return the cluster of each record that is not alone."""
    found: dict[int, list[int]] = {}
    cluster_of: dict[int, list[int]] = {}
    for n in np.flatnonzero(np.bincount(labels)[labels] > 1).tolist():
        cluster_of[n] = found.setdefault(int(labels[n]), [])
        cluster_of[n].append(n)
    return cluster_of


def _has_clash(sources: Sources, members: list[int]) -> bool:
    """Tell whether two of some records are of one source."""
    known = [source for source in sources[members].tolist() if source >= 0]
    return len(set(known)) < len(known)

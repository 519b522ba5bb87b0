"""Partitions of a set of records: labels, clusters, sizes, and all of them for small n.

A partition is held as *labels*, an integer array with one cluster number a record. Labels are
*canonical* when clusters are numbered 0, 1, ... in the order of their first record.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kolchin.errors import DataError

Labels = NDArray[np.int64]
Sources = NDArray[np.int32]

NO_SOURCES: Sources = np.empty(0, dtype=np.int32)
"""Where sources do not matter."""


class Certain(NamedTuple):
    """Pairs of records that are always together, and pairs that never are."""

    tied: NDArray[np.int32] = np.empty((0, 2), dtype=np.int32)
    parted: NDArray[np.int32] = np.empty((0, 2), dtype=np.int32)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is certain."""
        return not (len(self.tied) or len(self.parted))

    def find_broken(self, labels: "Labels") -> NDArray[np.int64]:
        """Return records of those pairs that a partition has otherwise."""
        tied, parted = labels[self.tied], labels[self.parted]
        wrong = self.tied[tied[:, 0] != tied[:, 1]], self.parted[parted[:, 0] == parted[:, 1]]
        records: NDArray[np.int64] = np.concatenate(wrong).ravel().astype(np.int64)
        return records


NOTHING_CERTAIN = Certain()


def make_canonical(labels: ArrayLike) -> Labels:
    """Renumber clusters 0, 1, ... in the order of first appearance.

    >>> make_canonical([7, 3, 7, 1])
    array([0, 1, 0, 2])
    """
    array = np.asarray(labels)
    if array.ndim != 1:
        raise DataError(f"labels must be one-dimensional. Got {array.ndim} dimensions instead.")
    if not are_small(array):
        array = np.unique(array, return_inverse=True)[1]
    records = np.arange(array.size)
    first = np.empty(int(array.max(initial=0)) + 1, dtype=np.int64)
    first[array[::-1]] = records[::-1]  # where labels recur, the last one counts
    of_label: Labels = first[array]
    numbers = np.cumsum(of_label == records) - 1
    return numbers[of_label]


def are_small(numbers: NDArray[Any]) -> bool:
    """Tell whether all are integers from 0 to little more than there are of them."""
    if not numbers.size or numbers.dtype.kind not in "iu":
        return False
    return bool(numbers.min() >= 0 and numbers.max() < 4 * numbers.size)


def cluster_sizes(labels: ArrayLike) -> NDArray[np.int64]:
    """Return the size of each cluster, in canonical order."""
    return np.bincount(make_canonical(labels))


def size_counts(labels: ArrayLike) -> NDArray[np.int64]:
    """Return the number of clusters of each size: entry m counts the clusters of m records.

    >>> size_counts([0, 0, 1, 2])
    array([0, 2, 1])
    """
    return np.bincount(cluster_sizes(labels))


def list_clusters(labels: ArrayLike) -> list[NDArray[np.int64]]:
    """Return the records of each cluster, clusters and records in canonical order."""
    array = make_canonical(labels)
    order = np.argsort(array, kind="stable")
    return np.split(order, np.cumsum(np.bincount(array))[:-1])


def find_clashing(sources: Sources, pairs: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Tell which pairs are of one source (-1: none); no pair is where there are no sources.

    >>> find_clashing(np.array([0, 0, -1, -1]), np.array([[0, 1], [0, 2], [2, 3]]))
    array([ True, False, False])
    """
    if not sources.size:
        return np.zeros(len(pairs), dtype=np.bool_)
    one, other = sources[pairs[:, 0]], sources[pairs[:, 1]]
    same: NDArray[np.bool_] = (one >= 0) & (one == other)
    return same


def has_clash(labels: Labels, sources: Sources) -> bool:
    """Tell whether a cluster has two records of one source.

    >>> has_clash(np.array([0, 0, 0]), np.array([0, 1, -1])), has_clash(
    ...     np.array([0, 1, 0]), np.array([2, 1, 2])
    ... )
    (False, True)
    """
    known = np.flatnonzero(sources >= 0)
    n_sources = int(sources.max(initial=0)) + 1
    cells = labels[known] * n_sources + sources[known]
    return np.unique(cells).size < known.size


def list_partitions(n_records: int) -> Iterator[Labels]:
    """Yield the canonical labels of every partition of n records: 203 for 6, 877 for 7.

    >>> [p.tolist() for p in list_partitions(2)]
    [[0, 0], [0, 1]]
    """
    labels = np.zeros(n_records, dtype=np.int64)

    def extend(position: int, n_clusters: int) -> Iterator[Labels]:
        if position == n_records:
            yield labels.copy()
            return
        for label in range(n_clusters + 1):
            labels[position] = label
            yield from extend(position + 1, max(n_clusters, label + 1))

    return extend(0, 0)

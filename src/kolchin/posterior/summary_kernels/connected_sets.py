"""Connected sets of graphs, and the finest partition that is coarser than two."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled
from kolchin.kernels.grouping import find_root


@compiled
def number_roots(parent: Any) -> Any:
    """Turn a forest into canonical labels."""
    labels = np.empty(parent.size, dtype=np.int64)
    label_of = np.full(parent.size, -1, dtype=np.int64)
    n_labels = 0
    for n in range(parent.size):
        root = find_root(parent, n)
        if label_of[root] < 0:
            label_of[root] = n_labels
            n_labels += 1
        labels[n] = label_of[root]
    return labels


@compiled
def label_connected_sets(n_records: int, pairs: Any) -> Any:
    """Return canonical labels of the connected sets of a graph."""
    parent = np.arange(n_records)
    for k in range(pairs.shape[0]):
        a, b = find_root(parent, pairs[k, 0]), find_root(parent, pairs[k, 1])
        parent[max(a, b)] = min(a, b)
    return number_roots(parent)


@compiled
def join_sets(members: Any, sizes: Any, parent: Any) -> None:
    """Join the trees of the members of each set."""
    first = 0
    for size in sizes:
        for k in range(first + 1, first + size):
            a, b = find_root(parent, members[first]), find_root(parent, members[k])
            parent[max(a, b)] = min(a, b)
        first += size


@compiled
def join_partitions(one: Any, two: Any) -> Any:
    """Return the finest partition that is coarser than both."""
    parent = np.arange(one.size)
    for labels in (one, two):
        first = np.full(one.size, -1, dtype=np.int64)
        for n in range(one.size):
            if first[labels[n]] < 0:
                first[labels[n]] = n
            else:
                a, b = find_root(parent, first[labels[n]]), find_root(parent, n)
                parent[max(a, b)] = min(a, b)
    return number_roots(parent)

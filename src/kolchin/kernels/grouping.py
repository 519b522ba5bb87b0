"""Groups of related records, and rivals: what layouts and proposals are made of."""

import numpy as np

from kolchin.kernels.arrays import Int32s, Int64s
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.neighbours import find_neighbour


@compiled
def list_rival_pairs(starts: Int64s, neighbours: Int32s, most: int) -> Int32s:
    """List the pairs of records that are neighbours of the same record, but not of each other.

    Of records that have more than ``most`` neighbours, none. Pairs ascend, each is listed once.
    """
    n_records = starts.size - 1
    found = np.empty(0, dtype=np.int64)
    for write in range(2):
        n_found = 0
        for record in range(n_records):
            first, last = starts[record], starts[record + 1]
            if last - first > most:
                continue
            for k in range(first, last):
                for other in range(k + 1, last):
                    a, b = neighbours[k], neighbours[other]
                    if a == b or find_neighbour(starts, neighbours, a, b) >= 0:
                        continue
                    if write:
                        found[n_found] = np.int64(a) * n_records + b
                    n_found += 1
        if not write:
            found = np.empty(n_found, dtype=np.int64)
    found.sort()
    result = np.empty((found.size, 2), dtype=np.int32)
    count = 0
    for k in range(found.size):
        if k == 0 or found[k] != found[k - 1]:
            result[count, 0] = found[k] // n_records
            result[count, 1] = found[k] % n_records
            count += 1
    return result[:count]


@compiled
def form_bounded_groups(n_records: int, pairs: Int32s, order: Int64s, largest: int) -> Int64s:
    """Join the records of each pair, in a given order, into groups of at most ``largest``.

    Returns the smallest record of each record's group.
    """
    group = np.arange(n_records)
    size = np.ones(n_records, dtype=np.int64)
    join_groups(pairs, order, largest, group, size)
    return group


@lean
def join_groups(pairs: Int32s, order: Int64s, largest: int, group: Int64s, size: Int64s) -> None:
    """Join what ``form_bounded_groups`` returns: a forest whose roots are the smallest records."""
    for k in order:
        i, j = find_root(group, pairs[k, 0]), find_root(group, pairs[k, 1])
        if i != j and size[i] + size[j] <= largest:
            low, high = min(i, j), max(i, j)
            group[high] = low
            size[low] += size[high]
    for n in range(group.size):
        group[n] = group[group[n]]


@lean
def find_root(group: Int64s, record: int) -> int:
    """Return the root of a record's tree, and shorten the way to it."""
    n = np.int64(record)
    while group[n] != n:
        group[n] = group[group[n]]
        n = group[n]
    return n

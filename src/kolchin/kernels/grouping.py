"""Groups of related records, and rivals: what layouts and proposals are made of."""

import numpy as np

from kolchin.kernels.arrays import Int32s, Int64s
from kolchin.kernels.compiling import compiled, lean


@compiled
def rival_pairs(n_records: int, pairs: Int32s, most: int) -> Int32s:
    """List the pairs of records that are in a pair with the same record, but in none together.

    Of records that are in more than ``most`` pairs, none. Pairs ascend, each is listed once.
    """
    starts = np.zeros(n_records + 1, dtype=np.int64)
    for k in range(pairs.shape[0]):
        starts[pairs[k, 0] + 1] += 1
        starts[pairs[k, 1] + 1] += 1
    starts = np.cumsum(starts)
    neighbours = np.empty(starts[-1], dtype=np.int32)
    filled = starts[:-1].copy()
    for k in range(pairs.shape[0]):
        for own in range(2):
            record = pairs[k, own]
            neighbours[filled[record]] = pairs[k, 1 - own]
            filled[record] += 1
    found = np.empty(0, dtype=np.int64)
    for write in range(2):
        n_found = 0
        for record in range(n_records):
            first, last = starts[record], starts[record + 1]
            if last - first > most:
                continue
            for k in range(first, last):
                for other in range(k + 1, last):
                    a = min(neighbours[k], neighbours[other])
                    b = max(neighbours[k], neighbours[other])
                    if a == b or is_among(neighbours[starts[a] : starts[a + 1]], b):
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


@lean
def is_among(numbers: Int32s, number: int) -> bool:
    """Tell whether a number is one of a few."""
    found = False
    for k in range(numbers.size):
        found |= numbers[k] == number
    return found


@compiled
def bounded_groups(n_records: int, pairs: Int32s, order: Int64s, largest: int) -> Int64s:
    """Join the records of each pair, in a given order, into groups of at most ``largest``.

    Returns the smallest record of each record's group.
    """
    group = np.arange(n_records)
    size = np.ones(n_records, dtype=np.int64)
    join_groups(pairs, order, largest, group, size)
    return group


@lean
def join_groups(pairs: Int32s, order: Int64s, largest: int, group: Int64s, size: Int64s) -> None:
    """Join what ``bounded_groups`` returns: a forest whose roots are the smallest records."""
    for k in order:
        i, j = root_of(group, pairs[k, 0]), root_of(group, pairs[k, 1])
        if i != j and size[i] + size[j] <= largest:
            low, high = min(i, j), max(i, j)
            group[high] = low
            size[low] += size[high]
    for n in range(group.size):
        group[n] = group[group[n]]


@lean
def root_of(group: Int64s, record: int) -> int:
    """Return the root of a record's tree, and shorten the way to it."""
    n = np.int64(record)
    while group[n] != n:
        group[n] = group[group[n]]
        n = group[n]
    return n

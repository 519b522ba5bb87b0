"""Distinct rows, numbered by first appearance."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.pair_kernels.key_numbers import number_keys
from kolchin.kernels.hashing import FOLDING, GOLDEN
from kolchin.threads import call_over_ranges

Numbers = NDArray[np.int32]

RANGE = 1 << 16
"""So many rows are hashed at a time, which fit into a cache."""

COUNTED = 1 << 24


def find_distinct_rows(
    columns: Sequence[NDArray[np.integer[Any]]], threads: int | None = None
) -> tuple[NDArray[np.int64], Numbers]:
    """Return the first row of each kind, and for every row which of them it is like.

    Rows are told apart by a hash of 63 bits.

    >>> rows, which = find_distinct_rows([np.array([5, 5, 7]), np.array([1, 1, 1])])
    >>> rows.tolist(), which.tolist()
    ([0, 2], [0, 0, 1])
    """
    n_rows = columns[0].size
    keys = np.zeros(n_rows, dtype=np.uint64)

    def mix(first: int, last: int) -> None:
        part = keys[first:last]
        for column in columns:
            part ^= column[first:last].astype(np.int64).view(np.uint64)
            part *= GOLDEN
            part ^= part >> np.uint64(32)
            part *= FOLDING
            part ^= part >> np.uint64(32)
        part >>= np.uint64(1)

    call_over_ranges(mix, n_rows, RANGE, threads)
    which = np.empty(n_rows, dtype=np.int32)
    rows: NDArray[np.int64] = number_keys(keys.view(np.int64), which)
    return rows, which


def count_numbers(numbers: Numbers, n: int, threads: int | None = None) -> NDArray[np.int64]:
    """Count how often each number below n is there, a range at a time: NumPy copies what it counts.

    >>> count_numbers(np.array([2, 0, 2], dtype=np.int32), 4).tolist()
    [1, 0, 2, 0]
    """

    def count(first: int, last: int) -> NDArray[np.int64]:
        return np.bincount(numbers[first:last], minlength=n)

    total = np.zeros(n, dtype=np.int64)
    for part in call_over_ranges(count, numbers.size, COUNTED, threads):
        total += part
    return total

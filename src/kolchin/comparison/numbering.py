"""Distinct keys and rows, numbered by first appearance."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.kernels import number_keys

Numbers = NDArray[np.int32]


def distinct_keys(keys: NDArray[np.int64], numbers: Numbers) -> NDArray[np.int64]:
    """Return the distinct keys (0 or more), and write which of them each key is."""
    size = 1 << int(1.5 * keys.size).bit_length()
    table = np.full(size, -1, dtype=np.int64)
    n_distinct = number_keys(keys, table, np.empty(size, dtype=np.int32), numbers)
    return keys[:n_distinct]


def distinct_rows(columns: Sequence[NDArray[np.integer[Any]]]) -> tuple[NDArray[np.int64], Numbers]:
    """Return the first row of each kind, and for every row which of them it is like.

    Rows are told apart by a hash of 63 bits.

    >>> rows, which = distinct_rows([np.array([5, 5, 7]), np.array([1, 1, 1])])
    >>> rows.tolist(), which.tolist()
    ([0, 2], [0, 0, 1])
    """
    keys = np.zeros(columns[0].size, dtype=np.uint64)
    for column in columns:
        keys ^= column.astype(np.int64).view(np.uint64)
        keys *= np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(32)
        keys *= np.uint64(0xD6E8FEB86659FD93)
        keys ^= keys >> np.uint64(32)
    which = np.empty(keys.size, dtype=np.int32)
    n_kinds = distinct_keys((keys >> np.uint64(1)).view(np.int64), which).size
    rows = np.empty(n_kinds, dtype=np.int64)
    rows[which[::-1]] = np.arange(keys.size - 1, -1, -1)
    return rows, which

"""Levels of pairs whose two forms occur in many pairs: each two forms are compared once."""

from typing import Any

import numpy as np

from kolchin.comparison.pair_kernels.key_numbers import find_slot
from kolchin.kernels.compiling import compiled


@compiled
def number_pairs(
    left: Any, right: Any, n_forms: int, levels: Any, table: Any, slots: Any, numbers: Any
) -> Any:
    """Write levels of missing (-1) and equal forms (0), and give every other pair a number.

    ``numbers`` has for each pair the number (0 or more) of its two forms by first appearance, -1
    where there is a level. The two forms are returned as low * n_forms + high, once for each
    number. ``table`` has a power of two entries, more than there are pairs, all -1 at first.
    """
    keys = np.empty(left.size, dtype=np.int64)
    n = 0
    for k in range(left.size):
        a, b = np.int64(left[k]), np.int64(right[k])
        numbers[k] = -1
        if a < 0 or b < 0:
            levels[k] = -1
            continue
        if a == b:
            levels[k] = 0
            continue
        key = min(a, b) * n_forms + max(a, b)
        slot = find_slot(table, key)
        if table[slot] < 0:
            table[slot] = key
            slots[slot] = n
            keys[n] = key
            n += 1
        numbers[k] = slots[slot]
    return keys[:n]


@compiled
def write_levels(numbers: Any, of_number: Any, levels: Any) -> None:
    """Write the level of each pair that has a number."""
    for k in range(numbers.size):
        if numbers[k] >= 0:
            levels[k] = of_number[numbers[k]]


@compiled
def compare_forms(left: Any, right: Any, ranks: Any, table: Any, levels: Any) -> Any:
    """Write levels of missing (-1), equal (0) and frequent forms; return the places of all others.

    Frequent forms have a rank (0 or more), and ``table`` the levels between them.
    """
    rest = np.empty(left.size, dtype=np.int64)
    n = 0
    for k in range(left.size):
        a, b = left[k], right[k]
        if a < 0 or b < 0:
            levels[k] = -1
        elif a == b:
            levels[k] = 0
        elif ranks.size > 0 and ranks[a] >= 0 and ranks[b] >= 0:
            levels[k] = table[ranks[a], ranks[b]]
        else:
            rest[n] = k
            n += 1
    return rest[:n]

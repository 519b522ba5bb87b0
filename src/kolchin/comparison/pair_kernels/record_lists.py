"""The pairs of each record, in lists one after another."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled


@compiled
def count_neighbours(pairs: Any, place: Any, counts: Any) -> None:
    """Add the pairs of each place to ``counts``, which begins with an entry of no place."""
    for k in range(len(pairs)):
        counts[place[pairs[k, 0]] + 1] += 1
        counts[place[pairs[k, 1]] + 1] += 1


@compiled
def list_neighbours(
    pairs: Any, marks: Any, place: Any, reached: Any, others: Any, of_other: Any
) -> None:
    """Write for each place those it is paired with, in any order, and the marks of these pairs.

    Record n is at ``place[n]``; ``reached`` says where the next entry of each place goes.
    """
    for k in range(len(pairs)):
        i, j = place[pairs[k, 0]], place[pairs[k, 1]]
        others[reached[i]], of_other[reached[i]] = j, marks[k]
        others[reached[j]], of_other[reached[j]] = i, marks[k]
        reached[i] += 1
        reached[j] += 1


@compiled
def place_entries(
    at: Any, other: Any, marks: Any, first: int, reached: Any, others: Any, of_other: Any
) -> None:
    """Write entries of places from ``first`` on, as ``list_neighbours`` does."""
    for k in range(at.size):
        n = at[k] - first
        others[reached[n]], of_other[reached[n]] = other[k], marks[k]
        reached[n] += 1


@compiled
def sort_neighbours(begins: Any, others: Any, of_other: Any, first: int, last: int) -> None:
    """Sort what ``list_neighbours`` wrote of some places."""
    longest = 0
    for n in range(first, last):
        longest = max(longest, begins[n + 1] - begins[n])
    both = np.empty(longest, dtype=np.int64)
    for n in range(first, last):
        start, n_others = begins[n], begins[n + 1] - begins[n]
        in_order = True
        for k in range(n_others):
            both[k] = np.int64(others[start + k]) << 32 | of_other[start + k]
            in_order &= k == 0 or both[k - 1] < both[k]
        if in_order:
            continue
        both[:n_others].sort()
        for k in range(n_others):
            others[start + k] = both[k] >> 32
            of_other[start + k] = both[k] & 0xFFFFFFFF

"""The similarity of texts by Jaro and Winkler."""

from typing import Any

import numpy as np

from kolchin.comparison.text_kernels.edits import count_same_at_start
from kolchin.kernels.compiling import compiled

BITS = 64
BOOSTED = 0.7
"""Texts that are more similar than this are the more so for a common start (Winkler)."""


@compiled
def _measure_jaro(
    letters: Any, a: int, n_a: int, b: int, n_b: int, used_a: Any, used_b: Any
) -> float:
    """Return the Jaro similarity of two texts, from 0 to 1."""
    if n_a == 0 or n_b == 0:
        return 1.0 if n_a == n_b else 0.0
    reach = max(max(n_a, n_b) // 2 - 1, 0)
    used_a[:n_a] = False
    used_b[:n_b] = False
    n_common = 0
    for j in range(n_b):
        for i in range(max(j - reach, 0), min(j + reach + 1, n_a)):
            if not used_a[i] and letters[a + i] == letters[b + j]:
                used_a[i] = True
                used_b[j] = True
                n_common += 1
                break
    if n_common == 0:
        return 0.0
    i, n_moved = 0, 0
    for j in range(n_b):
        if used_b[j]:
            while not used_a[i]:
                i += 1
            n_moved += letters[a + i] != letters[b + j]
            i += 1
    return (n_common / n_a + n_common / n_b + (n_common - n_moved // 2) / n_common) / 3.0


@compiled
def _measure_jaro_by_bits(letters: Any, a: int, n_a: int, b: int, n_b: int, where: Any) -> float:
    """Return the same for texts of at most 64 letters: places are bits.

    ``where`` has, for each of 256 letters, the places at which the first text has it; it is left as
    it was found, without any.
    """
    if n_a == 0 or n_b == 0:
        return 1.0 if n_a == n_b else 0.0
    one = np.uint64(1)
    for i in range(n_a):
        where[letters[a + i]] |= one << np.uint64(i)
    reach = max(max(n_a, n_b) // 2 - 1, 0)
    window = (one << np.uint64(reach + 1)) - one
    used_a, used_b = np.uint64(0), np.uint64(0)
    n_common = 0
    for j in range(n_b):
        free = where[letters[b + j]] & window & ~used_a
        if free:
            used_a |= free & (~free + one)
            used_b |= one << np.uint64(j)
            n_common += 1
        window = window << one
        if j < reach:
            window |= one
    for i in range(n_a):
        where[letters[a + i]] = np.uint64(0)
    if n_common == 0:
        return 0.0
    i, n_moved = 0, 0
    for j in range(n_b):
        if used_b >> np.uint64(j) & one:
            while not used_a >> np.uint64(i) & one:
                i += 1
            n_moved += letters[a + i] != letters[b + j]
            i += 1
    return (n_common / n_a + n_common / n_b + (n_common - n_moved // 2) / n_common) / 3.0


@compiled
def measure_similarities(letters: Any, starts: Any, left: Any, right: Any) -> Any:
    """Return the Jaro-Winkler similarity of each pair of texts, from 0 to 1."""
    result = np.empty(left.size, dtype=np.float32)
    longest = 0
    for k in range(left.size):
        n_a = starts[left[k] + 1] - starts[left[k]]
        longest = max(longest, n_a, starts[right[k] + 1] - starts[right[k]])
    used_a, used_b = np.empty(longest, dtype=np.bool_), np.empty(longest, dtype=np.bool_)
    where = np.zeros(256, dtype=np.uint64)
    small = letters.itemsize == 1
    for k in range(left.size):
        a, b = starts[left[k]], starts[right[k]]
        n_a, n_b = starts[left[k] + 1] - a, starts[right[k] + 1] - b
        if small and n_a <= BITS and n_b <= BITS:
            value = _measure_jaro_by_bits(letters, a, n_a, b, n_b, where)
        else:
            value = _measure_jaro(letters, a, n_a, b, n_b, used_a, used_b)
        if value > BOOSTED:
            start = count_same_at_start(letters, a, a + min(n_a, 4), b, b + min(n_b, 4))
            value += start * 0.1 * (1.0 - value)
        result[k] = value
    return result

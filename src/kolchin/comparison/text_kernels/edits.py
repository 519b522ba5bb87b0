"""How many letters two texts share at their ends, and whether one edit is between them."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled


@compiled
def count_same_at_start(letters: Any, a: int, a_end: int, b: int, b_end: int) -> int:
    """Return how many letters at the start are the same."""
    n = 0
    while a + n < a_end and b + n < b_end and letters[a + n] == letters[b + n]:
        n += 1
    return n


@compiled
def count_same_at_end(letters: Any, a: int, a_end: int, b: int, b_end: int) -> int:
    """Return how many letters at the end are the same."""
    n = 0
    while a_end - n > a and b_end - n > b and letters[a_end - n - 1] == letters[b_end - n - 1]:
        n += 1
    return n


@compiled
def count_edits(letters: Any, a: int, a_end: int, b: int, b_end: int) -> int:
    """Return 0 for the same text, 1 for one letter more, less, other or exchanged, else 2."""
    n_a, n_b = a_end - a, b_end - b
    if abs(n_a - n_b) > 1:
        return 2
    start = count_same_at_start(letters, a, a_end, b, b_end)
    if start == n_a and start == n_b:
        return 0
    a, b = a + start, b + start
    end = count_same_at_end(letters, a, a_end, b, b_end)
    left = max(n_a, n_b) - start - end
    if left <= 1:
        return 1
    if left == 2 and n_a == n_b and letters[a] == letters[b + 1] and letters[a + 1] == letters[b]:
        return 1
    return 2


@compiled
def count_few_edits(letters: Any, starts: Any, left: Any, right: Any) -> Any:
    """Return of each pair of texts whether none (0), one (1) or more edits (2) are between them."""
    result = np.empty(left.size, dtype=np.int32)
    for k in range(left.size):
        a, b = left[k], right[k]
        result[k] = count_edits(letters, starts[a], starts[a + 1], starts[b], starts[b + 1])
    return result


@compiled
def count_common_starts(letters: Any, starts: Any, left: Any, right: Any) -> Any:
    """Return how many letters at the start are the same in each pair of texts."""
    result = np.empty(left.size, dtype=np.int32)
    for k in range(left.size):
        a, b = left[k], right[k]
        result[k] = count_same_at_start(letters, starts[a], starts[a + 1], starts[b], starts[b + 1])
    return result


@compiled
def count_common_ends(letters: Any, starts: Any, left: Any, right: Any) -> Any:
    """Return how many letters at the end are the same in each pair of texts."""
    result = np.empty(left.size, dtype=np.int32)
    for k in range(left.size):
        a, b = left[k], right[k]
        result[k] = count_same_at_end(letters, starts[a], starts[a + 1], starts[b], starts[b + 1])
    return result


@compiled
def find_same_texts(letters: Any, starts: Any, left: Any, right: Any) -> Any:
    """Tell which pairs of texts are the same."""
    result = np.zeros(left.size, dtype=np.bool_)
    for k in range(left.size):
        a, b = left[k], right[k]
        n = starts[a + 1] - starts[a]
        if n == starts[b + 1] - starts[b]:
            same = count_same_at_start(letters, starts[a], starts[a + 1], starts[b], starts[b + 1])
            result[k] = same == n
    return result

"""The number of edits between texts (optimal string alignment), as far as it is small."""

from typing import Any

import numpy as np

from kolchin.comparison.text_kernels.edits import count_same_at_end, count_same_at_start
from kolchin.kernels.compiling import compiled


@compiled
def _measure_distance(
    letters: Any, a: int, n_a: int, b: int, n_b: int, most: int, rows: Any
) -> int:
    """Return how many edits are between two texts, at most one above ``most``.

    Only cells by which texts differ in length by at most ``most`` are looked at.
    """
    above = most + 1
    for j in range(n_b + 1):
        rows[0, j] = min(j, above)
    least_before = 0
    for i in range(1, n_a + 1):
        row, last, before = rows[i % 3], rows[(i - 1) % 3], rows[(i - 2) % 3]
        first, end = max(i - most, 1), min(i + most, n_b)
        row[first - 1] = i if first == 1 else above
        least = row[first - 1]
        for j in range(first, end + 1):
            here, there = a + i - 1, b + j - 1
            value = min(last[j - 1] + (letters[here] != letters[there]), row[j - 1] + 1)
            if j < i + most:
                value = min(value, last[j] + 1)
            inside = i > 1 and j > 1
            if (
                inside
                and letters[here] == letters[there - 1]
                and letters[here - 1] == letters[there]
            ):
                value = min(value, before[j - 2] + 1)
            row[j] = min(value, above)
            least = min(least, row[j])
        if min(least, least_before) > most:
            return above
        least_before = least
    return min(rows[n_a % 3, n_b], above)


@compiled
def measure_distances(letters: Any, starts: Any, left: Any, right: Any, most: int) -> Any:
    """Return how many edits are between each pair of texts (OSA), at most one above ``most``."""
    result = np.empty(left.size, dtype=np.int32)
    longest = 0
    for k in range(left.size):
        longest = max(longest, starts[right[k] + 1] - starts[right[k]])
    rows = np.empty((3, longest + 1), dtype=np.int32)
    for k in range(left.size):
        a, a_end = starts[left[k]], starts[left[k] + 1]
        b, b_end = starts[right[k]], starts[right[k] + 1]
        if abs((a_end - a) - (b_end - b)) > most:
            result[k] = most + 1
            continue
        start = count_same_at_start(letters, a, a_end, b, b_end)
        a, b = a + start, b + start
        end = count_same_at_end(letters, a, a_end, b, b_end)
        result[k] = _measure_distance(letters, a, a_end - end - a, b, b_end - end - b, most, rows)
    return result

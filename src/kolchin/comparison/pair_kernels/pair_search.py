"""Pairs are found among sorted ones."""

from typing import Any

from kolchin.kernels.compiling import compiled


@compiled
def find_pairs(pairs: Any, wanted: Any, places: Any) -> None:
    """Write the place of each wanted pair (either way round) among sorted ones, or -1."""
    for k in range(len(wanted)):
        i, j = min(wanted[k, 0], wanted[k, 1]), max(wanted[k, 0], wanted[k, 1])
        low, high = 0, len(pairs)
        while low < high:
            middle = (low + high) // 2
            a = pairs[middle, 0]
            if a < i or (a == i and pairs[middle, 1] < j):
                low = middle + 1
            else:
                high = middle
        found = low < len(pairs) and pairs[low, 0] == i and pairs[low, 1] == j
        places[k] = low if found else -1

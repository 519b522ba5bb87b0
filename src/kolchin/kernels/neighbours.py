"""Neighbours of records: sorted lists, from a record's start to the next one's."""

from kolchin.kernels.arrays import Int32s, Int64s
from kolchin.kernels.compiling import lean


@lean
def search(numbers: Int32s, low: int, high: int, wanted: int) -> int:
    """Return where a number stands in a sorted range of an array, -1 if it is not there.

    By halves, without a branch on what is found: which way to go cannot be predicted.
    """
    left = high - low
    if left == 0:
        return -1
    while left > 1:
        half = left >> 1
        low += half * (numbers[low + half] <= wanted)
        left -= half
    return low if numbers[low] == wanted else -1


@lean
def find_neighbour(starts: Int64s, neighbours: Int32s, record: int, other: int) -> int:
    """Return the place of another in a record's list, -1 if it is not there."""
    return search(neighbours, starts[record], starts[record + 1], other)

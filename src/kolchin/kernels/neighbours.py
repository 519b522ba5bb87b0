"""Neighbours of records: sorted lists, from a record's start to the next one's."""

from kolchin.kernels.arrays import Int32s, Int64s
from kolchin.kernels.compiling import lean


@lean
def find_neighbour(starts: Int64s, neighbours: Int32s, record: int, other: int) -> int:
    """Return the place of another in a record's list, -1 if it is not there."""
    low, high = starts[record], starts[record + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if neighbours[middle] < other:
            low = middle + 1
        else:
            high = middle
    return low if low < end and neighbours[low] == other else -1

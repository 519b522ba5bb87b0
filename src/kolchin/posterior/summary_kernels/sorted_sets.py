"""Sets of records in ascending order, and the sets that hold each record.

Sets are held one after another: set d is ``members[offsets[d]:offsets[d + 1]]``.
"""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled


@compiled
def sort_run(values: Any, first: int, last: int) -> None:
    """Put the values from one place to another in ascending order."""
    # Steps of a third each (Shell's sort): short runs are most, and NumPy's sort compiles slowly.
    gap = 1
    while 3 * gap + 1 < last - first:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(first + gap, last):
            n, place = values[k], k
            while place >= first + gap and values[place - gap] > n:
                values[place] = values[place - gap]
                place -= gap
            values[place] = n
        gap //= 3


@compiled
def sort_sets(members: Any, offsets: Any) -> None:
    """Put the members of each set in ascending order."""
    for d in range(offsets.size - 1):
        sort_run(members, offsets[d], offsets[d + 1])


@compiled
def transpose(members: Any, offsets: Any, n_columns: int) -> Any:
    """Turn sets of columns into, for each column, the ascending sets that hold it."""
    starts = np.zeros(n_columns + 1, dtype=np.int64)
    for n in members:
        starts[n + 1] += 1
    for n in range(n_columns):
        starts[n + 1] += starts[n]
    place = starts[:-1].copy()
    sets = np.empty(members.size, dtype=np.int32)
    for d in range(offsets.size - 1):
        for k in range(offsets[d], offsets[d + 1]):
            sets[place[members[k]]] = d
            place[members[k]] += 1
    return sets, starts

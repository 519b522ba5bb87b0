"""Whom a record picks: one of its list of neighbours, or any other."""

import numpy as np

from kolchin.kernels.arrays import Floats, Int32s, Int64s
from kolchin.kernels.compiling import compiled, lean


@compiled
def weigh_picks(
    starts: Int64s,
    neighbours: Int32s,
    codes: Int32s,
    gain: Floats,
    delta: Floats,
    odds: float,
    reach: Floats,
) -> None:
    """Write the sums of each record's weights: the chance of a link, by delta and prior odds."""
    for record in range(starts.size - 1):
        total = 0.0
        for k in range(starts[record], starts[record + 1]):
            ratio = odds
            for f in range(codes.shape[1]):
                x, y = codes[record, f], codes[neighbours[k], f]
                if x >= 0 and y >= 0:
                    ratio *= (delta[f] + (gain[x] if x == y else 0.0)) / (delta[f] + 1.0)
            total += ratio / (1.0 + ratio)
            reach[k] = total


@lean
def own_weight(starts: Int64s, neighbours: Int32s, reach: Floats, record: int, other: int) -> float:
    """Return the weight of another in a record's list; 0 if it is not there."""
    first, end = starts[record], starts[record + 1]
    low, high = first, end
    while low < high:
        middle = (low + high) // 2
        if neighbours[middle] < other:
            low = middle + 1
        else:
            high = middle
    if low == end or neighbours[low] != other:
        return 0.0
    return reach[low] - (reach[low - 1] if low > first else 0.0)


@lean
def pick_weight(
    starts: Int64s, neighbours: Int32s, reach: Floats, record: int, other: int
) -> float:
    """Return the weight of a pair, which both records list: as that of less weight has it."""
    if starts[record] == starts[record + 1] or starts[other] == starts[other + 1]:
        return 0.0
    if reach[starts[other + 1] - 1] < reach[starts[record + 1] - 1]:
        record, other = other, record
    return own_weight(starts, neighbours, reach, record, other)


@lean
def pick_chances(
    following: Int32s,
    starts: Int64s,
    neighbours: Int32s,
    reach: Floats,
    uniform: float,
    unit: int,
    other: int,
) -> tuple[float, float]:
    """Return the chance of one unit to pick another, and that of the other to pick it."""
    one, two = 0.0, 0.0
    n_unit, n_other = 0, 0
    m = np.int32(unit)
    while True:
        n_unit += 1
        n_other = 0
        n = np.int32(other)
        while True:
            n_other += 1
            weight = pick_weight(starts, neighbours, reach, m, n)
            if weight > 0.0:
                one += weight / reach[starts[m + 1] - 1]
                two += weight / reach[starts[n + 1] - 1]
            n = following[n]
            if n == other:
                break
        m = following[m]
        if m == unit:
            break
    by_chance = uniform / following.size
    one = (1.0 - uniform) * one / n_unit + by_chance * n_other
    two = (1.0 - uniform) * two / n_other + by_chance * n_unit
    return one, two


@lean
def picked_by(
    rng: np.random.Generator,
    starts: Int64s,
    neighbours: Int32s,
    reach: Floats,
    uniform: float,
    record: int,
) -> tuple[int, float]:
    """Let a record pick another: one of its list, with its weight there, or any, or none (-1)."""
    if rng.random() < uniform:
        return np.int64(rng.random() * (starts.size - 1)), -1.0
    first, high = starts[record], starts[record + 1] - 1
    if first > high or not reach[high] > 0.0:
        return np.int64(-1), -1.0
    low = first
    level = rng.random() * reach[high]
    while low < high:
        middle = (low + high) // 2
        if reach[middle] <= level:
            low = middle + 1
        else:
            high = middle
    return np.int64(neighbours[low]), reach[low] - (reach[low - 1] if low > first else 0.0)

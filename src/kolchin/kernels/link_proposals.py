"""Whom a record picks: one of its list of neighbours, or any other."""

import numpy as np

from kolchin.kernels.arrays import Data, Floats, Int32s, LinkProposals
from kolchin.kernels.compiling import lean
from kolchin.kernels.neighbours import find_neighbour


@lean
def weigh_proposals(
    proposals: LinkProposals, data: Data, delta: Floats, odds: float, reach: Floats
) -> None:
    """Weigh each listed neighbour by the chance of a link, given delta and the prior odds of one.

    ``reach`` gets the sum of a record's weights up to each of its neighbours.
    """
    starts = proposals.starts
    for record in range(starts.size - 1):
        total = 0.0
        for k in range(starts[record], starts[record + 1]):
            ratio = odds
            for f in range(data.codes.shape[1]):
                x, y = data.codes[record, f], data.codes[proposals.neighbours[k], f]
                if x >= 0 and y >= 0:
                    ratio *= (delta[f] + (data.gain[x] if x == y else 0.0)) / (delta[f] + 1.0)
            total += ratio / (1.0 + ratio)
            reach[k] = total


@lean
def find_weight(proposals: LinkProposals, record: int, other: int) -> float:
    """Return the weight of another in a record's list; 0 if it is not there."""
    starts, reach = proposals.starts, proposals.reach
    place = find_neighbour(starts, proposals.neighbours, record, other)
    if place < 0:
        return 0.0
    return reach[place] - (reach[place - 1] if place > starts[record] else 0.0)


@lean
def get_total_weight(proposals: LinkProposals, record: int) -> float:
    """Return the sum of the weights of a record's list, which has some."""
    return proposals.reach[proposals.starts[record + 1] - 1]


@lean
def find_pair_weight(proposals: LinkProposals, record: int, other: int) -> float:
    """Return the weight of a pair: that in the list of the record with less weight in all.

    Both records list the pair, and both must see the same weight.
    """
    if (
        proposals.starts[record] == proposals.starts[record + 1]
        or proposals.starts[other] == proposals.starts[other + 1]
    ):
        return 0.0
    if get_total_weight(proposals, other) < get_total_weight(proposals, record):
        record, other = other, record
    return find_weight(proposals, record, other)


@lean
def compute_pick_chances(
    following: Int32s, proposals: LinkProposals, uniform: float, unit: int, other: int
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
            weight = find_pair_weight(proposals, m, n)
            if weight > 0.0:
                one += weight / get_total_weight(proposals, m)
                two += weight / get_total_weight(proposals, n)
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
def pick_other(
    rng: np.random.Generator, proposals: LinkProposals, uniform: float, record: int
) -> tuple[int, float]:
    """Let a record pick another: one of its list, with its weight there, or any, or none (-1)."""
    if rng.random() < uniform:
        return np.int64(rng.random() * (proposals.starts.size - 1)), -1.0
    first, high = proposals.starts[record], proposals.starts[record + 1] - 1
    if first > high or not proposals.reach[high] > 0.0:
        return np.int64(-1), -1.0
    low = first
    level = rng.random() * proposals.reach[high]
    while low < high:
        middle = (low + high) // 2
        if proposals.reach[middle] <= level:
            low = middle + 1
        else:
            high = middle
    before = proposals.reach[low - 1] if low > first else 0.0
    return np.int64(proposals.neighbours[low]), proposals.reach[low] - before

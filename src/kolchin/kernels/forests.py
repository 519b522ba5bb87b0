"""Forests of links: the sum over all ways to link, and a draw of one."""

import numpy as np

from kolchin.kernels.arrays import Floats, Int32s, Int64s
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.removal import LARGEST_LOOKED_AT, chance_to_stay
from kolchin.kernels.trees import break_circles, hold_links, order_trees


@compiled
def grow_forest(
    rng: np.random.Generator,
    picked: Int64s,
    rate_picked: Floats,
    taken: Int32s,
    former: Int32s,
    following: Int32s,
    codes: Int32s,
    gain: Floats,
    apart: Floats,
) -> tuple[Int32s, Int64s, Floats, Floats, Int64s, Floats, Floats]:
    """Make trees of what was picked.

    Returns what a ``Forest`` has, but for the chances: how often units of a link pick each other,
    over how often they did, and the chance that its unit stayed whole over that its record was
    taken out.
    """
    n_records = following.size
    above = picked.copy()
    break_circles(rng, codes, above)
    hold_links(following, taken, former, above)
    units = np.empty(n_records, dtype=np.int32)
    parent = np.empty(n_records, dtype=np.int64)
    n_units = order_trees(above, units, parent)
    shared, seen = np.zeros((2, n_units, codes.shape[1]))
    size = np.zeros(n_units, dtype=np.int64)
    rate, stayed = np.ones((2, n_units))
    members = np.empty(LARGEST_LOOKED_AT + 1, dtype=np.int32)
    leaving = np.empty(LARGEST_LOOKED_AT + 1)
    for v in range(n_units):
        if parent[v] >= 0:
            p, q = np.int64(units[v]), np.int64(units[parent[v]])
            times = int(picked[p] == q) + int(picked[q] == p)
            rate[v] = (rate_picked[p] if picked[p] == q else rate_picked[q]) / times
            if following[p] != p:
                p, q = q, p
            size[v] = describe_link(following, codes, gain, p, q, shared[v], seen[v])
            stayed[v] = chance_to_stay(following, codes, p, q, apart, members, leaving)
    return units[:n_units], parent[:n_units], shared, seen, size, rate, stayed


@lean
def describe_link(
    following: Int32s,
    codes: Int32s,
    gain: Floats,
    record: int,
    unit: int,
    shared: Floats,
    seen: Floats,
) -> int:
    """Write what a record shares with a unit; return how many records they are together."""
    size = 1
    n = np.int32(unit)
    while True:
        size += 1
        for f in range(codes.shape[1]):
            if codes[record, f] >= 0 and codes[n, f] >= 0:
                seen[f] += 1.0
                if codes[record, f] == codes[n, f]:
                    shared[f] += gain[codes[n, f]]
        n = following[n]
        if n == unit:
            return size


@compiled
def weigh_links(
    delta: Floats, parent: Int64s, shared: Floats, seen: Floats, chance: Floats, evidence: Floats
) -> None:
    """Write what the fields say of each link of a forest, by delta, over its chance to be here."""
    n_units, n_fields = shared.shape
    for v in range(n_units):
        evidence[v] = 1.0 / chance[v]
        if parent[v] >= 0:
            for f in range(n_fields):
                if seen[v, f] > 0.0:
                    evidence[v] *= (delta[f] + shared[v, f]) / (delta[f] + seen[v, f])


@compiled
def sum_forest(
    parent: Int64s,
    size: Int64s,
    evidence: Floats,
    join: Floats,
    weight: Floats,
    free: Floats,
) -> float:
    """Log of the sum, over all ways to link units to at most one other, of their weights.

    A link's weight is that of ``weigh_links``, times ``join`` of its size; ``weight`` has it, and
    ``free[v]`` the sum of those of the links to v's children, where these are not linked to their
    own.
    """
    n_units = parent.size
    for v in range(n_units):
        free[v] = 0.0
        weight[v] = evidence[v] * join[size[v]]
    total = 0.0
    product = 1.0
    for v in range(n_units - 1, -1, -1):
        if free[v] > 1e100:
            total += np.log(free[v])
        else:
            product *= 1.0 + free[v]
        if product > 1e150:
            total += np.log(product)
            product = 1.0
        if parent[v] >= 0:
            free[parent[v]] += weight[v] / (1.0 + free[v])
    return total + np.log(product)


@compiled
def link_forest(
    rng: np.random.Generator,
    units: Int32s,
    parent: Int64s,
    weight: Floats,
    free: Floats,
    following: Int32s,
) -> None:
    """Draw which units are linked, in proportion to the weights, and link them."""
    n_units = units.size
    # How much weight of its children each unit lets pass before it takes one; negative: none.
    left = np.empty(n_units)
    bound = np.zeros(n_units, dtype=np.bool_)
    for v in range(n_units):
        left[v] = rng.random() * (1.0 + free[v]) - 1.0
    for v in range(n_units):
        p = parent[v]
        if p < 0 or bound[p] or left[p] < 0.0:
            continue
        left[p] -= weight[v] / (1.0 + free[v])
        if left[p] < 0.0:
            bound[p] = bound[v] = True
            one, other = units[v], units[p]
            if following[one] != one:
                one, other = other, one
            following[one] = following[other]
            following[other] = one

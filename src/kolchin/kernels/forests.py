"""Forests of links: the sum over all ways to link, and a draw of one."""

import numpy as np

from kolchin.kernels.answers import log_answers_with_ring
from kolchin.kernels.arrays import Data, Floats, Forest, Int32s, Int64s, Removal, Units
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.removal import LARGEST_LOOKED_AT, compute_chance_to_stay
from kolchin.kernels.trees import break_circles, hold_links, order_trees


@compiled
def grow_forest(
    rng: np.random.Generator,
    picked: Int64s,
    rate_picked: Floats,
    units: Units,
    following: Int32s,
    data: Data,
    removal: Removal,
) -> tuple[Forest, Floats]:
    """Make trees of what was picked.

    Returns a ``Forest`` whose chances are how often units of a link pick each other, over how often
    they did; to be multiplied by the other number that is returned, the chance that its unit stayed
    whole over that its record was taken out.
    """
    n_records = following.size
    above = picked.copy()
    break_circles(rng, data.codes, above)
    hold_links(following, units, above)
    unit = np.empty(n_records, dtype=np.int32)
    parent = np.empty(n_records, dtype=np.int64)
    n_units = order_trees(above, unit, parent)
    shared, seen = np.zeros((2, n_units, data.codes.shape[1]))
    size = np.zeros(n_units, dtype=np.int64)
    rate, stayed = np.ones((2, n_units))
    members = np.empty(LARGEST_LOOKED_AT + 1, dtype=np.int32)
    leaving = np.empty(LARGEST_LOOKED_AT + 1)
    for v in range(n_units):
        if parent[v] >= 0:
            p, q = np.int64(unit[v]), np.int64(unit[parent[v]])
            times = int(picked[p] == q) + int(picked[q] == p)
            rate[v] = (rate_picked[p] if picked[p] == q else rate_picked[q]) / times
            if following[p] != p:
                p, q = q, p
            size[v] = describe_link(following, data.codes, data.gain, p, q, shared[v], seen[v])
            stayed[v] = compute_chance_to_stay(
                following, data.codes, data.answers, p, q, removal, members, leaving
            )
            # What was said of the two is a factor of their link, as what the fields say is.
            stayed[v] *= np.exp(-log_answers_with_ring(data.answers, following, p, q))
    forest = Forest(unit[:n_units], parent[:n_units], shared, seen, size, rate)
    return forest, stayed


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


@lean
def weigh_links(delta: Floats, forest: Forest, evidence: Floats) -> None:
    """Write what the fields say of each link of a forest, by delta, over its chance to be here."""
    n_units, n_fields = forest.shared.shape
    for v in range(n_units):
        evidence[v] = 1.0 / forest.chance[v]
        if forest.parent[v] >= 0:
            for f in range(n_fields):
                if forest.seen[v, f] > 0.0:
                    evidence[v] *= (delta[f] + forest.shared[v, f]) / (delta[f] + forest.seen[v, f])


@lean
def sum_forest(
    forest: Forest, evidence: Floats, join: Floats, weight: Floats, free: Floats
) -> float:
    """Log of the sum, over all ways to link units to at most one other, of their weights.

    A link's weight is that of ``weigh_links``, times ``join`` of its size; ``weight`` has it, and
    ``free[v]`` the sum of those of the links to v's children, where these are not linked to their
    own.
    """
    n_units = forest.parent.size
    for v in range(n_units):
        free[v] = 0.0
        weight[v] = evidence[v] * join[forest.size[v]]
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
        if forest.parent[v] >= 0:
            free[forest.parent[v]] += weight[v] / (1.0 + free[v])
    return total + np.log(product)


@compiled
def link_forest(
    rng: np.random.Generator, forest: Forest, weight: Floats, free: Floats, following: Int32s
) -> None:
    """Draw which units are linked, in proportion to the weights, and link them."""
    n_units = forest.unit.size
    # How much weight of its children each unit lets pass before it takes one; negative: none.
    left = np.empty(n_units)
    bound = np.zeros(n_units, dtype=np.bool_)
    for v in range(n_units):
        left[v] = rng.random() * (1.0 + free[v]) - 1.0
    for v in range(n_units):
        p = forest.parent[v]
        if p < 0 or bound[p] or left[p] < 0.0:
            continue
        left[p] -= weight[v] / (1.0 + free[v])
        if left[p] < 0.0:
            bound[p] = bound[v] = True
            one, other = forest.unit[v], forest.unit[p]
            if following[one] != one:
                one, other = other, one
            following[one] = following[other]
            following[other] = one

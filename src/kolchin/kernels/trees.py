"""What units picked, made into trees: each circle loses a step."""

import numpy as np

from kolchin.kernels.arrays import Floats, Int32s, Int64s, LinkProposals, Units
from kolchin.kernels.categorical import are_alike
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.link_proposals import compute_pick_chances, get_total_weight, pick_other
from kolchin.kernels.sources import are_of_one_source


@lean
def may_join(following: Int32s, source: Int32s, record: int, unit: int) -> bool:
    """Tell whether no record of a unit is of a record's source."""
    if source.size == 0:
        return True
    n = np.int32(unit)
    while True:
        if are_of_one_source(source, record, n):
            return False
        n = following[n]
        if n == unit:
            return True


@compiled
def pick_units(
    rng: np.random.Generator,
    proposals: LinkProposals,
    following: Int32s,
    source: Int32s,
    units: Units,
) -> tuple[Int64s, Floats]:
    """Let every unit pick another; of two that were taken apart, one picks the other.

    Returns what each unit picked, by its smallest record (-1: none, or none that may join it), and
    how often those two pick each other.
    """
    n_records = following.size
    unit, taken, former = units.unit, units.taken, units.former
    uniform = proposals.uniform
    picked = np.full(n_records, -1, dtype=np.int64)
    rate = np.zeros(n_records)
    for k in range(taken.size):
        p, q = np.int64(taken[k]), np.int64(former[k])
        one, two = compute_pick_chances(following, proposals, uniform, p, q)
        if rng.random() * (one + two) >= one:
            p, q = q, p
        picked[p] = q
        rate[p] = one + two
    for first in range(n_records):
        p = np.int64(first)
        if unit[p] != p or picked[p] >= 0:
            continue
        alone = following[p] == p
        who = p
        if not alone:
            size = 1
            n = np.int64(following[p])
            while n != p:
                size += 1
                n = np.int64(following[n])
            for _ in range(np.int64(rng.random() * size)):
                who = np.int64(following[who])
        other, weight = pick_other(rng, proposals, uniform, who)
        if other < 0 or unit[other] == p:
            continue
        q = np.int64(unit[other])
        record, joined = (p, q) if alone else (q, p)
        if following[record] != record or not may_join(following, source, record, joined):
            continue
        picked[p] = q
        if weight > 0.0 and alone and following[q] == q:
            shares = weight / get_total_weight(proposals, p) + weight / get_total_weight(
                proposals, q
            )
            rate[p] = (1.0 - uniform) * shares + 2.0 * uniform / n_records
        else:
            one, two = compute_pick_chances(following, proposals, uniform, p, q)
            rate[p] = one + two
    return picked, rate


@compiled
def break_circles(rng: np.random.Generator, codes: Int32s, above: Int64s) -> None:
    """Take a step out of each circle of what was picked: what is left are trees with roots (-1).

    It is a random one, of those between like records if there are any: others say more of delta.
    """
    n_records = above.size
    walk = np.full(n_records, -1, dtype=np.int64)
    for start in range(n_records):
        n = np.int64(start)
        while n >= 0 and walk[n] < 0:
            walk[n] = start
            n = above[n]
        if n < 0 or walk[n] != start:
            continue
        first, chosen = n, n
        n_alike, n_unlike = 0, 0
        while True:
            if are_alike(codes, n, above[n]):
                n_alike += 1
                if rng.random() * n_alike < 1.0:
                    chosen = n
            else:
                n_unlike += 1
                if n_alike == 0 and rng.random() * n_unlike < 1.0:
                    chosen = n
            n = above[n]
            if n == first:
                break
        above[chosen] = -1


@compiled
def hold_links(following: Int32s, units: Units, above: Int64s) -> None:
    """Put records back that were taken out, where the step to their former unit is in no tree.

    Both units are then in no tree either: they stay as they were.
    """
    held = np.zeros(above.size, dtype=np.bool_)
    for k in range(units.taken.size):
        p, q = units.taken[k], units.former[k]
        if above[p] != q and above[q] != p:
            held[p] = held[q] = True
            following[p] = following[q]
            following[q] = p
    for n in range(above.size):
        if above[n] >= 0 and (held[n] or held[above[n]]):
            above[n] = -1


@compiled
def order_trees(above: Int64s, units: Int32s, parent: Int64s) -> int:
    """Write the units of trees, parents first, and the place of each one's parent (-1: a root)."""
    n_records = above.size
    n_below = np.zeros(n_records, dtype=np.int64)
    for unit in range(n_records):
        if above[unit] >= 0:
            n_below[above[unit]] += 1
    # From the leaves: a unit's turn comes after all that are below it.
    place = np.full(n_records, -1, dtype=np.int64)
    first = n_records
    for leaf in range(n_records):
        n = np.int64(leaf)
        if n_below[n] != 0 or above[n] < 0:
            continue
        while n >= 0 and n_below[n] == 0:
            n_below[n] = -1
            first -= 1
            units[first] = n
            place[n] = first
            n = above[n]
            if n >= 0:
                n_below[n] -= 1
    n_units = n_records - first
    for v in range(n_units):
        n = units[first + v]
        units[v] = n
        parent[v] = place[above[n]] - first if above[n] >= 0 else -1
    return n_units

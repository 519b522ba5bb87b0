"""Lone records attach to their neighbours and leave them, by Metropolis steps."""

import numpy as np

from kolchin.kernels.arrays import Floats, Int32s, Int64s, Sides
from kolchin.kernels.categorical import log_predictive
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.exemplar import compare_with, log_exemplar_joining
from kolchin.kernels.pairs import draw_pair, inside, record_at
from kolchin.kernels.prior import count_two, log_merge_weight

LARGEST_JOINED = 8
"""Lone records attach to clusters of up to this many; tables are longer than that in any state."""


@lean
def others_of(following: Int32s, within: Int64s, start: int, left_out: int, members: Int32s) -> int:
    """List the records of a ring without one; 0 if they do not fit or are not all in the shard."""
    n_members = 0
    n = start
    while True:
        if n != left_out:
            if n_members == members.size or not inside(within, n):
                return 0
            members[n_members] = n
            n_members += 1
        n = following[n]
        if n == start:
            return n_members


@lean
def listed_odds(
    starts: Int64s, neighbours: Int32s, odds: Floats, record: int, members: Int32s, n_members: int
) -> float:
    """Sum the listed odds of a record with some others (neighbours of a record are sorted)."""
    total = 0.0
    for k in range(n_members):
        low, high = starts[record], starts[record + 1]
        while low < high:
            middle = (low + high) // 2
            if neighbours[middle] < members[k]:
                low = middle + 1
            else:
                high = middle
        if low < starts[record + 1] and neighbours[low] == members[k]:
            total += odds[low]
    return total


@compiled
def attach_records(
    rng: np.random.Generator,
    n_moves: int,
    joining: float,
    table: Int32s,
    slices: Int64s,
    reach: Floats,
    within: Int64s,
    total: float,
    leavers: Int32s,
    leaving: Int64s,
    starts: Int64s,
    neighbours: Int32s,
    odds: Floats,
    codes: Int32s,
    gain: Floats,
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    source: Int32s,
    delta: Floats,
    ratio: Floats,
    apart: Floats,
    log_size: Floats,
    size: Floats,
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    following: Int32s,
    size_counts: Int64s,
) -> None:
    """Attach lone records to their neighbours and detach them again, by Metropolis steps.

    With chance ``joining`` a pair of the shard's lists is drawn in proportion to its odds, which
    add up to ``total``, and one of the two that is alone asks to join the other's cluster; else one
    of the records that have listed neighbours, ``leavers`` in the ranges of places ``leaving``,
    asks to leave its own.
    """
    members = np.empty(LARGEST_JOINED, dtype=np.int32)
    side = np.zeros(LARGEST_JOINED, dtype=np.int8)
    row = np.empty(LARGEST_JOINED)
    sums = np.empty(LARGEST_JOINED + 1)
    # The chance that a record leaves over the chance that it joins, but for the pairs' odds.
    n_leavers = leaving[1] - leaving[0] + leaving[3] - leaving[2]
    log_balance = np.log((1.0 - joining) / n_leavers) - np.log(joining / total)
    attach_or_leave(
        rng, n_moves, joining, table, slices, reach, within, leavers, leaving,
        starts, neighbours, odds,
        codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
        log_size, opening, log_open, shape, following, size_counts,
        log_balance, members, side, row, sums,
    )  # fmt: skip


@lean
def attach_or_leave(
    rng: np.random.Generator,
    n_moves: int,
    joining: float,
    table: Int32s,
    slices: Int64s,
    reach: Floats,
    within: Int64s,
    leavers: Int32s,
    leaving: Int64s,
    starts: Int64s,
    neighbours: Int32s,
    odds: Floats,
    codes: Int32s,
    gain: Floats,
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    source: Int32s,
    delta: Floats,
    ratio: Floats,
    apart: Floats,
    log_size: Floats,
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    following: Int32s,
    size_counts: Int64s,
    log_balance: float,
    members: Int32s,
    side: Sides,
    row: Floats,
    sums: Floats,
) -> None:
    """Make the steps of ``attach_records``."""
    n_leavers = leaving[1] - leaving[0] + leaving[3] - leaving[2]
    for _ in range(n_moves):
        joins = rng.random() < joining
        if joins:
            i, j = draw_pair(rng, 0.0, table, slices, reach, within)
            if following[i] != i:
                i, j = j, i
            if following[i] != i:
                continue
        else:
            i = np.int64(leavers[record_at(leaving, int(rng.random() * n_leavers))])
            j = np.int64(following[i])
            if i == j:
                continue
        m = others_of(following, within, j, i, members)
        if m == 0:
            continue
        # A pair comes apart whichever of the two leaves.
        listed = listed_odds(starts, neighbours, odds, i, members, m) / (2.0 if m == 1 else 1.0)
        if listed == 0.0:
            continue
        log_ratio = log_balance - np.log(listed)
        log_ratio += log_predictive(codes, gain, source, delta, i, members, side, 0, m)
        log_ratio += log_merge_weight(log_size, opening, log_open, shape, size_counts, m, 1, joins)
        log_level = np.log(rng.random())
        if ratio.size > 0:
            least = compare_with(begins, others, pattern, shown, ratio, apart, i, members, m, row)
            # The record adds at least this evidence, whoever is the exemplar: too much to leave?
            if not joins and log_level >= np.log((m + 1.0) / m) - least - log_ratio:
                continue
            log_ratio += log_exemplar_joining(
                begins, others, pattern, shown, ratio, apart, members, m, row, sums
            )
        if log_level < (log_ratio if joins else -log_ratio):
            count_two(size_counts, m, 1, joins, -1)
            count_two(size_counts, m, 1, not joins, 1)
            size_counts[0] += -1 if joins else 1
            if joins:
                following[i] = following[j]
                following[j] = i
            else:
                last = j
                while following[last] != i:
                    last = following[last]
                following[last] = j
                following[i] = i

"""The chaperones move: the records of two clusters are divided anew (model section 4)."""

import numpy as np

from kolchin.kernels.arrays import LARGEST_ENUMERATED, Floats, Int32s, Int64s, Sides
from kolchin.kernels.categorical import categorical_pair
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.divisions import draw_division
from kolchin.kernels.exemplar import compared_pair
from kolchin.kernels.pairs import draw_pair, inside, record_at
from kolchin.kernels.prior import count_sides, log_open_weight, weigh_pairs
from kolchin.kernels.rings import stays, write_rings
from kolchin.kernels.sources import clash
from kolchin.kernels.split_merge import split_or_merge
from kolchin.kernels.visits import visit_all

LARGEST_TABULATED = 256
"""Up to this many records in two clusters, all of their pairs are looked up once."""

LARGEST_WHOLE = 64
"""Moves on more records in two clusters are made in proportion to one over their cost."""


@lean
def gather(
    following: Int32s, within: Int64s, i: int, j: int, members: Int32s, side: Sides
) -> tuple[int, bool]:
    """Collect S, the records of c_i and c_j: i, j, then the others in increasing order.

    Returns their number (or minus one when they do not fit, and 0 when one is outside the shard)
    and whether i and j are together. Sides are set: 0 with i, 1 with j. The order must not depend
    on the state: sorting makes visits valid, and chains depend on the partition alone.
    """
    members[0] = i
    members[1] = j
    side[0] = 0
    side[1] = 1
    count = 2
    together = False
    for own in range(2):
        start = members[own]
        n = following[start]
        while n != start and count > 0:
            if n == j and own == 0:
                together = True
                side[1] = 0
            elif not inside(within, n):
                return 0, together
            elif count == members.size:
                # It does not fit, unless a record is outside: how far tables reach must not tell.
                count = -1 if stays(following, within, start) else 0
            else:
                k = count
                while k > 2 and members[k - 1] > n:
                    members[k] = members[k - 1]
                    side[k] = side[k - 1]
                    k -= 1
                members[k] = n
                side[k] = own
                count += 1
            n = following[n]
        if count < 0 and own == 0 and not stays(following, within, j):
            count = 0
        if together or count <= 0:
            break
    return count, together


@lean
def several_records(
    rng: np.random.Generator,
    i: int,
    j: int,
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
    within: Int64s,
    following: Int32s,
    size_counts: Int64s,
    members: Int32s,
    side: Sides,
    weight: Floats,
    evidence: Floats,
    below: Floats,
    between: Floats,
    totals: Floats,
    sums: Floats,
    terms: Floats,
) -> bool:
    """Make the move on any two clusters of the shard, none if they reach outside.

    Returns false if the tables are too short for their union.
    """
    n_members, together = gather(following, within, i, j, members, side)
    if n_members <= 0:
        return n_members == 0
    # A move leaves S as it is, so how often it is made may depend on how large S is.
    if n_members > LARGEST_WHOLE:
        share = LARGEST_WHOLE / n_members
        if rng.random() >= share * share:
            return True
    log_apart = log_open_weight(opening, log_open, size_counts[0] - (0 if together else 1))
    count_sides(size_counts, side, n_members, -1)
    if n_members < size.size:
        draw_division(
            rng, log_apart,
            codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
            log_size, size, shape, size_counts,
            n_members, members, side, weight, evidence, below, between, sums, terms,
        )  # fmt: skip
    elif n_members <= LARGEST_TABULATED and rng.random() < 0.5:
        split_or_merge(
            rng, log_apart, together,
            codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
            log_size, shape, size_counts,
            n_members, members, side, between, totals, evidence, terms,
        )  # fmt: skip
    else:
        visit_all(
            rng, log_apart, together,
            codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
            log_size, shape, size_counts,
            n_members, members, side, between, totals, evidence, terms,
        )  # fmt: skip
    count_sides(size_counts, side, n_members, 1)
    write_rings(following, members, side, n_members)
    return True


@compiled
def make_chaperones_moves(
    rng: np.random.Generator,
    n_moves: int,
    in_rings: bool,
    uniform_share: float,
    table: Int32s,
    slices: Int64s,
    reach: Floats,
    within: Int64s,
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
    pending: Int64s,
) -> int:
    """Make chaperones moves on pairs of a shard from a mixture; returns how many were made.

    Pairs whose clusters reach outside the shard are left as they are (model section 5).

    Fewer than asked means that two clusters met whose union is larger than the tables: extend
    them and go on. The pair waits in ``pending`` (else -1): how far tables reach depends on the
    state, so another pair in its place would be wrong.

    With ``in_rings`` the pairs are each record of the shard and its neighbour in the ring, in turn.
    They depend on the state, so the posterior is not kept: that is for warm-up alone, to free a
    start from clusters that no proposed pair would ever take apart.
    """
    members = np.empty(log_size.size - 1, dtype=np.int32)
    side = np.empty(log_size.size - 1, dtype=np.int8)
    weight = np.empty(1 + (1 << (LARGEST_ENUMERATED - 2)))
    evidence = np.empty(1 << LARGEST_ENUMERATED)
    below = np.empty(LARGEST_ENUMERATED)
    # For compared fields; pages of it that are never touched cost nothing.
    room = members.size if ratio.size > 0 else 0
    between = np.empty((min(room, LARGEST_TABULATED), room))
    totals = np.empty((2, room))
    sums = np.empty(1 << LARGEST_ENUMERATED)
    terms = np.empty(max(members.size, 1 << (LARGEST_ENUMERATED - 2)))
    # What two records without company weigh, apart and joined, as they are now either way.
    pair_weight = np.empty((2, 2))
    weigh_pairs(size, opening, log_open, shape, size_counts, pair_weight)
    return make_moves(
        rng, n_moves, in_rings, uniform_share, table, slices, reach, within,
        codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
        log_size, size, opening, log_open, shape, following, size_counts, pending,
        members, side, weight, evidence, below, between, totals, sums, terms, pair_weight,
    )  # fmt: skip


@lean
def make_moves(
    rng: np.random.Generator,
    n_moves: int,
    in_rings: bool,
    uniform_share: float,
    table: Int32s,
    slices: Int64s,
    reach: Floats,
    within: Int64s,
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
    pending: Int64s,
    members: Int32s,
    side: Sides,
    weight: Floats,
    evidence: Floats,
    below: Floats,
    between: Floats,
    totals: Floats,
    sums: Floats,
    terms: Floats,
    pair_weight: Floats,
) -> int:
    """Make the moves of ``make_chaperones_moves``."""
    compared = ratio.size > 0
    constrained = source.size > 0
    # Where no weight depends on the other clusters, pairs are weighed once.
    depends = log_open.size > 0 or opening[1] > 0.0 or opening[3] > 0.0 or shape.size > 0
    for move in range(n_moves):
        if in_rings:
            i = np.int64(record_at(within, move))
            j = np.int64(following[i])
            if i == j or not inside(within, j):
                continue
        elif pending[0] >= 0:
            i, j = pending[0], pending[1]
            pending[0] = -1
        else:
            i, j = draw_pair(rng, uniform_share, table, slices, reach, within)
        after_i = following[i]
        after_j = following[j]
        if constrained and after_i == i and after_j == j and clash(source, i, j):
            continue
        n_clusters, n_alone, n_pairs = size_counts[0], size_counts[1], size_counts[2]
        if (after_i == i and after_j == j) or (after_i == j and after_j == i):
            # Two records without company: draw at once whether they are one cluster or two.
            together = after_i == j
            now = 1 if together else 0
            joined = pair_weight[now, 1] * categorical_pair(codes, gain, delta, i, j)
            if compared:
                joined *= compared_pair(begins, others, pattern, shown, ratio, apart, i, j)
            total = joined + pair_weight[now, 0]
            in_range = 1e-200 < total < 1e200
            if in_range and (rng.random() * total < joined) != together:
                sign = -1 if together else 1
                following[i] = i if together else j
                following[j] = j if together else i
                size_counts[0] -= sign
                size_counts[1] -= 2 * sign
                size_counts[2] += sign
        else:
            in_range = False
        fits = in_range or several_records(
            rng, i, j,
            codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
            log_size, size, opening, log_open, shape,
            within, following, size_counts,
            members, side, weight, evidence, below, between, totals, sums, terms,
        )  # fmt: skip
        if not fits and not in_rings:
            pending[0], pending[1] = i, j
            return move
        if depends and (
            size_counts[0] != n_clusters or size_counts[1] != n_alone or size_counts[2] != n_pairs
        ):
            weigh_pairs(size, opening, log_open, shape, size_counts, pair_weight)
    return n_moves

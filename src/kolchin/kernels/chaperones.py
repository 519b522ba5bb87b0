"""The chaperones move: the records of two clusters are divided anew (model section 4)."""

import numpy as np

from kolchin.kernels.answers import are_tied, log_answer
from kolchin.kernels.arrays import (
    LARGEST_ENUMERATED,
    Data,
    Evidence,
    Int32s,
    Int64s,
    Pairs,
    Partition,
    Scratch,
    Sides,
    Weights,
)
from kolchin.kernels.categorical import compute_categorical_ratio
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.divisions import draw_division
from kolchin.kernels.exemplar import compute_compared_ratio
from kolchin.kernels.pairs import draw_pair, is_inside, record_at
from kolchin.kernels.prior import count_sides, log_open_weight, weigh_pairs
from kolchin.kernels.rings import is_cluster_inside, write_rings
from kolchin.kernels.sources import are_of_one_source
from kolchin.kernels.split_merge import split_or_merge
from kolchin.kernels.visits import visit_all

LARGEST_TABULATED = 256
"""Up to this many records in two clusters, all of their pairs are looked up once."""

LARGEST_WHOLE = 16
"""Moves on more records in two clusters are made in proportion to one over their cost."""

MOVES_IN_RING = 8.0
"""About so many moves on neighbours in a ring are made on one cluster, at most."""


@lean
def collect_members(
    following: Int32s, within: Int64s, i: int, j: int, members: Int32s, side: Sides
) -> tuple[int, bool]:
    """List S, the records of the clusters of i and j: i, j, then the others in increasing order.

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
            elif not is_inside(within, n):
                return 0, together
            elif count == members.size:
                # It does not fit, unless a record is outside: how far tables reach must not tell.
                count = -1 if is_cluster_inside(following, within, start) else 0
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
        if count < 0 and own == 0 and not is_cluster_inside(following, within, j):
            count = 0
        if together or count <= 0:
            break
    return count, together


@lean
def divide_clusters(
    rng: np.random.Generator,
    i: int,
    j: int,
    data: Data,
    evidence: Evidence,
    weights: Weights,
    within: Int64s,
    partition: Partition,
    scratch: Scratch,
    in_rings: bool,
) -> bool:
    """Make the move on any two clusters of the shard, none if they reach outside.

    Returns false if the tables are too short for their union.
    """
    n_members, together = collect_members(
        partition.following, within, i, j, scratch.members, scratch.side
    )
    if n_members <= 0:
        return n_members == 0
    # Each record of a cluster is asked in turn: a few moves on a large one are enough.
    if in_rings and rng.random() * n_members >= MOVES_IN_RING:
        return True
    # A move leaves S as it is, so how often it is made may depend on how large S is.
    if n_members > LARGEST_WHOLE:
        share = LARGEST_WHOLE / n_members
        if rng.random() >= share * share:
            return True
    log_apart = log_open_weight(weights, partition.n_clusters[0] - (0 if together else 1))
    count_sides(partition, scratch.side, n_members, -1)
    if n_members <= weights.largest_enumerated:
        draw_division(rng, log_apart, data, evidence, weights, partition, n_members, scratch)
    elif n_members <= LARGEST_TABULATED and rng.random() < 0.5:
        split_or_merge(
            rng, log_apart, together, data, evidence, weights, partition, n_members, scratch
        )
    else:
        visit_all(rng, log_apart, together, data, evidence, weights, partition, n_members, scratch)
    count_sides(partition, scratch.side, n_members, 1)
    write_rings(partition.following, scratch.members, scratch.side, n_members)
    return True


@compiled
def make_chaperones_moves(
    rng: np.random.Generator,
    n_moves: int,
    in_rings: bool,
    pairs: Pairs,
    data: Data,
    evidence: Evidence,
    weights: Weights,
    partition: Partition,
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
    n_most = weights.log_size.size - 1
    # For compared fields; pages of it that are never touched cost nothing.
    room = n_most if evidence.ratio.size > 0 else 0
    scratch = Scratch(
        np.empty(n_most, dtype=np.int32),
        np.empty(n_most, dtype=np.int8),
        np.empty(1 + (1 << (LARGEST_ENUMERATED - 2))),
        np.empty(1 << LARGEST_ENUMERATED),
        np.empty(1 << LARGEST_ENUMERATED),
        np.empty(LARGEST_ENUMERATED),
        np.empty((min(room, LARGEST_TABULATED), room)),
        np.empty((2, room)),
        np.empty(room),
        np.empty(2),
        np.empty(max(n_most, 1 << (LARGEST_ENUMERATED - 2))),
        np.empty((2, 2)),
    )
    weigh_pairs(weights, partition, scratch.pair_weight)
    return make_moves(rng, n_moves, in_rings, pairs, data, evidence, weights, partition, scratch)


@lean
def make_moves(
    rng: np.random.Generator,
    n_moves: int,
    in_rings: bool,
    pairs: Pairs,
    data: Data,
    evidence: Evidence,
    weights: Weights,
    partition: Partition,
    scratch: Scratch,
) -> int:
    """Make the moves, in the room that ``make_chaperones_moves`` has made for them."""
    compared = evidence.ratio.size > 0
    constrained = data.source.size > 0
    answered = data.answers.starts.size > 0
    # Where no weight depends on the other clusters, pairs are weighed once.
    depends = (
        weights.log_open.size > 0
        or weights.opening.slope > 0.0
        or weights.opening.alpha > 0.0
        or weights.shape.size > 0
    )
    for move in range(n_moves):
        if in_rings:
            i = np.int64(record_at(pairs.within, move))
            j = np.int64(partition.following[i])
            if i == j or not is_inside(pairs.within, j):
                continue
        elif partition.pending[0] >= 0:
            i, j = partition.pending[0], partition.pending[1]
            partition.pending[0] = -1
        else:
            i, j = draw_pair(rng, pairs)
        if answered and are_tied(data.answers, i, j):
            continue
        after_i = partition.following[i]
        after_j = partition.following[j]
        if constrained and after_i == i and after_j == j and are_of_one_source(data.source, i, j):
            continue
        n_clusters = partition.n_clusters[0]
        n_alone, n_pairs = partition.size_counts[1], partition.size_counts[2]
        if (after_i == i and after_j == j) or (after_i == j and after_j == i):
            # Two records without company: draw at once whether they are one cluster or two.
            together = after_i == j
            now = 1 if together else 0
            joined = scratch.pair_weight[now, 1] * compute_categorical_ratio(data, evidence, i, j)
            if compared:
                joined *= compute_compared_ratio(data, evidence, i, j)
            if answered:
                joined *= np.exp(log_answer(data.answers, i, j))
            total = joined + scratch.pair_weight[now, 0]
            in_range = weights.safe_pairs and 1e-200 < total < 1e200
            if in_range and (rng.random() * total < joined) != together:
                sign = -1 if together else 1
                partition.following[i] = i if together else j
                partition.following[j] = j if together else i
                partition.n_clusters[0] -= sign
                partition.size_counts[1] -= 2 * sign
                partition.size_counts[2] += sign
        else:
            in_range = False
        fits = in_range or divide_clusters(
            rng, i, j, data, evidence, weights, pairs.within, partition, scratch, in_rings
        )
        if not fits and not in_rings:
            partition.pending[0], partition.pending[1] = i, j
            return move
        if depends and (
            partition.n_clusters[0] != n_clusters
            or partition.size_counts[1] != n_alone
            or partition.size_counts[2] != n_pairs
        ):
            weigh_pairs(weights, partition, scratch.pair_weight)
    return n_moves

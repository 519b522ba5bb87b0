"""Lone records attach to their neighbours and leave them, by Metropolis steps."""

from typing import NamedTuple

import numpy as np

from kolchin.kernels.answers import is_tied
from kolchin.kernels.arrays import (
    AttachRequest,
    Data,
    Evidence,
    Floats,
    Int32s,
    Int64s,
    Partition,
    Sides,
    Weights,
)
from kolchin.kernels.categorical import log_predictive
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.exemplar import compare_with, log_exemplar_joining
from kolchin.kernels.neighbours import find_neighbour
from kolchin.kernels.pairs import draw_pair, is_inside, record_at
from kolchin.kernels.prior import count_two, log_merge_weight

LARGEST_JOINED = 8
"""Lone records attach to clusters of up to this many; tables are longer than that in any state."""


@lean
def list_others(
    following: Int32s, within: Int64s, start: int, left_out: int, members: Int32s
) -> int:
    """List the records of a ring without one; 0 if they do not fit or are not all in the shard."""
    n_members = 0
    n = start
    while True:
        if n != left_out:
            if n_members == members.size or not is_inside(within, n):
                return 0
            members[n_members] = n
            n_members += 1
        n = following[n]
        if n == start:
            return n_members


@lean
def sum_listed_odds(request: AttachRequest, record: int, members: Int32s, n_members: int) -> float:
    """Sum the listed odds of a record with some others."""
    total = 0.0
    for k in range(n_members):
        place = find_neighbour(request.starts, request.neighbours, record, members[k])
        if place >= 0:
            total += request.odds[place]
    return total


@lean
def log_dilution(data: Data, record: int, members: Int32s, n_members: int) -> float:
    """Log of by how much the weights of exemplars grow with one more record."""
    whole = 0.0
    for k in range(n_members):
        whole += data.weight[members[k]]
    return np.log1p(data.weight[record] / whole)


class Room(NamedTuple):
    """Room for one step: a cluster, all on one side, what a record says with each, and sums."""

    members: Int32s
    side: Sides
    rows: Floats
    sums: Floats


@compiled
def attach_records(
    rng: np.random.Generator,
    request: AttachRequest,
    data: Data,
    evidence: Evidence,
    weights: Weights,
    partition: Partition,
) -> None:
    """Attach lone records to their neighbours and detach them again, by Metropolis steps."""
    room = Room(
        np.empty(LARGEST_JOINED, dtype=np.int32),
        np.zeros(LARGEST_JOINED, dtype=np.int8),
        np.empty((2, LARGEST_JOINED)),
        np.empty(LARGEST_JOINED + 1),
    )
    attach_or_leave(rng, request, data, evidence, weights, partition, room)


@lean
def attach_or_leave(
    rng: np.random.Generator,
    request: AttachRequest,
    data: Data,
    evidence: Evidence,
    weights: Weights,
    partition: Partition,
    room: Room,
) -> None:
    """Make the steps, in the room that ``attach_records`` has made for them."""
    leaving, joining, members = request.leaving, request.joining, room.members
    n_leavers = leaving[1] - leaving[0] + leaving[3] - leaving[2]
    # The chance that a record leaves over the chance that it joins, but for the pairs' odds.
    log_balance = np.log((1.0 - joining) / n_leavers) - np.log(joining / request.total)
    for _ in range(request.n_moves):
        joins = rng.random() < joining
        if joins:
            i, j = draw_pair(rng, request.pairs)
            if partition.following[i] != i:
                i, j = j, i
            if partition.following[i] != i:
                continue
        else:
            i = np.int64(request.leavers[record_at(leaving, int(rng.random() * n_leavers))])
            j = np.int64(partition.following[i])
            if i == j or is_tied(data.answers, i):
                continue
        m = list_others(partition.following, request.pairs.within, j, i, members)
        if m == 0:
            continue
        # A pair comes apart whichever of the two leaves.
        listed = sum_listed_odds(request, i, members, m) / (2.0 if m == 1 else 1.0)
        if listed == 0.0:
            continue
        log_ratio = log_balance - np.log(listed)
        log_ratio += log_predictive(data, evidence, i, members, room.side, 0, m)
        log_ratio += log_merge_weight(weights, partition, m, 1, joins)
        log_level = np.log(rng.random())
        if evidence.ratio.size > 0:
            least = compare_with(data, evidence, i, members, m, room.rows)
            # The record adds at least this evidence, whoever is the exemplar: too much to leave?
            if not joins and log_level >= log_dilution(data, i, members, m) - least - log_ratio:
                continue
            log_ratio += log_exemplar_joining(data, evidence, i, members, m, room.rows, room.sums)
        if log_level < (log_ratio if joins else -log_ratio):
            count_two(partition, m, 1, joins, -1)
            count_two(partition, m, 1, not joins, 1)
            partition.n_clusters[0] += -1 if joins else 1
            if joins:
                partition.following[i] = partition.following[j]
                partition.following[j] = i
            else:
                last = j
                while partition.following[last] != i:
                    last = partition.following[last]
                partition.following[last] = j
                partition.following[i] = i

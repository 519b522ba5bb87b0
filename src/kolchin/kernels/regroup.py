"""Equal records leave their cluster together, or join another, by Metropolis steps."""

import numpy as np

from kolchin.kernels.answers import log_answers_between
from kolchin.kernels.arrays import (
    Data,
    Evidence,
    Int32s,
    LinkProposals,
    Partition,
    Weights,
)
from kolchin.kernels.categorical import are_equal
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.link_proposals import find_weight, pick_other
from kolchin.kernels.prior import count_two, log_merge_weight
from kolchin.kernels.sources import are_of_one_source

LARGEST_REGROUPED = 12
"""Clusters up to this size lose records that are equal, and gain them."""

ALONE = 0.2
"""How often a record goes alone, and those that are equal to it stay."""


@lean
def list_group(
    following: Int32s, codes: Int32s, record: int, alone: bool, members: Int32s
) -> tuple[int, int]:
    """List a cluster: the record, all equal to it unless it goes alone, then the others.

    Returns how many those are and how many there are in all; 0 if they do not fit.
    """
    n_group, n_members = 1, 1
    members[0] = record
    n = following[record]
    while n != record:
        if n_members == members.size:
            return 0, 0
        if not alone and are_equal(codes, record, n):
            members[n_members] = members[n_group]
            members[n_group] = n
            n_group += 1
        else:
            members[n_members] = n
        n_members += 1
        n = following[n]
    return n_group, n_members


@lean
def add_ring(following: Int32s, start: int, n_members: int, members: Int32s) -> int:
    """List another cluster behind some records; return how many there are in all, or 0."""
    n = np.int32(start)
    while True:
        if n_members == members.size:
            return 0
        members[n_members] = n
        n_members += 1
        n = following[n]
        if n == start:
            return n_members


@lean
def log_merge_evidence(
    data: Data, evidence: Evidence, members: Int32s, n_group: int, n_members: int
) -> float:
    """Log Bayes factor that equal records, which are listed first, are one entity with the others.

    Against their being an entity of their own: only categorical fields are looked at.
    """
    delta, gain = evidence.delta, data.gain
    total, factor = 0.0, 1.0
    for f in range(data.codes.shape[1]):
        x = data.codes[members[0], f]
        if x < 0:
            continue
        shown, equal = 0, 0
        for k in range(n_group, n_members):
            y = data.codes[members[k], f]
            shown += y >= 0
            equal += x == y
        if shown == 0:
            continue
        factor *= (delta[f] + equal * gain[x]) / (delta[f] + shown)
        for t in range(1, n_group):
            factor *= (delta[f] + (equal + t) * gain[x]) / (delta[f] + shown + t)
            factor *= (delta[f] + t) / (delta[f] + t * gain[x])
        if not 1e-100 < factor < 1e100:
            total += np.log(factor)
            factor = 1.0
    return total + np.log(factor)


@compiled
def regroup_records(
    rng: np.random.Generator,
    proposals: LinkProposals,
    data: Data,
    evidence: Evidence,
    weights: Weights,
    partition: Partition,
) -> None:
    """Let equal records, or one alone, leave their cluster or join another, by Metropolis steps.

    Records are asked in their order: lists are read from end to end.
    """
    members = np.empty(LARGEST_REGROUPED, dtype=np.int32)
    for record in range(partition.following.size):
        regroup_one(rng, proposals, data, evidence, weights, partition, record, members)


@lean
def regroup_one(
    rng: np.random.Generator,
    proposals: LinkProposals,
    data: Data,
    evidence: Evidence,
    weights: Weights,
    partition: Partition,
    record: int,
    members: Int32s,
) -> None:
    """Ask a record, which goes alone or takes all with it that are equal to it.

    If they are a cluster, it picks a neighbour, in whose cluster nobody may be equal to those that
    go together; they may join it. Else they may leave their cluster.
    """
    alone = rng.random() < ALONE
    group, total = list_group(partition.following, data.codes, record, alone, members)
    joins = group == total
    last = proposals.starts[record + 1] - 1
    chance = 0.0
    if joins:
        other, chance = pick_other(rng, proposals, 0.0, record)
        if group == 0 or other < 0:
            return
        total = add_ring(partition.following, other, group, members)
        for k in range(group, total):
            if not alone and are_equal(data.codes, record, members[k]):
                return
            if data.source.size > 0:
                for g in range(group):
                    if are_of_one_source(data.source, members[g], members[k]):
                        return
        if total == 0:
            return
        chance /= proposals.reach[last]
    one, two = group, total - group
    log_ratio = log_merge_evidence(data, evidence, members, group, total)
    if data.answers.starts.size > 0:
        log_ratio += log_answers_between(data.answers, members, group, total)
    log_ratio += log_merge_weight(weights, partition, one, two, joins)
    log_level = np.log(rng.random())
    # To join is at most as probable as to leave: who belongs need not know how much less. Nor need
    # those who would not join if nobody else of the cluster were listed.
    if not log_level < (log_ratio - np.log(chance) if joins else -log_ratio):
        return
    if two > 1 or not joins:
        chance = 0.0
        for k in range(group, total):
            chance += find_weight(proposals, record, members[k])
        if chance == 0.0:
            return
        log_ratio -= np.log(chance / proposals.reach[last])
        if not log_level < (log_ratio if joins else -log_ratio):
            return
    count_two(partition, one, two, joins, -1)
    count_two(partition, one, two, not joins, 1)
    partition.n_clusters[0] += -1 if joins else 1
    following = partition.following
    if joins:
        p, q = members[0], members[group]
        following[p], following[q] = following[q], following[p]
        return
    for k in range(total):
        following[members[k]] = members[k + 1] if k + 1 < total else members[group]
    following[members[group - 1]] = members[0]

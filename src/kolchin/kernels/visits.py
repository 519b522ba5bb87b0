"""The chaperones move on many records: each is visited once, in order (model section 4)."""

import numpy as np

from kolchin.kernels.answers import is_first_of_group, is_tied
from kolchin.kernels.arrays import (
    Data,
    Evidence,
    Partition,
    Scratch,
    Weights,
)
from kolchin.kernels.categorical import log_evidence, log_predictive
from kolchin.kernels.compiling import lean
from kolchin.kernels.exemplar import log_both_ratios, log_mean_exp
from kolchin.kernels.prior import compute_size_factor


@lean
def accept(rng: np.random.Generator, log_odds: float) -> bool:
    """Return true with probability 1 / (1 + exp(-log_odds))."""
    if log_odds > 0.0:
        return rng.random() * (1.0 + np.exp(-log_odds)) < 1.0
    weight = np.exp(log_odds)
    return rng.random() * (1.0 + weight) < weight


# Compared fields of an S that is visited record by record. ``exemplar_weight[e]`` is the weight of
# record e as the exemplar, ``totals[w, e]`` its log and the sum of those of e with all records of
# side w, ``log_sides[w]`` the log evidence of that side. A visit takes as many exponentials as
# S has records, and a record that changes sides as many sums.


@lean
def compare_sides(data: Data, evidence: Evidence, n_members: int, scratch: Scratch) -> None:
    """Look all pairs of S up and sum their logs by side; tabulate them if there is room."""
    whole = n_members <= scratch.between.shape[0]
    for k in range(n_members):
        scratch.exemplar_weight[k] = data.weight[scratch.members[k]]
        scratch.totals[0, k] = np.log(scratch.exemplar_weight[k])
        scratch.totals[1, k] = scratch.totals[0, k]
        if whole:
            scratch.between[k, k] = 0.0
        for other in range(k):
            against, back = log_both_ratios(
                data, evidence, scratch.members[k], scratch.members[other]
            )
            scratch.totals[scratch.side[k], other] += against
            scratch.totals[scratch.side[other], k] += back
            if whole:
                scratch.between[k, other] = against
                scratch.between[other, k] = back
    for own in range(2):
        n_inside = 0
        whole = 0.0
        for k in range(n_members):
            if scratch.side[k] == own:
                whole += scratch.exemplar_weight[k]
                scratch.terms[n_inside] = scratch.totals[own, k]
                n_inside += 1
        scratch.log_sides[own] = log_mean_exp(scratch.terms, n_inside, whole)


@lean
def find_row_of_logs(
    data: Data, evidence: Evidence, n_members: int, scratch: Scratch, k: int
) -> int:
    """Return the row of ``between`` that has the log evidence of a record with each exemplar of S.

    Where S is too large for a table, it is looked up and written into row 0.
    """
    if n_members <= scratch.between.shape[0]:
        return k
    for other in range(n_members):
        scratch.between[0, other] = 0.0
        if other != k:
            scratch.between[0, other], _ = log_both_ratios(
                data, evidence, scratch.members[k], scratch.members[other]
            )
    return 0


@lean
def log_side(scratch: Scratch, row: int, k: int, wanted: int, n_members: int) -> float:
    """Log evidence of a side with a record of the other side, or without one of its own."""
    comes = scratch.side[k] != wanted
    sign = 1.0 if comes else -1.0
    n_inside = 0
    whole = 0.0
    for exemplar in range(n_members):
        if exemplar != k and scratch.side[exemplar] == wanted:
            whole += scratch.exemplar_weight[exemplar]
            scratch.terms[n_inside] = (
                scratch.totals[wanted, exemplar] + sign * scratch.between[row, exemplar]
            )
            n_inside += 1
    if comes:
        whole += scratch.exemplar_weight[k]
        scratch.terms[n_inside] = scratch.totals[wanted, k]
        n_inside += 1
    return log_mean_exp(scratch.terms, n_inside, whole)


@lean
def change_side(
    scratch: Scratch, row: int, own: int, n_members: int, log_without: float, log_with: float
) -> None:
    """Take note that a record goes from its side to the other: sums and evidence of both change."""
    for k in range(n_members):
        scratch.totals[own, k] -= scratch.between[row, k]
        scratch.totals[1 - own, k] += scratch.between[row, k]
    scratch.log_sides[own] = log_without
    scratch.log_sides[1 - own] = log_with


@lean
def swap_sides(scratch: Scratch, n_members: int) -> None:
    """Let the two sides change their names, so that i is on side 0 again."""
    scratch.log_sides[0], scratch.log_sides[1] = scratch.log_sides[1], scratch.log_sides[0]
    for k in range(n_members):
        scratch.totals[0, k], scratch.totals[1, k] = scratch.totals[1, k], scratch.totals[0, k]


@lean
def log_division(
    log_apart: float,
    data: Data,
    evidence: Evidence,
    weights: Weights,
    partition: Partition,
    n_members: int,
    scratch: Scratch,
) -> float:
    """Log weight of the division of S that the sides tell, made anew."""
    on_j = 0
    for k in range(n_members):
        on_j += scratch.side[k]
    total = weights.log_size[n_members - on_j]
    total += np.log(compute_size_factor(weights, partition, n_members - on_j, on_j))
    if on_j > 0:
        total += weights.log_size[on_j] + log_apart
    for own in range(2):
        total += log_evidence(data, evidence, scratch.members, scratch.side, own, n_members)
    if evidence.ratio.size > 0:
        compare_sides(data, evidence, n_members, scratch)
        total += scratch.log_sides[0] + scratch.log_sides[1]
    return total


@lean
def set_group(data: Data, scratch: Scratch, k: int, n_members: int, own: int, others: int) -> None:
    """Put those that are tied to a member on one side, the others on another (-1: as they are)."""
    group = data.answers.group[scratch.members[k]]
    for other in range(n_members):
        if data.answers.group[scratch.members[other]] == group:
            scratch.side[other] = own
        elif others >= 0:
            scratch.side[other] = others


@lean
def visit_tied(
    rng: np.random.Generator,
    log_apart: float,
    together: bool,
    data: Data,
    evidence: Evidence,
    weights: Weights,
    partition: Partition,
    n_members: int,
    scratch: Scratch,
    k: int,
) -> bool:
    """Visit a record and all that it is tied to as one; returns whether S is together then.

    What a record does alone is done by all of them: those of a chaperone leave it and return to it
    if there is nobody else, others go from one side to the other.
    """
    own = np.int64(scratch.side[k])
    group = data.answers.group[scratch.members[k]]
    n_group, n_own = 0, 0
    for other in range(n_members):
        n_group += data.answers.group[scratch.members[other]] == group
        n_own += scratch.side[other] == own
    if k <= 1 and not together and n_group < n_own:
        return together
    before = log_division(log_apart, data, evidence, weights, partition, n_members, scratch)
    if k > 1:
        set_group(data, scratch, k, n_members, 1 - own, -1)
    elif together:
        set_group(data, scratch, k, n_members, k, 1 - k)
    else:
        set_group(data, scratch, k, n_members, 0, 0)
    after = log_division(log_apart, data, evidence, weights, partition, n_members, scratch)
    if accept(rng, after - before):
        return together if k > 1 else not together
    if k > 1:
        set_group(data, scratch, k, n_members, own, -1)
    elif together:
        set_group(data, scratch, k, n_members, 0, 0)
    else:
        set_group(data, scratch, k, n_members, k, 1 - k)
    if evidence.ratio.size > 0:
        compare_sides(data, evidence, n_members, scratch)
    return together


@lean
def visit_all(
    rng: np.random.Generator,
    log_apart: float,
    together: bool,
    data: Data,
    evidence: Evidence,
    weights: Weights,
    partition: Partition,
    n_members: int,
    scratch: Scratch,
) -> None:
    """Visit each record of S once, in order (model section 4), tied ones with the first of them.

    Together, all are on side 0. Apart, i is on side 0 and j on side 1.
    """
    compared = evidence.ratio.size > 0
    if compared:
        compare_sides(data, evidence, n_members, scratch)
    row = 0
    log_with = 0.0
    log_without = 0.0
    on_j = 0
    for k in range(n_members):
        on_j += scratch.side[k]
    for k in range(n_members):
        if together and k > 1:
            break
        n = scratch.members[k]
        if is_tied(data.answers, n):
            if is_first_of_group(data.answers, scratch.members, k):
                together = visit_tied(
                    rng, log_apart, together,
                    data, evidence, weights, partition, n_members, scratch, k,
                )  # fmt: skip
                on_j = 0
                for other in range(n_members):
                    on_j += scratch.side[other]
            continue
        own = scratch.side[k]
        size = on_j if own == 1 else n_members - on_j
        if compared and (k > 1 or together or size == 1):
            row = find_row_of_logs(data, evidence, n_members, scratch, k)
            log_without = log_side(scratch, row, k, own, n_members)
            log_with = log_side(scratch, row, k, 1 - own, n_members)
        if together:
            join = weights.log_size[n_members] - weights.log_size[n_members - 1]
            join += np.log(compute_size_factor(weights, partition, n_members, 0))
            join -= np.log(compute_size_factor(weights, partition, n_members - 1, 1))
            join += log_predictive(data, evidence, n, scratch.members, scratch.side, 0, n_members)
            if compared:
                join += scratch.log_sides[0] - log_without
            if accept(rng, log_apart - join):
                together = False
                scratch.side[:n_members] = 1 - k
                scratch.side[k] = k
                on_j = 1 if k == 1 else n_members - 1
                if compared:
                    change_side(scratch, row, 0, n_members, log_without, 0.0)
                    if k == 0:
                        swap_sides(scratch, n_members)
        elif k > 1 or size == 1:
            other = n_members - size
            go = weights.log_size[other + 1] - weights.log_size[other]
            go += log_predictive(
                data, evidence, n, scratch.members, scratch.side, 1 - own, n_members
            )
            stay = log_apart
            go += np.log(compute_size_factor(weights, partition, other + 1, size - 1))
            go -= np.log(compute_size_factor(weights, partition, size, other))
            if compared:
                go += log_with - scratch.log_sides[1 - own]
            if k > 1:
                stay = weights.log_size[size] - weights.log_size[size - 1]
                stay += log_predictive(
                    data, evidence, n, scratch.members, scratch.side, own, n_members
                )
                if compared:
                    stay += scratch.log_sides[own] - log_without
            if accept(rng, go - stay):
                scratch.side[k] = 1 - own
                on_j += 1 - 2 * own
                if compared:
                    change_side(scratch, row, own, n_members, log_without, log_with)
                if k <= 1:
                    together = True
                    scratch.side[:n_members] = 0
                    on_j = 0
                    if compared and k == 0:
                        swap_sides(scratch, n_members)

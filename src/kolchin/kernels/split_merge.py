"""The chaperones move on many records: divide or join them all at once (Dahl 2005)."""

import numpy as np

from kolchin.kernels.answers import find_tied_side, is_tied
from kolchin.kernels.arrays import (
    Data,
    Evidence,
    Partition,
    Scratch,
    Weights,
)
from kolchin.kernels.categorical import log_evidence, log_predictive
from kolchin.kernels.compiling import lean
from kolchin.kernels.exemplar import log_mean_exp
from kolchin.kernels.prior import compute_size_factor
from kolchin.kernels.visits import accept, compare_sides, log_side

UNALLOCATED = 2
"""Added to the side on which a record was, until it goes to one: then it is on neither."""


@lean
def split_or_merge(
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
    """Propose to divide S, one record after another going to i or to j, or to join it.

    Sequentially allocated split and merge (Dahl 2005): together, a division is drawn record by
    record, each by its predictive given those that went before it; apart, the chance is found that
    it would have been the division there is. The order does not depend on the state.
    """
    compared = evidence.ratio.size > 0
    log_whole = weights.log_size[n_members] + np.log(
        compute_size_factor(weights, partition, n_members, 0)
    )
    if compared:
        compare_sides(data, evidence, n_members, scratch)
        whole = 0.0
        for k in range(n_members):
            whole += scratch.exemplar_weight[k]
            # Both have its weight.
            scratch.terms[k] = (
                scratch.totals[0, k] + scratch.totals[1, k] - np.log(scratch.exemplar_weight[k])
            )
        log_whole += log_mean_exp(scratch.terms, n_members, whole)
    # Sides as they are now, while all are put on one to see what that says.
    for k in range(n_members):
        scratch.terms[k] = scratch.side[k]
        scratch.side[k] = 0
    log_whole += log_evidence(data, evidence, scratch.members, scratch.side, 0, n_members)
    for k in range(n_members):
        scratch.side[k] = np.int8(UNALLOCATED + scratch.terms[k])
    log_split, log_chance = allocate(
        rng, together, data, evidence, compared, weights, n_members, scratch
    )
    on_j = 0
    for k in range(n_members):
        on_j += scratch.side[k]
    log_split += log_apart + weights.log_size[n_members - on_j] + weights.log_size[on_j]
    log_split += np.log(compute_size_factor(weights, partition, n_members - on_j, on_j))
    log_ratio = log_split - log_chance - log_whole
    if together == (np.log(rng.random()) >= (log_ratio if together else -log_ratio)):
        for k in range(n_members):
            scratch.side[k] = 0


@lean
def allocate(
    rng: np.random.Generator,
    draws: bool,
    data: Data,
    evidence: Evidence,
    compared: bool,
    weights: Weights,
    n_members: int,
    scratch: Scratch,
) -> tuple[float, float]:
    """Let the records of S go to i or to j: drawn, or as their sides tell where they were.

    Returns the log evidence of both clusters, and the log chance of the division.
    """
    scratch.side[0] = 0
    scratch.side[1] = 1
    if compared:
        for k in range(n_members):
            scratch.totals[0, k] = np.log(scratch.exemplar_weight[k]) + scratch.between[0, k]
            scratch.totals[1, k] = np.log(scratch.exemplar_weight[k]) + scratch.between[1, k]
    scratch.log_sides[0] = 0.0
    scratch.log_sides[1] = 0.0
    log_size, log_sides = weights.log_size, scratch.log_sides
    n_on_i, n_on_j = 1, 1
    log_categorical, log_chance = 0.0, 0.0
    n_free = n_members - 2
    first = int(rng.random() * n_free)
    backwards = rng.random() < 0.5
    for step in range(n_free):
        place = (first + step) % n_free
        k = 2 + (n_free - 1 - place if backwards else place)
        n = scratch.members[k]
        says_i = log_predictive(data, evidence, n, scratch.members, scratch.side, 0, n_members)
        says_j = log_predictive(data, evidence, n, scratch.members, scratch.side, 1, n_members)
        with_i, with_j = 0.0, 0.0
        if compared:
            with_i = log_side(scratch, k, k, 0, n_members)
            with_j = log_side(scratch, k, k, 1, n_members)
        to_i = says_i + with_i - log_sides[0] + log_size[n_on_i + 1] - log_size[n_on_i]
        to_j = says_j + with_j - log_sides[1] + log_size[n_on_j + 1] - log_size[n_on_j]
        if is_tied(data.answers, n):
            # Those that it is tied to have gone there already.
            there = find_tied_side(data.answers, n, scratch.members, scratch.side, n_members)
            to_j = -np.inf if there == 0 else to_j
            to_i = -np.inf if there == 1 else to_i
        goes_j = accept(rng, to_j - to_i) if draws else scratch.side[k] == UNALLOCATED + 1
        # log of exp(chosen) / (exp(chosen) + exp(other))
        beyond = to_i - to_j if goes_j else to_j - to_i
        log_chance -= max(beyond, 0.0) + np.log1p(np.exp(-abs(beyond)))
        own = 1 if goes_j else 0
        scratch.side[k] = own
        log_categorical += says_j if goes_j else says_i
        if goes_j:
            n_on_j += 1
            scratch.log_sides[1] = with_j
        else:
            n_on_i += 1
            scratch.log_sides[0] = with_i
        if compared:
            for e in range(n_members):
                scratch.totals[own, e] += scratch.between[k, e]
    return log_categorical + scratch.log_sides[0] + scratch.log_sides[1], log_chance

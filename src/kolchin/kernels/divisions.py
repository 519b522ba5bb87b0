"""The chaperones move on few records: all ways to divide them are weighed at once."""

import numpy as np

from kolchin.kernels.answers import separates_tied, weigh_subsets
from kolchin.kernels.arrays import (
    BITS,
    Data,
    Evidence,
    Partition,
    Scratch,
    Sides,
    Weights,
)
from kolchin.kernels.categorical import log_evidence
from kolchin.kernels.compiling import hot, lean
from kolchin.kernels.exemplar import (
    compare_members,
    finite_log,
    log_exemplar,
    write_exemplar_evidence,
)
from kolchin.kernels.prior import compute_size_factor
from kolchin.kernels.sources import forbid_subsets


@hot
def write_subset_evidence(data: Data, evidence: Evidence, scratch: Scratch, n_members: int) -> bool:
    """Evidence of every subset of S that a division needs, in one pass over the fields.

    A subset is a bit pattern over the members: i is bit 0, j is bit 1. Needed are the subsets
    with i alone of the two, with j alone, and all of S (built up in order, in entry 0). Plain
    products: they may overflow or underflow. Returns false if those of compared fields could.
    """
    n_subsets = 1 << n_members
    subsets, members, below = scratch.subsets, scratch.members, scratch.below
    for subset in range(n_subsets):
        subsets[subset] = 1.0
    for f in range(data.codes.shape[1]):
        d = evidence.delta[f]
        for observed in range(n_members):
            below[observed] = 1.0 / (d + observed)
        seen = 0
        for top in range(n_members):
            x = data.codes[members[top], f]
            if x < 0:
                continue
            equal = 0
            for other in range(top):
                if data.codes[members[other], f] == x:
                    equal |= 1 << other
            agreed = data.gain[x] if equal else 0.0
            own = 1 << top
            # (delta + equal / frequency) / (delta + observed), given each smaller subset
            subsets[0] *= (d + BITS[equal] * agreed) * below[BITS[seen]]
            for rest in range(1, own if top > 1 else 1):
                if (rest & 3) == 1 or (rest & 3) == 2:
                    above = d + BITS[equal & rest] * agreed
                    subsets[rest | own] *= above * below[BITS[seen & rest]]
            seen |= own
    # Each entry holds its last step alone so far: multiply up from smaller subsets.
    for subset in range(n_subsets):
        if BITS[subset] > 2:
            top = n_members - 1
            while not (subset >> top) & 1:
                top -= 1
            subsets[subset] *= subsets[subset ^ (1 << top)]
    in_range = True
    if evidence.ratio.size > 0:
        in_range = compare_members(data, evidence, members, n_members, scratch.between)
        write_exemplar_evidence(scratch.between, n_members, scratch.terms, scratch.subset_sums)
        for subset in range(n_subsets):
            subsets[subset] *= scratch.subset_sums[subset]
    if data.source.size > 0:
        forbid_subsets(data.source, members, n_members, subsets)
    if data.answers.starts.size > 0:
        in_range = weigh_subsets(data.answers, members, n_members, subsets) and in_range
    return in_range


@lean
def set_sides(choice: int, n_apart: int, n_members: int, side: Sides) -> None:
    """Put i on side 0, j on side 1 and the others by the bits of ``choice``; or all on 0."""
    for k in range(n_members):
        side[k] = 0
    if choice < n_apart:
        side[1] = 1
        for k in range(2, n_members):
            side[k] = (choice >> (k - 2)) & 1


@hot
def draw_division(
    rng: np.random.Generator,
    log_apart: float,
    data: Data,
    evidence: Evidence,
    weights: Weights,
    partition: Partition,
    n_members: int,
    scratch: Scratch,
) -> None:
    """Draw the whole division of a small S at once.

    There are 1 + 2^(|S|-2) of them: all together, or apart (with the weight of one cluster
    more) with each other record on i's side or on j's, the bits of a number.
    """
    n_apart = 1 << (n_members - 2)
    in_range = write_subset_evidence(data, evidence, scratch, n_members) and weights.safe_products
    apart_weight = np.exp(log_apart)
    total = 0.0
    for on_j in range(n_apart):
        size_j = 1 + BITS[on_j]
        size_i = n_members - size_j
        with_j, with_i = (on_j << 2) | 2, ((n_apart - 1 - on_j) << 2) | 1
        weight = apart_weight * weights.size[size_j] * weights.size[size_i]
        weight *= compute_size_factor(weights, partition, size_j, size_i)
        weight *= scratch.subsets[with_j] * scratch.subsets[with_i]
        scratch.weight[on_j] = weight
        total += weight
    scratch.weight[n_apart] = weights.size[n_members] * scratch.subsets[0]
    scratch.weight[n_apart] *= compute_size_factor(weights, partition, n_members, 0)
    total += scratch.weight[n_apart]
    if not (in_range and 1e-200 < total < 1e200):
        total = log_scale_weights(log_apart, data, evidence, weights, partition, n_members, scratch)
    rest = rng.random() * total
    choice = 0
    while choice < n_apart and rest >= scratch.weight[choice]:
        rest -= scratch.weight[choice]
        choice += 1
    # Rounding may carry past the last division that is possible.
    while scratch.weight[choice] == 0.0:
        choice -= 1
    set_sides(choice, n_apart, n_members, scratch.side)


@lean
def log_scale_weights(
    log_apart: float,
    data: Data,
    evidence: Evidence,
    weights: Weights,
    partition: Partition,
    n_members: int,
    scratch: Scratch,
) -> float:
    """Weigh all divisions on the log scale, for evidence out of range; returns their sum.

    What was compared is tabulated in ``between``, and its logs are afterwards.
    """
    n_apart = 1 << (n_members - 2)
    if evidence.ratio.size > 0:
        for k in range(n_members):
            for other in range(n_members):
                scratch.between[k, other] = finite_log(scratch.between[k, other])
    top = -np.inf
    for choice in range(n_apart + 1):
        set_sides(choice, n_apart, n_members, scratch.side)
        on_j = 0
        for k in range(n_members):
            on_j += scratch.side[k]
        scratch.weight[choice] = weights.log_size[n_members - on_j]
        scratch.weight[choice] += np.log(
            compute_size_factor(weights, partition, n_members - on_j, on_j)
        )
        if choice < n_apart:
            scratch.weight[choice] += weights.log_size[on_j] + log_apart
        for own in range(2):
            scratch.weight[choice] += log_evidence(
                data, evidence, scratch.members, scratch.side, own, n_members
            )
            if evidence.ratio.size > 0:
                scratch.weight[choice] += log_exemplar(
                    scratch.between, scratch.side, own, n_members, scratch.terms
                )
        if data.answers.starts.size > 0 and separates_tied(
            data.answers, scratch.members, scratch.side, n_members
        ):
            scratch.weight[choice] = -np.inf
        top = max(top, scratch.weight[choice])
    total = 0.0
    for choice in range(n_apart + 1):
        scratch.weight[choice] = np.exp(scratch.weight[choice] - top)
        total += scratch.weight[choice]
    return total

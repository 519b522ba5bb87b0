"""The chaperones move on few records: all ways to divide them are weighed at once."""

import numpy as np

from kolchin.kernels.arrays import BITS, Floats, Int32s, Int64s, Sides
from kolchin.kernels.categorical import log_evidence
from kolchin.kernels.compiling import lean
from kolchin.kernels.exemplar import compare_members, exemplar_evidence, finite_log, log_exemplar
from kolchin.kernels.prior import free_factor
from kolchin.kernels.sources import forbid_subsets


@lean
def subset_evidence(
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
    members: Int32s,
    n_members: int,
    evidence: Floats,
    below: Floats,
    between: Floats,
    sums: Floats,
    terms: Floats,
) -> None:
    """Evidence of every subset of S that a division needs, in one pass over the fields.

    A subset is a bit pattern over the members: i is bit 0, j is bit 1. Needed are the subsets
    with i alone of the two, with j alone, and all of S (built up in order, in entry 0). Plain
    products: they may overflow or underflow, and the caller checks.
    """
    n_subsets = 1 << n_members
    for subset in range(n_subsets):
        evidence[subset] = 1.0
    for f in range(codes.shape[1]):
        d = delta[f]
        for observed in range(n_members):
            below[observed] = 1.0 / (d + observed)
        seen = 0
        for top in range(n_members):
            x = codes[members[top], f]
            if x < 0:
                continue
            equal = 0
            for other in range(top):
                if codes[members[other], f] == x:
                    equal |= 1 << other
            agreed = gain[x] if equal else 0.0
            own = 1 << top
            # (delta + equal / frequency) / (delta + observed), given each smaller subset
            evidence[0] *= (d + BITS[equal] * agreed) * below[BITS[seen]]
            for rest in range(1, own if top > 1 else 1):
                if (rest & 3) == 1 or (rest & 3) == 2:
                    above = d + BITS[equal & rest] * agreed
                    evidence[rest | own] *= above * below[BITS[seen & rest]]
            seen |= own
    # Each entry holds its last step alone so far: multiply up from smaller subsets.
    for subset in range(n_subsets):
        if BITS[subset] > 2:
            top = n_members - 1
            while not (subset >> top) & 1:
                top -= 1
            evidence[subset] *= evidence[subset ^ (1 << top)]
    in_range = True
    if ratio.size > 0:
        in_range = compare_members(
            begins, others, pattern, shown, ratio, apart, members, n_members, between
        )
        exemplar_evidence(between, n_members, terms, sums)
        for subset in range(n_subsets):
            evidence[subset] *= sums[subset]
    if source.size > 0:
        forbid_subsets(source, members, n_members, evidence)
    if not in_range:
        evidence[0] = np.nan


@lean
def set_sides(choice: int, n_apart: int, n_members: int, side: Sides) -> None:
    """Put i on side 0, j on side 1 and the others by the bits of ``choice``; or all on 0."""
    for k in range(n_members):
        side[k] = 0
    if choice < n_apart:
        side[1] = 1
        for k in range(2, n_members):
            side[k] = (choice >> (k - 2)) & 1


@lean
def draw_division(
    rng: np.random.Generator,
    log_apart: float,
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
    shape: Floats,
    size_counts: Int64s,
    n_members: int,
    members: Int32s,
    side: Sides,
    weight: Floats,
    evidence: Floats,
    below: Floats,
    between: Floats,
    sums: Floats,
    terms: Floats,
) -> None:
    """Draw the whole division of a small S at once.

    There are 1 + 2^(|S|-2) of them: all together, or apart (with the weight of one cluster
    more) with each other record on i's side or on j's, the bits of a number.
    """
    n_apart = 1 << (n_members - 2)
    subset_evidence(
        codes,
        gain,
        begins,
        others,
        pattern,
        shown,
        source,
        delta,
        ratio,
        apart,
        members,
        n_members,
        evidence,
        below,
        between,
        sums,
        terms,
    )
    apart_weight = np.exp(log_apart)
    total = 0.0
    for on_j in range(n_apart):
        size_j = 1 + BITS[on_j]
        weight[on_j] = apart_weight * size[size_j] * size[n_members - size_j]
        weight[on_j] *= free_factor(shape, size_counts, size_j, n_members - size_j)
        weight[on_j] *= evidence[(on_j << 2) | 2] * evidence[((n_apart - 1 - on_j) << 2) | 1]
        total += weight[on_j]
    weight[n_apart] = size[0] * size[n_members] * evidence[0]
    weight[n_apart] *= free_factor(shape, size_counts, n_members, 0)
    total += weight[n_apart]
    if not 1e-200 < total < 1e200:
        total = log_scale_weights(
            log_apart, codes, gain, source, delta, ratio, log_size, shape, size_counts,
            n_members, members, side, weight, between, terms,
        )  # fmt: skip
    rest = rng.random() * total
    choice = 0
    while choice < n_apart and rest >= weight[choice]:
        rest -= weight[choice]
        choice += 1
    # Rounding may carry past the last division that is possible.
    while weight[choice] == 0.0:
        choice -= 1
    set_sides(choice, n_apart, n_members, side)


@lean
def log_scale_weights(
    log_apart: float,
    codes: Int32s,
    gain: Floats,
    source: Int32s,
    delta: Floats,
    ratio: Floats,
    log_size: Floats,
    shape: Floats,
    size_counts: Int64s,
    n_members: int,
    members: Int32s,
    side: Sides,
    weight: Floats,
    between: Floats,
    terms: Floats,
) -> float:
    """Weigh all divisions on the log scale, for evidence out of range; returns their sum.

    What was compared is tabulated in ``between``, and its logs are afterwards.
    """
    n_apart = 1 << (n_members - 2)
    if ratio.size > 0:
        for k in range(n_members):
            for other in range(n_members):
                between[k, other] = finite_log(between[k, other])
    top = -np.inf
    for choice in range(n_apart + 1):
        set_sides(choice, n_apart, n_members, side)
        on_j = 0
        for k in range(n_members):
            on_j += side[k]
        weight[choice] = log_size[n_members - on_j]
        weight[choice] += np.log(free_factor(shape, size_counts, n_members - on_j, on_j))
        if choice < n_apart:
            weight[choice] += log_size[on_j] + log_apart
        for own in range(2):
            weight[choice] += log_evidence(
                codes, gain, source, delta, members, side, own, n_members
            )
            if ratio.size > 0:
                weight[choice] += log_exemplar(between, side, own, n_members, terms)
        top = max(top, weight[choice])
    total = 0.0
    for choice in range(n_apart + 1):
        weight[choice] = np.exp(weight[choice] - top)
        total += weight[choice]
    return total

"""Patterns of levels in clusters: what the error rates of compared fields depend on."""

import numpy as np

from kolchin.kernels.arrays import Data, Evidence, Floats, Int32s, Int64s
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.exemplar import (
    compute_compared_ratio,
    compute_ratios_at,
    find_compared_pair,
    finite_log,
    log_mean_exp,
)


@compiled
def count_patterns(
    rng: np.random.Generator, data: Data, evidence: Evidence, members: Int32s, sizes: Int32s
) -> tuple[Int64s, Int64s, float]:
    """Draw the exemplar of each cluster, and count the patterns of the others against it.

    Pairs that were not compared have rows of their own after the patterns, by what both show. Also
    returns how often each pattern occurs in any pair of one cluster, and the log evidence of all
    clusters.
    """
    against = np.zeros(evidence.ratio.size + evidence.uncompared.size, dtype=np.int64)
    inside = np.zeros(evidence.ratio.size + evidence.uncompared.size, dtype=np.int64)
    sums = np.empty(members.size)
    log_evidence = draw_exemplars(rng, data, evidence, members, sizes, against, inside, sums)
    return against, inside, log_evidence


@lean
def find_pattern_row(data: Data, n_patterns: int, place: int, i: int, j: int) -> int:
    """Return the pattern of a pair; if it was not compared, the row that says what both show."""
    return n_patterns + (data.shown[i] & data.shown[j]) if place < 0 else data.pattern[place]


@lean
def draw_exemplars(
    rng: np.random.Generator,
    data: Data,
    evidence: Evidence,
    members: Int32s,
    sizes: Int32s,
    against: Int64s,
    inside: Int64s,
    sums: Floats,
) -> float:
    """Draw and count, in the arrays that ``count_patterns`` has made."""
    total = 0.0
    stop = 0
    n_patterns = evidence.ratio.size
    for size in sizes:
        start, stop = stop, stop + size
        if size == 1:
            continue
        if size == 2:
            # Either shows the same pattern against the other.
            i, j = members[start], members[start + 1]
            row = find_pattern_row(data, n_patterns, find_compared_pair(data, i, j), i, j)
            inside[row] += 1
            against[row] += 1
            total += finite_log(compute_compared_ratio(data, evidence, i, j))
            continue
        whole = 0.0
        for k in range(size):
            weight = data.weight[members[start + k]]
            whole += weight
            sums[k] = np.log(weight)
        for k in range(1, size):
            for other in range(k):
                i, j = members[start + k], members[start + other]
                place = find_compared_pair(data, i, j)
                inside[find_pattern_row(data, n_patterns, place, i, j)] += 1
                against_j, against_i = compute_ratios_at(data, evidence, place, i, j)
                sums[other] += finite_log(against_j)
                sums[k] += finite_log(against_i)
        total += log_mean_exp(sums, size, whole)
        exemplar = members[start + draw_log_weights(rng, sums, size)]
        for k in range(start, stop):
            n = members[k]
            if n != exemplar:
                place = find_compared_pair(data, n, exemplar)
                against[find_pattern_row(data, n_patterns, place, n, exemplar)] += 1
    return total


@lean
def draw_log_weights(rng: np.random.Generator, log_weight: Floats, n_weights: int) -> int:
    """Draw one of several in proportion to the exponentials of their log weights."""
    top = log_weight[0]
    for k in range(1, n_weights):
        top = max(top, log_weight[k])
    total = 0.0
    for k in range(n_weights):
        log_weight[k] = np.exp(log_weight[k] - top)
        total += log_weight[k]
    rest = rng.random() * total
    choice = 0
    while choice < n_weights - 1 and rest >= log_weight[choice]:
        rest -= log_weight[choice]
        choice += 1
    return choice

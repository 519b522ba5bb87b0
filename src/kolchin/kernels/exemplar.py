"""Evidence of compared fields: one record of each cluster is its exemplar (model section 6)."""

import numpy as np

from kolchin.kernels.arrays import Data, Evidence, Floats, Int32s, Sides
from kolchin.kernels.compiling import hot, lean
from kolchin.kernels.neighbours import search

LARGEST_FACTOR = 1e170
"""Evidence of compared fields is multiplied if it stays between this and its inverse."""

MORE_SHOWN = 20.0
"""With each field that it shows a record is so many times likelier to be the exemplar: what this
does not show, the others are not compared in."""

NEAR = 8
"""How far from where it is expected a record is looked for first."""


@lean
def find_compared_pair(data: Data, i: int, j: int) -> int:
    """Return where one of two records stands in the list of the other, -1 if nowhere.

    Lists are sorted and know of each other, so the shorter one is searched, near the place where
    the record would stand if the list were evenly spread.
    """
    if data.begins[i + 1] - data.begins[i] > data.begins[j + 1] - data.begins[j]:
        i, j = j, i
    low, high = data.begins[i], data.begins[i + 1]
    near = low + (high - low) * j // (data.begins.size - 1)
    if near - NEAR > low and data.others[near - NEAR] <= j:
        low = near - NEAR
    if near + NEAR < high and data.others[near + NEAR] > j:
        high = near + NEAR
    return search(data.others, low, high, j)


@lean
def compute_compared_ratio(data: Data, evidence: Evidence, i: int, j: int) -> float:
    """Evidence of the compared fields of two records (model section 6).

    That of the pattern of their levels if they are listed, else that of a difference in each field
    which both show.
    """
    place = find_compared_pair(data, i, j)
    return (
        evidence.uncompared[data.shown[i] & data.shown[j]]
        if place < 0
        else evidence.ratio[data.pattern[place]]
    )


@hot
def finite_log(value: float) -> float:
    """Log of a positive number, or that of the least or largest that can be told apart."""
    return np.log(min(max(value, 1e-300), 1e300))


@lean
def log_compared_ratio(data: Data, evidence: Evidence, i: int, j: int) -> float:
    """Log evidence of the compared fields of two records: finite, so that it can be taken back."""
    return finite_log(compute_compared_ratio(data, evidence, i, j))


@lean
def compute_exemplar_weight(shown: int) -> float:
    """Return how likely a record is the exemplar of its cluster, by what it shows (bits)."""
    weight = 1.0
    while shown:
        shown &= shown - 1
        weight *= MORE_SHOWN
    return weight


@lean
def compare_members(
    data: Data, evidence: Evidence, members: Int32s, n_members: int, between: Floats
) -> bool:
    """Tabulate the evidence of the compared fields between all members of a small S.

    On the diagonal stand their weights as exemplars. Returns whether products of it stay in range.
    """
    largest = 1.0
    for k in range(n_members):
        between[k, k] = compute_exemplar_weight(data.shown[members[k]])
        for other in range(k):
            value = compute_compared_ratio(data, evidence, members[k], members[other])
            between[k, other] = value
            between[other, k] = value
            largest = max(largest, value, 1.0 / value)
    product = 1.0
    for _ in range(1, n_members):
        product *= largest
    return product < LARGEST_FACTOR


@lean
def write_exemplar_evidence(
    between: Floats, n_members: int, products: Floats, sums: Floats
) -> None:
    """Evidence of the compared fields of every subset that a division needs (model section 6).

    One of its records shows the entity's true values, with the chance that its weight says: for
    each exemplar, products over the records but i and j are built up bit by bit, then i, j or both
    come in; last, sums of weights are.
    Subsets are numbered as in ``write_subset_evidence``.
    """
    n_rests = 1 << (n_members - 2)
    for subset in range(1 << n_members):
        sums[subset] = 0.0
    for exemplar in range(n_members):
        with_i = between[0, exemplar]
        with_j = between[1, exemplar]
        own = (1 << exemplar) >> 2
        products[0] = 1.0
        for k in range(2, n_members):
            top = 1 << (k - 2)
            for rest in range(top):
                products[top | rest] = products[rest] * between[k, exemplar]
        for rest in range(n_rests):
            if exemplar < 2 or rest & own:
                if exemplar != 1:
                    sums[(rest << 2) | 1] += products[rest] * with_i
                if exemplar != 0:
                    sums[(rest << 2) | 2] += products[rest] * with_j
        sums[0] += products[n_rests - 1] * with_i * with_j
    products[0] = 0.0
    for k in range(2, n_members):
        top = 1 << (k - 2)
        for rest in range(top):
            products[top | rest] = products[rest] + between[k, k]
    for rest in range(n_rests):
        sums[(rest << 2) | 1] /= products[rest] + between[0, 0]
        sums[(rest << 2) | 2] /= products[rest] + between[1, 1]
    sums[0] /= products[n_rests - 1] + between[0, 0] + between[1, 1]


@lean
def sum_logs(
    data: Data, evidence: Evidence, members: Int32s, n_members: int, sums: Floats
) -> float:
    """Log of the weight of each of some members as the exemplar and of the others' evidence.

    Returns the sum of weights.
    """
    whole = 0.0
    for k in range(n_members):
        weight = compute_exemplar_weight(data.shown[members[k]])
        whole += weight
        sums[k] = np.log(weight)
        for other in range(k):
            log_value = log_compared_ratio(data, evidence, members[k], members[other])
            sums[k] += log_value
            sums[other] += log_value
    return whole


@lean
def log_mean_exp(values: Floats, n_values: int, whole: float) -> float:
    """Log of the sum of exponentials over that of weights; 0 of none, as without a record."""
    if n_values == 0:
        return 0.0
    top = values[0]
    for k in range(1, n_values):
        top = max(top, values[k])
    total = 0.0
    for k in range(n_values):
        total += np.exp(values[k] - top)
    return top + np.log(total / whole)


@lean
def compare_with(
    data: Data, evidence: Evidence, record: int, members: Int32s, n_members: int, row: Floats
) -> float:
    """Look up the log evidence of a record with each of some others; returns the least."""
    least = np.inf
    for k in range(n_members):
        row[k] = log_compared_ratio(data, evidence, record, members[k])
        least = min(least, row[k])
    return least


@lean
def log_exemplar_joining(
    data: Data,
    evidence: Evidence,
    record: int,
    members: Int32s,
    n_members: int,
    row: Floats,
    sums: Floats,
) -> float:
    """Log evidence of the compared fields of a record with some others, over that of the others.

    ``row`` has the logs of the record with each of them.
    """
    whole = sum_logs(data, evidence, members, n_members, sums)
    log_without = log_mean_exp(sums, n_members, whole)
    weight = compute_exemplar_weight(data.shown[record])
    sums[n_members] = np.log(weight)
    for k in range(n_members):
        sums[k] += row[k]
        sums[n_members] += row[k]
    return log_mean_exp(sums, n_members + 1, whole + weight) - log_without


@lean
def log_exemplar(logs: Floats, side: Sides, wanted: int, n_members: int, terms: Floats) -> float:
    """Log evidence of the compared fields of the members on one side, from that of all pairs.

    On the diagonal stand the logs of their weights.
    """
    n_inside = 0
    whole = 0.0
    for exemplar in range(n_members):
        if side[exemplar] == wanted:
            whole += np.exp(logs[exemplar, exemplar])
            terms[n_inside] = 0.0
            for k in range(n_members):
                if side[k] == wanted:
                    terms[n_inside] += logs[k, exemplar]
            n_inside += 1
    return log_mean_exp(terms, n_inside, whole)

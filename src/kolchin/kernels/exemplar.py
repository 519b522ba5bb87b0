"""Evidence of compared fields: one record of each cluster is its exemplar (model section 6)."""

import numpy as np

from kolchin.kernels.arrays import Data, Evidence, Floats, Int32s, Sides
from kolchin.kernels.compiling import hot, lean
from kolchin.kernels.neighbours import search

LARGEST_FACTOR = 1e170
"""Evidence of compared fields is multiplied if it stays between this and its inverse."""

FROM_SLIP = 0.1
"""How much evidence is left where a value is near to the exemplar's, but this one shows a slip.

One error rarely turns a rare value into a frequent one.
"""

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
def count_fields(fields: int) -> int:
    """Count the fields of a set (bits)."""
    count = 0
    while fields:
        fields &= fields - 1
        count += 1
    return count


@lean
def compute_ratios_at(
    data: Data, evidence: Evidence, place: int, i: int, j: int
) -> tuple[float, float]:
    """Evidence of record i if j is the exemplar, and of j if i is (model section 6).

    That of the pattern of their levels if ``place`` tells where one stands in the list of the
    other, else that of a difference in each field which both show. To be near to a slip says less:
    what counts is how many more the exemplar has, among the fields in which the two are near.
    """
    if place < 0:
        value = evidence.uncompared[data.shown[i] & data.shown[j]]
        return value, value
    pattern = data.pattern[place]
    value = evidence.ratio[pattern]
    if data.slips[i] == data.slips[j]:
        return value, value
    near = data.near[pattern]
    more = count_fields(data.slips[j] & near) - count_fields(data.slips[i] & near)
    return value * FROM_SLIP ** max(more, 0), value * FROM_SLIP ** max(-more, 0)


@lean
def compute_both_ratios(data: Data, evidence: Evidence, i: int, j: int) -> tuple[float, float]:
    """Evidence of record i if j is the exemplar, and of j if i is."""
    return compute_ratios_at(data, evidence, find_compared_pair(data, i, j), i, j)


@lean
def compute_compared_ratio(data: Data, evidence: Evidence, i: int, j: int) -> float:
    """Evidence of the compared fields of two records without company: either is the exemplar."""
    against_j, against_i = compute_both_ratios(data, evidence, i, j)
    if against_i == against_j:
        return against_j
    whole = data.weight[i] + data.weight[j]
    return (data.weight[j] * against_j + data.weight[i] * against_i) / whole


@hot
def finite_log(value: float) -> float:
    """Log of a positive number, or that of the least or largest that can be told apart."""
    return np.log(min(max(value, 1e-300), 1e300))


@lean
def log_both_ratios(data: Data, evidence: Evidence, i: int, j: int) -> tuple[float, float]:
    """Return the logs of ``compute_both_ratios``: finite, so that they can be taken back."""
    against_j, against_i = compute_both_ratios(data, evidence, i, j)
    log_value = finite_log(against_j)
    return log_value, log_value if against_i == against_j else finite_log(against_i)


@lean
def compare_members(
    data: Data, evidence: Evidence, members: Int32s, n_members: int, between: Floats
) -> bool:
    """Tabulate the evidence of the compared fields of all members of a small S.

    ``between[k, e]`` is that of member k if e is the exemplar; on the diagonal stand their weights
    as exemplars. Returns whether products of it stay in range.
    """
    largest = 1.0
    for k in range(n_members):
        between[k, k] = data.weight[members[k]]
        for other in range(k):
            against, back = compute_both_ratios(data, evidence, members[k], members[other])
            between[k, other] = against
            between[other, k] = back
            largest = max(largest, against, 1.0 / against, back, 1.0 / back)
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
        weight = data.weight[members[k]]
        whole += weight
        sums[k] = np.log(weight)
        for other in range(k):
            against, back = log_both_ratios(data, evidence, members[k], members[other])
            sums[other] += against
            sums[k] += back
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
    data: Data, evidence: Evidence, record: int, members: Int32s, n_members: int, rows: Floats
) -> float:
    """Look up the log evidence of a record with each of some others; returns the least of row 0.

    Row 0 of ``rows`` is for the others as exemplars, row 1 for the record as the exemplar.
    """
    least = np.inf
    for k in range(n_members):
        rows[0, k], rows[1, k] = log_both_ratios(data, evidence, record, members[k])
        least = min(least, rows[0, k])
    return least


@lean
def log_exemplar_joining(
    data: Data,
    evidence: Evidence,
    record: int,
    members: Int32s,
    n_members: int,
    rows: Floats,
    sums: Floats,
) -> float:
    """Log evidence of the compared fields of a record with some others, over that of the others.

    ``rows`` have the logs of the record with each of them, as ``compare_with`` wrote them.
    """
    whole = sum_logs(data, evidence, members, n_members, sums)
    log_without = log_mean_exp(sums, n_members, whole)
    weight = data.weight[record]
    sums[n_members] = np.log(weight)
    for k in range(n_members):
        sums[k] += rows[0, k]
        sums[n_members] += rows[1, k]
    return log_mean_exp(sums, n_members + 1, whole + weight) - log_without


@lean
def log_exemplar(logs: Floats, side: Sides, wanted: int, n_members: int, terms: Floats) -> float:
    """Log evidence of the compared fields of the members on one side, from that of all pairs.

    ``logs[k, e]`` is that of member k if e is the exemplar. On the diagonal stand the logs of
    their weights.
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

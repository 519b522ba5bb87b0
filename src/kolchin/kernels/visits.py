"""The chaperones move on many records: each is visited once, in order (model section 4)."""

import numpy as np

from kolchin.kernels.arrays import Floats, Int32s, Int64s, Sides
from kolchin.kernels.categorical import log_predictive
from kolchin.kernels.compiling import lean
from kolchin.kernels.exemplar import log_compared_pair, log_mean_exp
from kolchin.kernels.prior import free_factor


@lean
def accept(rng: np.random.Generator, log_odds: float) -> bool:
    """Return true with probability 1 / (1 + exp(-log_odds))."""
    if log_odds > 0.0:
        return rng.random() * (1.0 + np.exp(-log_odds)) < 1.0
    weight = np.exp(log_odds)
    return rng.random() * (1.0 + weight) < weight


# Compared fields of an S that is visited record by record. ``totals[w, e]`` is the sum of the logs
# of record e with all records of side w, ``log_sides[w]`` the log evidence of that side: a visit
# takes as many exponentials as S has records, and a record that changes sides as many sums.


@lean
def compare_sides(
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    ratio: Floats,
    apart: Floats,
    n_members: int,
    members: Int32s,
    side: Sides,
    logs: Floats,
    totals: Floats,
    log_sides: Floats,
    terms: Floats,
) -> None:
    """Look all pairs of S up and sum their logs by side; tabulate them if there is room."""
    whole = n_members <= logs.shape[0]
    for k in range(n_members):
        totals[0, k] = 0.0
        totals[1, k] = 0.0
        if whole:
            logs[k, k] = 0.0
        for other in range(k):
            log_value = log_compared_pair(
                begins, others, pattern, shown, ratio, apart, members[k], members[other]
            )
            totals[side[other], k] += log_value
            totals[side[k], other] += log_value
            if whole:
                logs[k, other] = log_value
                logs[other, k] = log_value
    for own in range(2):
        n_inside = 0
        for k in range(n_members):
            if side[k] == own:
                terms[n_inside] = totals[own, k]
                n_inside += 1
        log_sides[own] = log_mean_exp(terms, n_inside)


@lean
def row_of_logs(
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    ratio: Floats,
    apart: Floats,
    n_members: int,
    members: Int32s,
    k: int,
    logs: Floats,
) -> int:
    """Return in which row the logs of a record with all of S stand."""
    if n_members <= logs.shape[0]:
        return k
    for other in range(n_members):
        logs[0, other] = 0.0
        if other != k:
            logs[0, other] = log_compared_pair(
                begins, others, pattern, shown, ratio, apart, members[k], members[other]
            )
    return 0


@lean
def log_side(
    logs: Floats,
    totals: Floats,
    row: int,
    k: int,
    wanted: int,
    side: Sides,
    n_members: int,
    terms: Floats,
) -> float:
    """Log evidence of a side with a record of the other side, or without one of its own."""
    comes = side[k] != wanted
    sign = 1.0 if comes else -1.0
    n_inside = 0
    for exemplar in range(n_members):
        if exemplar != k and side[exemplar] == wanted:
            terms[n_inside] = totals[wanted, exemplar] + sign * logs[row, exemplar]
            n_inside += 1
    if comes:
        terms[n_inside] = totals[wanted, k]
        n_inside += 1
    return log_mean_exp(terms, n_inside)


@lean
def change_side(
    logs: Floats,
    totals: Floats,
    log_sides: Floats,
    row: int,
    own: int,
    n_members: int,
    log_without: float,
    log_with: float,
) -> None:
    """Take a record from its side to the other."""
    for k in range(n_members):
        totals[own, k] -= logs[row, k]
        totals[1 - own, k] += logs[row, k]
    log_sides[own] = log_without
    log_sides[1 - own] = log_with


@lean
def swap_sides(totals: Floats, log_sides: Floats, n_members: int) -> None:
    """Let the sides change their names."""
    log_sides[0], log_sides[1] = log_sides[1], log_sides[0]
    for k in range(n_members):
        totals[0, k], totals[1, k] = totals[1, k], totals[0, k]


@lean
def visit_all(
    rng: np.random.Generator,
    log_apart: float,
    together: bool,
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
    shape: Floats,
    size_counts: Int64s,
    n_members: int,
    members: Int32s,
    side: Sides,
    logs: Floats,
    totals: Floats,
    log_sides: Floats,
    terms: Floats,
) -> None:
    """Visit each record of S once, in order (model section 4).

    Together, all are on side 0. Apart, i is on side 0 and j on side 1.
    """
    compared = ratio.size > 0
    if compared:
        compare_sides(
            begins, others, pattern, shown, ratio, apart,
            n_members, members, side, logs, totals, log_sides, terms,
        )  # fmt: skip
    row = 0
    log_with = 0.0
    log_without = 0.0
    on_j = 0
    for k in range(n_members):
        on_j += side[k]
    for k in range(n_members):
        if together and k > 1:
            break
        n = members[k]
        own = side[k]
        size = on_j if own == 1 else n_members - on_j
        if compared and (k > 1 or together or size == 1):
            row = row_of_logs(
                begins, others, pattern, shown, ratio, apart, n_members, members, k, logs
            )
            log_without = log_side(logs, totals, row, k, own, side, n_members, terms)
            log_with = log_side(logs, totals, row, k, 1 - own, side, n_members, terms)
        if together:
            join = log_size[n_members] - log_size[n_members - 1]
            join += np.log(free_factor(shape, size_counts, n_members, 0))
            join -= np.log(free_factor(shape, size_counts, n_members - 1, 1))
            join += log_predictive(codes, gain, source, delta, n, members, side, 0, n_members)
            if compared:
                join += log_sides[0] - log_without
            if accept(rng, log_apart - join):
                together = False
                side[:n_members] = 1 - k
                side[k] = k
                on_j = 1 if k == 1 else n_members - 1
                if compared:
                    change_side(logs, totals, log_sides, row, 0, n_members, log_without, 0.0)
                    if k == 0:
                        swap_sides(totals, log_sides, n_members)
        elif k > 1 or size == 1:
            other = n_members - size
            go = log_size[other + 1] - log_size[other]
            go += log_predictive(codes, gain, source, delta, n, members, side, 1 - own, n_members)
            stay = log_apart
            go += np.log(free_factor(shape, size_counts, other + 1, size - 1))
            go -= np.log(free_factor(shape, size_counts, size, other))
            if compared:
                go += log_with - log_sides[1 - own]
            if k > 1:
                stay = log_size[size] - log_size[size - 1]
                stay += log_predictive(codes, gain, source, delta, n, members, side, own, n_members)
                if compared:
                    stay += log_sides[own] - log_without
            if accept(rng, go - stay):
                side[k] = 1 - own
                on_j += 1 - 2 * own
                if compared:
                    change_side(logs, totals, log_sides, row, own, n_members, log_without, log_with)
                if k <= 1:
                    together = True
                    side[:n_members] = 0
                    on_j = 0
                    if compared and k == 0:
                        swap_sides(totals, log_sides, n_members)

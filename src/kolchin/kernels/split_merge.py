"""The chaperones move on many records: divide or join them all at once (Dahl 2005)."""

import numpy as np

from kolchin.kernels.arrays import Floats, Int32s, Int64s, Sides
from kolchin.kernels.categorical import log_evidence, log_predictive
from kolchin.kernels.compiling import lean
from kolchin.kernels.exemplar import log_mean_exp
from kolchin.kernels.prior import free_factor
from kolchin.kernels.visits import accept, compare_sides, log_side


@lean
def split_or_merge(
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
    """Propose to divide S, one record after another going to i or to j, or to join it.

    Sequentially allocated split and merge (Dahl 2005): together, a division is drawn record by
    record, each by its predictive given those that went before it; apart, the chance is found that
    it would have been the division there is. The order does not depend on the state.
    """
    compared = ratio.size > 0
    log_whole = log_size[n_members] + np.log(free_factor(shape, size_counts, n_members, 0))
    if compared:
        compare_sides(
            begins, others, pattern, shown, ratio, apart,
            n_members, members, side, logs, totals, log_sides, terms,
        )  # fmt: skip
        for k in range(n_members):
            terms[k] = totals[0, k] + totals[1, k]
        log_whole += log_mean_exp(terms, n_members)
    # Sides as they are now, while all are put on one to see what that says.
    for k in range(n_members):
        terms[k] = side[k]
        side[k] = 0
    log_whole += log_evidence(codes, gain, source, delta, members, side, 0, n_members)
    for k in range(n_members):
        side[k] = np.int8(2 + terms[k])  # not allocated yet
    log_split, log_chance = allocate(
        rng, together, codes, gain, source, delta, compared, log_size,
        n_members, members, side, logs, totals, log_sides, terms,
    )  # fmt: skip
    on_j = 0
    for k in range(n_members):
        on_j += side[k]
    log_split += log_apart + log_size[n_members - on_j] + log_size[on_j]
    log_split += np.log(free_factor(shape, size_counts, n_members - on_j, on_j))
    log_ratio = log_split - log_chance - log_whole
    if together == (np.log(rng.random()) >= (log_ratio if together else -log_ratio)):
        for k in range(n_members):
            side[k] = 0


@lean
def allocate(
    rng: np.random.Generator,
    draws: bool,
    codes: Int32s,
    gain: Floats,
    source: Int32s,
    delta: Floats,
    compared: bool,
    log_size: Floats,
    n_members: int,
    members: Int32s,
    side: Sides,
    logs: Floats,
    totals: Floats,
    log_sides: Floats,
    terms: Floats,
) -> tuple[float, float]:
    """Let the records of S go to i or to j: drawn, or as their sides (less two) say.

    Returns the log evidence of both clusters, and the log chance of the division.
    """
    side[0] = 0
    side[1] = 1
    if compared:
        for k in range(n_members):
            totals[0, k] = logs[0, k]
            totals[1, k] = logs[1, k]
    log_sides[0] = 0.0
    log_sides[1] = 0.0
    n_on_i, n_on_j = 1, 1
    log_categorical, log_chance = 0.0, 0.0
    n_free = n_members - 2
    first = int(rng.random() * n_free)
    backwards = rng.random() < 0.5
    for step in range(n_free):
        place = (first + step) % n_free
        k = 2 + (n_free - 1 - place if backwards else place)
        n = members[k]
        says_i = log_predictive(codes, gain, source, delta, n, members, side, 0, n_members)
        says_j = log_predictive(codes, gain, source, delta, n, members, side, 1, n_members)
        with_i, with_j = 0.0, 0.0
        if compared:
            with_i = log_side(logs, totals, k, k, 0, side, n_members, terms)
            with_j = log_side(logs, totals, k, k, 1, side, n_members, terms)
        to_i = says_i + with_i - log_sides[0] + log_size[n_on_i + 1] - log_size[n_on_i]
        to_j = says_j + with_j - log_sides[1] + log_size[n_on_j + 1] - log_size[n_on_j]
        goes_j = accept(rng, to_j - to_i) if draws else side[k] == 3
        # log of exp(chosen) / (exp(chosen) + exp(other))
        beyond = to_i - to_j if goes_j else to_j - to_i
        log_chance -= max(beyond, 0.0) + np.log1p(np.exp(-abs(beyond)))
        own = 1 if goes_j else 0
        side[k] = own
        log_categorical += says_j if goes_j else says_i
        if goes_j:
            n_on_j += 1
            log_sides[1] = with_j
        else:
            n_on_i += 1
            log_sides[0] = with_i
        if compared:
            for e in range(n_members):
                totals[own, e] += logs[k, e]
    return log_categorical + log_sides[0] + log_sides[1], log_chance

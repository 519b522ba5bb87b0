"""All compiled code: arrays in, arrays out, nothing else.

A partition is held as one array, ``following``: the records of a cluster form a ring, and
``following[n]`` is the next record of n's ring (n itself for a singleton). Sizes and the number
of clusters are held beside it in ``size_counts``: entry m counts the clusters of m records, and
entry 0 counts all clusters. Nothing else changes while a chain runs.

Evidence is always relative to singletons: log P(x_c) - sum over n in c of log P(x_n), so that a
singleton has evidence 0 and the sampler never looks at fields that say nothing.

Functions of the hot loop take bare arrays, in one order: the records (codes, gain, begins, others,
pattern, shown, source), what they say (delta, ratio, apart), the prior (log_size, size, opening,
log_open, shape), the state (following, size_counts), scratch room.
A tuple of arrays would read better, but every look into one counts a reference: with them a
move took nine times as long. The named tuples below are for the callers, who unpack them:
``chaperones(rng, n, False, *pairs, *data, *evidence, *weights, following, ...)``.
Functions that neither make arrays nor return them count no references to any (``lean``), which
halves the time of a move; what Python calls with a ``rng`` must count them, so the loop over moves
is a function of its own.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

LARGEST_ENUMERATED = 8
"""Up to this many records in two clusters, all ways to divide them are weighed at once."""

LARGEST_JOINED = 8
"""Lone records attach to clusters of up to this many; tables are longer than that in any state."""

LARGEST_TABULATED = 256
"""Up to this many records in two clusters, all of their pairs are looked up once."""

LARGEST_WHOLE = 64
"""Moves on more records in two clusters are made in proportion to one over their cost."""

NEAR = 8
"""How far from where it is expected a record is looked for first."""

LARGEST_FACTOR = 1e170
"""Evidence of compared fields is multiplied if it stays between this and its inverse."""

BITS = np.array([bin(k).count("1") for k in range(1 << LARGEST_ENUMERATED)])
"""Number of bits set in a small number: the size of a subset."""

# Numba's option to count no references has an underscore: not public, and only for speed.
UNCOUNTED: dict[str, Any] = {"_nrt": False}
compiled = njit(cache=True, nogil=True, error_model="numpy")
lean = njit(None, cache=True, nogil=True, error_model="numpy", **UNCOUNTED)
hot = njit(cache=True, nogil=True, error_model="numpy", inline="always")

Floats = NDArray[np.float64]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Sides = NDArray[np.int8]


class Data(NamedTuple):
    """Records: categorical fields, and pairs of records whose other fields were compared.

    ``codes`` has one row of global codes a record (-1: missing), ``gain`` is 1/frequency. Record
    i was compared with ``others[begins[i] : begins[i + 1]]``, sorted; ``pattern`` says what came
    out. ``shown`` has a bit for each compared field that a record shows. No cluster has two records
    of one ``source`` (-1: none); empty, there is no such constraint.
    """

    codes: Int32s
    gain: Floats
    begins: Int64s = np.empty(0, dtype=np.int64)
    others: Int32s = np.empty(0, dtype=np.int32)
    pattern: Int32s = np.empty(0, dtype=np.int32)
    shown: Int32s = np.empty(0, dtype=np.int32)
    source: Int32s = np.empty(0, dtype=np.int32)


class Evidence(NamedTuple):
    """What the fields say, by the parameters as they are.

    ``delta`` of each categorical field; ``ratio``, the Bayes factor of each pattern of levels, and
    ``apart``, that of pairs which were not compared, by the fields that both show. Without
    compared fields both are empty.
    """

    delta: Floats
    ratio: Floats = np.empty(0)
    apart: Floats = np.empty(0)


class Weights(NamedTuple):
    """A partition prior, as the kernel sees it.

    ``log_size[m]`` is h(m) - h(1), ``size`` its exponential for those small m up to which all
    divisions are weighed at once (at most ``LARGEST_ENUMERATED``), and NaN where products of
    evidence could leave the range of doubles: all comparisons then fail, and logs are used.
    A cluster opens when K others exist with weight scale (slope K + intercept) / (alpha + K),
    ``opening`` being (log scale, slope, intercept, alpha; 0 for no such factor), or
    ``exp(log_open[K])`` where that table is given.

    Where the size distribution is integrated out, ``shape[m]`` is its Dirichlet weight of size m:
    a cluster of m records then weighs ``exp(log_size[m]) (shape[m] + other clusters of m)``.
    """

    log_size: Floats
    size: Floats
    opening: Floats
    log_open: Floats
    shape: Floats


class Pairs(NamedTuple):
    """A fixed distribution over the pairs of a shard: a uniform share, and weighted lists.

    A shard is two ranges of records, ``within`` = (from, to, from, to). Row s of ``slices`` says
    which rows of ``table`` are a list of its pairs, taken with chance ``reach[s] - reach[s - 1]``.
    Each list is an alias table: a row is (i, j, i', j', chance), and the pair (i, j) is taken if a
    uniform 31-bit number is below ``chance``, else (i', j').
    """

    uniform_share: float
    table: Int32s
    slices: Int64s
    reach: Floats
    within: Int64s


@hot
def inside(within: Int64s, record: int) -> bool:
    """Tell whether a record is in a shard."""
    return within[0] <= record < within[1] or within[2] <= record < within[3]


@hot
def record_at(within: Int64s, place: int) -> int:
    """Return the record at a place of a shard."""
    n_first = within[1] - within[0]
    return within[0] + place if place < n_first else within[2] + place - n_first


@hot
def draw_pair(
    rng: np.random.Generator,
    uniform_share: float,
    table: Int32s,
    slices: Int64s,
    reach: Floats,
    within: Int64s,
) -> tuple[np.int64, np.int64]:
    """Draw two different records of a shard."""
    share = rng.random()
    if share < uniform_share:
        n_records = within[1] - within[0] + within[3] - within[2]
        i = int(rng.random() * n_records)
        j = int(rng.random() * (n_records - 1))
        if j >= i:
            j += 1
        return np.int64(record_at(within, i)), np.int64(record_at(within, j))
    position = (share - uniform_share) / (1.0 - uniform_share)
    s = 0
    below = 0.0
    while s < reach.size - 1 and position >= reach[s]:
        below = reach[s]
        s += 1
    n_rows = slices[s, 1] - slices[s, 0]
    position = (position - below) / (reach[s] - below) * n_rows
    k = min(int(position), n_rows - 1)
    chance = position - k
    k += slices[s, 0]
    if chance * 2147483647.0 < table[k, 4]:
        return np.int64(table[k, 0]), np.int64(table[k, 1])
    return np.int64(table[k, 2]), np.int64(table[k, 3])


@lean
def log_open_weight(opening: Floats, log_open: Floats, n_others: int) -> float:
    """Log weight of opening a cluster when ``n_others`` exist."""
    if log_open.size > 0:
        # With all records alone there is nothing to split: any value will do.
        return log_open[min(n_others, log_open.size - 1)]
    weight = opening[1] * n_others + opening[2]
    if opening[3] > 0.0:
        weight /= opening[3] + n_others
    return opening[0] + np.log(weight)


@lean
def free_factor(shape: Floats, size_counts: Int64s, one: int, other: int) -> float:
    """Dirichlet factor of two clusters of given sizes (0: none) beside all those counted."""
    if shape.size == 0:
        return 1.0
    factor = shape[one] + size_counts[one]
    if other > 0:
        factor *= shape[other] + size_counts[other] + (1 if one == other else 0)
    return factor


# --- evidence ------------------------------------------------------------------------------


@lean
def categorical_predictive(
    codes: Int32s,
    gain: Floats,
    delta: Floats,
    record: int,
    members: Int32s,
    side: Sides,
    wanted: int,
    n_members: int,
) -> float:
    """Log predictive of the categorical fields of a record given some members, over that alone.

    Model section 3: (delta gamma_x + equal) / (delta + observed) / gamma_x for each field.
    """
    total = 0.0
    product = 1.0
    for f in range(codes.shape[1]):
        x = codes[record, f]
        if x < 0:
            continue
        observed = 0
        equal = 0
        for k in range(n_members):
            n = members[k]
            if side[k] == wanted and n != record:
                y = codes[n, f]
                if y >= 0:
                    observed += 1
                    if y == x:
                        equal += 1
        if observed > 0:
            factor = delta[f]
            if equal > 0:
                factor += equal * gain[x]
            product *= factor / (delta[f] + observed)
            if product > 1e100 or product < 1e-100:
                total += np.log(product)
                product = 1.0
    return total + np.log(product)


@hot
def categorical_pair(codes: Int32s, gain: Floats, delta: Floats, i: int, j: int) -> float:
    """Bayes factor of the categorical fields that two records are one entity rather than two.

    May overflow to infinity or underflow to 0, see ``log_categorical_pair``.
    """
    above = 1.0
    below = 1.0
    for f in range(codes.shape[1]):
        x = codes[i, f]
        y = codes[j, f]
        if x == y:
            if x >= 0:
                above *= delta[f] + gain[x]
                below *= delta[f] + 1.0
        elif x >= 0 and y >= 0:
            above *= delta[f]
            below *= delta[f] + 1.0
    return above / below


@lean
def log_categorical_pair(codes: Int32s, gain: Floats, delta: Floats, i: int, j: int) -> float:
    """Log Bayes factor of the categorical fields that two records are one entity."""
    product = categorical_pair(codes, gain, delta, i, j)
    if 1e-250 < product < 1e250:
        return np.log(product)
    total = 0.0
    for f in range(codes.shape[1]):
        x = codes[i, f]
        y = codes[j, f]
        if x >= 0 and y >= 0:
            agreed = gain[x] if x == y else 0.0
            total += np.log((delta[f] + agreed) / (delta[f] + 1.0))
    return total


@lean
def place_of(begins: Int64s, others: Int32s, i: int, j: int) -> int:
    """Where one of two records stands in the list of the other, -1 if nowhere.

    Lists are sorted and know of each other, so the shorter one is searched: by halves, near the
    place where the record would stand if the list were evenly spread.
    """
    if begins[i + 1] - begins[i] > begins[j + 1] - begins[j]:
        i, j = j, i
    low, high = begins[i], begins[i + 1]
    near = low + (high - low) * j // (begins.size - 1)
    if near - NEAR > low and others[near - NEAR] <= j:
        low = near - NEAR
    if near + NEAR < high and others[near + NEAR] > j:
        high = near + NEAR
    left = high - low
    if left == 0:
        return -1
    while left > 1:
        half = left >> 1
        low += half * (others[low + half] <= j)
        left -= half
    return low if others[low] == j else -1


@lean
def compared_pair(
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    ratio: Floats,
    apart: Floats,
    i: int,
    j: int,
) -> float:
    """Evidence of the compared fields of two records (model section 6).

    That of the pattern of their levels if they are listed, else that of a difference in each field
    which both show.
    """
    place = place_of(begins, others, i, j)
    return apart[shown[i] & shown[j]] if place < 0 else ratio[pattern[place]]


@hot
def finite_log(value: float) -> float:
    """Log of a positive number, or that of the least or largest that can be told apart."""
    return np.log(min(max(value, 1e-300), 1e300))


@lean
def log_compared_pair(
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    ratio: Floats,
    apart: Floats,
    i: int,
    j: int,
) -> float:
    """Log evidence of the compared fields of two records: finite, so that it can be taken back."""
    return finite_log(compared_pair(begins, others, pattern, shown, ratio, apart, i, j))


@lean
def compare_members(
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    ratio: Floats,
    apart: Floats,
    members: Int32s,
    n_members: int,
    between: Floats,
) -> bool:
    """Tabulate the evidence of the compared fields between all members of a small S.

    Returns whether products of it stay in range.
    """
    largest = 1.0
    for k in range(n_members):
        between[k, k] = 1.0
        for other in range(k):
            value = compared_pair(
                begins, others, pattern, shown, ratio, apart, members[k], members[other]
            )
            between[k, other] = value
            between[other, k] = value
            largest = max(largest, value, 1.0 / value)
    product = 1.0
    for _ in range(1, n_members):
        product *= largest
    return product < LARGEST_FACTOR


@lean
def exemplar_evidence(between: Floats, n_members: int, products: Floats, sums: Floats) -> None:
    """Evidence of the compared fields of every subset that a division needs (model section 6).

    One of its records, each with equal chance, shows the entity's true values: for each exemplar,
    products over the records but i and j are built up bit by bit, then i, j or both come in.
    Subsets are numbered as in ``subset_evidence``.
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
    for rest in range(n_rests):
        sums[(rest << 2) | 1] /= 1 + BITS[rest]
        sums[(rest << 2) | 2] /= 1 + BITS[rest]
    sums[0] /= n_members


@lean
def sum_logs(
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    ratio: Floats,
    apart: Floats,
    members: Int32s,
    start: int,
    stop: int,
    sums: Floats,
) -> None:
    """Log product, for each of some members as the exemplar, of the evidence of the others."""
    for k in range(stop - start):
        sums[k] = 0.0
        for other in range(k):
            log_value = log_compared_pair(
                begins, others, pattern, shown, ratio, apart,
                members[start + k], members[start + other],
            )  # fmt: skip
            sums[k] += log_value
            sums[other] += log_value


@lean
def log_mean_exp(values: Floats, n_values: int) -> float:
    """Log of the mean of exponentials; 0 of none, as the evidence of no record."""
    if n_values == 0:
        return 0.0
    top = values[0]
    for k in range(1, n_values):
        top = max(top, values[k])
    total = 0.0
    for k in range(n_values):
        total += np.exp(values[k] - top)
    return top + np.log(total / n_values)


@lean
def compare_with(
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    ratio: Floats,
    apart: Floats,
    record: int,
    members: Int32s,
    n_members: int,
    row: Floats,
) -> float:
    """Look up the log evidence of a record with each of some others; returns the least."""
    least = np.inf
    for k in range(n_members):
        row[k] = log_compared_pair(begins, others, pattern, shown, ratio, apart, record, members[k])
        least = min(least, row[k])
    return least


@lean
def log_exemplar_joining(
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    ratio: Floats,
    apart: Floats,
    members: Int32s,
    n_members: int,
    row: Floats,
    sums: Floats,
) -> float:
    """Log evidence of the compared fields of a record with some others, over that of the others.

    ``row`` has the logs of the record with each of them.
    """
    sum_logs(begins, others, pattern, shown, ratio, apart, members, 0, n_members, sums)
    log_without = log_mean_exp(sums, n_members)
    sums[n_members] = 0.0
    for k in range(n_members):
        sums[k] += row[k]
        sums[n_members] += row[k]
    return log_mean_exp(sums, n_members + 1) - log_without


@hot
def clash(source: Int32s, i: int, j: int) -> bool:
    """Tell whether two records are of one source, so that no cluster may have both."""
    return source[i] >= 0 and source[i] == source[j]


@lean
def forbid_subsets(source: Int32s, members: Int32s, n_members: int, evidence: Floats) -> None:
    """Set the evidence of every subset with two records of one source to 0 (entry 0: all of S)."""
    for k in range(1, n_members):
        for other in range(k):
            if clash(source, members[k], members[other]):
                both = (1 << k) | (1 << other)
                evidence[0] = 0.0
                for subset in range(both, 1 << n_members):
                    if subset & both == both:
                        evidence[subset] = 0.0


@lean
def log_predictive(
    codes: Int32s,
    gain: Floats,
    source: Int32s,
    delta: Floats,
    record: int,
    members: Int32s,
    side: Sides,
    wanted: int,
    n_members: int,
) -> float:
    """Log predictive of a record given the members on one side, over its predictive alone.

    Minus infinity if one of them is of the record's source. Compared fields come on top of it.
    """
    if source.size > 0:
        for k in range(n_members):
            if side[k] == wanted and members[k] != record and clash(source, record, members[k]):
                return -np.inf
    return categorical_predictive(codes, gain, delta, record, members, side, wanted, n_members)


@lean
def log_evidence(
    codes: Int32s,
    gain: Floats,
    source: Int32s,
    delta: Floats,
    members: Int32s,
    side: Sides,
    wanted: int,
    n_members: int,
) -> float:
    """Log evidence that the members on one side are one entity, but for compared fields."""
    total = 0.0
    for k in range(1, n_members):
        if side[k] == wanted:
            total += log_predictive(
                codes, gain, source, delta, members[k], members, side, wanted, k
            )
    return total


@lean
def log_exemplar(logs: Floats, side: Sides, wanted: int, n_members: int, terms: Floats) -> float:
    """Log evidence of the compared fields of the members on one side, from that of all pairs."""
    n_inside = 0
    for exemplar in range(n_members):
        if side[exemplar] == wanted:
            terms[n_inside] = 0.0
            for k in range(n_members):
                if side[k] == wanted:
                    terms[n_inside] += logs[k, exemplar]
            n_inside += 1
    return log_mean_exp(terms, n_inside)


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


# --- the chaperones move -------------------------------------------------------------------


@lean
def accept(rng: np.random.Generator, log_odds: float) -> bool:
    """Return true with probability 1 / (1 + exp(-log_odds))."""
    if log_odds > 0.0:
        return rng.random() * (1.0 + np.exp(-log_odds)) < 1.0
    weight = np.exp(log_odds)
    return rng.random() * (1.0 + weight) < weight


@lean
def stays(following: Int32s, within: Int64s, start: int) -> bool:
    """Tell whether all records of a cluster are in the shard."""
    n = following[start]
    while n != start:
        if not inside(within, n):
            return False
        n = following[n]
    return True


@lean
def gather(
    following: Int32s, within: Int64s, i: int, j: int, members: Int32s, side: Sides
) -> tuple[int, bool]:
    """Collect S, the records of c_i and c_j: i, j, then the others in increasing order.

    Returns their number (or minus one when they do not fit, and 0 when one is outside the shard)
    and whether i and j are together. Sides are set: 0 with i, 1 with j. The order must not depend
    on the state: sorting makes visits valid, and chains depend on the partition alone.
    """
    members[0] = i
    members[1] = j
    side[0] = 0
    side[1] = 1
    count = 2
    together = False
    for own in range(2):
        start = members[own]
        n = following[start]
        while n != start and count > 0:
            if n == j and own == 0:
                together = True
                side[1] = 0
            elif not inside(within, n):
                return 0, together
            elif count == members.size:
                # It does not fit, unless a record is outside: how far tables reach must not tell.
                count = -1 if stays(following, within, start) else 0
            else:
                k = count
                while k > 2 and members[k - 1] > n:
                    members[k] = members[k - 1]
                    side[k] = side[k - 1]
                    k -= 1
                members[k] = n
                side[k] = own
                count += 1
            n = following[n]
        if count < 0 and own == 0 and not stays(following, within, j):
            count = 0
        if together or count <= 0:
            break
    return count, together


@lean
def write_rings(following: Int32s, members: Int32s, side: Sides, n_members: int) -> None:
    """Make the members of each side a ring."""
    for own in range(2):
        first = -1
        last = -1
        for k in range(n_members):
            if side[k] == own:
                if first < 0:
                    first = members[k]
                else:
                    following[last] = members[k]
                last = members[k]
        if first >= 0:
            following[last] = first


@lean
def count_sides(size_counts: Int64s, side: Sides, n_members: int, sign: int) -> None:
    """Add the clusters of S to the counts, or take them out."""
    on_j = 0
    for k in range(n_members):
        on_j += side[k]
    size_counts[n_members - on_j] += sign
    size_counts[0] += sign
    if on_j > 0:
        size_counts[on_j] += sign
        size_counts[0] += sign


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


@lean
def several_records(
    rng: np.random.Generator,
    i: int,
    j: int,
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
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    within: Int64s,
    following: Int32s,
    size_counts: Int64s,
    members: Int32s,
    side: Sides,
    weight: Floats,
    evidence: Floats,
    below: Floats,
    between: Floats,
    totals: Floats,
    sums: Floats,
    terms: Floats,
) -> bool:
    """Make the move on any two clusters of the shard, none if they reach outside.

    Returns false if the tables are too short for their union.
    """
    n_members, together = gather(following, within, i, j, members, side)
    if n_members <= 0:
        return n_members == 0
    # A move leaves S as it is, so how often it is made may depend on how large S is.
    if n_members > LARGEST_WHOLE:
        share = LARGEST_WHOLE / n_members
        if rng.random() >= share * share:
            return True
    log_apart = log_open_weight(opening, log_open, size_counts[0] - (0 if together else 1))
    count_sides(size_counts, side, n_members, -1)
    if n_members < size.size:
        draw_division(
            rng, log_apart,
            codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
            log_size, size, shape, size_counts,
            n_members, members, side, weight, evidence, below, between, sums, terms,
        )  # fmt: skip
    elif n_members <= LARGEST_TABULATED and rng.random() < 0.5:
        split_or_merge(
            rng, log_apart, together,
            codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
            log_size, shape, size_counts,
            n_members, members, side, between, totals, evidence, terms,
        )  # fmt: skip
    else:
        visit_all(
            rng, log_apart, together,
            codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
            log_size, shape, size_counts,
            n_members, members, side, between, totals, evidence, terms,
        )  # fmt: skip
    count_sides(size_counts, side, n_members, 1)
    write_rings(following, members, side, n_members)
    return True


@lean
def weigh_pairs(
    size: Floats,
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    size_counts: Int64s,
    pair_weight: Floats,
) -> None:
    """Weigh two records apart and joined (columns), if they are apart or joined now (rows)."""
    for now in range(2):
        opened = log_open_weight(opening, log_open, size_counts[0] - 1 + now)
        pair_weight[now, 0] = np.exp(opened)
        pair_weight[now, 1] = size[2]
        if shape.size > 0:
            alone = shape[1] + size_counts[1] - 2 * (1 - now)
            pair_weight[now, 0] *= alone * (alone + 1.0)
            pair_weight[now, 1] *= shape[2] + size_counts[2] - now


@compiled
def chaperones(
    rng: np.random.Generator,
    n_moves: int,
    in_rings: bool,
    uniform_share: float,
    table: Int32s,
    slices: Int64s,
    reach: Floats,
    within: Int64s,
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
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    following: Int32s,
    size_counts: Int64s,
    pending: Int64s,
) -> int:
    """Make chaperones moves on pairs of a shard from a mixture; returns how many were made.

    Pairs whose clusters reach outside the shard are left as they are (model section 5).

    Fewer than asked means that two clusters met whose union is larger than the tables: extend
    them and go on. The pair waits in ``pending`` (else -1): how far tables reach depends on the
    state, so another pair in its place would be wrong.

    With ``in_rings`` the pairs are each record of the shard and its neighbour in the ring, in turn.
    They depend on the state, so the posterior is not kept: that is for warm-up alone, to free a
    start from clusters that no proposed pair would ever take apart.
    """
    members = np.empty(log_size.size - 1, dtype=np.int32)
    side = np.empty(log_size.size - 1, dtype=np.int8)
    weight = np.empty(1 + (1 << (LARGEST_ENUMERATED - 2)))
    evidence = np.empty(1 << LARGEST_ENUMERATED)
    below = np.empty(LARGEST_ENUMERATED)
    # For compared fields; pages of it that are never touched cost nothing.
    room = members.size if ratio.size > 0 else 0
    between = np.empty((min(room, LARGEST_TABULATED), room))
    totals = np.empty((2, room))
    sums = np.empty(1 << LARGEST_ENUMERATED)
    terms = np.empty(max(members.size, 1 << (LARGEST_ENUMERATED - 2)))
    # What two records without company weigh, apart and joined, as they are now either way.
    pair_weight = np.empty((2, 2))
    weigh_pairs(size, opening, log_open, shape, size_counts, pair_weight)
    return make_moves(
        rng, n_moves, in_rings, uniform_share, table, slices, reach, within,
        codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
        log_size, size, opening, log_open, shape, following, size_counts, pending,
        members, side, weight, evidence, below, between, totals, sums, terms, pair_weight,
    )  # fmt: skip


@lean
def make_moves(
    rng: np.random.Generator,
    n_moves: int,
    in_rings: bool,
    uniform_share: float,
    table: Int32s,
    slices: Int64s,
    reach: Floats,
    within: Int64s,
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
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    following: Int32s,
    size_counts: Int64s,
    pending: Int64s,
    members: Int32s,
    side: Sides,
    weight: Floats,
    evidence: Floats,
    below: Floats,
    between: Floats,
    totals: Floats,
    sums: Floats,
    terms: Floats,
    pair_weight: Floats,
) -> int:
    """Make the moves of ``chaperones``."""
    compared = ratio.size > 0
    constrained = source.size > 0
    # Where no weight depends on the other clusters, pairs are weighed once.
    depends = log_open.size > 0 or opening[1] > 0.0 or opening[3] > 0.0 or shape.size > 0
    for move in range(n_moves):
        if in_rings:
            i = np.int64(record_at(within, move))
            j = np.int64(following[i])
            if i == j or not inside(within, j):
                continue
        elif pending[0] >= 0:
            i, j = pending[0], pending[1]
            pending[0] = -1
        else:
            i, j = draw_pair(rng, uniform_share, table, slices, reach, within)
        after_i = following[i]
        after_j = following[j]
        if constrained and after_i == i and after_j == j and clash(source, i, j):
            continue
        n_clusters, n_alone, n_pairs = size_counts[0], size_counts[1], size_counts[2]
        if (after_i == i and after_j == j) or (after_i == j and after_j == i):
            # Two records without company: draw at once whether they are one cluster or two.
            together = after_i == j
            now = 1 if together else 0
            joined = pair_weight[now, 1] * categorical_pair(codes, gain, delta, i, j)
            if compared:
                joined *= compared_pair(begins, others, pattern, shown, ratio, apart, i, j)
            total = joined + pair_weight[now, 0]
            in_range = 1e-200 < total < 1e200
            if in_range and (rng.random() * total < joined) != together:
                sign = -1 if together else 1
                following[i] = i if together else j
                following[j] = j if together else i
                size_counts[0] -= sign
                size_counts[1] -= 2 * sign
                size_counts[2] += sign
        else:
            in_range = False
        fits = in_range or several_records(
            rng, i, j,
            codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
            log_size, size, opening, log_open, shape,
            within, following, size_counts,
            members, side, weight, evidence, below, between, totals, sums, terms,
        )  # fmt: skip
        if not fits and not in_rings:
            pending[0], pending[1] = i, j
            return move
        if depends and (
            size_counts[0] != n_clusters or size_counts[1] != n_alone or size_counts[2] != n_pairs
        ):
            weigh_pairs(size, opening, log_open, shape, size_counts, pair_weight)
    return n_moves


# --- states --------------------------------------------------------------------------------


@lean
def is_first(following: Int32s, record: int) -> bool:
    """Tell whether a record is the smallest of its ring."""
    n = following[record]
    while n > record:
        n = following[n]
    return n == record


@compiled
def rings(labels: Int64s) -> Int32s:
    """Turn canonical labels into rings in increasing order."""
    n_records = labels.size
    following = np.empty(n_records, dtype=np.int32)
    first = np.full(n_records, -1, dtype=np.int32)
    last = np.empty(n_records, dtype=np.int32)
    for n in range(n_records):
        c = labels[n]
        if first[c] < 0:
            first[c] = n
        else:
            following[last[c]] = n
        following[n] = first[c]
        last[c] = n
    return following


@compiled
def grouped(following: Int32s, within: Int64s) -> tuple[Int32s, Int32s, Int32s]:
    """List the records of clusters of two or more of a shard, cluster after cluster.

    Also returns the clusters' sizes, and the records of the shard whose clusters reach outside.
    """
    n_records = within[1] - within[0] + within[3] - within[2]
    seen = np.zeros(n_records, dtype=np.bool_)
    n_members = 0
    for place in range(n_records):
        n = record_at(within, place)
        n_members += following[n] != n
    members = np.empty(n_members, dtype=np.int32)
    sizes = np.empty(n_members // 2 + 1, dtype=np.int32)
    leaving = np.empty(n_members, dtype=np.int32)
    counts = np.zeros(3, dtype=np.int64)
    walk_rings(following, within, seen, members, sizes, leaving, counts)
    return members[: counts[0]], sizes[: counts[1]], leaving[: counts[2]]


@compiled
def grouped_among(following: Int32s, records: Int32s) -> tuple[Int32s, Int32s]:
    """List the clusters that consist of some records (ascending), and their sizes."""
    members = np.empty(records.size, dtype=np.int32)
    sizes = np.empty(records.size, dtype=np.int32)
    k = 0
    n_clusters = 0
    for start in records:
        if is_first(following, start):
            first = k
            n = start
            while k == first or n != start:
                members[k] = n
                k += 1
                n = following[n]
            sizes[n_clusters] = k - first
            n_clusters += 1
    return members[:k], sizes[:n_clusters]


@hot
def place_in(within: Int64s, record: int) -> int:
    """Return the place of a record in its shard."""
    if within[0] <= record < within[1]:
        return record - within[0]
    return within[1] - within[0] + record - within[2]


@lean
def walk_rings(
    following: Int32s,
    within: Int64s,
    seen: NDArray[np.bool_],
    members: Int32s,
    sizes: Int32s,
    leaving: Int32s,
    counts: Int64s,
) -> None:
    """Do what ``grouped`` says; counts the members, the clusters and those who leave."""
    k = 0
    for place in range(seen.size):
        start = record_at(within, place)
        if seen[place] or following[start] == start:
            continue
        first = k
        n = np.int64(start)
        while inside(within, n) and not seen[place_in(within, n)]:
            members[k] = n
            k += 1
            seen[place_in(within, n)] = True
            n = np.int64(following[n])
        if n == start:
            sizes[counts[1]] = k - first
            counts[1] += 1
        else:
            for other in range(first, k):
                leaving[counts[2]] = members[other]
                counts[2] += 1
            k = first
    counts[0] = k


@compiled
def agreement_cells(members: Int32s, sizes: Int32s, codes: Int32s) -> tuple[Int64s, Int64s, Int64s]:
    """Collect all that the likelihood of delta depends on (model section 3).

    A value that k >= 2 records of a cluster share gives the steps (code, 1), ..., (code, k-1):
    a row (code, step) each. ``n_cells[f]`` counts the different values seen in clusters, and
    ``observed[f, j]`` the clusters in which more than j records show field f.
    """
    n_fields = codes.shape[1]
    largest = 1
    for size in sizes:
        largest = max(largest, size)
    n_cells = np.zeros(n_fields, dtype=np.int64)
    observed = np.zeros((n_fields, largest), dtype=np.int64)
    steps = np.empty((members.size * n_fields, 2), dtype=np.int64)
    n_steps = 0
    start = 0
    for size in sizes:
        for f in range(n_fields):
            seen = 0
            for k in range(start, start + size):
                x = codes[members[k], f]
                if x < 0:
                    continue
                observed[f, seen] += 1
                seen += 1
                earlier = 0
                for other in range(start, k):
                    earlier += codes[members[other], f] == x
                if earlier == 0:
                    n_cells[f] += 1
                else:
                    steps[n_steps, 0] = x
                    steps[n_steps, 1] = earlier
                    n_steps += 1
        start += size
    return steps[:n_steps], n_cells, observed


@compiled
def count_patterns(
    rng: np.random.Generator,
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    ratio: Floats,
    apart: Floats,
    members: Int32s,
    sizes: Int32s,
) -> tuple[Int64s, Int64s, float]:
    """Draw the exemplar of each cluster, and count the patterns of the others against it.

    Pairs that were not compared have rows of their own after the patterns, by what both show. Also
    returns how often each pattern occurs in any pair of one cluster, and the log evidence of all
    clusters.
    """
    against = np.zeros(ratio.size + apart.size, dtype=np.int64)
    inside = np.zeros(ratio.size + apart.size, dtype=np.int64)
    sums = np.empty(members.size)
    log_evidence = draw_exemplars(
        rng, begins, others, pattern, shown, ratio, apart, members, sizes, against, inside, sums
    )
    return against, inside, log_evidence


@lean
def row_of(
    begins: Int64s, others: Int32s, pattern: Int32s, shown: Int32s, n_patterns: int, i: int, j: int
) -> int:
    """Return the pattern of a pair; if it was not compared, the row that says what both show."""
    listed = place_of(begins, others, i, j)
    return n_patterns + (shown[i] & shown[j]) if listed < 0 else pattern[listed]


@lean
def draw_exemplars(
    rng: np.random.Generator,
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    ratio: Floats,
    apart: Floats,
    members: Int32s,
    sizes: Int32s,
    against: Int64s,
    inside: Int64s,
    sums: Floats,
) -> float:
    """Do what ``count_patterns`` says."""
    total = 0.0
    stop = 0
    n_patterns = ratio.size
    row = 0
    for size in sizes:
        start, stop = stop, stop + size
        for k in range(size):
            sums[k] = 0.0
        for k in range(1, size):
            for other in range(k):
                i, j = members[start + k], members[start + other]
                row = row_of(begins, others, pattern, shown, n_patterns, i, j)
                inside[row] += 1
                value = ratio[row] if row < n_patterns else apart[row - n_patterns]
                sums[k] += finite_log(value)
                sums[other] += finite_log(value)
        if size < 2:
            continue
        if size == 2:
            # Either shows the same pattern against the other.
            against[row] += 1
            total += sums[0]
            continue
        total += log_mean_exp(sums, size)
        exemplar = members[start + draw_log_weights(rng, sums, size)]
        for k in range(start, stop):
            n = members[k]
            if n != exemplar:
                against[row_of(begins, others, pattern, shown, n_patterns, n, exemplar)] += 1
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


# --- pairs worth proposing -----------------------------------------------------------------


@compiled
def score_histogram(
    codes: Int32s,
    gain: Floats,
    source: Int32s,
    delta: Floats,
    lowest: float,
    width: float,
    n_bins: int,
) -> Int64s:
    """Count all pairs by their log evidence, from ``lowest`` up in bins of ``width``.

    Pairs of one source are no candidates, here and below.
    """
    counts = np.zeros(n_bins, dtype=np.int64)
    n_records = codes.shape[0]
    for i in range(n_records):
        for j in range(i + 1, n_records):
            if source.size > 0 and clash(source, i, j):
                continue
            score = log_categorical_pair(codes, gain, delta, i, j)
            if score >= lowest:
                counts[min(int((score - lowest) / width), n_bins - 1)] += 1
    return counts


@compiled
def pairs_above(
    codes: Int32s, gain: Floats, source: Int32s, delta: Floats, lowest: float, n_pairs: int
) -> Int32s:
    """List all pairs whose log evidence is at least ``lowest`` (there are ``n_pairs``)."""
    found = np.empty((n_pairs, 2), dtype=np.int32)
    k = 0
    n_records = codes.shape[0]
    for i in range(n_records):
        for j in range(i + 1, n_records):
            if source.size > 0 and clash(source, i, j):
                continue
            if k < n_pairs and log_categorical_pair(codes, gain, delta, i, j) >= lowest:
                found[k, 0] = i
                found[k, 1] = j
                k += 1
    return found[:k]


@compiled
def block_pairs(
    order: Int64s,
    key: NDArray[np.uint64],
    window: int,
    codes: Int32s,
    gain: Floats,
    source: Int32s,
    delta: Floats,
    lowest: float,
) -> Int64s:
    """List pairs i * N + j (i < j) of equal key whose log evidence is at least ``lowest``.

    ``order`` sorts the records by ``key``; in a block, each record meets the ``window`` next.
    """
    n_records = order.size
    found = np.empty(max(1024, n_records), dtype=np.int64)
    n_found = 0
    for a in range(n_records):
        i = order[a]
        for b in range(a + 1, min(a + 1 + window, n_records)):
            j = order[b]
            if key[i] != key[j]:
                break
            if source.size > 0 and clash(source, i, j):
                continue
            if log_categorical_pair(codes, gain, delta, i, j) >= lowest:
                if n_found == found.size:
                    larger = np.empty(2 * found.size, dtype=np.int64)
                    larger[:n_found] = found
                    found = larger
                found[n_found] = min(i, j) * n_records + max(i, j)
                n_found += 1
    return found[:n_found]


@compiled
def pair_scores(
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
    pairs: Int32s,
) -> Floats:
    """Log evidence of each listed pair."""
    scores = np.empty(pairs.shape[0])
    score_pairs(codes, gain, begins, others, pattern, shown, delta, ratio, apart, pairs, scores)
    return scores


@lean
def score_pairs(
    codes: Int32s,
    gain: Floats,
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    delta: Floats,
    ratio: Floats,
    apart: Floats,
    pairs: Int32s,
    scores: Floats,
) -> None:
    """Do what ``pair_scores`` says; it is quickest if pairs come in order."""
    place = 0
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        scores[k] = log_categorical_pair(codes, gain, delta, i, j)
        if ratio.size > 0:
            # The next pair that was compared often stands beside the last.
            place += 1
            if not (begins[i] <= place < begins[i + 1] and others[place] == j):
                place = place_of(begins, others, i, j)
            scores[k] += np.log(apart[shown[i] & shown[j]] if place < 0 else ratio[pattern[place]])


@compiled
def count_linked(following: Int32s, pairs: Int32s, counts: Int32s) -> None:
    """Add one to the count of every listed pair that is together now."""
    label = np.arange(following.size)
    for n in range(following.size):
        if following[n] != n and is_first(following, n):
            record = following[n]
            while record != n:
                label[record] = n
                record = following[record]
    for k in range(pairs.shape[0]):
        counts[k] += label[pairs[k, 0]] == label[pairs[k, 1]]


@compiled
def alias_tables(pairs: Int32s, weight: Floats, begins: Int64s) -> Int32s:
    """Build the rows of ``Pairs.table`` for lists of weighted pairs, one after another."""
    longest = 0
    for s in range(begins.size - 1):
        longest = max(longest, begins[s + 1] - begins[s])
    table = np.empty((weight.size, 5), dtype=np.int32)
    scaled = np.empty(longest)
    small = np.empty(longest, dtype=np.int64)
    large = np.empty(longest, dtype=np.int64)
    for s in range(begins.size - 1):
        if begins[s] < begins[s + 1]:
            fill_alias_table(pairs, weight, begins[s], begins[s + 1], table, scaled, small, large)
    return table


@lean
def fill_alias_table(
    pairs: Int32s,
    weight: Floats,
    begin: int,
    end: int,
    table: Int32s,
    scaled: Floats,
    small: Int64s,
    large: Int64s,
) -> None:
    """Build the rows of one list (Vose's alias method)."""
    total = 0.0
    for k in range(begin, end):
        total += weight[k]
    n_small = 0
    n_large = 0
    for k in range(begin, end):
        table[k, 0] = pairs[k, 0]
        table[k, 1] = pairs[k, 1]
        table[k, 2] = pairs[k, 0]
        table[k, 3] = pairs[k, 1]
        table[k, 4] = 2147483647
        scaled[k - begin] = weight[k] * ((end - begin) / total)
        if scaled[k - begin] < 1.0:
            small[n_small] = k
            n_small += 1
        else:
            large[n_large] = k
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        k = small[n_small]
        donor = large[n_large - 1]
        table[k, 2] = pairs[donor, 0]
        table[k, 3] = pairs[donor, 1]
        table[k, 4] = int(scaled[k - begin] * 2147483647.0)
        scaled[donor - begin] -= 1.0 - scaled[k - begin]
        if scaled[donor - begin] < 1.0:
            n_large -= 1
            small[n_small] = donor
            n_small += 1


@lean
def log_density_of_delta(
    delta: float,
    frequency: Floats,
    step: Floats,
    number: Floats,
    n_cells: int,
    observed: Int64s,
) -> float:
    """Log evidence of all clusters as a function of one delta (see ``agreement_cells``)."""
    total = n_cells * np.log(delta)
    for k in range(number.size):
        total += number[k] * np.log(delta * frequency[k] + step[k])
    for j in range(observed.size):
        total -= observed[j] * np.log(delta + j)
    return total


# --- layout ----------------------------------------------------------------------------------


@compiled
def rival_pairs(n_records: int, pairs: Int32s, most: int) -> Int32s:
    """List the pairs of records that are in a pair with the same record, but in none together.

    Of records that are in more than ``most`` pairs, none. Pairs ascend, each is listed once.
    """
    starts = np.zeros(n_records + 1, dtype=np.int64)
    for k in range(pairs.shape[0]):
        starts[pairs[k, 0] + 1] += 1
        starts[pairs[k, 1] + 1] += 1
    starts = np.cumsum(starts)
    neighbours = np.empty(starts[-1], dtype=np.int32)
    filled = starts[:-1].copy()
    for k in range(pairs.shape[0]):
        for own in range(2):
            record = pairs[k, own]
            neighbours[filled[record]] = pairs[k, 1 - own]
            filled[record] += 1
    found = np.empty(0, dtype=np.int64)
    for write in range(2):
        n_found = 0
        for record in range(n_records):
            first, last = starts[record], starts[record + 1]
            if last - first > most:
                continue
            for k in range(first, last):
                for other in range(k + 1, last):
                    a = min(neighbours[k], neighbours[other])
                    b = max(neighbours[k], neighbours[other])
                    if a == b or is_among(neighbours[starts[a] : starts[a + 1]], b):
                        continue
                    if write:
                        found[n_found] = np.int64(a) * n_records + b
                    n_found += 1
        if not write:
            found = np.empty(n_found, dtype=np.int64)
    found.sort()
    result = np.empty((found.size, 2), dtype=np.int32)
    count = 0
    for k in range(found.size):
        if k == 0 or found[k] != found[k - 1]:
            result[count, 0] = found[k] // n_records
            result[count, 1] = found[k] % n_records
            count += 1
    return result[:count]


@lean
def is_among(numbers: Int32s, number: int) -> bool:
    """Tell whether a number is one of a few."""
    found = False
    for k in range(numbers.size):
        found |= numbers[k] == number
    return found


@compiled
def bounded_groups(n_records: int, pairs: Int32s, order: Int64s, largest: int) -> Int64s:
    """Join the records of each pair, in a given order, into groups of at most ``largest``.

    Returns the smallest record of each record's group.
    """
    group = np.arange(n_records)
    size = np.ones(n_records, dtype=np.int64)
    join_groups(pairs, order, largest, group, size)
    return group


@lean
def join_groups(pairs: Int32s, order: Int64s, largest: int, group: Int64s, size: Int64s) -> None:
    """Do what ``bounded_groups`` says: a forest whose roots are the smallest records."""
    for k in order:
        i, j = root_of(group, pairs[k, 0]), root_of(group, pairs[k, 1])
        if i != j and size[i] + size[j] <= largest:
            low, high = min(i, j), max(i, j)
            group[high] = low
            size[low] += size[high]
    for n in range(group.size):
        group[n] = group[group[n]]


@lean
def root_of(group: Int64s, record: int) -> int:
    """Return the root of a record's tree, and shorten the way to it."""
    n = np.int64(record)
    while group[n] != n:
        group[n] = group[group[n]]
        n = group[n]
    return n


# --- loose links ------------------------------------------------------------------------------


@lean
def others_of(following: Int32s, within: Int64s, start: int, left_out: int, members: Int32s) -> int:
    """List the records of a ring without one; 0 if they do not fit or are not all in the shard."""
    n_members = 0
    n = start
    while True:
        if n != left_out:
            if n_members == members.size or not inside(within, n):
                return 0
            members[n_members] = n
            n_members += 1
        n = following[n]
        if n == start:
            return n_members


@lean
def listed_odds(
    starts: Int64s, neighbours: Int32s, odds: Floats, record: int, members: Int32s, n_members: int
) -> float:
    """Sum the listed odds of a record with some others (neighbours of a record are sorted)."""
    total = 0.0
    for k in range(n_members):
        low, high = starts[record], starts[record + 1]
        while low < high:
            middle = (low + high) // 2
            if neighbours[middle] < members[k]:
                low = middle + 1
            else:
                high = middle
        if low < starts[record + 1] and neighbours[low] == members[k]:
            total += odds[low]
    return total


@lean
def log_merge_weight(
    log_size: Floats,
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    size_counts: Int64s,
    one: int,
    other: int,
    joins: bool,
) -> float:
    """Log prior weight of one cluster over that of two; these are counted if they are to join."""
    n_clusters = size_counts[0] - 1 if joins else size_counts[0]
    log_weight = log_size[one + other] - log_size[one]
    if other > 1:
        log_weight += log_size[1] - log_size[other]
    log_weight -= log_open_weight(opening, log_open, n_clusters)
    if shape.size > 0:
        count_two(size_counts, one, other, joins, -1)
        joined = free_factor(shape, size_counts, one + other, 0)
        apart = free_factor(shape, size_counts, one, other)
        count_two(size_counts, one, other, joins, 1)
        log_weight += np.log(joined / apart)
    return log_weight


@hot
def count_two(size_counts: Int64s, one: int, other: int, apart: bool, sign: int) -> None:
    """Count two clusters, or no longer: as two or as one."""
    if apart:
        size_counts[one] += sign
        size_counts[other] += sign
    else:
        size_counts[one + other] += sign


@compiled
def attach(
    rng: np.random.Generator,
    n_moves: int,
    joining: float,
    table: Int32s,
    slices: Int64s,
    reach: Floats,
    within: Int64s,
    total: float,
    leavers: Int32s,
    leaving: Int64s,
    starts: Int64s,
    neighbours: Int32s,
    odds: Floats,
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
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    following: Int32s,
    size_counts: Int64s,
) -> None:
    """Attach lone records to their neighbours and detach them again, by Metropolis steps.

    With chance ``joining`` a pair of the shard's lists is drawn in proportion to its odds, which
    add up to ``total``, and one of the two that is alone asks to join the other's cluster; else one
    of the records that have listed neighbours, ``leavers`` in the ranges of places ``leaving``,
    asks to leave its own.
    """
    members = np.empty(LARGEST_JOINED, dtype=np.int32)
    side = np.zeros(LARGEST_JOINED, dtype=np.int8)
    row = np.empty(LARGEST_JOINED)
    sums = np.empty(LARGEST_JOINED + 1)
    # The chance that a record leaves over the chance that it joins, but for the pairs' odds.
    n_leavers = leaving[1] - leaving[0] + leaving[3] - leaving[2]
    log_balance = np.log((1.0 - joining) / n_leavers) - np.log(joining / total)
    attach_or_leave(
        rng, n_moves, joining, table, slices, reach, within, leavers, leaving,
        starts, neighbours, odds,
        codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
        log_size, opening, log_open, shape, following, size_counts,
        log_balance, members, side, row, sums,
    )  # fmt: skip


@lean
def attach_or_leave(
    rng: np.random.Generator,
    n_moves: int,
    joining: float,
    table: Int32s,
    slices: Int64s,
    reach: Floats,
    within: Int64s,
    leavers: Int32s,
    leaving: Int64s,
    starts: Int64s,
    neighbours: Int32s,
    odds: Floats,
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
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    following: Int32s,
    size_counts: Int64s,
    log_balance: float,
    members: Int32s,
    side: Sides,
    row: Floats,
    sums: Floats,
) -> None:
    """Make the steps of ``attach``."""
    n_leavers = leaving[1] - leaving[0] + leaving[3] - leaving[2]
    for _ in range(n_moves):
        joins = rng.random() < joining
        if joins:
            i, j = draw_pair(rng, 0.0, table, slices, reach, within)
            if following[i] != i:
                i, j = j, i
            if following[i] != i:
                continue
        else:
            i = np.int64(leavers[record_at(leaving, int(rng.random() * n_leavers))])
            j = np.int64(following[i])
            if i == j:
                continue
        m = others_of(following, within, j, i, members)
        if m == 0:
            continue
        # A pair comes apart whichever of the two leaves.
        listed = listed_odds(starts, neighbours, odds, i, members, m) / (2.0 if m == 1 else 1.0)
        if listed == 0.0:
            continue
        log_ratio = log_balance - np.log(listed)
        log_ratio += log_predictive(codes, gain, source, delta, i, members, side, 0, m)
        log_ratio += log_merge_weight(log_size, opening, log_open, shape, size_counts, m, 1, joins)
        log_level = np.log(rng.random())
        if ratio.size > 0:
            least = compare_with(begins, others, pattern, shown, ratio, apart, i, members, m, row)
            # The record adds at least this evidence, whoever is the exemplar: too much to leave?
            if not joins and log_level >= np.log((m + 1.0) / m) - least - log_ratio:
                continue
            log_ratio += log_exemplar_joining(
                begins, others, pattern, shown, ratio, apart, members, m, row, sums
            )
        if log_level < (log_ratio if joins else -log_ratio):
            count_two(size_counts, m, 1, joins, -1)
            count_two(size_counts, m, 1, not joins, 1)
            size_counts[0] += -1 if joins else 1
            if joins:
                following[i] = following[j]
                following[j] = i
            else:
                last = j
                while following[last] != i:
                    last = following[last]
                following[last] = j
                following[i] = i


# --- forests of loose links ----------------------------------------------------------------------


LARGEST_LOOKED_AT = 16
"""Of clusters up to this size, records are taken out that fit least."""

UNLIKE = 200.0
"""A record is taken out so many times as often for each value that no other shows."""


@lean
def are_alike(codes: Int32s, record: int, other: int) -> bool:
    """Tell whether two records differ in no field that both show."""
    for f in range(codes.shape[1]):
        x, y = codes[record, f], codes[other, f]
        if x != y and x >= 0 and y >= 0:
            return False
    return True


@lean
def parting(codes: Int32s, members: Int32s, n_members: int, apart: Floats, chance: Floats) -> float:
    """Write the chance of each record of a cluster to be taken out; return their sum.

    It is ``apart[0]`` where all show the same and ``apart[1]`` else. Of more records than are
    looked at, each has the same chance.
    """
    if n_members == 1:
        return 0.0
    if n_members > LARGEST_LOOKED_AT:
        chance[0] = apart[0] / n_members
        return apart[0]
    if n_members == 2:
        whole = apart[0] if are_alike(codes, members[0], members[1]) else apart[1]
        chance[0] = chance[1] = 0.5 * whole
        return whole
    total = 0.0
    alike = True
    for k in range(n_members):
        chance[k] = 1.0
        for f in range(codes.shape[1]):
            x = codes[members[k], f]
            if x < 0:
                continue
            shown = 0
            shared = 0
            for other in range(n_members):
                if other != k:
                    y = codes[members[other], f]
                    shown += y >= 0
                    shared += x == y
            alike &= shared == shown
            if shared == 0 and shown > 0 and chance[k] < UNLIKE**2:
                chance[k] *= UNLIKE
        total += chance[k]
    whole = apart[0] if alike else apart[1]
    for k in range(n_members):
        chance[k] *= whole / total
    return whole


@hot
def list_ring(following: Int32s, start: int, members: Int32s) -> int:
    """Write as many records of a ring as there is room for; return how many it has."""
    size = 0
    n = np.int64(start)
    while True:
        if size < members.size:
            members[size] = n
        size += 1
        n = np.int64(following[n])
        if n == start:
            return size


@compiled
def take_apart(
    rng: np.random.Generator, following: Int32s, codes: Int32s, apart: Floats
) -> tuple[Int32s, Int32s, Int32s]:
    """Take one record out of clusters, with the chances of ``parting``.

    Returns the unit of each record (itself if it is alone now, else the smallest of its cluster),
    and the records that were taken out, each with a unit that it was with.
    """
    n_records = following.size
    unit = np.full(n_records, -1, dtype=np.int32)
    taken, former = np.empty((2, n_records), dtype=np.int32)
    members = np.empty(LARGEST_LOOKED_AT, dtype=np.int32)
    chance = np.empty(LARGEST_LOOKED_AT)
    n_taken = 0
    for first in range(n_records):
        if unit[first] >= 0:
            continue
        size = list_ring(following, first, members)
        out = before = np.int32(-1)
        if size > 1:
            left = parting(codes, members, size, apart, chance) - rng.random()
            if left > 0.0:
                before = np.int32(first)
                # The record that is taken out is the one that follows.
                out = following[before]
                k = 1
                while k < size:
                    left -= chance[k] if size <= LARGEST_LOOKED_AT else chance[0]
                    if left <= 0.0:
                        break
                    before = out
                    out = following[before]
                    k += 1
                following[before] = following[out]
                following[out] = out
                unit[out] = out
        start = before if out == first else np.int32(first)
        least = start
        n = following[start]
        while n != start:
            least = min(least, n)
            n = following[n]
        unit[start] = least
        n = following[start]
        while n != start:
            unit[n] = least
            n = following[n]
        if out >= 0:
            taken[n_taken], former[n_taken] = out, least
            n_taken += 1
    return unit, taken[:n_taken], former[:n_taken]


@compiled
def weigh_picks(
    starts: Int64s,
    neighbours: Int32s,
    codes: Int32s,
    gain: Floats,
    delta: Floats,
    odds: float,
    reach: Floats,
) -> None:
    """Write the sums of each record's weights: the chance of a link, by delta and prior odds."""
    for record in range(starts.size - 1):
        total = 0.0
        for k in range(starts[record], starts[record + 1]):
            ratio = odds
            for f in range(codes.shape[1]):
                x, y = codes[record, f], codes[neighbours[k], f]
                if x >= 0 and y >= 0:
                    ratio *= (delta[f] + (gain[x] if x == y else 0.0)) / (delta[f] + 1.0)
            total += ratio / (1.0 + ratio)
            reach[k] = total


@lean
def own_weight(starts: Int64s, neighbours: Int32s, reach: Floats, record: int, other: int) -> float:
    """Return the weight of another in a record's list; 0 if it is not there."""
    first, end = starts[record], starts[record + 1]
    low, high = first, end
    while low < high:
        middle = (low + high) // 2
        if neighbours[middle] < other:
            low = middle + 1
        else:
            high = middle
    if low == end or neighbours[low] != other:
        return 0.0
    return reach[low] - (reach[low - 1] if low > first else 0.0)


@lean
def pick_weight(
    starts: Int64s, neighbours: Int32s, reach: Floats, record: int, other: int
) -> float:
    """Return the weight of a pair, which both records list: as that of less weight has it."""
    if starts[record] == starts[record + 1] or starts[other] == starts[other + 1]:
        return 0.0
    if reach[starts[other + 1] - 1] < reach[starts[record + 1] - 1]:
        record, other = other, record
    return own_weight(starts, neighbours, reach, record, other)


@lean
def pick_chances(
    following: Int32s,
    starts: Int64s,
    neighbours: Int32s,
    reach: Floats,
    uniform: float,
    unit: int,
    other: int,
) -> tuple[float, float]:
    """Return the chance of one unit to pick another, and that of the other to pick it."""
    one, two = 0.0, 0.0
    n_unit, n_other = 0, 0
    m = np.int32(unit)
    while True:
        n_unit += 1
        n_other = 0
        n = np.int32(other)
        while True:
            n_other += 1
            weight = pick_weight(starts, neighbours, reach, m, n)
            if weight > 0.0:
                one += weight / reach[starts[m + 1] - 1]
                two += weight / reach[starts[n + 1] - 1]
            n = following[n]
            if n == other:
                break
        m = following[m]
        if m == unit:
            break
    by_chance = uniform / following.size
    one = (1.0 - uniform) * one / n_unit + by_chance * n_other
    two = (1.0 - uniform) * two / n_other + by_chance * n_unit
    return one, two


@lean
def may_join(following: Int32s, source: Int32s, record: int, unit: int) -> bool:
    """Tell whether no record of a unit is of a record's source."""
    if source.size == 0:
        return True
    n = np.int32(unit)
    while True:
        if clash(source, record, n):
            return False
        n = following[n]
        if n == unit:
            return True


@lean
def picked_by(
    rng: np.random.Generator,
    starts: Int64s,
    neighbours: Int32s,
    reach: Floats,
    uniform: float,
    record: int,
) -> tuple[int, float]:
    """Let a record pick another: one of its list, with its weight there, or any, or none (-1)."""
    if rng.random() < uniform:
        return np.int64(rng.random() * (starts.size - 1)), -1.0
    first, high = starts[record], starts[record + 1] - 1
    if first > high or not reach[high] > 0.0:
        return np.int64(-1), -1.0
    low = first
    level = rng.random() * reach[high]
    while low < high:
        middle = (low + high) // 2
        if reach[middle] <= level:
            low = middle + 1
        else:
            high = middle
    return np.int64(neighbours[low]), reach[low] - (reach[low - 1] if low > first else 0.0)


LARGEST_REGROUPED = 12
"""Clusters up to this size lose records that are equal, and gain them."""

ALONE = 0.2
"""How often a record goes alone, and those that are equal to it stay."""


@lean
def are_equal(codes: Int32s, record: int, other: int) -> bool:
    """Tell whether two records show the same in all fields."""
    equal = True
    for f in range(codes.shape[1]):
        equal &= codes[record, f] == codes[other, f]
    return equal


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
def log_merging(
    codes: Int32s, gain: Floats, delta: Floats, members: Int32s, n_group: int, n_members: int
) -> float:
    """Log evidence of equal records, the first ones listed, with the others over that without."""
    total, factor = 0.0, 1.0
    for f in range(codes.shape[1]):
        x = codes[members[0], f]
        if x < 0:
            continue
        shown, equal = 0, 0
        for k in range(n_group, n_members):
            y = codes[members[k], f]
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
def regroup(
    rng: np.random.Generator,
    starts: Int64s,
    neighbours: Int32s,
    reach: Floats,
    codes: Int32s,
    gain: Floats,
    source: Int32s,
    delta: Floats,
    log_size: Floats,
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    following: Int32s,
    size_counts: Int64s,
) -> None:
    """Let equal records, or one alone, leave their cluster or join another, by Metropolis steps.

    Records are asked in their order: lists are read from end to end.
    """
    members = np.empty(LARGEST_REGROUPED, dtype=np.int32)
    for record in range(following.size):
        regroup_one(
            rng, starts, neighbours, reach, codes, gain, source, delta,
            log_size, opening, log_open, shape, following, size_counts, record, members,
        )  # fmt: skip


@hot
def regroup_one(
    rng: np.random.Generator,
    starts: Int64s,
    neighbours: Int32s,
    reach: Floats,
    codes: Int32s,
    gain: Floats,
    source: Int32s,
    delta: Floats,
    log_size: Floats,
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    following: Int32s,
    size_counts: Int64s,
    record: int,
    members: Int32s,
) -> None:
    """Ask a record, which goes alone or takes all with it that are equal to it.

    If they are a cluster, it picks a neighbour, in whose cluster nobody may be equal to those that
    go together; they may join it. Else they may leave their cluster.
    """
    alone = rng.random() < ALONE
    group, total = list_group(following, codes, record, alone, members)
    joins = group == total
    last = starts[record + 1] - 1
    chance = 0.0
    if joins:
        other, chance = picked_by(rng, starts, neighbours, reach, 0.0, record)
        if group == 0 or other < 0:
            return
        total = add_ring(following, other, group, members)
        for k in range(group, total):
            if not alone and are_equal(codes, record, members[k]):
                return
            if source.size > 0:
                for g in range(group):
                    if clash(source, members[g], members[k]):
                        return
        if total == 0:
            return
        chance /= reach[last]
    one, two = group, total - group
    log_ratio = log_merging(codes, gain, delta, members, group, total)
    log_ratio += log_merge_weight(log_size, opening, log_open, shape, size_counts, one, two, joins)
    log_level = np.log(rng.random())
    # To join is at most as probable as to leave: who belongs need not know how much less. Nor need
    # those who would not join if nobody else of the cluster were listed.
    if not log_level < (log_ratio - np.log(chance) if joins else -log_ratio):
        return
    if two > 1 or not joins:
        chance = 0.0
        for k in range(group, total):
            chance += own_weight(starts, neighbours, reach, record, members[k])
        if chance == 0.0:
            return
        log_ratio -= np.log(chance / reach[last])
        if not log_level < (log_ratio if joins else -log_ratio):
            return
    count_two(size_counts, one, two, joins, -1)
    count_two(size_counts, one, two, not joins, 1)
    size_counts[0] += -1 if joins else 1
    if joins:
        p, q = members[0], members[group]
        following[p], following[q] = following[q], following[p]
        return
    for k in range(total):
        following[members[k]] = members[k + 1] if k + 1 < total else members[group]
    following[members[group - 1]] = members[0]


@compiled
def pick_units(
    rng: np.random.Generator,
    starts: Int64s,
    neighbours: Int32s,
    reach: Floats,
    uniform: float,
    following: Int32s,
    source: Int32s,
    unit: Int32s,
    taken: Int32s,
    former: Int32s,
) -> tuple[Int64s, Floats]:
    """Let every unit pick another; of two that were taken apart, one picks the other.

    Returns what each unit picked, by its smallest record (-1: none, or none that may join it), and
    how often those two pick each other.
    """
    n_records = following.size
    picked = np.full(n_records, -1, dtype=np.int64)
    rate = np.zeros(n_records)
    for k in range(taken.size):
        p, q = np.int64(taken[k]), np.int64(former[k])
        one, two = pick_chances(following, starts, neighbours, reach, uniform, p, q)
        if rng.random() * (one + two) >= one:
            p, q = q, p
        picked[p] = q
        rate[p] = one + two
    for first in range(n_records):
        p = np.int64(first)
        if unit[p] != p or picked[p] >= 0:
            continue
        alone = following[p] == p
        who = p
        if not alone:
            size = 1
            n = np.int64(following[p])
            while n != p:
                size += 1
                n = np.int64(following[n])
            for _ in range(np.int64(rng.random() * size)):
                who = np.int64(following[who])
        other, weight = picked_by(rng, starts, neighbours, reach, uniform, who)
        if other < 0 or unit[other] == p:
            continue
        q = np.int64(unit[other])
        record, joined = (p, q) if alone else (q, p)
        if following[record] != record or not may_join(following, source, record, joined):
            continue
        picked[p] = q
        if weight > 0.0 and alone and following[q] == q:
            shares = weight / reach[starts[p + 1] - 1] + weight / reach[starts[q + 1] - 1]
            rate[p] = (1.0 - uniform) * shares + 2.0 * uniform / n_records
        else:
            one, two = pick_chances(following, starts, neighbours, reach, uniform, p, q)
            rate[p] = one + two
    return picked, rate


class Forest(NamedTuple):
    """Trees of units, parents before their children: what links each to its parent.

    ``parent`` is a place, -1 at roots. A link makes a cluster of ``size`` records. It has the
    factor (delta + ``shared``) / (delta + ``seen``) in each field, for those that both show
    (``seen`` > 0), over ``chance``: that its edge is here if it is not linked, over that if it is.
    """

    unit: Int32s
    parent: Int64s
    shared: Floats
    seen: Floats
    size: Int64s
    chance: Floats


@compiled
def break_circles(rng: np.random.Generator, codes: Int32s, above: Int64s) -> None:
    """Take a step out of each circle of what was picked: what is left are trees with roots (-1).

    It is a random one, of those between like records if there are any: others say more of delta.
    """
    n_records = above.size
    walk = np.full(n_records, -1, dtype=np.int64)
    for start in range(n_records):
        n = np.int64(start)
        while n >= 0 and walk[n] < 0:
            walk[n] = start
            n = above[n]
        if n < 0 or walk[n] != start:
            continue
        first, chosen = n, n
        n_alike, n_unlike = 0, 0
        while True:
            if are_alike(codes, n, above[n]):
                n_alike += 1
                if rng.random() * n_alike < 1.0:
                    chosen = n
            else:
                n_unlike += 1
                if n_alike == 0 and rng.random() * n_unlike < 1.0:
                    chosen = n
            n = above[n]
            if n == first:
                break
        above[chosen] = -1


@compiled
def hold_links(following: Int32s, taken: Int32s, former: Int32s, above: Int64s) -> None:
    """Link again what was linked by a step that is in no tree; those units are in none, then."""
    held = np.zeros(above.size, dtype=np.bool_)
    for k in range(taken.size):
        p, q = taken[k], former[k]
        if above[p] != q and above[q] != p:
            held[p] = held[q] = True
            following[p] = following[q]
            following[q] = p
    for n in range(above.size):
        if above[n] >= 0 and (held[n] or held[above[n]]):
            above[n] = -1


@compiled
def order_trees(above: Int64s, units: Int32s, parent: Int64s) -> int:
    """Write the units of trees, parents first, and the place of each one's parent (-1: a root)."""
    n_records = above.size
    n_below = np.zeros(n_records, dtype=np.int64)
    for unit in range(n_records):
        if above[unit] >= 0:
            n_below[above[unit]] += 1
    # From the leaves: a unit's turn comes after all that are below it.
    place = np.full(n_records, -1, dtype=np.int64)
    first = n_records
    for leaf in range(n_records):
        n = np.int64(leaf)
        if n_below[n] != 0 or above[n] < 0:
            continue
        while n >= 0 and n_below[n] == 0:
            n_below[n] = -1
            first -= 1
            units[first] = n
            place[n] = first
            n = above[n]
            if n >= 0:
                n_below[n] -= 1
    n_units = n_records - first
    for v in range(n_units):
        n = units[first + v]
        units[v] = n
        parent[v] = place[above[n]] - first if above[n] >= 0 else -1
    return n_units


@compiled
def grow_forest(
    rng: np.random.Generator,
    picked: Int64s,
    rate_picked: Floats,
    taken: Int32s,
    former: Int32s,
    following: Int32s,
    codes: Int32s,
    gain: Floats,
    apart: Floats,
) -> tuple[Int32s, Int64s, Floats, Floats, Int64s, Floats, Floats]:
    """Make trees of what was picked.

    Returns what a ``Forest`` has, but for the chances: how often units of a link pick each other,
    over how often they did, and the chance that its unit stayed whole over that its record was
    taken out.
    """
    n_records = following.size
    above = picked.copy()
    break_circles(rng, codes, above)
    hold_links(following, taken, former, above)
    units = np.empty(n_records, dtype=np.int32)
    parent = np.empty(n_records, dtype=np.int64)
    n_units = order_trees(above, units, parent)
    shared, seen = np.zeros((2, n_units, codes.shape[1]))
    size = np.zeros(n_units, dtype=np.int64)
    rate, stayed = np.ones((2, n_units))
    members = np.empty(LARGEST_LOOKED_AT + 1, dtype=np.int32)
    leaving = np.empty(LARGEST_LOOKED_AT + 1)
    for v in range(n_units):
        if parent[v] >= 0:
            p, q = np.int64(units[v]), np.int64(units[parent[v]])
            times = int(picked[p] == q) + int(picked[q] == p)
            rate[v] = (rate_picked[p] if picked[p] == q else rate_picked[q]) / times
            if following[p] != p:
                p, q = q, p
            size[v] = describe_link(following, codes, gain, p, q, shared[v], seen[v])
            stayed[v] = chance_to_stay(following, codes, p, q, apart, members, leaving)
    return units[:n_units], parent[:n_units], shared, seen, size, rate, stayed


@lean
def chance_to_stay(
    following: Int32s,
    codes: Int32s,
    record: int,
    unit: int,
    apart: Floats,
    members: Int32s,
    chance: Floats,
) -> float:
    """Return the chance that a unit stays whole, over that of a record to be taken out of both."""
    size = list_ring(following, unit, members[1:])
    stayed = 1.0 - parting(codes, members[1:], size, apart, chance)
    members[0] = record
    came = parting(codes, members, size + 1, apart, chance)
    if size > 1:
        came = chance[0]
    return stayed / came


@lean
def describe_link(
    following: Int32s,
    codes: Int32s,
    gain: Floats,
    record: int,
    unit: int,
    shared: Floats,
    seen: Floats,
) -> int:
    """Write what a record shares with a unit; return how many records they are together."""
    size = 1
    n = np.int32(unit)
    while True:
        size += 1
        for f in range(codes.shape[1]):
            if codes[record, f] >= 0 and codes[n, f] >= 0:
                seen[f] += 1.0
                if codes[record, f] == codes[n, f]:
                    shared[f] += gain[codes[n, f]]
        n = following[n]
        if n == unit:
            return size


@compiled
def weigh_links(
    delta: Floats, parent: Int64s, shared: Floats, seen: Floats, chance: Floats, evidence: Floats
) -> None:
    """Write what the fields say of each link of a forest, by delta, over its chance to be here."""
    n_units, n_fields = shared.shape
    for v in range(n_units):
        evidence[v] = 1.0 / chance[v]
        if parent[v] >= 0:
            for f in range(n_fields):
                if seen[v, f] > 0.0:
                    evidence[v] *= (delta[f] + shared[v, f]) / (delta[f] + seen[v, f])


@compiled
def sum_forest(
    parent: Int64s,
    size: Int64s,
    evidence: Floats,
    join: Floats,
    weight: Floats,
    free: Floats,
) -> float:
    """Log of the sum, over all ways to link units to at most one other, of their weights.

    A link's weight is that of ``weigh_links``, times ``join`` of its size; ``weight`` has it, and
    ``free[v]`` the sum of those of the links to v's children, where these are not linked to their
    own.
    """
    n_units = parent.size
    for v in range(n_units):
        free[v] = 0.0
        weight[v] = evidence[v] * join[size[v]]
    total = 0.0
    product = 1.0
    for v in range(n_units - 1, -1, -1):
        if free[v] > 1e100:
            total += np.log(free[v])
        else:
            product *= 1.0 + free[v]
        if product > 1e150:
            total += np.log(product)
            product = 1.0
        if parent[v] >= 0:
            free[parent[v]] += weight[v] / (1.0 + free[v])
    return total + np.log(product)


@compiled
def link_forest(
    rng: np.random.Generator,
    units: Int32s,
    parent: Int64s,
    weight: Floats,
    free: Floats,
    following: Int32s,
) -> None:
    """Draw which units are linked, in proportion to the weights, and link them."""
    n_units = units.size
    # How much weight of its children each unit lets pass before it takes one; negative: none.
    left = np.empty(n_units)
    bound = np.zeros(n_units, dtype=np.bool_)
    for v in range(n_units):
        left[v] = rng.random() * (1.0 + free[v]) - 1.0
    for v in range(n_units):
        p = parent[v]
        if p < 0 or bound[p] or left[p] < 0.0:
            continue
        left[p] -= weight[v] / (1.0 + free[v])
        if left[p] < 0.0:
            bound[p] = bound[v] = True
            one, other = units[v], units[p]
            if following[one] != one:
                one, other = other, one
            following[one] = following[other]
            following[other] = one


@compiled
def count_sizes(following: Int32s, size_counts: Int64s) -> None:
    """Count the clusters of each size, and all of them (entry 0)."""
    size_counts[:] = 0
    known = np.zeros(following.size, dtype=np.bool_)
    for first in range(following.size):
        if known[first]:
            continue
        size = 0
        n = np.int64(first)
        while not known[n]:
            known[n] = True
            size += 1
            n = np.int64(following[n])
        size_counts[size] += 1
        size_counts[0] += 1

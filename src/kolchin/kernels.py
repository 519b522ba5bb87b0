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
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

LARGEST_ENUMERATED = 6
"""Up to this many records in two clusters, all ways to divide them are weighed at once."""

LARGEST_JOINED = 8
"""Lone records attach to clusters of up to this many; tables are longer than that in any state."""

BITS = np.array([bin(k).count("1") for k in range(1 << LARGEST_ENUMERATED)])
"""Number of bits set in a small number: the size of a subset."""

compiled = njit(cache=True, nogil=True, error_model="numpy")
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
    """A fixed distribution over pairs: a uniform share, and a weighted list as an alias table.

    A row of ``table`` is (i, j, i', j', chance): the pair (i, j) is taken if a uniform 31-bit
    number is below ``chance``, else (i', j').
    """

    uniform_share: float
    table: Int32s


@hot
def draw_pair(
    rng: np.random.Generator, uniform_share: float, table: Int32s, n_records: int
) -> tuple[np.int64, np.int64]:
    """Draw two different records."""
    share = rng.random()
    if share < uniform_share:
        i = int(rng.random() * n_records)
        j = int(rng.random() * (n_records - 1))
        if j >= i:
            j += 1
        return np.int64(i), np.int64(j)
    position = (share - uniform_share) / (1.0 - uniform_share) * table.shape[0]
    k = min(int(position), table.shape[0] - 1)
    if (position - k) * 2147483647.0 < table[k, 4]:
        return np.int64(table[k, 0]), np.int64(table[k, 1])
    return np.int64(table[k, 2]), np.int64(table[k, 3])


@compiled
def log_open_weight(opening: Floats, log_open: Floats, n_others: int) -> float:
    """Log weight of opening a cluster when ``n_others`` exist."""
    if log_open.size > 0:
        # With all records alone there is nothing to split: any value will do.
        return log_open[min(n_others, log_open.size - 1)]
    weight = opening[1] * n_others + opening[2]
    if opening[3] > 0.0:
        weight /= opening[3] + n_others
    return opening[0] + np.log(weight)


@compiled
def free_factor(shape: Floats, size_counts: Int64s, one: int, other: int) -> float:
    """Dirichlet factor of two clusters of given sizes (0: none) beside all those counted."""
    if shape.size == 0:
        return 1.0
    factor = shape[one] + size_counts[one]
    if other > 0:
        factor *= shape[other] + size_counts[other] + (1 if one == other else 0)
    return factor


# --- evidence ------------------------------------------------------------------------------


@compiled
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


@compiled
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


@compiled
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

    That of the pattern of their levels if they are listed (the others of a record are sorted),
    else that of a difference in each field which both show.
    """
    low, high = begins[i], begins[i + 1]
    while low < high:
        middle = (low + high) // 2
        if others[middle] < j:
            low = middle + 1
        else:
            high = middle
    if low < begins[i + 1] and others[low] == j:
        return ratio[pattern[low]]
    return apart[shown[i] & shown[j]]


@compiled
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
) -> None:
    """Tabulate the evidence of the compared fields between all members of a small S."""
    for k in range(n_members):
        for other in range(k):
            value = compared_pair(
                begins, others, pattern, shown, ratio, apart, members[k], members[other]
            )
            between[k, other] = value
            between[other, k] = value


@compiled
def exemplar_evidence(between: Floats, subset: int, n_members: int) -> float:
    """Evidence of the compared fields that some members are one entity (model section 6).

    One of them, each with equal chance, shows the entity's true values.
    """
    total = 0.0
    for exemplar in range(n_members):
        if (subset >> exemplar) & 1:
            product = 1.0
            for k in range(n_members):
                if k != exemplar and (subset >> k) & 1:
                    product *= between[k, exemplar]
            total += product
    return total / BITS[subset]


@compiled
def log_exemplar(
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    ratio: Floats,
    apart: Floats,
    record: int,
    with_record: bool,
    members: Int32s,
    side: Sides,
    wanted: int,
    n_members: int,
) -> float:
    """Log evidence of the compared fields that the members on one side are one entity.

    A record is left out of them, or put to them.
    """
    top = -np.inf
    total = 0.0
    n_inside = 0
    for k in range(-1 if with_record else 0, n_members):
        exemplar = record if k < 0 else members[k]
        if k >= 0 and (side[k] != wanted or exemplar == record):
            continue
        n_inside += 1
        log_product = 0.0
        for other in range(-1 if with_record else 0, n_members):
            n = record if other < 0 else members[other]
            if n == exemplar or (other >= 0 and (side[other] != wanted or n == record)):
                continue
            log_product += np.log(
                compared_pair(begins, others, pattern, shown, ratio, apart, n, exemplar)
            )
        if log_product > top:
            total = total * np.exp(top - log_product) + 1.0
            top = log_product
        else:
            total += np.exp(log_product - top)
    return top + np.log(total / n_inside) if n_inside > 0 else 0.0


@hot
def clash(source: Int32s, i: int, j: int) -> bool:
    """Tell whether two records are of one source, so that no cluster may have both."""
    return source[i] >= 0 and source[i] == source[j]


@compiled
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


@compiled
def log_predictive(
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
    record: int,
    members: Int32s,
    side: Sides,
    wanted: int,
    n_members: int,
) -> float:
    """Log predictive of a record given the members on one side, over its predictive alone.

    Minus infinity if one of them is of the record's source.
    """
    if source.size > 0:
        for k in range(n_members):
            if side[k] == wanted and members[k] != record and clash(source, record, members[k]):
                return -np.inf
    total = categorical_predictive(codes, gain, delta, record, members, side, wanted, n_members)
    if ratio.size > 0:
        for sign in range(-1, 2, 2):
            total += sign * log_exemplar(
                begins, others, pattern, shown, ratio, apart, record, sign > 0,
                members, side, wanted, n_members,
            )  # fmt: skip
    return total


@compiled
def log_evidence(
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
    side: Sides,
    wanted: int,
    n_members: int,
) -> float:
    """Log evidence that the members on one side are one entity, over singletons."""
    total = 0.0
    for k in range(1, n_members):
        if side[k] == wanted:
            total += log_predictive(
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
                members[k],
                members,
                side,
                wanted,
                k,
            )
    return total


@compiled
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
    if ratio.size > 0:
        compare_members(begins, others, pattern, shown, ratio, apart, members, n_members, between)
        for subset in range(n_subsets):
            if subset == 0 or (BITS[subset] > 1 and ((subset & 3) == 1 or (subset & 3) == 2)):
                whole = subset if subset > 0 else n_subsets - 1
                evidence[subset] *= exemplar_evidence(between, whole, n_members)
    if source.size > 0:
        forbid_subsets(source, members, n_members, evidence)


# --- the chaperones move -------------------------------------------------------------------


@compiled
def accept(rng: np.random.Generator, log_odds: float) -> bool:
    """Return true with probability 1 / (1 + exp(-log_odds))."""
    if log_odds > 0.0:
        return rng.random() * (1.0 + np.exp(-log_odds)) < 1.0
    weight = np.exp(log_odds)
    return rng.random() * (1.0 + weight) < weight


@compiled
def gather(following: Int32s, i: int, j: int, members: Int32s, side: Sides) -> tuple[int, bool]:
    """Collect S, the records of c_i and c_j: i, j, then the others in increasing order.

    Returns their number (or minus one when they do not fit) and whether i and j are together.
    Sides are set: 0 with i, 1 with j. The order must not depend on the state: sorting makes
    visits valid, and chains depend on the partition alone.
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
            elif count == members.size:
                count = -1
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
        if together or count < 0:
            break
    return count, together


@compiled
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


@compiled
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


@compiled
def set_sides(choice: int, n_apart: int, n_members: int, side: Sides) -> None:
    """Put i on side 0, j on side 1 and the others by the bits of ``choice``; or all on 0."""
    for k in range(n_members):
        side[k] = 0
    if choice < n_apart:
        side[1] = 1
        for k in range(2, n_members):
            side[k] = (choice >> (k - 2)) & 1


@compiled
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
            log_apart,
            codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
            log_size, shape, size_counts,
            n_members, members, side, weight,
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


@compiled
def log_scale_weights(
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
    shape: Floats,
    size_counts: Int64s,
    n_members: int,
    members: Int32s,
    side: Sides,
    weight: Floats,
) -> float:
    """Weigh all divisions on the log scale, for evidence out of range; returns their sum."""
    n_apart = 1 << (n_members - 2)
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
                side,
                own,
                n_members,
            )
        top = max(top, weight[choice])
    total = 0.0
    for choice in range(n_apart + 1):
        weight[choice] = np.exp(weight[choice] - top)
        total += weight[choice]
    return total


@compiled
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
) -> None:
    """Visit each record of S once, in order (model section 4).

    Together, all are on side 0. Apart, i is on side 0 and j on side 1.
    """
    on_j = 0
    for k in range(n_members):
        on_j += side[k]
    for k in range(n_members):
        n = members[k]
        own = side[k]
        size = on_j if own == 1 else n_members - on_j
        if together:
            if k > 1:
                break
            join = log_size[n_members] - log_size[n_members - 1]
            join += np.log(free_factor(shape, size_counts, n_members, 0))
            join -= np.log(free_factor(shape, size_counts, n_members - 1, 1))
            join += log_predictive(
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
                n,
                members,
                side,
                0,
                n_members,
            )
            if accept(rng, log_apart - join):
                together = False
                side[:n_members] = 1 - k
                side[k] = k
                on_j = 1 if k == 1 else n_members - 1
        elif k > 1 or size == 1:
            other = n_members - size
            go = log_size[other + 1] - log_size[other]
            go += log_predictive(
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
                n,
                members,
                side,
                1 - own,
                n_members,
            )
            stay = log_apart
            go += np.log(free_factor(shape, size_counts, other + 1, size - 1))
            go -= np.log(free_factor(shape, size_counts, size, other))
            if k > 1:
                stay = log_size[size] - log_size[size - 1]
                stay += log_predictive(
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
                    n,
                    members,
                    side,
                    own,
                    n_members,
                )
            if accept(rng, go - stay):
                side[k] = 1 - own
                on_j += 1 - 2 * own
                if k <= 1:
                    together = True
                    side[:n_members] = 0
                    on_j = 0


@compiled
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
    following: Int32s,
    size_counts: Int64s,
    members: Int32s,
    side: Sides,
    weight: Floats,
    evidence: Floats,
    below: Floats,
    between: Floats,
) -> bool:
    """Make the move on any two clusters; false if the tables are too short for their union."""
    n_members, together = gather(following, i, j, members, side)
    if n_members < 0:
        return False
    log_apart = log_open_weight(opening, log_open, size_counts[0] - (0 if together else 1))
    count_sides(size_counts, side, n_members, -1)
    if n_members < size.size:
        draw_division(
            rng, log_apart,
            codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
            log_size, size, shape, size_counts,
            n_members, members, side, weight, evidence, below, between,
        )  # fmt: skip
    else:
        visit_all(
            rng, log_apart, together,
            codes, gain, begins, others, pattern, shown, source, delta, ratio, apart,
            log_size, shape, size_counts,
            n_members, members, side,
        )  # fmt: skip
    count_sides(size_counts, side, n_members, 1)
    write_rings(following, members, side, n_members)
    return True


@compiled
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
    """Make chaperones moves on pairs drawn from a mixture; returns how many were made.

    Fewer than asked means that two clusters met whose union is larger than the tables: extend
    them and go on. The pair waits in ``pending`` (else -1): how far tables reach depends on the
    state, so another pair in its place would be wrong.

    With ``in_rings`` the pairs are each record (in turn) and its neighbour in the ring instead.
    They depend on the state, so the posterior is not kept: that is for warm-up alone, to free a
    start from clusters that no proposed pair would ever take apart.
    """
    members = np.empty(log_size.size - 1, dtype=np.int32)
    side = np.empty(log_size.size - 1, dtype=np.int8)
    weight = np.empty(1 + (1 << (LARGEST_ENUMERATED - 2)))
    evidence = np.empty(1 << LARGEST_ENUMERATED)
    below = np.empty(LARGEST_ENUMERATED)
    between = np.empty((LARGEST_ENUMERATED, LARGEST_ENUMERATED))
    # What two records without company weigh, apart and joined, as they are now either way.
    pair_weight = np.empty((2, 2))
    weigh_pairs(size, opening, log_open, shape, size_counts, pair_weight)
    # A look at compared fields on this path, even if never taken, would cost three times as much.
    categorical = ratio.size == 0
    constrained = source.size > 0
    for move in range(n_moves):
        if in_rings:
            i, j = np.int64(move), np.int64(following[move])
            if i == j:
                continue
        elif pending[0] >= 0:
            i, j = pending[0], pending[1]
            pending[0] = -1
        else:
            i, j = draw_pair(rng, uniform_share, table, following.size)
        after_i = following[i]
        after_j = following[j]
        if constrained and after_i == i and after_j == j and clash(source, i, j):
            continue
        n_clusters, n_alone, n_pairs = size_counts[0], size_counts[1], size_counts[2]
        if categorical and ((after_i == i and after_j == j) or (after_i == j and after_j == i)):
            # Two records without company: draw at once whether they are one cluster or two.
            together = after_i == j
            now = 1 if together else 0
            joined = pair_weight[now, 1] * categorical_pair(codes, gain, delta, i, j)
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
            following, size_counts, members, side, weight, evidence, below, between,
        )  # fmt: skip
        if not fits and not in_rings:
            pending[0], pending[1] = i, j
            return move
        if size_counts[0] != n_clusters or size_counts[1] != n_alone or size_counts[2] != n_pairs:
            weigh_pairs(size, opening, log_open, shape, size_counts, pair_weight)
    return n_moves


# --- states --------------------------------------------------------------------------------


@compiled
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
def grouped(following: Int32s) -> tuple[Int32s, Int32s]:
    """List the records of clusters of two or more, cluster after cluster, and their sizes."""
    n_members = 0
    n_clusters = 0
    for n in range(following.size):
        if following[n] != n:
            n_members += 1
            n_clusters += is_first(following, n)
    members = np.empty(n_members, dtype=np.int32)
    sizes = np.empty(n_clusters, dtype=np.int32)
    k = 0
    c = 0
    for n in range(following.size):
        if following[n] != n and is_first(following, n):
            start = k
            record = n
            while True:
                members[k] = record
                k += 1
                record = following[record]
                if record == n:
                    break
            sizes[c] = k - start
            c += 1
    return members, sizes


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
    counts: Int64s,
    apart_counts: Int64s,
) -> None:
    """Draw the exemplar of each cluster, and count the patterns of the others against it."""
    start = 0
    for size in sizes:
        chosen = -1
        top = -np.inf
        for k in range(start, start + size):
            log_product = 0.0
            for other in range(start, start + size):
                if other != k:
                    log_product += np.log(
                        compared_pair(
                            begins, others, pattern, shown, ratio, apart, members[other], members[k]
                        )
                    )
            # Keep one of the exemplars so far, in proportion to their products.
            larger = max(top, log_product)
            top = larger + np.log(np.exp(top - larger) + np.exp(log_product - larger))
            if rng.random() < np.exp(log_product - top):
                chosen = k
        exemplar = members[chosen]
        for k in range(start, start + size):
            n = members[k]
            if k == chosen:
                continue
            low, high = begins[n], begins[n + 1]
            while low < high:
                middle = (low + high) // 2
                if others[middle] < exemplar:
                    low = middle + 1
                else:
                    high = middle
            if low < begins[n + 1] and others[low] == exemplar:
                counts[pattern[low]] += 1
            else:
                apart_counts[shown[n] & shown[exemplar]] += 1
        start += size


@compiled
def log_exemplars(
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    ratio: Floats,
    apart: Floats,
    members: Int32s,
    sizes: Int32s,
) -> float:
    """Log evidence of the compared fields of all clusters."""
    total = 0.0
    start = 0
    for size in sizes:
        cluster = members[start : start + size]
        side = np.zeros(size, dtype=np.int8)
        total += log_exemplar(
            begins, others, pattern, shown, ratio, apart, -1, False, cluster, side, 0, size
        )
        start += size
    return total


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
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        scores[k] = log_categorical_pair(codes, gain, delta, i, j)
        if ratio.size > 0:
            scores[k] += np.log(compared_pair(begins, others, pattern, shown, ratio, apart, i, j))
    return scores


@compiled
def count_linked(following: Int32s, pairs: Int32s, counts: Int64s) -> None:
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
def alias_table(pairs: Int32s, weight: Floats) -> Int32s:
    """Build the rows of ``Pairs.table`` for weighted pairs (Vose's alias method)."""
    n = weight.size
    scaled = weight * (n / weight.sum())
    table = np.empty((n, 5), dtype=np.int32)
    small = np.empty(n, dtype=np.int64)
    large = np.empty(n, dtype=np.int64)
    n_small = 0
    n_large = 0
    for k in range(n):
        table[k, 0] = pairs[k, 0]
        table[k, 1] = pairs[k, 1]
        table[k, 2] = pairs[k, 0]
        table[k, 3] = pairs[k, 1]
        table[k, 4] = 2147483647
        if scaled[k] < 1.0:
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
        table[k, 4] = int(scaled[k] * 2147483647.0)
        scaled[donor] -= 1.0 - scaled[k]
        if scaled[donor] < 1.0:
            n_large -= 1
            small[n_small] = donor
            n_small += 1
    return table


@compiled
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


# --- loose links ------------------------------------------------------------------------------


@compiled
def others_of(following: Int32s, start: int, left_out: int, members: Int32s) -> int:
    """List the records of a ring without one; returns their number, 0 if they do not fit."""
    n_members = 0
    n = start
    while True:
        if n != left_out:
            if n_members == members.size:
                return 0
            members[n_members] = n
            n_members += 1
        n = following[n]
        if n == start:
            return n_members


@compiled
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


@compiled
def log_join_weight(
    log_size: Floats,
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    size_counts: Int64s,
    n_others: int,
    joins: bool,
) -> float:
    """Log prior weight of a record with a cluster of others over its being alone.

    In the state that is counted it is alone if it is about to join, and with them if not.
    """
    n_clusters = size_counts[0] - 1 if joins else size_counts[0]
    log_weight = log_size[n_others + 1] - log_size[n_others]
    log_weight -= log_open_weight(opening, log_open, n_clusters)
    if shape.size > 0:
        count_record(size_counts, n_others, joins, -1)
        joined = free_factor(shape, size_counts, n_others + 1, 0)
        apart = free_factor(shape, size_counts, n_others, 1)
        count_record(size_counts, n_others, joins, 1)
        log_weight += np.log(joined / apart)
    return log_weight


@hot
def count_record(size_counts: Int64s, n_others: int, alone: bool, sign: int) -> None:
    """Count a record and a cluster of others, or no longer: as two clusters or as one."""
    if alone:
        size_counts[1] += sign
        size_counts[n_others] += sign
    else:
        size_counts[n_others + 1] += sign


@compiled
def attach(
    rng: np.random.Generator,
    n_moves: int,
    joining: float,
    table: Int32s,
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

    With chance ``joining`` a listed pair is drawn in proportion to its odds, and one of the two
    that is alone asks to join the other's cluster; else a random record asks to leave its own.
    """
    n_records = following.size
    members = np.empty(LARGEST_JOINED, dtype=np.int32)
    side = np.zeros(LARGEST_JOINED, dtype=np.int8)
    # The chance that a record leaves over the chance that it joins, but for the pairs' odds,
    # each of which is listed with both of its records.
    total = 0.5 * odds.sum()
    log_balance = np.log((1.0 - joining) / n_records) - np.log(joining / total)
    for _ in range(n_moves):
        joins = rng.random() < joining
        if joins:
            i, j = draw_pair(rng, 0.0, table, n_records)
            if following[i] != i:
                i, j = j, i
            if following[i] != i:
                continue
        else:
            i = np.int64(rng.random() * n_records)
            j = np.int64(following[i])
            if i == j:
                continue
        m = others_of(following, j, i, members)
        if m == 0:
            continue
        # A pair comes apart whichever of the two leaves.
        listed = listed_odds(starts, neighbours, odds, i, members, m) / (2.0 if m == 1 else 1.0)
        if listed == 0.0:
            continue
        log_ratio = log_balance - np.log(listed)
        log_ratio += log_predictive(
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
            i,
            members,
            side,
            0,
            m,
        )
        log_ratio += log_join_weight(log_size, opening, log_open, shape, size_counts, m, joins)
        if np.log(rng.random()) < (log_ratio if joins else -log_ratio):
            count_record(size_counts, m, joins, -1)
            count_record(size_counts, m, not joins, 1)
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

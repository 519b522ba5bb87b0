"""Compiled code of the likelihoods room: arrays in, arrays out, nothing else."""

from typing import Any

import numpy as np
from numba import njit

compiled = njit(cache=True, nogil=True)

NEGLIGIBLE = 45.0
"""Parts that are so much smaller than the largest, by their logs, vanish in rounding."""

SMALLEST_CHANCE, LARGEST_LOG_GAIN = 1e-15, 35.0
"""A level has at least this chance in an entity, and its evidence is at most so much: 50 bits."""

HOPELESS = 90.0
"""What is so much smaller than chance, by its log, stays negligible whatever else is known."""

TYPED, ENTITIES, FAMILY = 0, 1, 2
"""Kinds of sets: shared values typed twice, entities, and families of records that are alike."""


@compiled
def count_bits(number: int) -> int:
    """Return how many bits of a number are set."""
    count = 0
    while number:
        number &= number - 1
        count += 1
    return count


@compiled
def _sums(of_field: Any, first: int, last: int, out: Any) -> None:
    """Write the sum over each set of some fields, by the bits of its number."""
    out[0] = 0.0
    for f in range(first, last):
        size = 1 << (f - first)
        for one in range(size):
            out[size + one] = out[one] + of_field[f]


@compiled
def share_out(
    place: Any,
    gain: Any,
    number: Any,
    log_levels: Any,
    log_rest: float,
    sets: Any,
    log_sets: Any,
    kinds: Any,
    counts: Any,
    leak: Any,
    loose: Any,
    log_tilt: Any,
    offsets: Any,
    first: int,
    last: int,
    totals: Any,
    found: Any,
    linked: Any,
    sharing: Any,
    wrong: Any,
    beside: Any,
    leaked: Any,
) -> None:
    """Divide the pairs of patterns ``first`` to ``last`` among classes, and add up what they show.

    Sets of fields (by bits) take their chances from ``log_levels`` of their kind. Those of kind
    `ENTITIES` come last: what entities have kept, times the tilt of what is seen and wrong. The
    others are shared by unrelated records; pairs of neither are the rest.
    ``totals`` has the pairs by set, ``found`` the levels by kind, for sets that ``counts``;
    ``linked`` and ``sharing`` the pairs by pattern, ``wrong`` the linked ones by what is seen and
    how many fields are wrong. Beside a shared set, other fields agree for the same reason with
    chance ``leak``, and their levels are ``loose`` times as frequent as elsewhere; ``beside`` has
    the levels, and ``leaked`` how many agree for that reason, then how many there are.
    """
    n_fields = place.shape[1]
    missing = offsets[n_fields]
    half = n_fields // 2
    low_bits = (1 << half) - 1
    n_kinds = log_levels.shape[0]
    low = np.empty((n_kinds, 1 << half))
    high = np.empty((n_kinds, 1 << (n_fields - half)))
    of_field = np.empty((n_kinds, n_fields))
    weight = np.empty((n_kinds, n_fields))
    parts = np.empty(sets.size)
    shared = np.empty(n_fields)
    has_more = np.zeros(leak.shape[0], dtype=np.bool_)
    for k in range(leak.shape[0]):
        has_more[k] = np.any(leak[k] > 0) or np.any(loose[k] != 1)
    n_wrong = np.empty(sets.size, dtype=np.int64)
    for p in range(first, last):
        shown = 0
        not_exact = 0
        for f in range(n_fields):
            if place[p, f] < missing:
                shown |= 1 << f
                if place[p, f] != offsets[f]:
                    not_exact |= 1 << f
        for kind in range(n_kinds):
            for f in range(n_fields):
                of_field[kind, f] = log_levels[kind, place[p, f]] + gain[p, f]
            _sums(of_field[kind], 0, half, low[kind])
            _sums(of_field[kind], half, n_fields, high[kind])
        for f in range(n_fields):
            shared[f] = np.exp(of_field[0, f])
        top = log_rest
        for k in range(sets.size):
            kind = kinds[k]
            parts[k] = log_sets[k] + low[kind, sets[k] & low_bits] + high[kind, sets[k] >> half]
            n_wrong[k] = 0
            if parts[k] < log_rest - HOPELESS:
                continue
            if kind == ENTITIES:
                n_wrong[k] = count_bits(sets[k] & not_exact)
                parts[k] += log_tilt[sets[k] & shown, n_wrong[k]]
            elif has_more[k]:
                more = 1.0
                for f in range(n_fields):
                    if shown & ~sets[k] & (1 << f):
                        more *= (1 - leak[k, f]) * loose[k, place[p, f]] + leak[k, f] * shared[f]
                parts[k] += np.log(more)
            top = max(top, parts[k])
        whole = np.exp(log_rest - top)
        for k in range(sets.size):
            parts[k] = np.exp(parts[k] - top) if parts[k] > top - NEGLIGIBLE else 0.0
            whole += parts[k]
        weight[:] = 0.0
        for k in range(sets.size):
            if parts[k] == 0.0:
                continue
            pairs = parts[k] * number[p] / whole
            totals[k] += pairs
            kind = kinds[k]
            if counts[k]:
                for f in range(n_fields):
                    if sets[k] >> f & 1:
                        weight[kind, f] += pairs
            if kind == ENTITIES:
                linked[p] += pairs
                wrong[sets[k] & shown, n_wrong[k]] += pairs
                continue
            if counts[k]:
                sharing[p] += pairs
            for f in range(n_fields):
                if sets[k] >> f & 1 or place[p, f] == missing:
                    continue
                same = 0.0
                if leak[k, f] > 0.0:
                    other = (1 - leak[k, f]) * loose[k, place[p, f]]
                    same = leak[k, f] * shared[f]
                    same /= same + other
                leaked[0, k, f] += pairs * same
                leaked[1, k, f] += pairs
                beside[k, place[p, f]] += pairs * (1 - same)
        for f in range(n_fields):
            for kind in range(n_kinds):
                found[kind, place[p, f]] += weight[kind, f]


@compiled
def class_weights(vectors: Any, replaced: Any, rho: Any, m: Any, tilt: Any, offsets: Any) -> Any:
    """Return the chance of each vector of levels in each class, but for fields that it replaces.

    ``vectors`` has for each field where its level's chance stands in ``m``. In class c, of chance
    ``rho[c]``, the fields ``replaced[c]`` (by bits) were replaced; ``tilt`` is by the fields that
    are seen and kept, and how many of them are wrong (model section 6).
    """
    n_fields = vectors.shape[1]
    missing = offsets[n_fields]
    result = np.empty((vectors.shape[0], rho.size))
    for k in range(vectors.shape[0]):
        seen = 0
        not_exact = 0
        n_wrong = 0
        whole = 1.0
        for f in range(n_fields):
            if vectors[k, f] < missing:
                seen |= 1 << f
                # Not below a bound, so that what a class replaces can be divided out.
                whole *= max(m[vectors[k, f]], SMALLEST_CHANCE)
                if vectors[k, f] != offsets[f]:
                    not_exact |= 1 << f
                    n_wrong += 1
        for c in range(rho.size):
            weight = rho[c] * whole
            rest = replaced[c] & seen
            kept = seen & ~rest
            n_kept_wrong = n_wrong
            f = 0
            while rest:
                if rest & 1:
                    weight /= max(m[vectors[k, f]], SMALLEST_CHANCE)
                    n_kept_wrong -= not_exact >> f & 1
                rest >>= 1
                f += 1
            result[k, c] = weight * tilt[kept, n_kept_wrong]
    return result


@compiled
def kept_gains(place: Any, log_gain: Any, replaced: Any, missing: int) -> Any:
    """Return one over the chance, among unrelated records, of the levels that each class keeps."""
    n_fields = place.shape[1]
    result = np.empty((place.shape[0], replaced.size))
    for k in range(place.shape[0]):
        for c in range(replaced.size):
            total = 0.0
            for f in range(n_fields):
                if place[k, f] < missing and not replaced[c] >> f & 1:
                    total += min(log_gain[k, f], LARGEST_LOG_GAIN)
            result[k, c] = np.exp(total)
    return result


@compiled
def mixed_ratios(weights: Any, vector: Any, gains: Any, scale: Any) -> Any:
    """Evidence of every pattern: the chance of its levels in an entity over that by chance.

    Both are mixtures (model section 6): ``weights`` are those of its vector of levels by class,
    ``gains`` what each class keeps, ``scale`` one over what unrelated records share.
    """
    result = np.empty(vector.size)
    for k in range(vector.size):
        total = 0.0
        row = vector[k]
        for c in range(weights.shape[1]):
            total += weights[row, c] * gains[k, c]
        result[k] = total * scale[k]
    return result


@compiled
def add_shares(base: Any, parts: Any, number: Any) -> Any:
    """Return base + parts @ number, by rows.

    No library of linear algebra is asked: its threads would be in the way of the chains'.
    """
    result = base.copy()
    for row in range(parts.shape[0]):
        for k in range(number.size):
            result[row] += parts[row, k] * number[k]
    return result

"""Compiled code of the likelihoods room: arrays in, arrays out, nothing else."""

from typing import Any

import numpy as np
from numba import njit

compiled = njit(cache=True, nogil=True)

NEGLIGIBLE = 45.0
"""Parts that are so much smaller than the largest, by their logs, vanish in rounding."""

ROUNDING = 1e-6
"""How far a bound may be passed before it counts."""

LARGEST_LOG_ODDS, LARGEST_STEP = 25.0, 20.0
"""Beyond, the chance of an error, or of one more, could not be told from none."""

SMALLEST_CHANCE, LARGEST_LOG_GAIN = 1e-15, 35.0
"""A level has at least this chance in an entity, and its evidence is at most so much: 50 bits."""

HOPELESS = 90.0
"""What is so much smaller than chance, by its log, stays negligible whatever else is known."""

TYPED, ENTITIES, FAMILY = 0, 1, 2
"""Kinds of sets: shared values typed twice, entities, and families of records that are alike."""

SLICE_WIDTH, MOST_WIDENED, MOST_SHRUNK = 2.0, 50, 100


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
def shifted_sums(chances: Any, weight: Any) -> Any:
    """Return for each row of chances, and each k, the sum over j of chances[j] weight[k + j].

    No library of linear algebra is asked: its threads would be in the way of the chains'.
    """
    n = weight.size
    result = np.zeros((chances.shape[0], n))
    for row in range(chances.shape[0]):
        for k in range(n):
            for j in range(n - k):
                result[row, k] += chances[row, j] * weight[k + j]
    return result


@compiled
def add_shares(base: Any, parts: Any, number: Any) -> Any:
    """Return base + parts @ number, by rows, likewise."""
    result = base.copy()
    for row in range(parts.shape[0]):
        for k in range(number.size):
            result[row] += parts[row, k] * number[k]
    return result


@compiled
def draw_hidden_errors(
    rng: Any,
    seen: Any,
    wrong: Any,
    number: Any,
    chances: Any,
    log_weight: Any,
    odds: Any,
    counts: Any,
    n_wrong: Any,
) -> None:
    """Draw which fields that are not seen are wrong; add up errors by record and by field.

    ``number[g]`` records show the fields ``seen[g]`` (by bits), ``wrong[g]`` of them wrong;
    ``chances`` are those of the numbers of independent errors by set, ``log_weight`` is tau.
    """
    n_fields = odds.size
    whole = (1 << n_fields) - 1
    hidden = np.empty(n_fields, dtype=np.int64)
    rest = np.empty((n_fields + 1, n_fields + 1))
    weight = np.empty(n_fields + 1)
    for g in range(seen.size):
        n_hidden = 0
        for f in range(n_fields):
            if not seen[g] >> f & 1:
                hidden[n_hidden] = f
                n_hidden += 1
        if n_hidden == 0:
            counts[wrong[g]] += number[g]
            continue
        total = 0.0
        for j in range(n_hidden + 1):
            weight[j] = chances[whole ^ seen[g], j] * np.exp(log_weight[wrong[g] + j])
            total += weight[j]
        # rest[i, j]: sum over ways to choose j of the hidden fields from i on, of their odds.
        rest[:] = 0.0
        rest[n_hidden, 0] = 1.0
        for i in range(n_hidden - 1, -1, -1):
            for j in range(n_hidden - i + 1):
                rest[i, j] = rest[i + 1, j]
                if j > 0:
                    rest[i, j] += odds[hidden[i]] * rest[i + 1, j - 1]
        for _ in range(number[g]):
            level = rng.random() * total
            j = 0
            while j < n_hidden and level >= weight[j]:
                level -= weight[j]
                j += 1
            counts[wrong[g] + j] += 1
            for i in range(n_hidden):
                if j == 0:
                    break
                if rng.random() * rest[i, j] < odds[hidden[i]] * rest[i + 1, j - 1]:
                    n_wrong[hidden[i]] += 1
                    j -= 1


@compiled
def _count_chances(log_odds: Any, tau: Any, chances: Any) -> float:
    """Write the chance of k independent errors times exp(tau_k); return the log of their sum."""
    n_fields = log_odds.size
    chances[:] = 0.0
    chances[0] = 1.0
    for f in range(n_fields):
        p = 1 / (1 + np.exp(-log_odds[f]))
        for k in range(f + 1, 0, -1):
            chances[k] = chances[k] * (1 - p) + chances[k - 1] * p
        chances[0] *= 1 - p
    top = tau.max()
    total = 0.0
    for k in range(n_fields + 1):
        chances[k] *= np.exp(tau[k] - top)
        total += chances[k]
    return float(top + np.log(max(total, 1e-300)))


@compiled
def balancing(log_odds: Any, chances: Any) -> float:
    """Return what all log odds must rise by so that independent errors would be as many.

    ``chances`` are those of the numbers of errors, up to a factor.
    """
    total = 0.0
    mean = 0.0
    for k in range(chances.size):
        total += chances[k]
        mean += k * chances[k]
    n_fields = log_odds.size
    mean = min(max(mean / max(total, 1e-300), 1e-6), n_fields - 1e-6)
    low, high = -60.0, 60.0
    x = 0.0
    for _ in range(100):
        value = -mean
        slope = 0.0
        for f in range(n_fields):
            p = 1 / (1 + np.exp(-log_odds[f] - x))
            value += p
            slope += p * (1 - p)
        if value > 0:
            high = x
        else:
            low = x
        if abs(value) < 1e-10 * (1 + mean):
            break
        # Newton's step, unless it leaves the bounds
        x = x - value / slope if slope > 0 else (low + high) / 2
        if not low < x < high:
            x = (low + high) / 2
    return x


@compiled
def _log_density(
    tau: Any, log_odds: Any, counts: Any, right: Any, wrong: Any, prior: Any, chances: Any
) -> float:
    """Log density of tau and of the odds, given how many errors records have and which.

    ``right`` and ``wrong`` are how often fields are; ``prior`` has the weights of both in the Beta
    prior of each field, and last the scale and the degrees of freedom of tau's steps and the number
    of errors after which they are not positive. The prior is of what is balanced.
    """
    n_fields = log_odds.size
    spread, freedom = prior[2 * n_fields], prior[2 * n_fields + 1]
    first = int(prior[2 * n_fields + 2])
    for f in range(n_fields):
        if abs(log_odds[f]) > LARGEST_LOG_ODDS:
            return -np.inf
    log_whole = _count_chances(log_odds, tau, chances)
    shift = balancing(log_odds, chances)
    total = 0.0
    for k in range(n_fields + 1):
        total += counts[k] * (tau[k] - log_whole)
        if k > 0:
            step = tau[k] - tau[k - 1] - shift
            if (k > first and step > ROUNDING) or abs(step) > LARGEST_STEP:
                return -np.inf
            total -= (freedom + 1) / 2 * np.log1p((step / spread) ** 2 / freedom)
    for f in range(n_fields):
        for part in range(2):
            # First as it is, then balanced: log p and log (1 - p), neither of which may overflow.
            x = log_odds[f] + (shift if part else 0.0)
            log_p = -np.log1p(np.exp(-x)) if x > 0 else x - np.log1p(np.exp(x))
            if part:
                total += prior[f] * (log_p - x) + prior[n_fields + f] * log_p
            else:
                total += right[f] * (log_p - x) + wrong[f] * log_p
    return total


@compiled
def slice_errors(
    rng: Any, tau: Any, log_odds: Any, counts: Any, right: Any, wrong: Any, prior: Any
) -> None:
    """Slice sample the steps of tau, then the log odds of an error by field; balance both.

    ``counts[k]`` records have k errors; ``right`` and ``wrong`` are how often each field is.
    """
    n_fields = log_odds.size
    chances = np.empty(n_fields + 1)
    old_tau, old_odds = tau.copy(), log_odds.copy()
    for one in range(1, 2 * n_fields + 1):
        old_tau[:] = tau
        old_odds[:] = log_odds
        level = _log_density(tau, log_odds, counts, right, wrong, prior, chances)
        level += np.log(rng.random())
        low = -SLICE_WIDTH * rng.random()
        high = low + SLICE_WIDTH
        for _ in range(MOST_WIDENED):
            _move(tau, log_odds, old_tau, old_odds, one, low)
            if _log_density(tau, log_odds, counts, right, wrong, prior, chances) <= level:
                break
            low -= SLICE_WIDTH
        for _ in range(MOST_WIDENED):
            _move(tau, log_odds, old_tau, old_odds, one, high)
            if _log_density(tau, log_odds, counts, right, wrong, prior, chances) <= level:
                break
            high += SLICE_WIDTH
        for _ in range(MOST_SHRUNK):
            x = low + (high - low) * rng.random()
            _move(tau, log_odds, old_tau, old_odds, one, x)
            if _log_density(tau, log_odds, counts, right, wrong, prior, chances) > level:
                break
            if x < 0:
                low = x
            else:
                high = x
            _move(tau, log_odds, old_tau, old_odds, one, 0.0)
    _count_chances(log_odds, tau, chances)
    shift = balancing(log_odds, chances)
    for f in range(n_fields):
        log_odds[f] += shift
    for k in range(n_fields + 1):
        tau[k] -= k * shift


@compiled
def _move(tau: Any, log_odds: Any, old_tau: Any, old_odds: Any, one: int, x: float) -> None:
    """Move step ``one`` of tau by x, or after all steps the log odds of a field."""
    n_fields = log_odds.size
    if one <= n_fields:
        for later in range(one, n_fields + 1):
            tau[later] = old_tau[later] + x
    else:
        log_odds[one - n_fields - 1] = old_odds[one - n_fields - 1] + x

"""Compiled code of how many fields of a record are wrong (`error_counts`, model section 6)."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled

ROUNDING = 1e-6
"""How far a bound may be passed before it counts."""

LARGEST_LOG_ODDS, LARGEST_STEP = 25.0, 20.0
"""Beyond, the chance of an error, or of one more, could not be told from none."""

SLICE_WIDTH, MOST_WIDENED, MOST_SHRUNK = 2.0, 50, 100


@compiled
def tabulate_errors_by_set(wrong: Any) -> Any:
    """Return the chance of k independent errors among the fields of each set (by bits)."""
    n_fields = wrong.size
    table = np.zeros((1 << n_fields, n_fields + 1))
    table[0, 0] = 1.0
    for f in range(n_fields):
        size = 1 << f
        for rest in range(size):
            for k in range(f + 1):
                table[size + rest, k] += table[rest, k] * (1 - wrong[f])
                table[size + rest, k + 1] += table[rest, k] * wrong[f]
    return table


@compiled
def tabulate_tilts_by_set(wrong: Any, tau: Any) -> Any:
    """Return T(V, k) for each set V of fields that are seen (by bits) and number k of errors.

    What is not known of one field more is one error more or none:
    T(V, k) = (1 - p_f) T(V + f, k) + p_f T(V + f, k + 1).
    """
    n_fields = wrong.size
    whole = (1 << n_fields) - 1
    table = np.zeros((whole + 1, n_fields + 1))
    table[whole] = np.exp(tau - tau.max())
    for seen in range(whole - 1, -1, -1):
        f = 0
        while seen >> f & 1:
            f += 1
        more = seen | 1 << f
        for k in range(n_fields):
            table[seen, k] = table[more, k] * (1 - wrong[f]) + table[more, k + 1] * wrong[f]
        table[seen, n_fields] = table[more, n_fields] * (1 - wrong[f])
    total = table[0, 0]
    for seen in range(whole + 1):
        for k in range(n_fields + 1):
            table[seen, k] /= total
    return table


@compiled
def count_kept(
    place: Any, by_class: Any, kept: Any, offsets: Any, of_level: Any, n_wrong: Any
) -> Any:
    """Count the levels of fields that were not replaced, and in how many records each is wrong.

    ``by_class[k, c]`` records have the levels ``place[k]`` and are of class c, which keeps the
    fields ``kept[c]``. Returns for each such group of records which fields are seen (by bits),
    times one more than there are fields, plus how many of them are wrong; and its records.
    """
    n_fields = place.shape[1]
    missing = offsets[n_fields]
    groups = np.empty((2, np.count_nonzero(by_class)), dtype=np.int64)
    n_groups = 0
    for row in range(by_class.shape[0]):
        for c in range(by_class.shape[1]):
            number = by_class[row, c]
            if number == 0:
                continue
            seen = 0
            wrong = 0
            for f in range(n_fields):
                at = place[row, f]
                if kept[c, f] and at < missing:
                    seen |= 1 << f
                    of_level[at] += number
                    if at != offsets[f]:
                        wrong += 1
                        n_wrong[f] += number
            groups[0, n_groups] = seen * (n_fields + 1) + wrong
            groups[1, n_groups] = number
            n_groups += 1
    return groups


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
def find_balancing_shift(log_odds: Any, chances: Any) -> float:
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
    shift = find_balancing_shift(log_odds, chances)
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
    shift = find_balancing_shift(log_odds, chances)
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

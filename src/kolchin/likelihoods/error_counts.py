"""How many fields of a record are wrong: learnt, not assumed to be binomial (model section 6).

Fields err with chances p_f, but not independently: a clerk who copies with care makes no error, and
a simulated duplicate may have exactly one. With PB(k) the chance of k errors if fields erred
independently, k errors have the chance

    w_k = PB(k) exp(tau_k) / Z,    Z = sum over k of PB(k) exp(tau_k),    tau_0 = 0.

Odds of errors that are all e^x times as large with tau_k - k x in place of tau_k say the same; of
these the one counts by which as many errors are expected as if they were independent (``balance``).
The steps tau_k - tau_{k-1} then have Student's t distributions around 0: near independence
unless the records object. From half of the fields on they are not positive: otherwise pairs that
have nothing in common would pass for records with all fields wrong.
Where only the set V of fields is seen, k of them wrong, the errors of the others are summed over:

    P(these are wrong) = prod over V of p_f or 1 - p_f, times T(V, k),
    T(V, k) = sum over j of PB of the others(j) exp(tau_{k+j}) / Z.
"""

import numpy as np

from kolchin.likelihoods.evidence_kernels.error_numbers import (
    ROUNDING,
    find_balancing_shift,
    tabulate_errors_by_set,
    tabulate_tilts_by_set,
)
from kolchin.parameters import FloatArray

FREEDOM, SPREAD = 2.0, 0.5
"""Degrees of freedom and scale of the t distributions of steps."""


def compute_error_chances_by_set(wrong: FloatArray) -> FloatArray:
    """Return the chance of k errors among the fields of each set (by bits), independent ones.

    >>> compute_error_chances_by_set(np.array([0.5])).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    table: FloatArray = tabulate_errors_by_set(wrong)
    return table


def compute_error_chances(wrong: FloatArray) -> FloatArray:
    """Return the chances of 0, 1, ... independent errors among all fields."""
    result: FloatArray = np.ones(1)
    for chance in wrong:
        result = np.convolve(result, [1 - chance, chance])
    return result


def compute_tilts(wrong: FloatArray, tau: FloatArray) -> FloatArray:
    """Return T(V, k) for each set V of fields that are seen (by bits) and number k of errors.

    >>> compute_tilts(np.array([0.5, 0.5]), np.array([0.0, 0.0, -50.0])).round(3)[1:].tolist()
    [[1.333, 0.667, 0.0], [1.333, 0.667, 0.0], [1.333, 1.333, 0.0]]
    """
    result: FloatArray = tabulate_tilts_by_set(wrong, tau)
    return result


def compute_distribution(wrong: FloatArray, tau: FloatArray) -> FloatArray:
    """Return w, the chances of 0, 1, ... errors among all fields."""
    weight = compute_error_chances(wrong) * np.exp(tau - tau.max())
    result: FloatArray = weight / weight.sum()
    return result


def compute_tau(wrong: FloatArray, chances: FloatArray) -> FloatArray:
    """Return the tau by which the numbers of errors have given chances.

    >>> compute_tau(np.array([0.5, 0.5]), np.array([0.3, 0.6, 0.1])).round(3).tolist()
    [0.0, 0.0, -1.099]
    """
    tau = np.log(np.maximum(chances, 1e-300) / np.maximum(compute_error_chances(wrong), 1e-300))
    result: FloatArray = tau - tau[0]
    return result


def log_prior(tau: FloatArray) -> float:
    """Return the log density of a balanced tau, up to a constant."""
    steps = np.diff(tau)
    if np.any(steps[count_free_steps(tau.size) :] > ROUNDING):
        return -np.inf
    return float(-(FREEDOM + 1) / 2 * np.log1p((steps / SPREAD) ** 2 / FREEDOM).sum())


def count_free_steps(n_numbers: int) -> int:
    """Return the number of errors after which steps are not positive."""
    return n_numbers // 2


def fit_tau(counts: FloatArray, chances: FloatArray, n_steps: int = 60) -> FloatArray:
    """Return the most likely tau given how many records have k errors.

    Newton's method on a quadratic bound of the t density, which is renewed each time.
    """
    n = counts.size
    steps = np.diff(np.eye(n), axis=0)
    tau = np.zeros(n)
    for _ in range(n_steps):
        weight = np.maximum(chances, 1e-300) * np.exp(tau - tau.max())
        weight /= weight.sum()
        bound = (FREEDOM + 1) / (FREEDOM * SPREAD**2 + (steps @ tau) ** 2)
        penalty = steps.T @ (bound[:, None] * steps)
        slope = counts - counts.sum() * weight - penalty @ tau
        bend = counts.sum() * (np.diag(weight) - np.outer(weight, weight)) + penalty
        change = np.zeros(n)
        change[1:] = np.linalg.solve(bend[1:, 1:] + 1e-9 * np.eye(n - 1), slope[1:])
        change *= min(1.0, 2.0 / max(float(np.abs(change).max()), 1e-12))
        tau += change
        if np.abs(change).max() < 1e-6:
            break
    return tau


def drop_steps_up(tau: FloatArray) -> FloatArray:
    """Return tau without the steps up that are not allowed."""
    first = count_free_steps(tau.size)
    result = tau.copy()
    result[first:] = np.minimum.accumulate(tau[first:])
    return result


def balance(wrong: FloatArray, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what says the same, with as many errors expected if they were independent."""
    log_odds = np.log(wrong) - np.log1p(-wrong)
    shift = find_balancing_shift(log_odds, compute_distribution(wrong, tau))
    result: FloatArray = np.clip(1 / (1 + np.exp(-log_odds - shift)), 1e-9, 1 - 1e-9)
    return result, tau - shift * np.arange(tau.size)


def fit_wrong(
    wrong: FloatArray,
    tau: FloatArray,
    n_wrong: FloatArray,
    n_right: FloatArray,
    n_records: float,
    n_steps: int = 12,
) -> FloatArray:
    """Return the chances of an error by field that make the errors found most likely.

    The numbers include what a prior weighs. Each step sets the chances by which the expected
    errors, given how many there are, would be those found.
    """
    for _ in range(n_steps):
        expected = n_records * _compute_marginals(wrong, tau)
        # The prior's part errs independently.
        extra = np.maximum(n_wrong + n_right - n_records, 1e-9)
        odds = wrong / (1 - wrong) * n_wrong / np.maximum(expected + extra * wrong, 1e-12)
        odds *= np.maximum(n_records - expected + extra * (1 - wrong), 1e-12) / n_right
        wrong = np.clip(odds / (1 + odds), 1e-6, 1 - 1e-6)
    return wrong


def expect_errors(
    pairs: FloatArray, wrong: FloatArray, tau: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the expected records by number of errors, and errors by field that is hidden.

    ``pairs[V, k]`` show the fields V (by bits), k of them wrong.
    """
    n_fields = wrong.size
    chances = compute_error_chances_by_set(wrong)
    weight = np.append(np.exp(tau - tau.max()), np.zeros(n_fields + 1))
    seen, k = np.nonzero(pairs)
    others = len(chances) - 1 - seen
    numbers = k[:, None] + np.arange(n_fields + 1)
    rates = chances[others] * weight[numbers]
    rates *= (pairs[seen, k] / np.maximum(rates.sum(axis=1), 1e-300))[:, None]
    records = np.bincount(numbers.ravel(), rates.ravel(), 2 * n_fields + 1).astype(float)
    hidden = np.zeros(n_fields)
    for f, chance in enumerate(wrong):
        rows = others >> f & 1 == 1
        own = others[rows]
        part = chances[own ^ (1 << f), :-1] / np.maximum(chances[own, 1:], 1e-300)
        hidden[f] = chance * float((part * rates[rows, 1:]).sum())
    return records[: n_fields + 1], hidden


def _compute_marginals(wrong: FloatArray, tau: FloatArray) -> FloatArray:
    """Return the chance that each field is wrong, given how numbers of errors are weighed."""
    weight = np.exp(tau - tau.max())
    total = float(compute_error_chances(wrong) @ weight)
    others = [compute_error_chances(np.delete(wrong, f)) for f in range(wrong.size)]
    result: FloatArray = wrong * np.array([rest @ weight[1:] for rest in others]) / total
    return result

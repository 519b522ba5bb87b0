"""How many errors records have: T sums over all errors, and updates keep the posterior.

The truth is written in plain loops from the page; the prior is drawn from by importance
resampling, with no step of the package.
"""

from itertools import product
from math import exp, prod

import numpy as np
import pytest
from enumeration import uniform_test
from scipy import stats

from kolchin.likelihoods import Exemplar, Outcomes, error_counts
from kolchin.likelihoods.dependence import Dependence
from kolchin.likelihoods.pattern_counts import PatternCounts

SMALLEST_P = 1e-4


def chance_of_errors(errors, wrong, tau):
    """Of just these errors among all fields, up to the factor 1 / Z."""
    independent = prod(p if e else 1 - p for e, p in zip(errors, wrong, strict=True))
    return independent * exp(tau[sum(errors)])


def total(wrong, tau):
    return sum(chance_of_errors(e, wrong, tau) for e in product((0, 1), repeat=len(wrong)))


@pytest.mark.parametrize("seed", range(5))
def test_tilts_sum_over_what_is_not_seen(seed):
    rng = np.random.default_rng(seed)
    n_fields = int(rng.integers(1, 6))
    wrong, tau = rng.uniform(0.05, 0.6, n_fields), np.append(0, rng.normal(0, 2, n_fields))
    table, whole = error_counts.compute_tilts(wrong, tau), total(wrong, tau)
    for seen in range(1 << n_fields):
        visible = [f for f in range(n_fields) if seen >> f & 1]
        for errors in product((0, 1), repeat=len(visible)):
            given = dict(zip(visible, errors, strict=True))
            slow = sum(
                chance_of_errors(e, wrong, tau)
                for e in product((0, 1), repeat=n_fields)
                if all(e[f] == x for f, x in given.items())
            )
            independent = prod(wrong[f] if x else 1 - wrong[f] for f, x in given.items())
            fast = independent * table[seen, sum(errors)]
            assert fast == pytest.approx(slow / whole, rel=1e-10)


def test_what_is_balanced_says_the_same():
    wrong, tau = np.array([0.2, 0.5, 0.05]), np.array([0.0, -1.0, 2.0, 1.0])
    other, shifted = error_counts.balance(wrong, tau)
    np.testing.assert_allclose(
        error_counts.compute_distribution(other, shifted),
        error_counts.compute_distribution(wrong, tau),
        rtol=1e-8,
    )
    mean = error_counts.compute_distribution(wrong, tau) @ np.arange(4)
    assert other.sum() == pytest.approx(mean)
    np.testing.assert_allclose(
        error_counts.compute_tau(other, error_counts.compute_distribution(wrong, tau)),
        shifted,
        atol=1e-7,
    )


def test_independent_errors_are_found_to_be_so():
    rng = np.random.default_rng(1)
    wrong = np.array([0.1, 0.3, 0.2, 0.05])
    base = error_counts.compute_error_chances(wrong)
    counts = rng.multinomial(2000, base).astype(float)
    tau = error_counts.fit_tau(counts, base)
    np.testing.assert_allclose(tau[:3], 0.0, atol=0.3)
    exactly_one = error_counts.fit_tau(np.array([0.0, 2000, 0, 0, 0]), base)
    assert error_counts.compute_distribution(wrong, exactly_one)[1] > 0.98


# --- updates keep the posterior --------------------------------------------------------------

N_LEVELS = (2, 3)
RIGHT, WRONG = np.array([4.0, 3.0]), np.array([1.5, 2.0])
N_LINKS = 25


def log_prior(log_odds, tau):
    """Log density of odds and tau, rows of them, up to a constant; and what is balanced.

    The chances of 0, 1 and 2 errors of two fields are written out.
    """
    p = 1 / (1 + np.exp(-log_odds))
    right = 1 - p
    one_error = p[:, 0] * right[:, 1] + p[:, 1] * right[:, 0]
    chances = np.column_stack([right.prod(axis=1), one_error, p.prod(axis=1)]) * np.exp(tau)
    mean = (chances[:, 1] + 2 * chances[:, 2]) / chances.sum(axis=1)
    low, high = np.full(len(p), -60.0), np.full(len(p), 60.0)
    for _ in range(80):
        middle = (low + high) / 2
        few = (1 / (1 + np.exp(-log_odds - middle[:, None]))).sum(axis=1) < mean
        low, high = np.where(few, middle, low), np.where(few, high, middle)
    p = np.clip(1 / (1 + np.exp(-log_odds - low[:, None])), 1e-15, 1 - 1e-15)
    steps = np.diff(tau, axis=1) - low[:, None]
    log_density = (RIGHT * np.log1p(-p) + WRONG * np.log(p)).sum(axis=1)
    log_density += stats.t.logpdf(steps / error_counts.SPREAD, error_counts.FREEDOM).sum(axis=1)
    allowed = (steps[:, 1] <= 0) & (np.abs(steps).max(axis=1) < 20)
    return np.where(allowed, log_density, -np.inf), p, tau - low[:, None] * np.arange(3)


def prior_draws(rng, n_wanted, n_tried=800_000):
    """Chances of errors and tau, balanced, from their prior by importance resampling."""
    # What differs by a shift of all odds against tau is the same: the first odds stand still.
    middle, scale = np.array([0.0, -0.8, -1.3]), np.array([0.9, 0.8, 0.8])
    standard = stats.t.rvs(2, size=(n_tried, 3), random_state=rng)
    proposed = (middle + scale * standard)[np.abs(standard).max(axis=1) < 40]
    log_proposed = stats.t.logpdf((proposed - middle) / scale, 2).sum(axis=1)
    second, one, two = proposed.T
    nothing = np.zeros(len(proposed))
    log_density, p, tau = log_prior(
        np.column_stack([nothing, second]), np.column_stack([nothing, one, one + two])
    )
    log_weight = log_density - log_proposed
    weight = np.exp(log_weight - log_weight.max())
    assert weight.sum() ** 2 / (weight**2).sum() > 4 * n_wanted, "too few effective draws"
    chosen = rng.choice(len(proposed), n_wanted, p=weight / weight.sum())
    return list(zip(p[chosen], tau[chosen], strict=True))


def a_likelihood(kind=Exemplar):
    """All patterns of two fields, one of which may be missing; nothing is replaced."""
    levels = np.array([[a, b] for a in (-1, 0, 1) for b in (-1, 0, 1, 2)], dtype=np.int8)
    pairs = np.column_stack([np.zeros(12, int), np.arange(1, 13)]).astype(np.int32)
    chance = np.where(levels < 0, 1.0, 0.3)
    shows = np.ones((13, 2), dtype=bool)
    outcomes = Outcomes(pairs, levels, chance, N_LEVELS, np.array([0.3, 0.3]), shows)
    m_weights = np.array([RIGHT[0], WRONG[0], RIGHT[1], 1.2, 0.8])
    empty = np.zeros((0, 2))
    dependence = Dependence(
        shared=empty.astype(bool), n_shared=np.empty(0), n_pairs=78.0, typed=np.full(5, 0.3),
        replaced=np.zeros((1, 2), dtype=bool), rho=np.ones(1), rho_weights=np.ones(1),
        m=np.array([0.8, 0.2, 0.7, 0.2, 0.1]), m_weights=m_weights, leak=empty,
        loose=np.zeros((0, 6)), sampled=np.empty(0, dtype=bool), tau=np.zeros(3),
    )  # fmt: skip
    return kind(outcomes, ["a", "b"], dependence=dependence)


def levels_of_links(rng, wrong, near, tau):
    """Levels of linked records by the page: errors first, then levels, then what is missing."""
    errors = list(product((0, 1), repeat=2))
    chance = np.array([chance_of_errors(e, wrong, tau) for e in errors])
    rows = []
    for k in rng.choice(4, N_LINKS, p=chance / chance.sum()):
        a = errors[k][0]
        b = 1 + int(rng.random() < near[1]) if errors[k][1] else 0
        rows.append((-1 if rng.random() < 0.3 else a, -1 if rng.random() < 0.3 else b))
    return rows


def updated(kind=Exemplar, n_starts=1500):
    """Chances of errors and tau after an update, where they come from the prior with their data."""
    rng = np.random.default_rng(5)
    likelihood = a_likelihood(kind)
    row_of = {tuple(levels): k for k, levels in enumerate(likelihood.patterns.levels.tolist())}
    before, after = [], []
    for wrong, tau in prior_draws(rng, n_starts):
        near = rng.dirichlet([1.2, 0.8])
        m = np.array([1 - wrong[0], wrong[0], 1 - wrong[1], *(wrong[1] * near)])
        values = {"m": m, "tau": tau}
        against = np.zeros(likelihood.n_patterns + 4, dtype=np.int64)
        for row in levels_of_links(rng, wrong, near, tau):
            against[row_of[row]] += 1
        counts = PatternCounts(against, against, 0.0)
        new = likelihood.update(rng, values, counts)
        for seen, which in ((values, before), (new, after)):
            spread = error_counts.compute_distribution(likelihood._sum_wrong(seen), seen["tau"])
            which.append([*spread[[0, 2]], seen["m"][1], seen["m"][2], seen["m"][4]])
    return np.array(before), np.array(after)


def test_updates_keep_what_prior_and_data_say():
    before, after = updated()
    for column in range(before.shape[1]):
        assert stats.ks_2samp(before[:, column], after[:, column]).pvalue > SMALLEST_P


class NoneHidden(Exemplar):
    """Fields that are missing count as right."""

    def _draw_errors(self, rng, values, kept):
        return super()._draw_errors(rng, values, kept._replace(seen=np.full_like(kept.seen, 3)))


def test_errors_that_are_hidden_are_not_forgotten():
    before, after = updated(NoneHidden)
    p_values = [stats.ks_2samp(before[:, column], after[:, column]).pvalue for column in range(5)]
    assert min(p_values) < 1e-6


def test_the_density_that_is_sliced_is_the_prior():
    """Of draws with no data, transformed to be uniform by the draws of the prior themselves."""
    rng = np.random.default_rng(2)
    likelihood = a_likelihood()
    nothing = np.zeros(likelihood.n_patterns + 4, dtype=np.int64)
    truth = np.sort([p[0] for p, _ in prior_draws(rng, 2000)])
    drawn = []
    for wrong, tau in prior_draws(rng, 1500):
        m = np.array([1 - wrong[0], wrong[0], 1 - wrong[1], wrong[1] / 2, wrong[1] / 2])
        values = {"m": m, "tau": tau}
        counts = PatternCounts(nothing, nothing, 0.0)
        new = likelihood.update(rng, values, counts)
        drawn.append(new["m"][1])
    uniform = np.searchsorted(truth, drawn) / truth.size
    assert uniform_test(np.clip(uniform, 1e-9, 1 - 1e-9)) > SMALLEST_P

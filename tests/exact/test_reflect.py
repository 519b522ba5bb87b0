"""Reflections at a mode keep the distribution, and move far."""

import numpy as np
import pytest
from invariance import SMALLEST_P
from scipy import stats

from kolchin.parameters import POSITIVE, UNIT, Beta, Gamma, reflect

CASES = {
    "positive": (Gamma(3.0, 2.0), POSITIVE, stats.gamma(3, scale=1 / 2)),
    "narrow": (Gamma(50.0, 2.0), POSITIVE, stats.gamma(50, scale=1 / 2)),
    "unit": (Beta(2.0, 5.0), UNIT, stats.beta(2, 5)),
}


def reflected(case, start, n_draws=3000):
    """Exact draws, and what becomes of each."""
    density, allowed, exact = CASES[case]
    rng = np.random.default_rng(1)
    before = exact.rvs(n_draws, random_state=rng)
    return before, np.array(
        [reflect(rng, density.log_density, x, allowed, start(x)) for x in before]
    )


@pytest.mark.parametrize("start", [0.3, 1e-9, 0.9999])
@pytest.mark.parametrize("case", CASES)
def test_the_distribution_stays(case, start):
    _, after = reflected(case, lambda x: start)
    assert stats.kstest(after, CASES[case][2].cdf).pvalue > SMALLEST_P


def test_what_was_large_is_small():
    before, after = reflected("narrow", lambda x: 15.0)
    assert np.mean(before != after) > 0.9
    assert stats.spearmanr(before, after).statistic < -0.7


def test_a_start_that_depends_on_the_value_is_wrong():
    """On a scale and from a start that move with the value, a reflection does not lead back."""
    _, after = reflected("positive", lambda x: x * np.exp(-2))
    assert stats.kstest(after, CASES["positive"][2].cdf).pvalue < 1e-6

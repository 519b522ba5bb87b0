"""Parameters that move along with another one: their prior is kept."""

import numpy as np
import pytest
from scipy import stats

from kolchin.parameters import Beta, Gamma
from kolchin.priors import NBNB, DirichletProcess
from kolchin.priors.base import SizeCounts

R, P = Gamma(2.0, 1.0), Beta(2.0, 3.0)
COUNTS = SizeCounts.of(np.array([0, 5, 3, 1]))


class Silent(NBNB):
    """Sizes that say nothing, so that the posterior of r and p is their prior."""

    def log_part(self, name, counts, values):
        return 0.0


class Careless(Silent):
    """Volumes change, and nobody says so."""

    def move_parameter(self, name, x, values, counts):
        values, log_change = super().move_parameter(name, x, values, counts)
        return values, 0.0 if np.isfinite(log_change) else log_change


def updated(prior, n_draws=3000):
    rng = np.random.default_rng(1)
    fixed = {"a": 1.0, "q": 0.5}
    drawn = [fixed | {"r": R.draw(rng), "p": P.draw(rng)} for _ in range(n_draws)]
    after = [prior.update(rng, values, COUNTS, {"r"}) for values in drawn]
    return np.array([[values["r"], values["p"]] for values in after])


def p_values(draws):
    exact = stats.gamma(R.shape, scale=1 / R.rate), stats.beta(P.u, P.v)
    return [stats.kstest(draws[:, k], exact[k].cdf).pvalue for k in range(2)]


def test_r_and_p_keep_their_prior():
    assert min(p_values(updated(Silent(r=R, p=P)))) > 1e-4


def test_volumes_that_change_unsaid_would_be_found():
    assert min(p_values(updated(Careless(r=R, p=P)))) < 1e-6


def test_r_moves_along_a_ridge():
    values = {"a": 1.0, "q": 0.5, "r": 2.0, "p": 0.3}
    c = COUNTS.mean_before_joining
    moved, _ = NBNB().move_parameter("r", 3.0, values, COUNTS)
    assert (moved["r"] + c) * moved["p"] == pytest.approx((2.0 + c) * 0.3)
    assert values["p"] == 0.3


def test_p_stays_below_one():
    moved, log_change = NBNB().move_parameter("r", 0.01, {"r": 9.0, "p": 0.9}, COUNTS)
    assert log_change == -np.inf
    assert 0 < moved["p"] < 1


def test_a_fixed_p_stays():
    values = {"r": 2.0, "p": 0.3}
    assert NBNB(p=0.3).move_parameter("r", 3.0, values, COUNTS) == ({"r": 3.0, "p": 0.3}, 0.0)


def test_other_priors_move_one_at_a_time():
    assert DirichletProcess().move_parameter("theta", 3.0, {"theta": 2.0}, COUNTS) == (
        {"theta": 3.0},
        0.0,
    )


def test_what_records_joined():
    # Three pairs: records joined one. A triple: one record joined one, another one two.
    assert COUNTS.mean_before_joining == (3 * 1 + 1 + 2) / 5
    assert SizeCounts.of(np.array([0, 4])).mean_before_joining == 1.0

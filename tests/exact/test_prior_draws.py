"""Exact draws from the priors (model section 7) against enumeration, formulas and reseating."""

from functools import partial

import enumeration as by_hand
import numpy as np
import pytest
from enumeration import chi_square, gamma_grid, histograms, index_of, partitions, sizes_of_all
from invariance import SMALLEST_P
from problems import FIXED
from scipy import stats

import kolchin as kp
from kolchin.errors import ModelError
from kolchin.parameters import Beta, Gamma
from kolchin.priors.base import SizeCounts
from kolchin.priors.drawing import log_prob_n_clusters
from kolchin.records import Records
from kolchin.sampling.reseating import reseat

NOTHING = Records.from_codes(np.full((5, 1), -1, dtype=np.int32), [[0.5, 0.5]])
"""Five records that say nothing: the posterior is the prior."""

PRIORS = {name: FIXED[name] for name in FIXED if name not in ("NBD", "ESCD")}


def normalised(probability, n_records):
    weight = np.array([probability(sizes) for sizes in sizes_of_all(n_records)])
    return weight / weight.sum()


@pytest.mark.parametrize("name", PRIORS)
def test_draws_against_enumeration(name):
    make, probability = PRIORS[name]
    rng = np.random.default_rng(11)
    prior = make()
    found = index_of([prior.draw(5, rng) for _ in range(1500)])
    assert chi_square(found, normalised(probability, 5)) > SMALLEST_P


@pytest.mark.parametrize("name", ["DirichletProcess", "PitmanYor"])
def test_urns_against_enumeration(name):
    make, probability = PRIORS[name]
    rng = np.random.default_rng(12)
    prior = make()
    found = index_of([prior.draw(6, rng) for _ in range(20_000)])
    expected = normalised(probability, 6)
    np.testing.assert_allclose(sum(probability(s) for s in sizes_of_all(6)), 1)
    assert chi_square(found, expected) > SMALLEST_P


@pytest.mark.parametrize("name", PRIORS)
def test_reseating_keeps_the_prior(name):
    make, probability = PRIORS[name]
    expected = normalised(probability, 5)
    rng = np.random.default_rng(13)
    model = kp.Model(NOTHING, make(), delta=1.0)
    start = rng.choice(52, 500, p=expected)
    found = index_of([reseat(rng, model, partitions(5)[k]) for k in start])
    assert chi_square(found, expected) > SMALLEST_P


@pytest.mark.parametrize("n_records", [2, 3, 40, 2000])
def test_geometric_number_and_sizes_give_a_binomial(n_records):
    prior = kp.NBNB(a=1.0, q=0.6, r=1.0, p=0.3)
    values = prior.complete_values(n_records, {})
    found = np.exp(log_prob_n_clusters(*prior.log_distributions(n_records, values)))
    odds = 0.6 * 0.7 / 0.3
    expected = stats.binom(n_records - 1, odds / (1 + odds)).pmf(np.arange(n_records))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-14)


def test_binomial_number_of_clusters_drawn():
    prior = kp.NBNB(a=1.0, q=0.6, r=1.0, p=0.3)
    rng = np.random.default_rng(14)
    found = np.array([prior.draw(12, rng).max() for _ in range(600)])
    odds = 0.6 * 0.7 / 0.3
    assert chi_square(found, stats.binom(11, odds / (1 + odds)).pmf(np.arange(12))) > SMALLEST_P


# --- the number of clusters ------------------------------------------------------------------


def number_of_clusters(log_kappa, log_mu):
    """P(K = k | N) by adding up sizes one after another, in extended precision."""
    n = log_mu.size
    mu = np.append(0, np.exp(log_mu)).astype(np.longdouble)
    sums = np.zeros(n + 1, dtype=np.longdouble)
    sums[0] = 1
    result = np.empty(n, dtype=np.longdouble)
    for k in range(n):
        sums = np.convolve(sums, mu)[: n + 1]
        result[k] = np.exp(log_kappa[k]) * sums[n]
    return (result / (result.sum() or 1)).astype(float)


def log_list(given, n=30):
    """Logs of a list of probabilities of 1, 2, ..., continued by zeros."""
    with np.errstate(divide="ignore"):
        return np.log(np.append(given, np.zeros(n - len(given))))


def two_values(first, second, elsewhere, n=30):
    given = np.full(n, elsewhere)
    given[[first - 1, second - 1]] = 0.5
    return log_list(given)


NUMBER = np.arange(1, 31)
RANDOM = np.random.default_rng(15)
KAPPAS = {
    "arbitrary": np.log(RANDOM.dirichlet(np.ones(30))),
    "geometric": NUMBER * np.log(0.9),
    "two far apart": two_values(2, 25, 1e-14),
    "only two": two_values(3, 24, 0.0),
}
MUS = {
    "arbitrary": np.log(RANDOM.dirichlet(np.full(30, 0.5))),
    "geometric": NUMBER * np.log(0.5),
    "heavy tail": stats.zipf(1.5).logpmf(NUMBER),
    "light tail": stats.poisson(1.0).logpmf(NUMBER),
    "1 to 4": log_list([0.25] * 4),
    "1 or 4": log_list([0.6, 0, 0, 0.4]),
    "1 or 20": two_values(1, 20, 0.0),
    "only 3": log_list([0, 0, 1.0]),
    "steep": -np.exp(0.35 * NUMBER),
}


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("kappa", KAPPAS)
def test_number_of_clusters_against_convolution(kappa, mu):
    log_kappa, log_mu = KAPPAS[kappa], MUS[mu]
    expected = number_of_clusters(log_kappa, log_mu)
    if not expected.any():
        with pytest.raises(ModelError, match="No sizes"):
            log_prob_n_clusters(log_kappa, log_mu)
        return
    found = np.exp(log_prob_n_clusters(log_kappa, log_mu))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("mu", [[0.25] * 4, [0.6, 0, 0, 0.4], stats.zipf(2.2)])
@pytest.mark.parametrize("n_records", [4, 30, 97])
def test_draws_have_possible_sizes(n_records, mu):
    for seed in range(5):
        labels = kp.KolchinPartition(mu=mu).draw(n_records, seed)
        sizes = np.bincount(labels)
        assert sizes.sum() == n_records
        if isinstance(mu, list):
            assert sizes.max() <= len(mu)
            assert np.all(np.array(mu)[sizes - 1] > 0)


def test_ten_thousand_records():
    n_records = 10_000
    prior = kp.NBNB(a=1.0, q=0.5, r=1.0, p=0.5)
    labels = prior.draw(n_records, 1)
    rho = 0.5 / 1.5
    mean, sd = 1 + (n_records - 1) * rho, np.sqrt((n_records - 1) * rho * (1 - rho))
    assert abs(labels.max() + 1 - mean) < 5 * sd
    assert labels.size == n_records


# --- random parameters -----------------------------------------------------------------------


def joint_of_prior(names, grids, probability):
    """Partition and parameters a priori, given N = 5: reweighted by P(N | parameters)."""
    block = by_hand.by_sizes(5, names, grids, probability)
    return block, block.evidence / block.evidence.sum()


def test_alternating_keeps_partition_and_parameters():
    """One turn, C given (r, p) and (r, p) given C, from exact draws of all."""
    grids = [gamma_grid(2, 1.5, 400, -7, 3.2), by_hand.beta_grid(5, 3, 400, -5, 7)]
    block, probability = joint_of_prior(
        ["r", "p"], grids, lambda s, r, p: by_hand.nbnb(s, 1.5, 0.6, r, p)
    )
    rng = np.random.default_rng(16)
    start = rng.choice(52, 1200, p=probability)
    drawn = block.draw(rng, start)
    prior = kp.NBNB(1.5, 0.6, Gamma(2, 1.5), Beta(5, 3))
    after, kinds = [], []
    for r, p in zip(drawn["r"], drawn["p"], strict=True):
        values = {"a": 1.5, "q": 0.6, "r": float(r), "p": float(p)}
        sizes = prior.draw_given(rng, 5, values)
        after.append(prior.update(rng, values, SizeCounts.of(np.bincount(sizes))))
        kinds.append(tuple(sorted(sizes.tolist(), reverse=True)))
    names, row = histograms(5)
    found = np.array([names.index(kind) for kind in kinds])
    assert chi_square(found, np.bincount(row, probability)) > SMALLEST_P
    representative = np.array([np.flatnonzero(row == kind)[0] for kind in found])
    for name in ("r", "p"):
        values = np.array([one[name] for one in after])
        uniform = block.uniform(name, representative, values)
        assert by_hand.uniform_test(uniform) > SMALLEST_P


FREE = {
    "NBD": (lambda: kp.NBD(1.0, 0.55), partial(by_hand.nbd, a=1.0, q=0.55, alpha=1.0, base=0.5)),
    "ESCD": (
        lambda: kp.ESCD(1.0, 1.8, 0.6),
        partial(by_hand.escd, alpha=1.0, r=1.8, p=0.6),
    ),
    "ESCNB": (lambda: kp.ESCNB(Gamma(2, 1.5), Beta(5, 3)), None),
}


@pytest.mark.parametrize("name", FREE)
def test_draws_with_random_parameters(name):
    make, probability = FREE[name]
    if probability is None:
        grids = [gamma_grid(2, 1.5, 300, -7, 3.2), by_hand.beta_grid(5, 3, 300, -5, 7)]
        expected = joint_of_prior(["r", "p"], grids, by_hand.escnb)[1]
    else:
        expected = normalised(probability, 5)
    rng = np.random.default_rng(17)
    prior = make()
    found = index_of([prior.draw(5, rng, sweeps=10) for _ in range(250)])
    assert chi_square(found, expected) > SMALLEST_P


@pytest.mark.slow
@pytest.mark.parametrize("name", FREE)
def test_many_draws_with_random_parameters(name):
    make, probability = FREE[name]
    if probability is None:
        grids = [gamma_grid(2, 1.5, 300, -7, 3.2), by_hand.beta_grid(5, 3, 300, -5, 7)]
        expected = joint_of_prior(["r", "p"], grids, by_hand.escnb)[1]
    else:
        expected = normalised(probability, 5)
    rng = np.random.default_rng(18)
    prior = make()
    found = index_of([prior.draw(5, rng) for _ in range(500)])
    assert chi_square(found, expected) > SMALLEST_P

"""The size distribution mu, drawn as far as it is needed."""

from functools import partial

import enumeration as by_hand
import numpy as np
import pytest
from enumeration import beta_probability, uniform_test
from invariance import DELTA, SMALLEST_P, Joint, delta_block, fixed_block, geometric_base
from scipy.special import logsumexp
from stepping import Stepper

import kolchin as kp
from kolchin import kernels
from kolchin.priors.base import SizeCounts
from kolchin.records import Records

ALPHA, RHO = 3.0, 0.4
COUNTS = np.array([0, 4, 0, 2])


def start_values():
    return {"a": 1.0, "q": 0.5, "alpha": ALPHA, "base": RHO}


def drawn_in_steps(rng, prior, first, *later):
    values = prior.sizes.draw_mu(rng, start_values(), SizeCounts.of(COUNTS), first)
    for largest in later:
        values = prior.extend_values(rng, values, largest)
    return np.append(values["log_mu"], values["log_tail"])


@pytest.mark.parametrize("steps", [(8,), (4, 8), (3, 5, 6, 8)])
def test_mu_is_the_same_dirichlet_however_it_is_extended(steps):
    """Each mu_m over what is left is Beta, independent of all before."""
    prior = kp.NBD(1.0, 0.5, ALPHA, RHO)
    rng = np.random.default_rng(21)
    log_mu = np.array([drawn_in_steps(rng, prior, *steps) for _ in range(3000)])
    assert log_mu.shape == (3000, 9)
    np.testing.assert_allclose(logsumexp(log_mu, axis=1), 0, atol=1e-9)
    sizes = np.arange(1, 9)
    shape = np.append(ALPHA * RHO * (1 - RHO) ** (sizes - 1), ALPHA * (1 - RHO) ** 8)
    shape[:3] += COUNTS[1:]
    uniform = np.empty((8, len(log_mu)))
    for k in range(8):
        left = logsumexp(log_mu[:, k:], axis=1)
        rest = logsumexp(log_mu[:, k + 1 :], axis=1)
        for n in range(len(log_mu)):
            uniform[k, n] = beta_probability(
                log_mu[n, k] - left[n], rest[n] - left[n], shape[k], shape[k + 1 :].sum()
            )
        assert uniform_test(uniform[k]) > SMALLEST_P
    dependence = np.corrcoef(uniform) - np.eye(8)
    assert np.abs(dependence).max() < 5 / np.sqrt(3000)


@pytest.mark.parametrize(
    "prior",
    [
        kp.NBD(),
        kp.NBD(alpha=1e-3),
        kp.NBD(base=[0.2, 0.8]),
        kp.NBD(base=0.999),
        kp.ESCD(r=0.01, p=0.01),
        kp.ESCD(r=30.0, p=0.9),
    ],
    ids=repr,
)
def test_shapes_of_any_smallness(prior):
    rng = np.random.default_rng(22)
    for counts in (COUNTS, np.array([0, 0, 0, 0, 0, 0, 1])):
        values = prior.start(rng, SizeCounts.of(counts))
        values = prior.extend_values(rng, values, 100)
        values = prior.extend_values(rng, values, 2000)
        assert np.all(np.isfinite(values["log_mu"]))
        assert np.isfinite(values["log_tail"])
        np.testing.assert_allclose(np.exp(values["log_mu"]).sum(), 1, atol=1e-9)
        values = prior.update(rng, values, SizeCounts.of(counts))
        assert np.all(np.isfinite(values["log_mu"]))


@pytest.mark.parametrize("prior", [kp.NBD(alpha=1e-3), kp.ESCD(r=30.0, p=0.9)], ids=repr)
def test_moves_without_singletons(prior):
    """Without singletons mu_1 may be far below the smallest float; moves must go on."""
    records = Records.from_codes(np.zeros((6, 2), dtype=np.int32), [[0.5, 0.5]] * 2)
    model = kp.Model(records, prior, delta=0.5)
    chain = Stepper(model, np.random.default_rng(23), np.array([0, 0, 0, 1, 1, 1]))
    for _ in range(300):
        chain.move(5)
        chain.update()
        draw = chain.snapshot()
        assert np.isfinite(draw.log_joint)
        assert chain.state.counts.n_records == 6
        _, sizes, _ = kernels.list_members(draw.following, np.array([0, 6, 0, 0]))
        assert np.array_equal(
            np.bincount(sizes, minlength=7)[2:7], chain.state.partition.size_counts[2:7]
        )


def test_the_joint_posterior_with_next_to_no_mass_on_singletons():
    """With a tiny alpha, mu_1 is often below exp(-745); {2, 2} against {4} must not notice."""
    alpha = 0.002
    probability = partial(by_hand.nbd, a=1.0, q=0.55, alpha=alpha, base=0.5)
    blocks = [fixed_block(probability), delta_block()]
    joint = Joint(kp.NBD(1.0, 0.55, alpha, 0.5), DELTA, blocks, free=geometric_base)
    assert joint.run(n_draws=1500, moves=6)["partition"] > SMALLEST_P


@pytest.mark.parametrize("size", [60, 900, 2000])
def test_probability_of_one_large_cluster(size):
    """P(C, N) = kappa_1 mu0_N for a single cluster, far below the smallest float."""
    expected = np.log(0.3) - size * np.log(2)
    found = kp.NBD(a=1.0, q=0.7).log_prob(np.zeros(size, dtype=int))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_cluster_of_sixty():
    """Sixty equal records in one cluster: mu reaches that far, and beyond."""
    records = Records.from_codes(np.zeros((70, 4), dtype=np.int32), [[0.001, 0.999]] * 4)
    model = kp.Model(records, kp.NBD(), delta=0.1)
    labels = np.append(np.zeros(60, dtype=int), np.arange(1, 11))
    chain = Stepper(model, np.random.default_rng(24), labels)
    largest = []
    for _ in range(50):
        chain.move(200)
        chain.update()
        largest.append(chain.state.counts.sizes[-1])
        assert np.isfinite(chain.snapshot().log_joint)
    assert max(largest) >= 60

"""Every way through the kernel keeps the posterior: divided at once or visited, mu drawn or not."""

import enumeration as by_hand
import numpy as np
import pytest
from driving import PAIRS, Driver
from enumeration import partition_test
from invariance import DELTA, SMALLEST_P, Joint, delta_block, fixed_block
from problems import FIXED, FREQUENCIES, codes, log_of_all
from test_kernel import normalised, p_value

import kolchin as kp
from kolchin.records import Records
from kolchin.sampling import weights

FREE = {
    "NBD": (kp.NBD(1.5, 0.6, 0.8, 0.4), lambda s: by_hand.nbd(s, 1.5, 0.6, 0.8, 0.4)),
    "NBD, a = alpha": (kp.NBD(1.0, 0.7), lambda s: by_hand.nbd(s, 1.0, 0.7, 1.0, 0.5)),
    "ESCD": (kp.ESCD(0.7, 1.8, 0.6), lambda s: by_hand.escd(s, 0.7, 1.8, 0.6)),
}
"""Priors whose mu is integrated out, with fixed parameters."""


@pytest.fixture
def visits(monkeypatch):
    """Visit the records of three or more one by one, never divide them at once."""
    monkeypatch.setattr(weights, "LARGEST_ENUMERATED", 2)


@pytest.mark.parametrize("name", FIXED)
def test_visits_keep_the_posterior(name, visits):
    assert p_value(name, True, "uniform", 6, 20_000, seed=7) > SMALLEST_P


def free_p_value(name, missing, pairs, n_draws=20_000, n_moves=40):
    prior, probability = FREE[name]
    data = codes(missing)
    log_joint = log_of_all(probability, 6)
    log_joint = log_joint + by_hand.log_evidence_of_all(data, FREQUENCIES, 0.6).sum(axis=1)
    truth = normalised(log_joint)
    model = kp.Model(Records.from_codes(data, FREQUENCIES), prior, delta=0.6)
    driver = Driver(model, PAIRS[pairs](6), 8)
    assert driver.state.weights.shape.size
    start = np.random.default_rng(8).choice(truth.size, n_draws, p=truth)
    return partition_test(driver.moved(start, n_moves), truth, 6)


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", FREE)
def test_moves_with_mu_integrated_out(name, missing, pairs):
    assert free_p_value(name, missing, pairs) > SMALLEST_P


@pytest.mark.parametrize("name", FREE)
def test_visits_with_mu_integrated_out(name, visits):
    assert free_p_value(name, True, "uniform") > SMALLEST_P


@pytest.mark.parametrize("name", FREE)
def test_delta_too(name):
    prior, probability = FREE[name]
    joint = Joint(prior, DELTA, [fixed_block(probability), delta_block()])
    p_values = joint.run(n_draws=2500)
    assert min(p_values.values()) > SMALLEST_P, p_values


def test_a_wrong_opening_weight_is_caught(monkeypatch):
    """With the Dirichlet's alpha left out of the weight of a new cluster the test must fail."""
    tables = kp.NBD.tabulate

    def wrong(self, n_records, largest, values):
        right = tables(self, n_records, largest, values)
        return right._replace(opening=right.opening._replace(alpha=0.0))

    monkeypatch.setattr(kp.NBD, "tabulate", wrong)
    assert free_p_value("NBD", False, "uniform") < 1e-6

"""The chaperones kernel keeps the enumerated posterior (parameters fixed)."""

import enumeration as by_hand
import numpy as np
import pytest
from driving import PAIRS, Driver
from enumeration import entropy, index_of_rings, partition_test, partitions, sizes_of_all
from problems import FIXED, FREQUENCIES, MU, codes, log_of_all, problem

import kolchin as kp
from kolchin.records import Records
from kolchin.sampling import state

SMALLEST_P = 1e-4


def truth(name, missing, n_records=6, delta=0.6):
    """Model, probability of every partition by our own formulas, and fixed parameters."""
    model, own, parameters = problem(name, missing, n_records, delta)
    log_own = np.array(own)
    slow = np.array([model.log_joint(row, **parameters) for row in partitions(n_records)])
    return model, log_own, slow, parameters


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", FIXED)
def test_log_joint_is_the_formula(name, missing):
    _, log_own, slow, _ = truth(name, missing)
    assert len(slow) == 203
    possible = np.isfinite(log_own)
    assert np.array_equal(possible, np.isfinite(slow))
    np.testing.assert_allclose(slow[possible], log_own[possible], rtol=0, atol=1e-9)


def normalised(log_probability):
    probability = np.exp(log_probability - log_probability.max())
    return probability / probability.sum()


def p_value(name, missing, pairs, n_records, n_draws, n_moves=40, seed=1):
    model, log_own, _, parameters = truth(name, missing, n_records)
    probability = normalised(log_own)
    driver = Driver(model, PAIRS[pairs](n_records), seed)
    if "mu" in parameters:
        driver.set_parameters(log_mu=np.log(MU))
    start = np.random.default_rng(seed).choice(probability.size, n_draws, p=probability)
    return partition_test(driver.moved(start, n_moves), probability, n_records)


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", FIXED)
def test_kernel_keeps_the_posterior(name, missing, pairs):
    assert p_value(name, missing, pairs, 6, 20_000) > SMALLEST_P


@pytest.mark.slow
@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", FIXED)
def test_kernel_keeps_the_posterior_of_seven(name, missing, pairs):
    assert p_value(name, missing, pairs, 7, 60_000, seed=2) > SMALLEST_P


def test_small_clusters():
    """Singletons and pairs, whose odds depend on K at every move: K must not go stale."""
    values = {"a": 0.2, "q": 0.9, "r": 0.5, "p": 0.15}
    data = codes(False)
    log_joint = log_of_all(lambda sizes: by_hand.nbnb(sizes, **values), 6)
    log_joint = log_joint + by_hand.log_evidence_of_all(data, FREQUENCIES, 0.6).sum(axis=1)
    probability = normalised(log_joint)
    assert probability[[sizes[0] <= 2 for sizes in sizes_of_all(6)]].sum() > 0.6
    model = kp.Model(Records.from_codes(data, FREQUENCIES), kp.NBNB(**values), delta=0.6)
    start = np.random.default_rng(5).choice(203, 20_000, p=probability)
    assert partition_test(Driver(model, seed=5).moved(start, 40), probability) > SMALLEST_P


def test_large_clusters():
    """Clusters of 5 and 6 are common here, and taken apart record by record."""
    probability, found = large_clusters(40)
    assert partition_test(found, probability) > SMALLEST_P


def test_tables_that_grow_on_the_way(monkeypatch):
    """Two clusters may meet whose union is larger than the tables: the move must not be lost.

    A move that is skipped, after which tables grow, would depend on the state.
    """
    monkeypatch.setattr(state, "table_size", lambda largest: max(4, largest))
    probability, found = large_clusters(3)
    assert partition_test(found, probability) > SMALLEST_P


def large_clusters(n_moves):
    model, log_own, _, _ = truth("DirichletProcess", True, delta=4.0)
    probability = normalised(log_own)
    largest = np.array([sizes[0] for sizes in sizes_of_all(6)])
    assert probability[largest == 5].sum() > 0.15
    assert probability[largest == 6].sum() > 0.1
    driver = Driver(model, seed=4)
    start = np.random.default_rng(4).choice(203, 20_000, p=probability)
    result = np.empty((start.size, 6), dtype=np.int32)
    for k, index in enumerate(start):
        driver.set_partition(index, anew=True)
        driver.move(n_moves)
        result[k] = driver.state.following
    return probability, index_of_rings(result)


def test_posteriors_are_spread_and_reach_every_path():
    large = []
    for name in FIXED:
        for missing in (False, True):
            probability = normalised(truth(name, missing)[1])
            assert entropy(probability) > 3.0
            largest = np.array([sizes[0] for sizes in sizes_of_all(6)])
            large.append([probability[largest == m].sum() for m in range(1, 7)])
    # all singletons (two records), sizes up to 4 (divided at once), 5 and 6 (visited)
    assert np.all(np.max(large, axis=0) > [0.01, 0.3, 0.2, 0.1, 0.05, 0.01])

"""Weights beyond the range of a float: the chain must stay exact where mu_1 is next to nothing.

With mu sampled, the size of singletons may have a probability like exp(-2000) while no record
is alone; clusters of two and of four still trade places at even odds.
"""

import numpy as np
import pytest
from stepping import Stepper

import kolchin as kp
from kolchin.partitions import list_partitions, size_counts
from kolchin.priors.base import SizeCounts

N_MOVES = 4000


@pytest.mark.parametrize("log_rare", [-10.0, -300.0, -800.0, -2000.0, -1e6])
@pytest.mark.parametrize("rare_size", [1, 2, 3])
def test_rare_sizes_leave_the_others_exact(log_rare, rare_size):
    records = kp.Records.from_codes(np.zeros((4, 1), dtype=int), [[0.5, 0.5]])
    model = kp.Model(records, kp.NBD(), delta=0.5)
    chain = Stepper(model, np.random.default_rng(1), np.zeros(4, dtype=int))
    state = chain.state
    values = model.prior.draw_integrated(state.rng, state.prior_values, state.counts)
    log_mu = values["log_mu"].copy()
    log_mu[:4] = np.log([0.2, 0.5, 0.1, 0.05])
    log_mu[rare_size - 1] = log_rare
    with np.errstate(over="ignore"):
        chain.set_prior(values | {"log_mu": log_mu})
    states = list(list_partitions(4))
    log_weight = np.array(
        [
            model.prior.log_prob_counts(
                SizeCounts.of(size_counts(labels)), chain.state.prior_values
            )
            + model.likelihood.log_likelihood(labels, chain.state.field_values)
            for labels in states
        ]
    )
    weight = np.exp(log_weight - log_weight.max())
    exact = np.bincount([labels.max() for labels in states], weight / weight.sum(), minlength=4)
    drawn = np.zeros(4)
    for _ in range(N_MOVES):
        chain.move(3)
        drawn[chain.state.n_clusters - 1] += 1
    # Moves in a row depend on each other: five standard errors of independent ones.
    error = np.sqrt(exact * (1 - exact) / N_MOVES)
    assert np.all(np.abs(drawn / N_MOVES - exact) <= 5 * error + 1e-9)


def test_two_records_with_little_alpha():
    """No singleton, and mu_1 far below the smallest float: a pair must not fall apart."""
    records = kp.Records.from_codes([[0, 0], [0, 0]], [[0.5, 0.5]] * 2)
    model = kp.Model(records, kp.NBD(), delta=0.1)
    chain = Stepper(model, np.random.default_rng(1), np.array([0, 0]))
    state = chain.state
    values = model.prior.draw_integrated(state.rng, state.prior_values, state.counts)
    log_mu = values["log_mu"].copy()
    log_mu[:2] = [-2000.0, np.log(0.9)]
    with np.errstate(over="ignore"):
        chain.set_prior(values | {"log_mu": log_mu})
    for _ in range(200):
        chain.move(1)
        assert chain.state.n_clusters == 1


def test_updates_with_little_alpha_give_no_warning():
    """Warnings are errors here: exp of a difference of logs may not overflow."""
    records = kp.Records.from_codes([[0, 0], [0, 0], [1, 1], [1, 1]], [[0.5, 0.5]] * 2)
    model = kp.Model(records, kp.NBD(alpha=0.001), delta=0.1)
    chain = Stepper(model, np.random.default_rng(1), np.array([0, 0, 1, 1]))
    for _ in range(50):
        chain.move(5)
        chain.update()

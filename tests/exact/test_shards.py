"""Shards beside each other keep the exact posterior (model section 5)."""

from itertools import combinations

import enumeration as by_hand
import numpy as np
import pytest
import test_compared
from driving import Driver
from enumeration import index_of_rings, partition_test, sizes_of_all
from problems import FIXED, FREQUENCIES, codes, log_of_all
from test_compared import M, U
from test_kernel import normalised
from test_paths import FREE

import kolchin as kp
from kolchin.likelihoods import Exemplar
from kolchin.records import Records
from kolchin.sampling import state, weights
from kolchin.sampling.layout import Layout
from kolchin.sampling.moves import shards
from kolchin.sampling.moves.shards import RoundMove
from kolchin.sampling.proposals.attach_lists import build_attach_lists
from kolchin.sampling.proposals.learning import LearnedPairs
from kolchin.sampling.proposals.mixture import PairMixture
from kolchin.sampling.proposals.pair_tables import PairTables
from kolchin.sampling.shards.executors import ThreadExecutor

SMALLEST_P = 1e-4
CAUGHT = 1e-6
TWO, THREE, ODD = [0, 2, 3, 5, 6], [0, 1, 2, 3, 4, 5, 6], [0, 1, 4, 6]
"""Where blocks begin: in pairs they are two or three shards, or one and a block by itself."""


def in_shards(model, bounds, seed=1, share=0.3):
    """A driver that moves in shards, by lists of unequal pairs and loose links."""
    n_records = model.n_records
    layout = Layout(np.array(bounds), np.arange(n_records))
    listed = np.array(list(combinations(range(n_records), 2)), dtype=np.int32)
    weight = np.random.default_rng(3).gamma(0.5, size=len(listed))
    driver = Driver(model, None, seed, layout)
    mixture = PairMixture(share, PairTables.of(layout, listed[::2], weight[::2]))
    log_odds = np.linspace(-6.0, -2.4, len(listed) - 1)
    driver.learned = LearnedPairs(mixture, build_attach_lists(layout, listed[1:], log_odds))
    return driver


def advanced(driver, start, rounds=2, moves=8, cores=1):
    """Where rounds lead from each start, parameters fixed."""
    result = np.empty((start.size, driver.n_records), dtype=np.int32)
    executor = ThreadExecutor(driver.problem)
    a_round = RoundMove(executor, driver.learned, moves, moves, cores)
    for k, index in enumerate(start):
        driver.set_partition(index, anew=True)
        driver.step(*[a_round] * rounds)
        result[k] = driver.state.following
    found = index_of_rings(result)
    # The counts that came back from the shards are those of the state.
    counts = np.bincount(sizes_of_all(driver.n_records)[found[-1]])
    assert driver.state.n_clusters == counts.sum()
    assert np.array_equal(np.trim_zeros(driver.state.partition.size_counts, "b"), counts)
    return found


def p_value(driver, probability, n_draws=1000, seed=1, **options):
    start = np.random.default_rng(seed).choice(probability.size, n_draws, p=probability)
    return partition_test(advanced(driver, start, **options), probability, driver.n_records)


PRIORS = {
    name: (make(), prior_of)
    for name, (make, prior_of) in FIXED.items()
    if name not in ("NBD", "ESCD", "KolchinPartition")
} | FREE
"""Where mu is free, it is integrated out in the truth, and drawn for each round.

Any kappa but a negative binomial one has no variable that makes clusters independent.
"""


def categorical(name, n_records=6):
    prior, prior_of = PRIORS[name]
    data = codes(True, n_records)
    evidence = by_hand.log_evidence_of_all(data, FREQUENCIES, 0.6).sum(axis=1)
    model = kp.Model(Records.from_codes(data, FREQUENCIES), prior, delta=0.6)
    return model, normalised(log_of_all(prior_of, n_records) + evidence)


def compared(name):
    """One categorical field, the others compared."""
    prior, prior_of = PRIORS[name]
    data = codes(True)[:, :1]
    evidence = by_hand.log_evidence_of_all(data, FREQUENCIES[:1], 0.6).sum(axis=1)
    evidence = evidence + np.log(test_compared.evidence_of_all(M, U))
    likelihood = Exemplar(test_compared.compared(), "abc", M, fixed=True)
    records = Records.from_codes(data, FREQUENCIES[:1])
    model = kp.Model(records, prior, delta=0.6, likelihood=likelihood)
    return model, normalised(log_of_all(prior_of, 6) + evidence)


KINDS = {"categorical": categorical, "compared": compared}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PRIORS)
def test_two_shards_keep_the_posterior(name, kind):
    model, probability = KINDS[kind](name)
    assert weights.can_be_sharded(model)
    assert p_value(in_shards(model, TWO), probability) > SMALLEST_P


@pytest.mark.parametrize("bounds", [THREE, ODD], ids=["three shards", "one and a half"])
@pytest.mark.parametrize("name", ["NBNB", "NBD", "PitmanYor"])
def test_other_shards_keep_the_posterior(name, bounds):
    model, probability = compared(name)
    assert p_value(in_shards(model, bounds, seed=2), probability, seed=2) > SMALLEST_P


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [TWO, THREE, ODD], ids=["two", "three", "one and a half"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PRIORS)
def test_shards_keep_the_posterior_at_length(name, kind, bounds):
    model, probability = KINDS[kind](name)
    driver = in_shards(model, bounds, seed=3)
    assert p_value(driver, probability, 20_000, rounds=3, seed=3) > SMALLEST_P


def stale(monkeypatch):
    """Take K as it was at the beginning of a round in place of t."""
    draw = shards.draw_auxiliaries

    class Stale:
        def standard_gamma(self, shape):
            return shape

    monkeypatch.setattr(shards, "draw_auxiliaries", lambda rng, *given: draw(Stale(), *given))


def many_moves(n_draws, seed=4):
    """NBNB with a small a: K matters, and changes much within a round."""
    data = codes(False)
    values = {"a": 0.2, "q": 0.9, "r": 0.5, "p": 0.15}
    log_joint = log_of_all(lambda sizes: by_hand.nbnb(sizes, **values), 6)
    log_joint = log_joint + by_hand.log_evidence_of_all(data, FREQUENCIES, 0.6).sum(axis=1)
    model = kp.Model(Records.from_codes(data, FREQUENCIES), kp.NBNB(**values), delta=0.6)
    driver = in_shards(model, TWO, seed)
    return p_value(driver, normalised(log_joint), n_draws, rounds=4, moves=60, seed=seed)


def test_many_moves_a_round():
    assert many_moves(2000) > SMALLEST_P


def test_a_stale_k_is_caught(monkeypatch):
    stale(monkeypatch)
    assert many_moves(5000) < CAUGHT


def test_the_draws_do_not_depend_on_the_cores():
    model, probability = compared("NBD")
    start = np.random.default_rng(6).choice(probability.size, 20, p=probability)
    alone, beside = (
        advanced(in_shards(model, THREE, seed=6), start, cores=cores) for cores in (1, 3)
    )
    assert np.array_equal(alone, beside)


def test_tables_that_grow_on_the_way(monkeypatch):
    """Shards that need longer tables get the same ones, and no move is lost."""
    monkeypatch.setattr(state, "table_size", lambda largest: max(4, largest))
    model, probability = categorical("NBD")
    assert p_value(in_shards(model, TWO, seed=7), probability, seed=7) > SMALLEST_P


def test_a_table_for_kappa_cannot_be_sharded():
    make, _ = FIXED["KolchinPartition"]
    model = kp.Model(Records.from_codes(codes(True), FREQUENCIES), make(), delta=0.6)
    assert not weights.can_be_sharded(model)

"""Pairs are drawn from a fixed mixture that reaches every pair, frozen after warm-up."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare
from stepping import Stepper

import kolchin as kp
from kolchin.kernels.pairs import draw_pair
from kolchin.sampling.layout import Layout
from kolchin.sampling.proposals.candidates import find_candidate_pairs
from kolchin.sampling.proposals.mixture import SMALLEST_SPREAD, PairMixture, build_mixture
from kolchin.sampling.proposals.observed_pairs import ObservedPairs
from kolchin.sampling.proposals.pair_tables import PairTables
from kolchin.sampling.run.chain import Chain
from kolchin.sampling.run.run_settings import RunSettings


@pytest.fixture
def draws_with_pairs(monkeypatch):
    """Note the chain and its pairs at every kept draw, and how often pairs were learned."""
    seen = []
    learned = []
    snapshot, learn = Chain.snapshot, Chain._learn

    def noted_snapshot(self):
        seen.append((self, self.tuning.pairs.mixture))
        return snapshot(self)

    def noted_learn(self):
        learned.append((self, len(seen)))
        return learn(self)

    monkeypatch.setattr(Chain, "snapshot", noted_snapshot)
    monkeypatch.setattr(Chain, "_learn", noted_learn)
    return seen, learned


def test_pairs_are_frozen_before_the_first_kept_draw(medium_model, draws_with_pairs):
    kp.sample(medium_model, chains=3, draws=40, warmup=60, seed=1, cores=1, progress=False)
    seen, learned = draws_with_pairs
    assert len(seen) == 120
    by_chain: dict[int, list] = {}
    for chain, pairs in seen:
        by_chain.setdefault(id(chain), []).append(pairs)
    assert [len(pairs) for pairs in by_chain.values()] == [40] * 3
    assert all(pairs is kept[0] for kept in by_chain.values() for pairs in kept)
    for chain, _ in seen:
        times = [n_seen for own, n_seen in learned if own is chain]
        first = next(k for k, (own, _) in enumerate(seen) if own is chain)
        assert len(times) > 1
        assert max(times) <= first


def test_frozen_pairs_do_not_change_in_place(medium_model, monkeypatch):
    kept = []
    snapshot = Chain.snapshot

    def noted(self):
        kept.append(self.tuning.pairs.mixture.tables.table.copy())
        return snapshot(self)

    monkeypatch.setattr(Chain, "snapshot", noted)
    kp.sample(medium_model, chains=1, draws=20, warmup=40, seed=1, progress=False)
    assert all(np.array_equal(table, kept[0]) for table in kept)


def test_every_pair_is_possible_after_warm_up(medium_model, draws_with_pairs):
    kp.sample(medium_model, chains=2, draws=2, warmup=60, seed=1, progress=False)
    assert all(0 < pairs.uniform_share <= 1 for _, pairs in draws_with_pairs[0])


def test_hopeless_pairs_are_not_listed():
    own = ObservedPairs(np.array([[0, 1], [2, 3], [4, 5]], dtype=np.int32))
    mixture = build_mixture(own, np.array([-500.0, 500.0, 0.0]), Layout.single(6))
    assert mixture.tables.table[:, :2].tolist() == [[2, 3], [4, 5]]
    # What is decided keeps the least spread; who may have company costs more to move.
    of_undecided = 1.5 + 0.5 * 1.5
    assert mixture.tables.totals.sum() == pytest.approx(SMALLEST_SPREAD + 0.5 * 2 / of_undecided)


def test_pairs_that_were_seen_linked_are_listed_against_the_evidence():
    own = ObservedPairs(np.array([[0, 1], [2, 3]], dtype=np.int32))
    for _ in range(10):
        own.observe(np.array([1, 0, 2, 3], dtype=np.int32), np.full(1, 0.1))
    mixture = build_mixture(own, np.array([-20.0, -20.0]), Layout.single(6))
    assert mixture.tables.table[:, :2].tolist() == [[0, 1]]


def test_without_pairs_to_list_all_are_equal():
    own = ObservedPairs(np.array([[0, 1], [2, 3]], dtype=np.int32))
    mixture = build_mixture(own, np.array([-500.0, -500.0]), Layout.single(6))
    whole = Layout.single(6).make_shard(0)
    assert (mixture.in_shard(whole).uniform_share, mixture.count_sweep(whole)) == (1.0, 0)


def test_the_few_that_are_alone_are_proposed_to_each_other():
    couples = np.arange(100, dtype=np.int32).reshape(-1, 2)
    odds = np.where(np.isin(np.arange(50), [3, 7]), -500.0, 30.0)
    layout = Layout.single(100)
    table = build_mixture(ObservedPairs(couples), odds, layout).tables.table
    lone = [row for row in table[:, :2].tolist() if row not in couples.tolist()]
    assert sorted(lone) == [[6, 7], [6, 14], [6, 15], [7, 14], [7, 15], [14, 15]][1:5]
    # Where many are alone, it is nothing to be alone.
    many = build_mixture(ObservedPairs(couples), np.full(50, -500.0), layout)
    assert len(many.tables.table) == 0


def test_what_was_seen_counts_beside_the_evidence():
    own = ObservedPairs(np.array([[0, 1], [2, 3]], dtype=np.int32))
    states = [[1, 0, 2, 3], [0, 1, 3, 2], [1, 0, 3, 2], [0, 1, 3, 2]] * 10
    for following in states:
        own.observe(np.array(following, dtype=np.int32), np.full(1, 0.1))
    assert own.n_seen == 40
    assert own.linked.tolist() == [20, 30]
    certain = own.estimate_spread(np.array([30.0, 30.0]))
    assert np.all(certain > 0.4)


def test_without_candidates_pairs_are_uniform():
    layout = Layout.single(5)
    none = ObservedPairs(np.empty((0, 2), dtype=np.int32))
    mixture = build_mixture(none, np.empty(0), layout)
    assert mixture.in_shard(layout.make_shard(0)).uniform_share == 1


def drawn_pairs(mixture, shard, number, seed=1):
    rng = np.random.Generator(np.random.SFC64(seed))
    pairs = mixture.in_shard(shard)
    return np.array([draw_pair(rng, pairs) for _ in range(number)])


@pytest.mark.statistical
def test_uniform_pairs_are_uniform():
    drawn = drawn_pairs(PairMixture.uniform(), Layout.single(5).make_shard(0), 40_000)
    assert np.all(drawn[:, 0] != drawn[:, 1])
    counts = np.bincount(drawn[:, 0] * 5 + drawn[:, 1], minlength=25).reshape(5, 5)
    assert np.all(np.diag(counts) == 0)
    assert chisquare(counts[~np.eye(5, dtype=bool)]).pvalue > 1e-4


@pytest.mark.statistical
def test_listed_pairs_come_in_proportion_to_their_weight():
    listed = np.array([[0, 1], [0, 2], [1, 3], [2, 4], [3, 4]], dtype=np.int32)
    weight = np.array([1.0, 5.0, 0.1, 2.0, 0.4])
    layout = Layout.single(5)
    mixture = PairMixture(0.2, PairTables.of(layout, listed, weight))
    drawn = np.sort(drawn_pairs(mixture, layout.make_shard(0), 60_000), axis=1)
    counts = np.bincount(drawn[:, 0] * 5 + drawn[:, 1], minlength=25)
    expected = np.zeros(25)
    i, j = np.triu_indices(5, 1)
    expected[i * 5 + j] = 0.2 / 10
    expected[listed[:, 0] * 5 + listed[:, 1]] += 0.8 * weight / weight.sum()
    possible = expected > 0
    assert np.all(counts[~possible] == 0)
    assert np.all(counts[possible] > 0)
    assert chisquare(counts[possible], 60_000 * expected[possible]).pvalue > 1e-4


@pytest.mark.statistical
@pytest.mark.parametrize("blocks", [(0,), (3,), (0, 1), (1, 3)])
def test_pairs_of_a_shard_are_those_of_its_blocks(blocks):
    """Listed pairs of its blocks and between them come by weight, the others uniformly."""
    layout = Layout(np.array([0, 2, 4, 5, 8]))
    listed = np.array([[0, 1], [1, 2], [2, 3], [3, 7], [5, 6], [6, 7], [0, 7]], dtype=np.int32)
    weight = np.array([1.0, 3.0, 0.5, 2.0, 1.5, 0.2, 4.0])
    shard = layout.make_shard(*blocks)
    drawn = np.sort(
        drawn_pairs(PairMixture(0.3, PairTables.of(layout, listed, weight)), shard, 30_000)
    )
    inside = [n for b in blocks for n in range(layout.bounds[b], layout.bounds[b + 1])]
    expected = np.zeros((8, 8))
    own = np.isin(listed, inside).all(axis=1)
    share = 0.3 if own.any() else 1.0
    for i, j in combinations(inside, 2):
        expected[i, j] = share / (len(inside) * (len(inside) - 1) / 2)
    for (i, j), w in zip(listed[own], weight[own], strict=True):
        expected[i, j] += (1 - share) * w / weight[own].sum()
    counts = np.bincount(drawn[:, 0] * 8 + drawn[:, 1], minlength=64)
    possible = expected.ravel() > 0
    assert np.all(counts[~possible] == 0)
    if possible.sum() > 1:
        assert chisquare(counts[possible], 30_000 * expected.ravel()[possible]).pvalue > 1e-4


@pytest.fixture(scope="module")
def reference(small_model):
    return kp.sample(small_model, chains=2, draws=800, thin=1, moves=400, seed=9, progress=False)


@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
def test_posterior_does_not_depend_on_the_pairs(small_model, reference, share):
    """Uniform pairs alone and a list with weights lead to the same posterior."""
    candidates, _ = find_candidate_pairs(small_model)
    weight = np.random.default_rng(1).gamma(1.0, size=len(candidates))
    tables = PairTables.of(Layout.single(60), candidates, weight)
    rng = np.random.Generator(np.random.SFC64(4))
    chain = Stepper(small_model, rng, np.arange(60), PairMixture(share, tables))
    numbers = []
    for _ in range(1200):
        chain.move(400)
        chain.update()
        numbers.append(chain.state.n_clusters)
    trace = np.array(numbers[200:], dtype=float).reshape(20, 50).mean(axis=1)
    target = reference.statistics["n_clusters"].reshape(32, 50).mean(axis=1)
    error = np.hypot(trace.std(ddof=1) / 20**0.5, target.std(ddof=1) / 32**0.5)
    assert abs(trace.mean() - target.mean()) < 4 * error


def test_warm_up_of_no_steps_still_learns_from_the_evidence(small_model, draws_with_pairs):
    kp.sample(small_model, chains=1, draws=3, warmup=0, moves=50, seed=1, progress=False)
    _, pairs = draws_with_pairs[0][0]
    assert pairs.tables.table.shape[0] > 1
    assert RunSettings(1, 3, 0, 1, 50, ("singletons",)).learning == 0

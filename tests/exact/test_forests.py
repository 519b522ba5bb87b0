"""Delta and links drawn at once keep the joint posterior."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from driving import unequal_proposals
from forced import let_forests_be_grown
from invariance import SAMPLED, SMALLEST_P, fixed_joint
from problems import FIXED
from test_sources import SOURCES, of_sources

import kolchin as kp
from kolchin import kernels
from kolchin.priors.base import SizeCounts
from kolchin.records import Records
from kolchin.sampling.conditional_prior import Auxiliaries
from kolchin.sampling.layout import Layout
from kolchin.sampling.moves.forest import weighed_forest
from kolchin.sampling.moves.forest.move import ForestMove
from kolchin.sampling.moves.forest.parameters_given_forest import (
    ParametersGivenForest,
    TypicalState,
)
from kolchin.sampling.problem import pose_problem
from kolchin.sampling.proposals.attach_lists import build_attach_lists
from kolchin.sampling.proposals.observed_pairs import ObservedPairs
from kolchin.sampling.schedule import choose_schedule, learn_tuning
from kolchin.sampling.shards.executors import ThreadExecutor
from kolchin.sampling.state import start_state
from kolchin.sampling.weights import can_be_sharded


@pytest.fixture
def forested(monkeypatch):
    """Let drivers draw all at once."""
    return partial(let_forests_be_grown, monkeypatch)


def independent(name):
    """Tell whether clusters are independent given t, as forests need it."""
    return can_be_sharded(fixed_joint(name, False).model)


@pytest.mark.parametrize("name", list(filter(independent, FIXED)))
def test_partition_and_delta(name, forested):
    forested()
    p_values = fixed_joint(name, missing=len(name) % 2 == 0).run(n_draws=800, rounds=2, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("uniform", [0.05, 1.0])
def test_any_way_to_pick_is_right(uniform, forested):
    forested(uniform)
    p_values = fixed_joint("NBNB", False).run(n_draws=800, rounds=2, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


def test_records_of_one_source_are_never_linked(forested):
    forested()
    joint = of_sources(fixed_joint("PitmanYor", False), SOURCES["some without"])
    p_values = joint.run(n_draws=1500, rounds=2, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("name", SAMPLED)
def test_with_moves_and_all_parameters(name, forested):
    forested()
    p_values = SAMPLED[name]().run(n_draws=800, rounds=1)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("name", ["NBNB", "ESCD"])
def test_without_a_typical_state(name, forested):
    forested(typical=False)
    p_values = SAMPLED[name]().run(n_draws=800, rounds=1)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("wrong", ["size", "rate", "stayed"])
def test_a_wrong_weight_is_seen(wrong, forested, monkeypatch):
    """Links that do not count more for edges that are rare, or for records that were taken out."""
    forested()
    grow = weighed_forest.kernels.grow_forest

    def changed(*given):
        forest, stayed = grow(*given)
        if wrong == "stayed":
            return forest, np.ones_like(stayed)
        if wrong == "size":
            return forest._replace(size=np.full_like(forest.size, 3)), stayed
        return forest._replace(chance=np.ones_like(forest.chance)), stayed

    monkeypatch.setattr(weighed_forest.kernels, "grow_forest", changed)
    p_values = fixed_joint("DirichletProcess", False).run(n_draws=1500, rounds=2, moves=0)
    assert min(p_values.values()) < 1e-6, p_values


def test_sizes_that_no_cluster_has_leave_the_others_alone():
    """One cluster of 12 that is taken apart will be whole again: mu of 1 is as it would be."""
    counts = SizeCounts.of(np.bincount([1] * 11 + [12]))
    apart = SizeCounts.of(np.bincount([1] * 12 + [11]))
    prior, rng, found = kp.NBD(), np.random.default_rng(1), []
    typical = TypicalState(np.array([0.1]), prior.start(rng, counts), counts)
    for _ in range(600):
        values = prior.drop_integrated(prior.start(rng, counts))
        values = prior.draw_integrated(rng, values, counts)
        log_t = float(np.log(rng.standard_gamma(counts.n_clusters + values["a"])))
        given = Auxiliaries(values, log_t, 32)
        # One link, that makes the 12 whole: alone or with each other, all else is as it is.
        parameters = ParametersGivenForest(
            prior, apart, lambda joins: float(np.log(1 + joins[12])), given, typical
        )
        after = parameters.update(rng, given)
        found.append(np.exp(after.log_t + after.values["log_mu"][0]))
    assert np.mean(found) == pytest.approx(11.5, abs=4 * np.std(found) / np.sqrt(600))


def test_shards_draw_parameters_given_links_in_every_step():
    records = Records.from_codes(np.arange(24).reshape(12, 2) % 5)
    model = kp.Model(records, kp.DirichletProcess(), delta=kp.Gamma(1, 1))
    rng, listed = np.random.default_rng(1), np.array(list(combinations(range(12), 2)), np.int32)
    problem = pose_problem(model, Layout(np.array([0, 6, 12]), np.arange(12)))
    state, executor = start_state(rng, problem, np.arange(12)), ThreadExecutor(problem)
    tuning = learn_tuning(problem, state, ObservedPairs(listed), executor)
    schedule = choose_schedule(problem, tuning, executor)
    deltas = set()
    for _ in range(20):
        for move in (*schedule.on_links, schedule.on_parameters):
            state = move.step(rng, problem, state)
        deltas.add(state.field_values["delta"][0])
    assert len(deltas) == 20


def equal_records(n_equal, n_others, prior, step=1):
    """A problem and a state in which equal records are one cluster, and a move on links."""
    others = [[step * k, step * k] for k in range(1, n_others + 1)]
    records = Records.from_codes([[0, 0]] * n_equal + others + [[9, 9]])
    problem = pose_problem(kp.Model(records, prior, delta=kp.Gamma(1, 1)))
    labels = np.concatenate([np.zeros(n_equal, int), np.arange(1, n_others + 2)])
    state = start_state(np.random.default_rng(1), problem, labels)
    listed = np.array(list(combinations(range(problem.n_records), 2)), dtype=np.int32)
    return problem, state, ForestMove(unequal_proposals(problem.n_records, listed))


def test_a_size_that_no_cluster_has_takes_nobody_in():
    """mu is about 0 there: who leaves a cluster of 12, where none is of 11, comes back."""
    problem, state, move = equal_records(12, 10, kp.NBD())
    rings, stayed, deltas = state.following.copy(), 0, set()
    for _ in range(200):
        partition = state.partition
        partition.following[:] = rings
        partition.n_clusters[0] = kernels.count_sizes(rings, partition.size_counts)
        delta = np.full(2, 0.05)
        evidence = state.evidence._replace(delta=delta)
        state = state._replace(field_values={"delta": delta}, evidence=evidence)
        state = move.step(state.rng, problem, state)
        stayed += state.partition.size_counts[12] == 1
        deltas.add(state.field_values["delta"][0])
    assert stayed >= 195
    assert len(deltas) == 200


def test_clusters_grow_beyond_the_tables():
    """Others are equal too, and join; moves may have filled the tables up to their end."""
    problem, state, move = equal_records(32, 6, kp.DirichletProcess(theta=0.01), step=0)
    counts = state.partition.size_counts[:33].copy()
    state = state._replace(partition=state.partition._replace(size_counts=counts))
    largest = 0
    for _ in range(20):
        state = move.step(state.rng, problem, state)
        counts = state.partition.size_counts
        assert counts[1:] @ np.arange(1, counts.size) == 39
        largest = max(largest, np.flatnonzero(counts).max())
    assert largest > 32


def test_where_nothing_can_be_linked_there_is_no_list():
    records = Records.from_codes([[0, 0], [0, 0], [1, 1], [2, 1]])
    model = kp.Model(records, kp.KolchinPartition(mu=[1.0]))
    pairs = np.array([[0, 1]], dtype=np.int32)
    assert build_attach_lists(Layout.single(4), pairs, np.array([-np.inf])) is None
    assert kp.sample(model, chains=1, draws=5, seed=1, progress=False).n_draws == 5


def test_sizes_may_end():
    """Beyond the last size, nothing is compared with nothing: that would be a warning."""
    records = Records.from_codes(np.random.default_rng(1).integers(0, 3, (60, 4)))
    model = kp.Model(records, kp.KolchinPartition(mu=[0.5, 0.5]), delta=kp.Gamma(1, 1))
    posterior = kp.sample(model, chains=1, draws=20, warmup=40, seed=1, progress=False)
    assert posterior.statistics["largest"].max() == 2


def test_too_much_evidence_is_not_forested():
    codes = np.random.default_rng(1).integers(0, 40, (60, 200))
    many = kp.Model(Records.from_codes(codes), kp.NBD())
    few = kp.Model(Records.from_codes(codes[:, :5]), kp.NBD())
    assert weighed_forest.can_be_forested(few)
    assert not weighed_forest.can_be_forested(many)

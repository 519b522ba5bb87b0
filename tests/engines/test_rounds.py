"""Rounds on an engine draw what threads draw, to the bit."""

import os

import numpy as np
import pytest
from sharding import SHORT, drawn

import kolchin as kp
from kolchin.engines.pool import start_pool
from kolchin.sampling.conditional_prior import draw_auxiliaries
from kolchin.sampling.layout import Layout
from kolchin.sampling.proposals.candidates import find_candidate_pairs
from kolchin.sampling.run.run_settings import check_run_settings
from kolchin.sampling.run.runner import Run
from kolchin.sampling.run.starts import STARTS, make_start_labels
from kolchin.sampling.shards import executors
from kolchin.sampling.shards.advancing import RoundInput, advance_shard
from kolchin.sampling.shards.executors import LearningTask
from kolchin.sampling.state import start_state
from kolchin.store import DirectoryStore
from kolchin.workplace import open_workplace

PLANNED = ("chains", "draws", "warmup", "thin")


def test_an_engine_draws_the_same(model, serial, inline):
    assert drawn(model, engine=inline) == serial


@pytest.mark.parametrize("prior", [kp.NBNB(), kp.PitmanYor(), kp.ESCD()], ids=repr)
def test_every_prior_draws_the_same(model, sharded, inline, prior):
    other = kp.Model(model.records, prior, likelihood=model.likelihood)
    assert drawn(other, engine=inline) == drawn(other)


def with_answers(model):
    """Records far from each other that are the same, and some that are different or may be so."""
    likely, _ = find_candidate_pairs(model)
    likely = likely[:40].tolist()
    said = [(0, 119, "same"), (119, 60, "same"), (3, 90, "different")]
    said += [(i, j, "different") for i, j in likely[:10] if {i, j} != {0, 119}]
    said += [(i, j, "same", 0.1) for i, j in likely[20:30]]
    return kp.Model(model.records, kp.NBNB(), likelihood=model.likelihood, answers=said)


def test_answers_count_in_shards_and_on_engines(model, sharded, inline):
    other = with_answers(model)
    assert drawn(other, engine=inline) == drawn(other)
    assert drawn(other, engine=inline) != drawn(model, engine=inline)
    posterior = kp.sample(other, **SHORT)
    for labels in posterior.labels.reshape(-1, model.n_records):
        assert other.answers.log_probability(labels) > -np.inf
    parameters = {name: v[0, -1] for name, v in posterior.parameters.items()}
    slow = other.log_joint(posterior.labels[0, -1], **parameters)
    assert posterior.log_joint[0, -1] == pytest.approx(slow)


@pytest.mark.skipif(os.name == "nt", reason="a pool needs a main module there")
def test_answers_count_in_processes(model, sharded, inline):
    other = with_answers(model)
    pool = start_pool(2)
    try:
        assert drawn(other, engine=pool) == drawn(other, engine=inline)
    finally:
        pool.close()


def test_it_is_sampled_in_shards_by_tasks(model, sharded, inline, monkeypatch):
    seen = []
    run = inline.run
    monkeypatch.setattr(inline, "run", lambda task, items: seen.append(items) or run(task, items))
    drawn(model, engine=inline)
    learning = [items for items in seen if isinstance(items[0], LearningTask)]
    # At the start, and at some steps of warm-up.
    settings = check_run_settings(*(SHORT[name] for name in PLANNED), None, STARTS, model.n_records)
    times = 1 + len(settings.learning_steps - {0})
    assert [len(items) for items in learning] == [1] * times * SHORT["chains"]
    seen = [items for items in seen if items not in learning]
    assert len(seen) == SHORT["chains"] * (SHORT["draws"] + SHORT["warmup"])
    # Two chains share three workers, and the one that has not finished gets all of them.
    assert {len(items) for items in seen} <= {2, 3}
    # Tasks name what they need: none of them grows with the table.
    assert len(repr(seen[-1][0]._replace(versions={}, shards=()))) < 500


def test_a_wrong_order_of_shards_is_seen(model, serial, inline, monkeypatch):
    """The comparison sees a single sum of floating-point numbers made in another order."""
    advance = executors.EngineExecutor.advance
    monkeypatch.setattr(executors.EngineExecutor, "advance", lambda *given: advance(*given)[::-1])
    assert drawn(model, engine=inline) != serial


def test_the_store_holds_the_last_state_alone(model, sharded, inline, tmp_path):
    from kolchin.workplace import Workplace

    settings = check_run_settings(2, 4, 8, 1, None, STARTS, model.n_records)
    run = Run.begin(model, settings, 1, Workplace(inline, DirectoryStore(tmp_path)))
    run.go_on()
    # What was learned is there, and not in the memory of the driver as well.
    for chain in run.chains:
        mixture, lists = chain.tuning.pairs
        arrays = mixture.tables.table, lists.neighbours, chain.observed.candidates
        assert not any(array.flags.owndata for array in arrays)
    kinds = sorted(path.name.split("-")[-1] for path in tmp_path.iterdir())
    assert kinds.count("learned") == 2
    assert (
        len(kinds) <= 2 + 2 + 2 + 2 * 2
    )  # problem, candidates, what was learned, driver's, tasks'


def test_a_shard_looks_at_nothing_outside(model, sharded):
    """Not even while clusters are taken apart: the rings of other records may not be there."""
    settings = check_run_settings(1, 4, 8, 1, None, "random", model.n_records)
    (chain,) = Run.begin(model, settings, 1).chains
    problem, rng = chain.problem, chain.state.rng
    # Pairs across blocks, as no start has them.
    labels = make_start_labels(rng, "random", model.n_records, np.empty((0, 2), np.int32))
    chain.take_state(start_state(rng, problem, labels))
    state = chain.state
    auxiliaries = draw_auxiliaries(rng, model, state.prior_values, state.counts, 50)
    given = RoundInput(state.evidence, auxiliaries, 500, True, state.stream_key, 1)
    reached = 0
    for shard in problem.layout.pair_blocks(rng):
        first, last, then, end = shard.within
        own = np.r_[first:last, then:end]
        reached += np.count_nonzero(~np.isin(state.following[own], own))
        results = []
        for there in (state.following.copy(), np.zeros_like(state.following)):
            there[own] = state.following[own]
            prior = given.condition_prior(problem)
            advance_shard(shard, given, problem, prior, chain.tuning.pairs, there)
            results.append(there[own])
        assert np.array_equal(*results)
    assert reached > 10


def test_a_temporary_store_is_for_its_user_alone(inline):
    """Whoever can write to a store can run code in those who read it."""
    with open_workplace(inline) as place:
        assert place.store.path.stat().st_mode & 0o077 == 0
    assert not place.store.path.exists()


def test_versions_hold_the_rings_of_their_blocks():
    layout = Layout(np.array([0, 3, 5, 9]))
    rings = np.arange(9, dtype=np.int32)[::-1].copy()
    version = executors.BlockRings.of(layout, (2, 0), rings)
    back = np.full(9, -1, dtype=np.int32)
    version.write(layout, (0,), back)
    assert back.tolist() == [8, 7, 6, -1, -1, -1, -1, -1, -1]
    version.write(layout, (2,), back)
    assert back.tolist() == [8, 7, 6, -1, -1, 3, 2, 1, 0]
    assert layout.find_places((2, 0), np.array([0, 3, 4, 6])).tolist() == [5, 8, 0, 2]

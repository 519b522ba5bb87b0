"""What a chain draws, as it runs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kolchin.errors import DataError
from kolchin.partitions import list_clusters, make_canonical
from kolchin.posterior import Posterior, Recorder
from kolchin.posterior.episodes import join_chains
from kolchin.posterior.recorder import collect_posterior, collect_traces


@st.composite
def histories(draw):
    """Labels (draw, record): a few records change from draw to draw, or many."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_draws, n_records = draw(st.integers(1, 8)), draw(st.integers(1, 12))
    share = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    rows = [rng.integers(0, n_records, n_records)]
    for _ in range(n_draws - 1):
        changed = rng.random(n_records) < share
        rows.append(np.where(changed, rng.integers(0, n_records, n_records), rows[-1]))
    return np.array(rows)


def rings(labels, rng):
    """Write each cluster as a ring, in any order."""
    following = np.empty(len(labels), dtype=np.int32)
    for cluster in list_clusters(labels):
        members = rng.permutation(cluster)
        following[members] = np.roll(members, -1)
    return following


def record(recorder, history, first=0):
    """Feed draws; the array is the chain's own, and changes."""
    rng = np.random.default_rng(first)
    following = np.empty(history.shape[1], dtype=np.int32)
    for t, labels in enumerate(history):
        following[:] = rings(labels, rng)
        recorder.add(following, {"delta": first + t, "mu": np.full(2, first + t)}, -t)
    return recorder


def slow_episodes(history):
    """Follow every cluster from draw to draw."""
    drawn = [{tuple(c) for c in list_clusters(labels) if len(c) > 1} for labels in history.tolist()]
    whole = []
    for t, now in enumerate(drawn):
        for cluster in now - (drawn[t - 1] if t else set()):
            died = next((s for s in range(t, len(drawn)) if cluster not in drawn[s]), len(drawn))
            whole.append((t, cluster, died))
    return sorted(whole)


def episodes(chain):
    members = np.split(chain.members, np.cumsum(chain.sizes)[:-1]) if chain.sizes.size else []
    return [
        (born, tuple(cluster.tolist()), died)
        for born, cluster, died in zip(chain.born, members, chain.died, strict=True)
    ]


def assert_equal(one, two):
    assert one.n_draws == two.n_draws
    for array, same in zip(one[:4], two[:4], strict=True):
        assert array.dtype == same.dtype == np.int32
        assert array.tolist() == same.tolist()


@given(history=histories())
def test_episodes_are_the_lives_of_clusters(history):
    chain = record(Recorder(history.shape[1]), history).chain()
    assert episodes(chain) == slow_episodes(history)


@given(history=histories(), seed=st.integers(0, 99))
def test_draws_come_back(posterior_of, history, seed):
    plain = record(Recorder(history.shape[1]), history)
    assert collect_posterior([plain], {}).labels[0].tolist() == [
        make_canonical(x).tolist() for x in history
    ]
    order = np.random.default_rng(seed).permutation(history.shape[1])
    other = record(Recorder(history.shape[1], order), history[:, order])
    assert_equal(other.chain(), plain.chain())
    assert_equal(posterior_of(history[None]).chains[0], plain.chain())
    assert collect_traces([plain], {}).parameters["mu"][0, :, 1].tolist() == list(
        range(len(history))
    )


@given(history=histories(), data=st.data())
def test_parts_make_up_the_whole(posterior_of, history, data):
    n_draws, n_records = history.shape
    order = np.random.default_rng(1).permutation(n_records)
    recorder, parts, cut = Recorder(n_records, order), [], 0
    while cut < n_draws:
        first, cut = cut, data.draw(st.integers(cut + 1, n_draws))
        ahead = data.draw(st.integers(cut, n_draws))
        record(recorder, history[len(recorder) : ahead, order], len(recorder))
        parts.append(recorder.chain(first, cut))
        recorder.forget(cut)
        if cut:
            with pytest.raises(DataError, match=f"before {cut} are no longer held"):
                recorder.chain(cut - 1)
    whole = posterior_of(history[None])
    assert_equal(join_chains(parts), whole.chains[0])
    for name, values in collect_traces([recorder], {}).statistics.items():
        assert values.tolist() == whole.statistics[name].tolist()


@given(history=histories(), data=st.data())
def test_a_recorder_goes_on_after_saved_draws(posterior_of, history, data):
    n_draws, n_records = history.shape
    first, cut = sorted(data.draw(st.tuples(*[st.integers(0, n_draws)] * 2)))
    order = np.random.default_rng(2).permutation(n_records)
    before = record(Recorder(n_records, order), history[:cut, order])
    after = Recorder(n_records, order)
    after.take(collect_posterior([before], {}, 0, first), 0)
    after.take(collect_posterior([before], {}, first), 0)
    record(after, history[cut:, order], cut)
    assert_equal(after.chain(first), posterior_of(history[None, first:]).chains[0])
    known = collect_traces([after], {})
    assert known.parameters["delta"].tolist() == [list(range(n_draws))]
    for name, values in posterior_of(history[None]).statistics.items():
        assert known.statistics[name].tolist() == values.tolist()


@given(history=histories(), step=st.integers(1, 4), cut=st.integers(0, 8))
def test_a_store_does_not_depend_on_how_it_came_about(posterior_of, history, step, cut):
    whole = posterior_of(history[None])
    assert_equal(whole.thin(step).chains[0], posterior_of(history[None, ::step]).chains[0])
    parts = posterior_of(history[None, :cut]), posterior_of(history[None, cut:])
    assert_equal(parts[0].join(parts[1]).chains[0], whole.chains[0])


def test_what_stays_costs_nothing():
    labels = np.repeat(np.arange(500), 2)
    recorder = record(Recorder(1000), np.tile(labels, (30, 1)))
    chain = recorder.chain()
    assert chain.sizes.size == 500
    assert not any(block[0].size for block in recorder.ended)
    assert set(chain.born) == {0}
    assert set(chain.died) == {30}


def test_one_record_that_moves_is_seen():
    history = np.tile(np.repeat(np.arange(5), 2), (3, 1))
    same = record(Recorder(10), history).chain()
    history[1, 3] = 0
    assert episodes(record(Recorder(10), history).chain()) != episodes(same)
    assert record(Recorder(10), history).chain().at(1)[0].tolist() == [0, 1, 3, 4, 5, 6, 7, 8, 9]


def test_large_clusters_and_saving(tmp_path):
    rng = np.random.default_rng(3)
    history = rng.integers(0, 3, (6, 300))
    history[3:] = history[2]
    posterior = collect_posterior([record(Recorder(300), history)], {"seed": 1})
    posterior.save(tmp_path / "draws.npz")
    loaded = Posterior.load(tmp_path / "draws.npz")
    assert_equal(loaded.chains[0], posterior.chains[0])
    assert loaded.labels[0].tolist() == [make_canonical(x).tolist() for x in history]

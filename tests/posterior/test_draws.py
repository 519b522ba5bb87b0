"""The store of draws."""

from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kolchin.errors import DataError
from kolchin.partitions import cluster_sizes, make_canonical
from kolchin.posterior import Draw, Posterior, draws


def arrays(shape):
    size = int(np.prod(shape))
    values = st.lists(st.integers(0, 5), min_size=size, max_size=size)
    return values.map(lambda v: np.array(v, dtype=np.int64).reshape(shape))


many_labels = st.tuples(st.integers(1, 3), st.integers(0, 4), st.integers(1, 8)).flatmap(arrays)


@given(labels=many_labels)
def test_labels_come_back_canonical(posterior_of, labels):
    posterior = posterior_of(labels)
    assert posterior.labels.shape == labels.shape
    for c, chain in enumerate(labels):
        for t, draw in enumerate(chain):
            assert posterior.labels[c, t].tolist() == make_canonical(draw).tolist()
            assert posterior.partition(c, t).tolist() == make_canonical(draw).tolist()
    assert [p.tolist() for p in posterior] == posterior.labels.reshape(-1, labels.shape[2]).tolist()
    assert len(posterior) == labels.shape[0] * labels.shape[1]


@given(labels=many_labels)
def test_statistics_describe_cluster_sizes(posterior_of, labels):
    statistics = posterior_of(labels).statistics
    assert all(values.shape == labels.shape[:2] for values in statistics.values())
    for c, chain in enumerate(labels):
        for t, draw in enumerate(chain):
            sizes = cluster_sizes(draw)
            assert statistics["n_clusters"][c, t] == sizes.size
            assert statistics["singletons"][c, t] == np.sum(sizes == 1)
            assert statistics["largest"][c, t] == sizes.max()
            assert statistics["mean_size"][c, t] == pytest.approx(sizes.mean())
            assert statistics["q90_size"][c, t] == pytest.approx(np.percentile(sizes, 90))


def test_shapes_and_words(posterior):
    assert (posterior.n_chains, posterior.n_draws, posterior.n_records) == (2, 6, 10)
    assert posterior.parameters["delta"].shape == posterior.log_joint.shape == (2, 6)
    assert posterior.parameters["mu"].shape == (2, 6, 3)
    assert repr(posterior) == "<Posterior: 2 x 6 draws of 10 records>"


def test_a_draw_comes_back_in_order(posterior, draw_of):
    given_draw = draw_of([0, 1, 0, 1, 2], -3.5, delta=0.25, mu=np.array([1.0, 2.0]))
    other = draw_of([0, 1, 2, 1, 2], 0.0, delta=0.5, mu=np.array([1.0, 2.0]))
    posterior = Posterior.from_draws(5, [[other, given_draw, given_draw]])
    draw = posterior.draw(0, -1)
    assert draw.members.tolist() == [0, 2, 1, 3]
    assert draw.sizes.tolist() == [2, 2]
    assert draw.log_joint == -3.5
    assert draw.parameters["delta"] == 0.25
    assert draw.parameters["mu"].tolist() == [1.0, 2.0]
    with pytest.raises(IndexError):
        posterior.partition(0, 3)


def test_storage_is_sparse(draw_of):
    posterior = Posterior.from_draws(10_000, [[draw_of([0, 0, *range(1, 9_999)])] * 50])
    chain = posterior.chains[0]
    assert chain.members.tolist() == [0, 1]
    assert all(array.dtype == np.int32 for array in chain[:4])


def test_thin_keeps_every_other_draw(posterior):
    thinned = posterior.thin(2)
    assert thinned.n_draws == 3
    assert thinned.labels.tolist() == posterior.labels[:, ::2].tolist()
    assert thinned.log_joint.tolist() == posterior.log_joint[:, ::2].tolist()
    assert thinned.parameters["mu"].tolist() == posterior.parameters["mu"][:, ::2].tolist()
    with pytest.raises(DataError, match=r"'step' parameter must be at least 1. Got 0 instead"):
        posterior.thin(0)


def test_extended_puts_draws_after_draws(posterior):
    more = posterior.thin(3)
    whole = posterior.join(more)
    assert whole.n_draws == 8
    assert whole.labels.tolist() == np.concatenate((posterior.labels, more.labels), 1).tolist()
    assert whole.parameters["mu"][:, 6:].tolist() == more.parameters["mu"].tolist()
    assert whole.settings == posterior.settings


def test_a_posterior_without_draws_can_be_extended(posterior):
    empty = Posterior.from_draws(10, [[], []], {"seed": 2})
    assert empty.labels.shape == (2, 0, 10)
    whole = empty.join(posterior)
    assert whole.labels.tolist() == posterior.labels.tolist()
    assert whole.parameters["mu"].shape == (2, 6, 3)
    assert posterior.join(empty).n_draws == 6
    assert empty.links().height == 0
    assert empty.join(empty).n_draws == 0


def test_other_models_cannot_extend(posterior, draw_of):
    other = Posterior.from_draws(3, [[draw_of([0, 1, 2], delta=1.0)]])
    with pytest.raises(DataError, match=r"records: 10 and 3; chains: 2 and 1; shapes of param"):
        posterior.join(other)


def test_labels_beyond_memory_are_refused(posterior, monkeypatch):
    monkeypatch.setattr(draws, "LARGEST_LABELS", 100)
    with pytest.raises(DataError, match=r"posterior.partition\(chain, draw\)"):
        _ = posterior.labels


def ints(*values):
    return np.array(values, dtype=np.int32)


@pytest.mark.parametrize(
    ("members", "sizes", "message"),
    [
        (ints(0, 1, 2), ints(2), "add up to the 3 members. Got a smallest of 2 and a sum of 2"),
        (ints(0, 1, 2), ints(2, 1), "Got a smallest of 1"),
        (ints(0, 4), ints(2), "records 0 to 3. Got 0 to 4 instead"),
        (ints(-1, 2), ints(2), "Got -1 to 2"),
        (ints(0, 1, 1, 2), ints(2, 2), "Got record 1 twice"),
        (np.array([0.0, 1.0]), ints(2), "must be integers"),
        (ints(), ints(0), "sizes must be 2 or more"),
    ],
)
def test_impossible_draws_are_refused(members, sizes, message):
    fine = Draw(ints(0, 1), ints(2), {}, 0.0)
    with pytest.raises(DataError) as raised:
        Posterior.from_draws(4, [[fine, fine], [fine, Draw(members, sizes, {}, 0.0)]])
    assert "Chain 1, draw 1: " in str(raised.value)
    assert message in str(raised.value)


def test_faults_are_told_together():
    fine = Draw(ints(), ints(), {"delta": 1.0}, 0.0)
    other = Draw(ints(), ints(), {"delta": np.ones(2)}, 0.0)
    wrong = Draw(ints(0, 9), ints(2), {"delta": 1.0}, 0.0)
    with pytest.raises(DataError) as raised:
        Posterior.from_draws(4, [[fine, other], [wrong]])
    assert str(raised.value).splitlines() == [
        "Chains must have equally many draws. Got [2, 1] instead.",
        "Chain 0, draw 1: parameters must be as in the first draw, {'delta': ()}. "
        "Got {'delta': (2,)} instead.",
        "Chain 1, draw 0: members must be records 0 to 3. Got 0 to 9 instead.",
    ]
    with pytest.raises(DataError, match="There may be more"):
        Posterior.from_draws(4, [[wrong] * 99])
    with pytest.raises(DataError, match="Got 0 records and 1 chains"):
        Posterior.from_draws(0, [[]])


def test_settings_must_be_plain_data():
    settings = {"seed": np.int64(3), "start": np.arange(2), "tied": True, "share": (1, 2)}
    settings["prior"] = MappingProxyType({"a": 1})
    posterior = Posterior.from_draws(2, [[]], settings)
    plain = {"seed": 3, "start": [0, 1], "tied": True, "share": [1, 2], "prior": {"a": 1}}
    assert posterior.settings == plain
    with pytest.raises(DataError, match="Got object instead"):
        Posterior.from_draws(2, [[]], {"what": object()})

"""Records are laid out in blocks by the data alone, so that related records share one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kolchin as kp
from kolchin import kernels
from kolchin.sampling import layout as rooms
from kolchin.sampling.layout import Layout, lay_out
from kolchin.sampling.proposals.pair_tables import PairTables

N_RECORDS = 600


@pytest.fixture(scope="module")
def related():
    """Triples of records that stand far apart, some weak pairs between triples, and scores."""
    rng = np.random.default_rng(1)
    triples = rng.permutation(N_RECORDS).reshape(-1, 3)
    strong = np.concatenate([triples[:, [0, 1]], triples[:, [1, 2]]])
    weak = rng.integers(0, N_RECORDS, (50, 2))
    weak = weak[weak[:, 0] != weak[:, 1]]
    pairs = np.sort(np.concatenate([strong, weak]), axis=1).astype(np.int32)
    return pairs, np.concatenate([np.full(len(strong), 20.0), np.full(len(weak), 1.0)])


def test_blocks_are_even_and_hold_what_is_related(related):
    pairs, scores = related
    layout = lay_out(N_RECORDS, pairs, scores, 5.0, n_blocks=6)
    assert layout.n_blocks == 6
    assert np.array_equal(np.sort(layout.order), np.arange(N_RECORDS))
    assert np.diff(layout.bounds).max() <= 1.5 * N_RECORDS / 6
    blocks = layout.find_blocks(layout.to_places(pairs[scores > 5.0]))
    assert np.array_equal(blocks[:, 0], blocks[:, 1])


def test_small_tables_are_one_block(related):
    layout = lay_out(N_RECORDS, *related, 5.0)
    assert layout.n_blocks == 1
    assert layout.order is None


def test_one_block_if_everything_hangs_together():
    """A chain through all records: wherever it is cut, links lie between blocks."""
    rng = np.random.default_rng(2)
    pairs = np.sort(rng.integers(0, 200, (4000, 2)), axis=1).astype(np.int32)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    assert lay_out(200, pairs, np.ones(len(pairs)), 0.0, n_blocks=4).n_blocks == 1


def test_every_two_blocks_meet():
    layout = Layout(np.arange(0, 60, 10), np.arange(50))
    rng = np.random.default_rng(3)
    met = {shard.blocks for _ in range(200) for shard in layout.pair_blocks(rng)}
    assert {blocks for blocks in met if len(blocks) == 2} == {
        (a, b) for b in range(5) for a in range(b)
    }
    assert {blocks for blocks in met if len(blocks) == 1} == {(b,) for b in range(5)}


def test_shards_of_a_round_do_not_overlap():
    layout = Layout(np.array([0, 3, 9, 10, 20]), np.arange(20))
    for _ in range(20):
        inside = np.zeros(20, dtype=int)
        for shard in layout.pair_blocks(np.random.default_rng(4)):
            for first, last in shard.within.reshape(2, 2):
                inside[first:last] += 1
        assert np.all(inside == 1)


@given(st.data())
def test_groups_are_bounded_and_joined_best_first(data):
    n_records = data.draw(st.integers(2, 12))
    record = st.integers(0, n_records - 1)
    listed = data.draw(st.lists(st.tuples(record, record), max_size=20))
    pairs = np.array(listed, dtype=np.int32).reshape(-1, 2)
    largest = data.draw(st.integers(1, n_records))
    found = kernels.form_bounded_groups(n_records, pairs, np.arange(len(pairs)), largest)
    groups = [{n} for n in range(n_records)]
    for i, j in listed:
        left = next(group for group in groups if i in group)
        right = next(group for group in groups if j in group)
        if left is not right and len(left) + len(right) <= largest:
            groups.remove(right)
            left |= right
    wanted = np.empty(n_records, dtype=int)
    for group in groups:
        wanted[sorted(group)] = min(group)
    assert np.array_equal(found, wanted)


def test_lists_have_every_pair_once_with_its_weight(related):
    pairs, scores = related
    layout = lay_out(N_RECORDS, pairs, scores, 5.0, n_blocks=5)
    places = layout.to_places(pairs)
    lists = PairTables.of(layout, places, scores)
    assert lists.totals.sum() == pytest.approx(scores.sum())
    assert sorted(map(tuple, lists.table[:, :2].tolist())) == sorted(map(tuple, places.tolist()))
    for a in range(5):
        for b in range(a, 5):
            k = a * 5 + b
            rows = lists.table[lists.begins[k] : lists.begins[k + 1], :2]
            assert {tuple(sorted(row)) for row in layout.find_blocks(rows).tolist()} <= {(a, b)}


def test_sharded_chains_have_the_same_posterior(simulate_records, monkeypatch):
    """The number of clusters of a model whose records are laid out in six blocks."""
    records, _ = simulate_records(300)
    model = kp.Model(records)
    plain = kp.sample(model, chains=2, draws=300, warmup=150, thin=1, seed=1, progress=False)
    monkeypatch.setattr(rooms, "SMALLEST_SHARDED", 100)
    monkeypatch.setattr(rooms, "RECORDS_A_BLOCK", 50)
    monkeypatch.setattr(rooms, "MOST_CUT", 1.0)
    sharded = kp.sample(model, chains=2, draws=300, warmup=150, thin=1, seed=2, progress=False)
    one, two = (posterior.statistics["n_clusters"] for posterior in (plain, sharded))
    rows = {row["quantity"]: row for row in sharded.diagnostics().iter_rows(named=True)}
    error = np.hypot(one.std() / 10, two.std() / rows["n_clusters"]["ess_bulk"] ** 0.5)
    assert abs(one.mean() - two.mean()) < 4 * error
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("n_blocks", [1, 2, 5, 6])
def test_blocks_meet_as_often_as_is_said(n_blocks):
    layout = Layout(np.arange(n_blocks + 1))
    rng = np.random.default_rng(1)
    shards = [shard for _ in range(4000) for shard in layout.pair_blocks(rng)]
    share = np.mean([shard.blocks == (0, 1) for shard in shards]) * len(shards) / 4000
    assert share == pytest.approx(layout.meeting, abs=0.02)


def test_pairs_between_blocks_are_within_reach_when_these_meet():
    layout = Layout(np.array([0, 2, 4, 6, 8]))
    pairs = np.array([[0, 1], [0, 2], [4, 7], [6, 7]], dtype=np.int32)
    lists = PairTables.of(layout, pairs, np.array([1.0, 2.0, 4.0, 8.0]))
    assert lists.sum_within_reach(layout.meeting) == pytest.approx(9 + 6 / 3)
    rounds = [layout.pair_blocks(np.random.default_rng(seed)) for seed in range(3000)]
    met = [sum(lists.in_shard(shard)[1].sum() for shard in shards) for shards in rounds]
    assert np.mean(met) == pytest.approx(11, abs=0.2)

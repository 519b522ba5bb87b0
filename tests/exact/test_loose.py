"""Records that attach to others and leave them keep the joint posterior."""

from itertools import combinations

import invariance
import numpy as np
import pytest
from driving import Driver
from invariance import SAMPLED, SMALLEST_P, fixed_joint
from problems import FIXED

from kolchin.sampling.layout import Layout
from kolchin.sampling.moves.attach import AttachMove
from kolchin.sampling.proposals.attach_lists import build_attach_lists
from kolchin.sampling.proposals.mixture import LOOSE_ODDS


@pytest.fixture
def listing(monkeypatch):
    """Let drivers list all pairs of records but one, with very unequal odds."""

    def use(change=lambda lists: lists):
        def make(model, pairs, seed):
            driver = Driver(model, pairs, seed)
            listed = np.array(list(combinations(range(model.n_records), 2))[1:], dtype=np.int32)
            unequal = np.random.default_rng(3).exponential(scale=2.0, size=len(listed))
            log_odds = np.log(LOOSE_ODDS) - 0.01 - unequal
            lists = build_attach_lists(Layout.single(model.n_records), listed, log_odds)
            lists = change(lists._replace(share=4.0, joinings=99.0))
            driver.on_links = (AttachMove(lists),)
            return driver

        monkeypatch.setattr(invariance, "Driver", make)

    return use


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", FIXED)
def test_partition_and_delta(name, missing, listing):
    listing()
    p_values = fixed_joint(name, missing).run(n_draws=2500, rounds=2, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("name", SAMPLED)
def test_with_moves_and_all_parameters(name, listing):
    listing()
    p_values = SAMPLED[name]().run(rounds=1)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("field", ["odds", "table"])
def test_odds_that_are_not_those_of_the_table_would_be_wrong(field, listing):
    def scrambled(lists):
        if field == "odds":
            return lists._replace(odds=np.roll(lists.odds, 3))
        table = np.roll(lists.tables.table, 3, axis=0)
        return lists._replace(tables=lists.tables._replace(table=table))

    # A table keeps its meaning when its rows change places; the odds of neighbours do not.
    listing(scrambled)
    p_values = fixed_joint("DirichletProcess", False).run(n_draws=4000, rounds=3, moves=0)
    assert (p_values["partition"] < 1e-6) == (field == "odds"), p_values


def test_pairs_are_listed_with_both_records_and_their_odds():
    pairs = np.array([(0, 2), (1, 2), (0, 1), (2, 3)], dtype=np.int32)
    lists = build_attach_lists(Layout.single(5), pairs, np.log([0.02, 0.05, 0.5, 1e-6]))
    neighbours = np.split(lists.neighbours, lists.starts[1:-1])
    assert [list(n) for n in neighbours] == [[1, 2], [0, 2], [0, 1], [], []]
    # Odds are cut: pairs that are almost certain are left to chaperones moves.
    np.testing.assert_allclose(lists.odds, [0.1, 0.02, 0.1, 0.05, 0.02, 0.05])
    # Records 0, 1 and 2 ask to leave, once each.
    request = lists.in_shard(Layout.single(5).make_shard(0))
    assert lists.leavers.tolist() == [0, 1, 2]
    assert (request.n_moves, request.joining) == (4, pytest.approx(0.34 / 3.34))


def test_certain_pairs_are_not_listed():
    pairs = np.array([(0, 2), (1, 2)], dtype=np.int32)
    lists = build_attach_lists(Layout.single(4), pairs, np.array([9.0, 0.5]))
    assert lists.leavers.tolist() == [1, 2]


def test_a_shard_has_the_pairs_of_its_blocks():
    layout = Layout(np.array([0, 2, 4, 6]))
    pairs = np.array([(0, 1), (0, 2), (2, 5), (4, 5)], dtype=np.int32)
    lists = build_attach_lists(layout, pairs, np.log([0.02, 0.05, 0.03, 0.04]))
    request = lists.in_shard(layout.make_shard(0, 1))
    pairs, leavers, leaving = request.pairs, request.leavers, request.leaving
    rows = np.concatenate([pairs.table[begin:end, :2] for begin, end in pairs.slices])
    assert sorted(rows.tolist()) == [[0, 1], [0, 2]]
    assert (request.total, pairs.reach[-1]) == (pytest.approx(0.07), pytest.approx(1.0))
    assert pairs.within.tolist() == [0, 2, 2, 4]
    ranges = leavers[leaving[0] : leaving[1]], leavers[leaving[2] : leaving[3]]
    assert np.concatenate(ranges).tolist() == [0, 1, 2]


def test_no_pair_no_list():
    assert (
        build_attach_lists(Layout.single(3), np.zeros((0, 2), dtype=np.int32), np.zeros(0)) is None
    )

"""Groups that keys list in part only are completed."""

import numpy as np
import pytest

from kolchin.comparison import compare
from kolchin.comparison.blocking.completing_pairs import (
    LARGEST_GROUP,
    find_completing_pairs,
    tell_clear_agreement,
)
from kolchin.comparison.compared_pairs import PairParts
from kolchin.comparison.levels.possible_pairs import Possible
from kolchin.records import Categorical, Records

N_RECORDS = 10


def parts_of(pairs, which):
    return PairParts.of(np.array(pairs, dtype=np.int32), np.array(which, dtype=np.int32))


def completing(pairs, which, sources=None, budget=100, n_records=N_RECORDS):
    """Pairs that complete groups; the first outcome is clear agreement, the second is not."""
    clear = np.array([True, False])
    possible = Possible.of(n_records, sources)
    packed = find_completing_pairs(parts_of(pairs, which), clear, possible, n_records, budget)
    return [divmod(int(pair), n_records) for pair in packed]


CHAIN = [(0, 1), (1, 2), (2, 3), (5, 6)]


def test_groups_that_clear_agreement_joins_are_completed():
    assert completing(CHAIN, [0, 0, 0, 0]) == [(0, 2), (0, 3), (1, 3)]
    assert completing(CHAIN, [0, 0, 1, 0]) == [(0, 2)]


def test_what_was_compared_is_not_asked_for_again():
    pairs = [(0, 1), (0, 2), (1, 2), (2, 3)]
    assert completing(pairs, [0, 1, 0, 0]) == [(0, 3), (1, 3)]
    assert completing([(0, 1), (0, 2), (1, 2)], [0, 1, 0]) == []


def test_records_of_one_source_are_left_out():
    sources = np.array([0, 1, 2, 0, *range(3, 9)], dtype=np.int32)
    assert completing(CHAIN, [0, 0, 0, 0], sources) == [(0, 2), (1, 3)]


def test_small_groups_come_first_within_the_budget():
    pairs = [(0, 1), (1, 2), (2, 3), (5, 6), (6, 7)]
    assert completing(pairs, [0] * 5, budget=2) == [(5, 7)]


def test_giants_are_not_completed():
    n_records = LARGEST_GROUP + 1
    pairs = [(k, k + 1) for k in range(n_records - 1)]
    assert completing(pairs, [0] * len(pairs), budget=10**6, n_records=n_records) == []


def test_clear_agreement_is_on_nearly_all_that_both_show():
    agrees = [np.array([True, True, False])] * 4
    levels = np.array(
        [[0, 0, 0, 0], [0, 1, 0, 2], [0, 2, 0, 2], [0, 0, -1, -1], [0, 0, -1, 0]], dtype=np.int8
    )
    clear = tell_clear_agreement(levels, np.ones(5, dtype=bool), agrees)
    assert clear.tolist() == [True, True, False, False, True]
    assert not tell_clear_agreement(levels, np.zeros(5, dtype=bool), agrees).any()


@pytest.mark.parametrize("size", [2, 250])
def test_all_pairs_of_large_entities_are_candidates(size):
    """Blocks of 250 records are listed in part only; those of pairs are whole anyway."""
    rng = np.random.default_rng(1)
    n_entities = 3000 // size
    entity = np.repeat(np.arange(n_entities), size)
    n_values = {"name": 3000, "born": 5000, "place": 900, "street": 2000}
    table = {
        column: [f"{column} {value}" for value in rng.integers(0, n, n_entities)[entity]]
        for column, n in n_values.items()
    }
    records = Records.from_table(table, fields=[Categorical(column) for column in table])
    compared = compare(records.as_compared())
    same = entity[compared.pairs[:, 0]] == entity[compared.pairs[:, 1]]
    assert same.sum() == n_entities * size * (size - 1) // 2
    names = [one.key for one in compared.report.keys]
    assert ("of groups that are linked through others" in names) is (size > 2)

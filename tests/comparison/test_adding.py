"""Records that are added to a compared table: their candidates, and what comparing them says."""

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.comparison import added_records, compare
from kolchin.comparison.added_pairs import all_with_added, find_added_candidates
from kolchin.comparison.added_records import compare_added
from kolchin.comparison.kinds.preparing import prepare_all
from kolchin.comparison.levels.repeated_words import mark_repeated_words

N = 2_000
FIELDS = [kp.Text("first"), kp.Text("last"), kp.Date("born")]


def people(n: int, seed: int = 1) -> pl.DataFrame:
    """Make n persons, then the same again with one letter of the last name changed."""
    rng = np.random.default_rng(seed)
    syllables = np.array([a + b for a in "bdfgklmnprst" for b in "aeiou"], dtype=object)
    first = syllables[rng.integers(0, 60, (n, 2))].sum(axis=1)
    last = syllables[rng.integers(0, 60, (n, 3))].sum(axis=1)
    born = (np.datetime64("1940-01-01") + rng.integers(0, 20_000, n)).astype(str)
    wrong = [name[:3] + "x" + name[4:] for name in last]
    return pl.DataFrame(
        {"first": [*first, *first], "last": [*last, *wrong], "born": [*born, *born]}
    )


@pytest.fixture(scope="module")
def table():
    return people(N)


@pytest.fixture(scope="module")
def whole(table):
    records = kp.Records.from_table(table, FIELDS)
    return records, compare(records)


def some(n_records, n_added, seed=1):
    is_added = np.zeros(n_records, dtype=bool)
    is_added[np.random.default_rng(seed).choice(n_records, n_added, replace=False)] = True
    return is_added


@pytest.mark.parametrize("n_added", [1, 50, 2 * N])
def test_the_same_keys_find_the_same_pairs(whole, n_added):
    records, compared = whole
    is_added = some(len(records), n_added)
    prepared = mark_repeated_words(prepare_all(records, None))
    found = find_added_candidates(prepared, is_added, compared.report.keys)
    expected = compared.pairs[is_added[compared.pairs].any(axis=1)]
    assert len(expected) > 5 * n_added
    assert np.array_equal(found, expected)
    narrower = [one._replace(limit=2, window=1) for one in compared.report.keys]
    assert len(find_added_candidates(prepared, is_added, narrower)) < len(expected)


def test_levels_are_those_of_one_comparison(table, whole):
    records, compared = whole
    is_added = some(len(records), 200)
    before = kp.Records.from_table(table.filter(~is_added), FIELDS)
    known = compare(before)
    assert known.report.keys[0].key != "all pairs"
    added = compare_added(before, known, records, is_added)
    assert is_added[added.pairs].any(axis=1).all()
    both = compared.parts.outcomes_of(added.pairs) >= 0
    assert both.mean() > 0.5
    assert np.array_equal(added.levels[both], compared.levels_of(added.pairs[both]))
    true = np.flatnonzero(is_added[:N] | is_added[N:])
    pairs = set(map(tuple, added.pairs.tolist()))
    assert np.mean([(k, k + N) in pairs for k in true]) > 0.99


def test_of_few_records_all_pairs_are_compared_unless_much_is_new(table, monkeypatch):
    every = kp.Records.from_table(table[:900], FIELDS)
    before = kp.Records.from_table(table[:800], FIELDS)
    known, is_added = compare(before), np.arange(900) >= 800
    added = compare_added(before, known, every, is_added)
    assert np.array_equal(added.pairs, all_with_added(is_added))
    assert len(added.pairs) == 100 * 800 + 100 * 99 // 2
    monkeypatch.setattr(added_records, "MOST_WITH_ADDED", 1000)
    monkeypatch.setattr("kolchin.comparison.blocking.blocked_pairs.FEWEST", 1000)
    fewer = compare_added(before, known, every, is_added)
    assert 0 < len(fewer.pairs) < len(added.pairs)

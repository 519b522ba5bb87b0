from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.comparison import distinct_rows
from kolchin.comparison.blocking import keys, pair_budget
from kolchin.comparison.blocking.pair_budget import PairBudget, merge_pairs
from kolchin.comparison.distinct_rows import find_distinct_rows
from kolchin.comparison.kinds.preparing import prepare
from kolchin.comparison.levels import pair_levels
from kolchin.comparison.levels.level_chances import Bands, find_bands_of_pairs
from kolchin.comparison.levels.pair_levels import compare_pairs
from kolchin.comparison.pair_kernels.key_numbers import number_keys, sample_keys
from kolchin.comparison.pairs_by_record import find_places, list_by_record
from kolchin.workplace import work_here

# Hashes wrap around, of which only code that is not compiled warns.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")


def some_fields(n_records, rng):
    names = ["".join(rng.choice(list("abcde"), rng.integers(3, 9))) for _ in range(60)]
    codes = rng.integers(-1, 60, (2, n_records)).astype(np.int32)
    own = kp.Text("y", comparator=lambda a, b: float(a[0] == b[0]))
    return [prepare(kp.Text("x"), codes[0], names), prepare(own, codes[1], names)]


def test_levels_of_pairs_are_the_same_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(pair_levels, "RANGE", 100)
    monkeypatch.setattr(pair_levels, "MOST_FREQUENT", 40)
    rng = np.random.default_rng(1)
    fields = some_fields(200, rng)
    pairs = rng.integers(0, 200, (1_050, 2)).astype(np.int32)
    given = [one.comparing for one in fields], [one.codes for one in fields], pairs
    known = [pair_levels.tabulate_frequent_forms(one.comparing, one.codes, 1_050) for one in fields]
    first, *others = (compare_pairs(*given, known, threads) for threads in (1, 2, 3))
    assert all(np.array_equal(first, other) for other in others)
    for f, (comparing, codes) in enumerate(zip(*given[:2], strict=True)):
        for (i, j), level in zip(pairs, first[:, f], strict=True):
            a, b = min(codes[i], codes[j]), max(codes[i], codes[j])
            if a < 0 or a == b:
                assert level == (-1 if a < 0 else 0)
            else:
                assert level == comparing.levels(np.array([a]), np.array([b]))[0]


def test_frequent_forms_are_compared_if_that_saves_much():
    rng = np.random.default_rng(5)
    field, own = some_fields(200, rng)
    assert pair_levels.tabulate_frequent_forms(field.comparing, field.codes, 10).ranks.size == 0
    assert pair_levels.tabulate_frequent_forms(own.comparing, own.codes, 10**6).ranks.size == 0
    found = pair_levels.tabulate_frequent_forms(field.comparing, field.codes, 10**6)
    assert sorted(found.ranks) == list(range(field.forms.len()))
    assert found.table.shape == (field.forms.len(),) * 2


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_distinct_rows_are_those_of_unique(monkeypatch, threads):
    monkeypatch.setattr(distinct_rows, "RANGE", 1_000)
    table = np.random.default_rng(2).integers(-1, 7, (20_000, 5)).astype(np.int8)
    rows, which = find_distinct_rows(list(table.T), threads)
    _, first, inverse = np.unique(table, axis=0, return_index=True, return_inverse=True)
    assert rows.tolist() == sorted(first.tolist())
    assert np.array_equal(table[rows][which], table)
    assert np.array_equal(np.argsort(first)[which], inverse.ravel())


def test_keys_are_numbered_by_first_appearance_in_a_table_that_grows():
    keys = np.random.default_rng(3).integers(0, 5_000, 30_000)
    numbers, given = np.empty(keys.size, dtype=np.int32), keys.copy()
    first = number_keys(given, numbers)
    expected = list(dict.fromkeys(keys.tolist()))
    assert given[: first.size].tolist() == expected
    assert np.array_equal(keys[first], expected)
    assert np.array_equal(np.array(expected)[numbers], keys)


@pytest.mark.parametrize("in_order", [True, False])
def test_neighbours_are_listed_as_by_sorting(in_order):
    rng = np.random.default_rng(4)
    drawn = np.sort(rng.integers(0, 300, (4_000, 2)), axis=1)
    pairs = np.unique(drawn[drawn[:, 0] < drawn[:, 1]], axis=0).astype(np.int32)
    marks = rng.integers(0, 99, len(pairs)).astype(np.int32)
    order = None if in_order else rng.permutation(300)
    halves = [(pairs[:999], marks[:999]), (pairs[999:], marks[999:])]
    begins, others, of_other = list_by_record(halves, 300, order)
    placed = pairs if in_order else np.argsort(order)[pairs]
    record, other = np.concatenate([placed, placed[:, ::-1]]).T
    by_record = np.lexsort([other, record])
    assert np.array_equal(others, other[by_record])
    assert np.array_equal(of_other, np.tile(marks, 2)[by_record])
    assert np.array_equal(begins, np.searchsorted(record[by_record], np.arange(301)))


def test_pairs_are_found_again_either_way_round():
    every = np.stack(np.triu_indices(40, 1), axis=1).astype(np.int32)
    kept = np.random.default_rng(5).random(len(every)) < 0.3
    pairs = every[kept]
    expected = np.where(kept, np.cumsum(kept) - 1, -1)
    assert np.array_equal(find_places(pairs, every), expected)
    assert np.array_equal(find_places(pairs, every[:, ::-1]), expected)
    assert np.all(find_places(pairs[:0], every) == -1)


def test_letters_take_a_byte_where_they_can():
    from kolchin.comparison.kinds.strings import encode_letters

    for texts, size in ((["ab", "", "é"], 1), (["山", "ab"], 4)):
        letters, starts = encode_letters(pl.Series(texts))
        assert letters.itemsize == size
        assert ["".join(map(chr, letters[a:b])) for a, b in pairwise(starts)] == texts
    assert encode_letters(pl.Series([], dtype=pl.String))[0].size == 0


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_numbers_are_counted_range_by_range(monkeypatch, threads):
    monkeypatch.setattr(distinct_rows, "COUNTED", 100)
    numbers = np.random.default_rng(6).integers(0, 50, 1_234).astype(np.int32)
    expected = np.bincount(numbers, minlength=60)
    assert np.array_equal(distinct_rows.count_numbers(numbers, 60, threads), expected)


def test_bands_are_those_of_the_more_frequent_value():
    rng = np.random.default_rng(7)
    codes = rng.integers(-1, 9, 50).astype(np.int32)
    pairs = rng.integers(0, 50, (300, 2)).astype(np.int32)
    differ = rng.integers(1, 4, 300)
    levels = np.where(codes[pairs[:, 0]] == codes[pairs[:, 1]], 0, differ).astype(np.int8)
    levels[codes[pairs].min(axis=1) < 0] = -1
    bands = Bands(rng.integers(0, 4, 9).astype(np.int8), np.ones(4), np.ones(4))
    frequent = bands.of_form[codes[pairs]].max(axis=1)
    expected = np.where((levels >= 0) & (levels < 3), frequent, 0)
    assert np.array_equal(find_bands_of_pairs(bands, codes, pairs, levels, 3), expected)


@pytest.mark.parametrize("n_parts", [1, 4])
def test_pairs_of_several_keys_are_put_together(monkeypatch, n_parts):
    monkeypatch.setattr(pair_budget, "RANGE", 50)
    monkeypatch.setattr(keys, "SCANNED", 70)
    blocks = np.random.default_rng(8).integers(-1, 40, (3, 300)).astype(np.int32)
    work = work_here()
    for name, array in zip("abc", blocks, strict=True):
        work.store.put(name, array)
    order = np.random.default_rng(9).permutation(300).astype(np.int32)
    work.store.put(keys.ORDER, order)
    work.store.put(keys.RANK, np.argsort(order).astype(np.int32))
    gathered = PairBudget(work, 300, 10**6, n_parts)
    wanted = [keys.Key(name, (name,), 300) for name in "abc"]
    costs = [one.cost(10**6) for one in keys.price_keys(work, wanted, 300, n_parts)]
    assert gathered.take(list(zip(wanted, costs, strict=True))) == [True] * 3
    halves = [merge_pairs(work.store, gathered.found, 300, *ends) for ends in ((0, 90), (90, 300))]
    pairs, n_found = (np.concatenate(both) for both in zip(*halves, strict=True))
    i, j = np.triu_indices(300, 1)
    n_keys = ((blocks[:, i] == blocks[:, j]) & (blocks[:, i] >= 0)).sum(axis=0)
    assert np.array_equal(pairs, np.column_stack([i, j])[n_keys > 0])
    assert np.array_equal(n_found, n_keys[n_keys > 0])


def test_a_share_of_keys_is_always_the_same():
    keys = np.random.default_rng(9).integers(0, 10**12, 50_000)
    some = sample_keys(keys, 0.1)
    assert some.size == pytest.approx(5_000, rel=0.1)
    assert np.array_equal(some, keys[np.isin(keys, some)])

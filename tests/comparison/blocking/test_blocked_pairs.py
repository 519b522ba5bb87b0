"""Candidates are found by many keys, each pair once, in number linear in the records."""

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.comparison import compare
from kolchin.comparison.blocking import blocked_pairs
from kolchin.comparison.blocking.keys import ORDER, RANK, Cost, Key
from kolchin.comparison.blocking.missed_links import estimate_missed_share
from kolchin.comparison.blocking.pair_budget import PairBudget, merge_pairs, sort_distinct
from kolchin.comparison.blocking.similar_texts import EMPTY
from kolchin.comparison.kinds.strings import encode_letters
from kolchin.comparison.pair_kernels.blocks import count_pairs, list_pairs
from kolchin.comparison.pair_kernels.pair_levels import number_pairs
from kolchin.comparison.text_kernels.min_hashes import write_least_hashes
from kolchin.errors import DataError
from kolchin.workplace import work_here

# Hashes wrap around by design; interpreted, NumPy's scalars say so.
WRAPS = pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")
FIELDS = [kp.Text("first"), kp.Text("last"), kp.Date("born")]


def people(n: int, seed: int = 1) -> pl.DataFrame:
    """Make n different persons, then the same again with one letter of the last name changed."""
    rng = np.random.default_rng(seed)
    syllables = np.array([a + b for a in "bdfgklmnprst" for b in "aeiou"], dtype=object)
    first = syllables[rng.integers(0, 60, (n, 2))].sum(axis=1)
    last = syllables[rng.integers(0, 60, (n, 3))].sum(axis=1)
    born = (np.datetime64("1940-01-01") + rng.integers(0, 20_000, n)).astype(str)
    place = rng.integers(0, 6, n)
    wrong = [name[:k] + "x" + name[k + 1 :] for name, k in zip(last, place, strict=True)]
    return pl.DataFrame(
        {
            "first": [*first, *first],
            "last": [*last, *wrong],
            "born": [*born, *born],
        }
    )


def test_few_records_are_all_compared():
    records = kp.Records.from_table(people(1), FIELDS)
    compared = compare(records)
    assert compared.pairs.tolist() == [[0, 1]]
    assert compared.report.keys[0].key == "all pairs"
    assert compared.report.missed == 0


@pytest.fixture(scope="module")
def many():
    records = kp.Records.from_table(people(12_000), FIELDS)
    return records, compare(records)


def test_candidates_are_pairs_in_order_each_once_and_within_the_budget(many):
    records, compared = many
    pairs = compared.pairs.astype(np.int64)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert (np.diff(pairs[:, 0] * len(records) + pairs[:, 1]) > 0).all()
    assert len(pairs) <= 1.01 * max(
        blocked_pairs.FEWEST, blocked_pairs.PAIRS_A_RECORD * len(records)
    )
    assert compared.levels.shape == (len(pairs), 3) == compared.bands.shape


def test_misspelt_records_are_found(many):
    records, compared = many
    n = len(records) // 2
    found = np.count_nonzero(compared.pairs[:, 1] - compared.pairs[:, 0] == n)
    assert found >= 0.999 * n


def test_candidates_are_the_same_every_time(many):
    records, compared = many
    again = compare(records)
    assert np.array_equal(compared.pairs, again.pairs)
    assert np.array_equal(compared.levels, again.levels)
    assert compared.report == again.report
    assert all(map(np.array_equal, compared.u, again.u))


def test_candidates_do_not_hang_on_the_order_of_rows_where_no_window_cuts():
    table = people(3_000)
    order = np.random.default_rng(3).permutation(table.height)
    there = compare(kp.Records.from_table(table, FIELDS)).pairs
    here = compare(kp.Records.from_table(table[order], FIELDS)).pairs
    back = np.sort(order[here], axis=1)
    shared = {tuple(pair) for pair in there.tolist()} & {tuple(pair) for pair in back.tolist()}
    assert len(shared) > 0.95 * len(there)


def test_a_block_of_thousands_does_not_explode():
    table = people(5_000)
    same = pl.DataFrame({"first": ["john"], "last": ["smith"], "born": ["1970-01-01"]})
    table = pl.concat([table, pl.concat([same] * 10_000)])
    report = compare(kp.Records.from_table(table, FIELDS)).report
    assert report.pairs_a_record <= 1.01 * blocked_pairs.PAIRS_A_RECORD
    assert max(used.capped_records for used in report.keys) >= 10_000
    assert report.table().height == len(report.keys)


def test_records_without_values_are_no_candidates():
    table = people(1_500)
    blank = pl.DataFrame({"first": [None], "last": [None], "born": [None]})
    table = pl.concat([table, pl.concat([blank] * 1_500)], how="vertical_relaxed")
    pairs = compare(kp.Records.from_table(table, FIELDS)).pairs
    assert len(pairs)
    assert pairs.max() < 3_000


def test_users_add_keys():
    rng = np.random.default_rng(2)
    table = people(1_500).with_columns(team=pl.Series(rng.permutation(np.repeat(range(500), 6))))
    fields = [*FIELDS, kp.Categorical("team")]
    compared = compare(kp.Records.from_table(table, fields), keys=[("team",)])
    team = table["team"].to_numpy()
    n_found = np.count_nonzero(team[compared.pairs[:, 0]] == team[compared.pairs[:, 1]])
    assert n_found == 500 * 15
    assert compared.report.keys[0].key == "team"
    with pytest.raises(DataError, match=r"No field 'tam' for a key\. Did you mean 'team'"):
        compare(kp.Records.from_table(table, fields), keys=[("tam",)])


@pytest.mark.parametrize(("limit", "window"), [(1, 1), (2, 2), (3, 1), (5, 2), (100, 3)])
def test_blocks_give_the_pairs_that_were_counted(limit, window):
    rng = np.random.default_rng(limit)
    blocks = np.sort(rng.integers(-1, 12, 60))
    records = rng.permutation(60).astype(np.int32)
    n_pairs = count_pairs(blocks, np.array([limit]), window)[0, 0]
    out = np.empty(n_pairs, dtype=np.int64)
    assert list_pairs(blocks, records, 60, limit, window, out) == n_pairs
    expected = set()
    for block in range(12):
        inside = records[blocks == block]
        reach = inside.size if inside.size <= limit else window
        expected |= {
            tuple(sorted((int(a), int(b))))
            for i, a in enumerate(inside)
            for b in inside[i + 1 : i + 1 + reach]
        }
    assert {tuple(map(int, divmod(pair, 60))) for pair in out} == expected
    assert sort_distinct(out).size == n_pairs


@WRAPS
def test_pairs_of_forms_are_numbered_by_first_appearance():
    rng = np.random.default_rng(6)
    left, right = rng.integers(-1, 8, (2, 300), dtype=np.int32)
    levels, numbers = np.full(300, 7, dtype=np.int8), np.empty(300, dtype=np.int32)
    table, slots = np.full(512, -1, dtype=np.int64), np.empty(512, dtype=np.int32)
    keys = number_pairs(left, right, 10**9, levels, table, slots, numbers)
    low, high = np.minimum(left, right), np.maximum(left, right)
    told = (low < 0) | (low == high)
    assert np.array_equal(levels, np.where(low < 0, -1, np.where(low == high, 0, 7)))
    assert np.array_equal(numbers < 0, told)
    packed = low[~told].astype(np.int64) * 10**9 + high[~told]
    assert keys.tolist() == list(dict.fromkeys(packed.tolist()))
    assert np.array_equal(keys[numbers[~told]], packed)


@WRAPS
def test_least_hashes_agree_as_often_as_grams_are_shared():
    texts = pl.Series(["abcdefghijkl", "abcdefghixyz", "qrstuvw", "ab", ""])
    seeds = np.random.default_rng(7).integers(0, 2**63, 4_000, dtype=np.uint64)
    least = np.full((5, seeds.size), EMPTY, dtype=np.uint32)
    write_least_hashes(*encode_letters(texts), 3, seeds, 0, 5, least)
    # The first two share 7 of 13 grams.
    assert np.mean(least[0] == least[1]) == pytest.approx(7 / 13, abs=0.04)
    assert np.mean(least[0] == least[2]) < 0.001
    assert (least[3] < EMPTY).any()
    assert (least[4] == EMPTY).all()


@pytest.mark.parametrize("n_records", [2, 3_000])
def test_records_that_are_all_the_same_are_paired_sparsely(n_records):
    table = pl.concat([people(1)[:1]] * n_records)
    report = compare(kp.Records.from_table(table, FIELDS)).report
    assert n_records - 1 <= report.n_pairs <= 25 * n_records


def test_missed_links_are_estimated_where_keys_are_independent():
    rng = np.random.default_rng(4)
    found = rng.binomial(4, 0.4, 50_000).astype(np.int32)
    truth = np.mean(found == 0)
    n_found, once, twice = (np.count_nonzero(seen) for seen in (found > 0, found == 1, found == 2))
    assert estimate_missed_share(n_found, once, twice, 4) == pytest.approx(truth, rel=0.3)
    assert estimate_missed_share(10, 0, 0, 4) == 0


def test_swapped_columns_are_found():
    table = people(2_000)
    names = ["first", "last"]
    swapped = table[:2_000].rename(dict(zip(names, reversed(names), strict=True)))
    both = pl.concat([table[:2_000], swapped.select(table.columns)])
    records = kp.Records.from_table(both, [kp.Text("first"), kp.Text("last")])
    compared = compare(records)
    assert "first + last (either way)" in {used.key for used in compared.report.keys}
    n_found = np.count_nonzero(compared.pairs[:, 1] - compared.pairs[:, 0] == 2_000)
    assert n_found >= 0.999 * 2_000


def test_a_key_is_taken_again_only_for_more_pairs():
    work = work_here()
    work.store.put("k", np.array([0, 0, 0, 1, 1], dtype=np.int32))
    for name in (ORDER, RANK):
        work.store.put(name, np.arange(5, dtype=np.int32))
    key = Key("k", ("k",), 5)
    gathered = PairBudget(work, 5, 100)
    small, large = Cost(3, 2, 1, 1, 3), Cost(4, 3, 2, 0, 0)
    assert gathered.take([(key, small), (key, large), (key, small)]) == [True, True, False]
    pairs, n_found = merge_pairs(work.store, gathered.found, 5, 0, 5)
    assert pairs.tolist() == [[0, 1], [0, 2], [1, 2], [3, 4]]
    assert n_found.tolist() == [1, 1, 1, 1]
    assert gathered.left == 96


def test_a_key_needs_a_column():
    records = kp.Records.from_table(people(2), FIELDS)
    with pytest.raises(DataError, match="at least one column"):
        compare(records, keys=[()])


def test_long_texts_are_found_by_shared_letters_though_words_moved():
    rng = np.random.default_rng(5)
    words = np.array([f"{a}{b}{c}ton" for a in "bcdfgh" for b in "aeiou" for c in "klmnrs"])
    lines = [" ".join(rng.choice(words, 5)) for _ in range(2_000)]
    moved = [" ".join(rng.permutation(line.split())) for line in lines]
    records = kp.Records.from_table({"line": lines + moved}, [kp.Text("line")])
    pairs = compare(records).pairs
    assert np.count_nonzero(pairs[:, 1] - pairs[:, 0] == 2_000) >= 0.95 * 2_000

"""Keys of texts: records that share rare words, or two words; bounded, whatever the texts."""

from itertools import combinations

import numpy as np
import pytest

import kolchin as kp
from kolchin.comparison import compare
from kolchin.comparison.blocking import blocked_pairs
from kolchin.comparison.blocking.word_blocks import (
    RAREST,
    SIZES,
    SIZES_OF_TWO,
    list_word_blocks,
    pair_rarest_words,
)
from kolchin.comparison.kinds.preparing import prepare_all


def records_of(texts):
    return kp.Records.from_table({"name": texts}, fields=[kp.Words("name")])


def draw_texts(n: int, seed: int = 1) -> list[str]:
    rng = np.random.default_rng(seed)
    words = [f"{a}{b}{c}" for a in "bdgklm" for b in "aeiou" for c in ("la", "ne", "ro", "st", "x")]
    weights = 1 / (1 + np.arange(len(words)))
    drawn = rng.choice(words, (n, 6), p=weights / weights.sum())
    return [" ".join(row) for row in drawn]


def test_records_in_a_block_share_what_it_stands_for():
    texts = draw_texts(300)
    (prepared,) = prepare_all(records_of(texts), None)
    keys = list(list_word_blocks(prepared, 0))
    assert len(keys) == len(SIZES) + len(SIZES_OF_TWO) - 2
    for k, key in enumerate(keys):
        n_shared = 1 if k < len(SIZES) - 1 else 2
        for block in np.unique(key.blocks):
            sets = [set(texts[n].split()) for n in key.records[key.blocks == block]]
            assert len(set.intersection(*sets)) >= n_shared


def test_blocks_are_small_and_a_record_is_in_few():
    (prepared,) = prepare_all(records_of(draw_texts(2_000)), None)
    keys = list(list_word_blocks(prepared, 0))
    for key, most in zip(keys, (*SIZES[1:], *SIZES_OF_TWO[1:]), strict=True):
        assert np.bincount(key.blocks).max(initial=0) <= most
    of_two = np.concatenate([key.records for key in keys[len(SIZES) - 1 :]])
    assert np.bincount(of_two).max() <= RAREST * (RAREST - 1) // 2


def test_pairs_are_of_the_rarest_words():
    rng = np.random.default_rng(2)
    counts = rng.integers(1, 50, 30)
    sets = [np.sort(rng.choice(30, size, replace=False)) for size in (1, 2, 6, 12)]
    records = np.repeat(np.arange(4), [one.size for one in sets]).astype(np.int32)
    owners, numbers = pair_rarest_words(records, np.concatenate(sets).astype(np.int32), counts)
    expected = []
    for n, words in enumerate(sets):
        rarest = sorted(words.tolist(), key=lambda word: (counts[word], word))[:RAREST]
        expected += [(n, min(two) * 30 + max(two)) for two in combinations(rarest, 2)]
    assert sorted(zip(owners.tolist(), numbers.tolist(), strict=True)) == sorted(expected)


@pytest.mark.parametrize("n", [1_500, 3_000])
def test_texts_that_share_a_rare_code_are_candidates_and_pairs_are_linear(n, monkeypatch):
    monkeypatch.setattr(blocked_pairs, "FEWEST", 10_000)
    texts = draw_texts(n, seed=3)
    for k in range(0, 200, 2):  # a hundred pairs with a code in common and nothing else
        texts[k] += f" AB-{1_000 + k}"
        texts[k + 1] = f"thing{k} ab{1_000 + k}"
    compared = compare(records_of(texts))
    found = {tuple(pair) for pair in compared.pairs.tolist()}
    assert all((k, k + 1) in found for k in range(0, 200, 2))
    assert compared.report.pairs_a_record <= blocked_pairs.PAIRS_A_RECORD

"""Records that share a rare word, or two that are rare together: keys of texts of many words.

Words of many records would give pairs without number, so that they come in pairs of words. A record
is in a bounded number of blocks, and no block is large: pairs are linear in the records.
"""

from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.blocking.blocking_features import WordBlocks
from kolchin.comparison.kinds.base import Codes
from kolchin.comparison.kinds.long_texts import WordsComparer
from kolchin.comparison.kinds.preparing import PreparedField

SIZES = (1, 4, 12, 40, 120)
"""Words of up to so many records make a key of their own each, the rarest the cheapest."""

RAREST = 6
"""Pairs are made of so many of a record's words: the rarest that are no block of the first key."""

SIZES_OF_TWO = (1, 2, 4, 8, 16, 40)
"""The same for two words."""


def list_word_blocks(prepared: PreparedField, field: int) -> Iterator[WordBlocks]:
    """Give the keys of a field of texts: words by how rare they are, then two words at once."""
    if not isinstance(prepared.comparing, WordsComparer):
        return
    name = prepared.field.column
    records, words = _list_words_of_records(prepared.codes, prepared.comparing)
    counts = np.bincount(words, minlength=prepared.comparing.vocabulary.len())
    for fewer, most in pairwise(SIZES):
        inside = (counts[words] > fewer) & (counts[words] <= most)
        yield WordBlocks(
            f"{name} (a word of {most} or fewer)", field, records[inside], words[inside]
        )
    frequent = counts[words] > SIZES[1]
    records, numbers = pair_rarest_words(records[frequent], words[frequent], counts)
    _, blocks, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
    for fewer, most in pairwise(SIZES_OF_TWO):
        inside = (sizes[blocks] > fewer) & (sizes[blocks] <= most)
        some = records[inside], blocks[inside].astype(np.int32)
        yield WordBlocks(f"{name} (two words of {most} or fewer)", field, *some)


def _list_words_of_records(codes: Codes, comparing: WordsComparer) -> tuple[Codes, Codes]:
    """Return each record with each of its words, one after another."""
    shown = np.flatnonzero(codes >= 0).astype(np.int32)
    forms = codes[shown]
    lengths = np.diff(comparing.starts)[forms]
    records = np.repeat(shown, lengths)
    first = np.repeat(comparing.starts[forms] - np.append(0, np.cumsum(lengths)[:-1]), lengths)
    return records, comparing.words[first + np.arange(records.size)]


def pair_rarest_words(
    records: Codes, words: Codes, counts: NDArray[np.int64]
) -> tuple[Codes, NDArray[np.int64]]:
    """Return each record with each two of its rarest words, as one number.

    >>> pair_rarest_words(np.array([0, 0, 1]), np.array([2, 1, 1]), np.array([9, 2, 1]))
    (array([0], dtype=int32), array([5]))
    """
    order = np.lexsort((words, counts[words], records))
    records, words = records[order], words[order]
    begins = np.flatnonzero(np.append(True, records[1:] != records[:-1])[: records.size])
    rank = np.arange(records.size) - np.repeat(begins, np.diff(np.append(begins, records.size)))
    some = rank < RAREST
    row = np.cumsum(np.append(True, records[1:] != records[:-1])[: records.size]) - 1
    table = np.full((begins.size, RAREST), -1, dtype=np.int64)
    table[row[some], rank[some]] = words[some]
    found, owners = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int32)]
    for a, b in combinations(range(RAREST), 2):
        (both,) = np.nonzero((table[:, a] >= 0) & (table[:, b] >= 0))
        low, high = np.sort(table[both][:, [a, b]], axis=1).T
        found.append(low * counts.size + high)
        owners.append(records[begins[both]].astype(np.int32))
    return np.concatenate(owners), np.concatenate(found)

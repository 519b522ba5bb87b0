"""Similarities and edit distances of many pairs of strings at once."""

from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison.kinds.base import Codes
from kolchin.comparison.text_kernels.edit_distance import measure_distances
from kolchin.comparison.text_kernels.edits import (
    count_common_ends,
    count_common_starts,
    count_few_edits,
    find_same_texts,
)
from kolchin.comparison.text_kernels.jaro_winkler import measure_similarities

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]
Letters = NDArray[np.uint8] | NDArray[np.uint32]

SHORTEST_MISTYPED = 3
LETTERS_AN_EDIT = 10
LEAST_SIMILAR = 0.5
"""Two strings of three letters or more and one edit for every ten are at least so similar."""


class Strings:
    """Strings to compare by their places."""

    def __init__(self, texts: pl.Series) -> None:
        self._series = texts
        self.lengths = texts.str.len_chars().to_numpy().astype(np.int32)

    def __getstate__(self) -> dict[str, Any]:
        """Go to others as letters, which they share, and not as text."""
        return {"_series": self._series.clear(), "lengths": self.lengths, "letters": self.letters}

    @cached_property
    def letters(self) -> tuple[Letters, Codes]:
        """The letters one after another, and where each text begins and ends."""
        return encode_letters(self._series)

    def similarity(self, left: Codes, right: Codes) -> NDArray[np.float32]:
        """Return Jaro-Winkler similarities, from 0 to 1."""
        result: NDArray[np.float32] = measure_similarities(*self.letters, left, right)
        return result

    def same(self, left: Codes, right: Codes) -> Bools:
        """Tell which texts are the same."""
        result: Bools = find_same_texts(*self.letters, left, right)
        return result

    def edits(self, left: Codes, right: Codes, most: int) -> Ints:
        """Return how many letters are more, less, other, or exchanged with the next.

        Whatever is more than `most` counts as one more than that.
        """
        if most == 1:
            edits: Ints = count_few_edits(*self.letters, left, right)
        else:
            edits = measure_distances(*self.letters, left, right, most)
        return edits

    def common_start(self, left: Codes, right: Codes) -> Ints:
        """Return how many letters at the start are the same."""
        result: Ints = count_common_starts(*self.letters, left, right)
        return result

    def common_end(self, left: Codes, right: Codes) -> Ints:
        """Return how many letters at the end are the same."""
        result: Ints = count_common_ends(*self.letters, left, right)
        return result

    def shorter(self, left: Codes, right: Codes) -> Ints:
        """Return the length of the shorter one of each pair."""
        return np.minimum(self.lengths[left], self.lengths[right])

    def find_mistyped(self, left: Codes, right: Codes) -> Bools:
        """Tell pairs with one edit for every ten letters begun; short ones may be anything."""
        result = np.zeros(left.size, dtype=np.bool_)
        longer = np.maximum(self.lengths[left], self.lengths[right])
        allowed = 1 + (longer - 1) // LETTERS_AN_EDIT
        gap = longer - self.shorter(left, right)
        possible = (longer - gap >= SHORTEST_MISTYPED) & (gap <= allowed)
        # One edit, the usual case, is told much faster than several.
        for several in (False, True):
            (where,) = np.nonzero(possible & ((allowed > 1) == several))
            if where.size:
                most = int(allowed[where].max())
                edits = self.edits(left[where], right[where], most)
                result[where] = edits <= allowed[where]
        return result


def encode_letters(texts: pl.Series) -> tuple[Letters, Codes]:
    """Return the letters of all texts one after another, and where each text begins and ends.

    A letter has one byte if all are of the first 256.
    """
    joined = str(texts.str.join("")[0] or "")
    starts = find_offsets(texts.str.len_chars().to_numpy())
    try:
        return np.frombuffer(joined.encode("latin-1"), dtype=np.uint8), starts
    except UnicodeEncodeError:
        return np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32), starts


def find_offsets(lengths: NDArray[Any]) -> Codes:
    """Return where each of several things begins and ends that come one after another."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)

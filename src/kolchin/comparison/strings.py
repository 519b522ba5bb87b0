"""Similarities and edit distances of many pairs of strings at once."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA, JaroWinkler, Prefix

from kolchin.comparison.base import Codes

Bools = NDArray[np.bool_]
Ints = NDArray[np.int32]

SHORTEST_MISTYPED = 3
LETTERS_AN_EDIT = 10
LEAST_SIMILAR = 0.5
"""Two strings of three letters or more and one edit for every ten are at least so similar."""


class Strings:
    """Strings to compare by their places."""

    def __init__(self, texts: pl.Series) -> None:
        self.texts: NDArray[Any] = texts.to_numpy().astype(object)
        self.lengths = texts.str.len_chars().to_numpy().astype(np.int32)

    def similarity(self, left: Codes, right: Codes) -> NDArray[np.float32]:
        """Return Jaro-Winkler similarities, from 0 to 1."""
        return self._scores(left, right, JaroWinkler.similarity, dtype=np.float32)

    def edits(self, left: Codes, right: Codes, most: int) -> Ints:
        """Return how many letters are more, less, other, or exchanged with the next.

        Whatever is more than `most` counts as one more than that.
        """
        return self._scores(left, right, OSA.distance, dtype=np.int32, score_cutoff=most)

    def common_start(self, left: Codes, right: Codes) -> Ints:
        """Return how many letters at the start are the same."""
        return self._scores(left, right, Prefix.similarity, dtype=np.int32)

    def shorter(self, left: Codes, right: Codes) -> Ints:
        """Return the length of the shorter one of each pair."""
        return np.minimum(self.lengths[left], self.lengths[right])

    def mistyped(self, left: Codes, right: Codes) -> Bools:
        """Tell pairs with one edit for every ten letters begun; short ones may be anything."""
        result = np.zeros(left.size, dtype=np.bool_)
        longer = np.maximum(self.lengths[left], self.lengths[right])
        allowed = 1 + (longer - 1) // LETTERS_AN_EDIT
        gap = longer - self.shorter(left, right)
        (where,) = np.nonzero((longer - gap >= SHORTEST_MISTYPED) & (gap <= allowed))
        if where.size:
            most = int(allowed[where].max())
            edits = self.edits(left[where], right[where], most)
            result[where] = edits <= allowed[where]
        return result

    def _scores(self, left: Codes, right: Codes, scorer: Any, **options: Any) -> NDArray[Any]:
        first, second = self.texts[left].tolist(), self.texts[right].tolist()
        return np.asarray(process.cpdist(first, second, scorer=scorer, **options))

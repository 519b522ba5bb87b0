"""Pairs of records become levels; each pair of values is compared once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.base import EXACT, MISSING, Codes, Comparing, Levels
from kolchin.comparison.numbering import distinct_keys

CHUNK = 1_000_000
"""So many pairs of values are compared at a time, to keep lists of Python strings small."""


def compare_codes(comparing: Comparing, left: Codes, right: Codes) -> Levels:
    """Return the level of each pair of forms, -1 where either is missing."""
    levels = np.full(left.size, EXACT, dtype=np.int8)
    low, high = np.minimum(left, right), np.maximum(left, right)
    levels[low < 0] = MISSING
    (differ,) = np.nonzero((low >= 0) & (low != high))
    if not differ.size:
        return levels
    n_forms = comparing.forms.len()
    keys = low[differ].astype(np.int64) * n_forms + high[differ]
    numbers = np.empty(keys.size, dtype=np.int32)
    levels[differ] = _in_chunks(comparing, distinct_keys(keys, numbers), n_forms)[numbers]
    return levels


def _in_chunks(comparing: Comparing, keys: NDArray[np.int64], n_forms: int) -> Levels:
    parts = []
    for start in range(0, keys.size, CHUNK):
        low, high = np.divmod(keys[start : start + CHUNK], n_forms)
        parts.append(comparing.levels(low.astype(np.int32), high.astype(np.int32)))
    return np.concatenate(parts)


def compare_pairs(
    comparing: Sequence[Comparing], codes: Sequence[Codes], pairs: NDArray[np.int32]
) -> Levels:
    """Return the levels of pairs of records, one column a field."""
    levels = np.empty((len(pairs), len(comparing)), dtype=np.int8, order="F")
    for f, (kind, places) in enumerate(zip(comparing, codes, strict=True)):
        levels[:, f] = compare_codes(kind, places[pairs[:, 0]], places[pairs[:, 1]])
    return levels

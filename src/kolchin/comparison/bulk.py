"""Pairs of records become levels; each pair of values is compared once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.base import Codes, Comparing, Levels
from kolchin.comparison.kernels import number_pairs, write_levels

CHUNK = 1_000_000
"""So many pairs of values are compared at a time, to keep lists of Python strings small."""


def compare_codes(comparing: Comparing, left: Codes, right: Codes) -> Levels:
    """Return the level of each pair of forms, -1 where either is missing."""
    levels = np.empty(left.size, dtype=np.int8)
    numbers = np.empty(left.size, dtype=np.int32)
    size = 1 << int(1.5 * left.size).bit_length()
    table, slots = np.full(size, -1, dtype=np.int64), np.empty(size, dtype=np.int32)
    n_forms = comparing.forms.len()
    keys = number_pairs(left, right, n_forms, levels, table, slots, numbers)
    if keys.size:
        write_levels(numbers, _in_chunks(comparing, keys, n_forms), levels)
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
    first, second = np.ascontiguousarray(pairs.T)
    for f, (kind, places) in enumerate(zip(comparing, codes, strict=True)):
        levels[:, f] = compare_codes(kind, places[first], places[second])
    return levels

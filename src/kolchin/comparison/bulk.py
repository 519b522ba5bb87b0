"""Pairs of records become levels, range after range."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.base import Codes, Comparing, Levels
from kolchin.comparison.kernels import compare_forms, number_pairs, write_levels
from kolchin.threads import over_ranges

RANGE = 1 << 17
"""So many pairs are compared at a time, which keeps what is needed beside them small."""


def compare_codes(comparing: Comparing, left: Codes, right: Codes) -> Levels:
    """Return the level of each pair of forms, -1 where either is missing."""
    if comparing.custom:
        return _each_once(comparing, left, right)
    levels = np.empty(left.size, dtype=np.int8)

    def compare(first: int, last: int) -> None:
        _compare(comparing, left[first:last], right[first:last], levels[first:last])

    over_ranges(compare, left.size, RANGE)
    return levels


def _compare(comparing: Comparing, left: Codes, right: Codes, levels: Levels) -> None:
    """Write the levels of some pairs of forms."""
    rest = compare_forms(left, right, levels)
    if rest.size:
        a, b = left[rest], right[rest]
        levels[rest] = comparing.levels(np.minimum(a, b), np.maximum(a, b))


def _each_once(comparing: Comparing, left: Codes, right: Codes) -> Levels:
    """Compare each pair of forms once, since a user's own function may be slow."""
    levels = np.empty(left.size, dtype=np.int8)
    numbers = np.empty(left.size, dtype=np.int32)
    size = 1 << int(1.5 * left.size).bit_length()
    table, slots = np.full(size, -1, dtype=np.int64), np.empty(size, dtype=np.int32)
    n_forms = comparing.forms.len()
    keys = number_pairs(left, right, n_forms, levels, table, slots, numbers)
    if keys.size:
        low, high = np.divmod(keys, n_forms)
        write_levels(numbers, comparing.levels(low.astype(np.int32), high.astype(np.int32)), levels)
    return levels


def compare_pairs(
    comparing: Sequence[Comparing],
    codes: Sequence[Codes],
    pairs: NDArray[np.int32],
    threads: int | None = None,
) -> Levels:
    """Return the levels of pairs of records, one column a field."""
    levels = np.empty((len(pairs), len(comparing)), dtype=np.int8, order="F")
    fields = list(zip(comparing, codes, strict=True))

    def compare(first: int, last: int) -> None:
        i, j = np.ascontiguousarray(pairs[first:last].T)
        for f, (kind, places) in enumerate(fields):
            if not kind.custom:
                _compare(kind, places[i], places[j], levels[first:last, f])

    over_ranges(compare, len(pairs), RANGE, threads)
    for f, (kind, places) in enumerate(fields):
        if kind.custom:
            levels[:, f] = _each_once(kind, places[pairs[:, 0]], places[pairs[:, 1]])
    return levels

"""Pairs of records become levels, range after range."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.kinds.base import Codes, Comparer, Levels
from kolchin.comparison.pair_kernels.pair_levels import compare_forms, number_pairs, write_levels
from kolchin.threads import call_over_ranges

RANGE = 1 << 17
"""So many pairs are compared at a time, which keeps what is needed beside them small."""


MOST_FREQUENT = 1_500
PAIRS_A_CELL = 6
LEAST_COVERED = 0.1
"""Frequent forms are compared once with each other: so many at most, for so many pairs of records
that each saves some, if this share of all pairs is of such forms."""


class FrequentForms(NamedTuple):
    """Ranks of the frequent forms, -1 for others, and the levels between them."""

    ranks: NDArray[np.int16]
    table: NDArray[np.int8]


NONE_FREQUENT = FrequentForms(np.empty(0, dtype=np.int16), np.empty((0, 0), dtype=np.int8))


def compare_codes(comparing: Comparer, left: Codes, right: Codes) -> Levels:
    """Return the level of each pair of forms, -1 where either is missing."""
    if comparing.custom:
        return _compare_each_once(comparing, left, right)
    levels = np.empty(left.size, dtype=np.int8)

    def compare(first: int, last: int) -> None:
        part = left[first:last], right[first:last], levels[first:last]
        _compare_range(comparing, NONE_FREQUENT, *part)

    call_over_ranges(compare, left.size, RANGE)
    return levels


def _compare_range(
    comparing: Comparer, frequent: FrequentForms, left: Codes, right: Codes, levels: Levels
) -> None:
    """Write the levels of some pairs of forms."""
    rest = compare_forms(left, right, *frequent, levels)
    if rest.size:
        a, b = left[rest], right[rest]
        levels[rest] = comparing.levels(np.minimum(a, b), np.maximum(a, b))


def tabulate_frequent_forms(comparing: Comparer, codes: Codes, n_pairs: int) -> FrequentForms:
    """Compare the frequent forms with each other, if that saves much."""
    n_forms = comparing.forms.len()
    size = min(MOST_FREQUENT, int((n_pairs / PAIRS_A_CELL) ** 0.5), n_forms)
    counts = np.bincount(codes[codes >= 0], minlength=n_forms)
    top = np.argsort(-counts, kind="stable")[:size].astype(np.int32)
    share = counts[top].sum() / max(int(counts.sum()), 1)
    if comparing.custom or share * share < LEAST_COVERED:
        return NONE_FREQUENT
    ranks = np.full(n_forms, -1, dtype=np.int16)
    ranks[top] = np.arange(size)
    a, b = np.triu_indices(size, 1)
    table = np.zeros((size, size), dtype=np.int8)
    table[a, b] = table[b, a] = compare_codes(comparing, top[a], top[b])
    return FrequentForms(ranks, table)


def _compare_each_once(comparing: Comparer, left: Codes, right: Codes) -> Levels:
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
    comparing: Sequence[Comparer],
    codes: Sequence[Codes],
    pairs: NDArray[np.int32],
    known: Sequence[FrequentForms],
    threads: int | None = None,
) -> Levels:
    """Return the levels of pairs of records, one column a field.

    Of frequent forms, the levels between them are known.
    """
    levels = np.empty((len(pairs), len(comparing)), dtype=np.int8, order="F")
    fields = list(zip(comparing, known, codes, strict=True))

    def compare(first: int, last: int) -> None:
        i, j = np.ascontiguousarray(pairs[first:last].T)
        for f, (kind, frequent, places) in enumerate(fields):
            if not kind.custom:
                _compare_range(kind, frequent, places[i], places[j], levels[first:last, f])

    call_over_ranges(compare, len(pairs), RANGE, threads)
    for f, (kind, _, places) in enumerate(fields):
        if kind.custom:
            levels[:, f] = _compare_each_once(kind, places[pairs[:, 0]], places[pairs[:, 1]])
    return levels

"""Pairs of records: found again, and listed by record."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.pair_kernels.pair_search import find_pairs
from kolchin.comparison.pair_kernels.record_lists import (
    count_neighbours,
    list_neighbours,
    sort_neighbours,
)
from kolchin.threads import call_over_ranges

PairArray = NDArray[np.int32]


class RecordLists(NamedTuple):
    """With whom each record is paired, in lists one after another, and a mark of each pair.

    Those of record n are sorted and stand from ``begins[n]`` to ``begins[n + 1]``.
    """

    begins: NDArray[np.int64]
    others: NDArray[np.int32]
    marks: NDArray[np.int32]


def find_places(pairs: PairArray, wanted: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return where each wanted pair stands among sorted ones, -1 where it does not.

    >>> pairs = np.array([[0, 2], [1, 2]], dtype=np.int32)
    >>> find_places(pairs, np.array([[2, 1], [0, 1]])).tolist()
    [1, -1]
    """
    places = np.empty(len(wanted), dtype=np.int64)
    find_pairs(pairs, wanted, places)
    return places


def list_by_record(
    parts: Sequence[tuple[PairArray, NDArray[np.int32]]],
    n_records: int,
    order: NDArray[np.int64] | None = None,
) -> RecordLists:
    """List for each record those it is paired with, in order, and the marks of these pairs.

    Parts are pairs with their marks. With an order, all is in terms of places in it.

    >>> pairs, marks = np.array([[0, 2], [1, 2]], dtype=np.int32), np.array([7, 8], dtype=np.int32)
    >>> [array.tolist() for array in list_by_record([(pairs, marks)], 3)]
    [[0, 1, 2, 4], [2, 2, 0, 1], [7, 8, 7, 8]]
    """
    place = np.arange(n_records, dtype=np.int32)
    if order is not None:
        place[order] = np.arange(n_records, dtype=np.int32)
    begins = np.zeros(n_records + 1, dtype=np.int64)
    for pairs, _ in parts:
        count_neighbours(pairs, place, begins)
    np.cumsum(begins, out=begins)
    others = np.empty(begins[-1], dtype=np.int32)
    of_other = np.empty(begins[-1], dtype=np.int32)
    reached = begins[:-1].copy()
    for pairs, marks in parts:
        list_neighbours(pairs, marks, place, reached, others, of_other)
    call_over_ranges(lambda a, b: sort_neighbours(begins, others, of_other, a, b), n_records)
    return RecordLists(begins, others, of_other)


def list_numbered_pairs(
    pairs: PairArray, n_records: int, order: NDArray[np.int64] | None = None
) -> RecordLists:
    """List for each record those it is paired with; marks are the numbers of the pairs.

    >>> list_numbered_pairs(np.array([[0, 2], [1, 2]], dtype=np.int32), 3).marks.tolist()
    [0, 1, 0, 1]
    """
    return list_by_record([(pairs, np.arange(len(pairs), dtype=np.int32))], n_records, order)

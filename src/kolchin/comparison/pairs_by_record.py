"""Compared pairs: found again, and listed by record."""

from collections.abc import Sequence
from typing import Any

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
RecordLists = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]


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

    Parts are pairs with their marks. The lists are one after the other: where each begins, the
    others and the marks. With an order, all is in terms of places in it.

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
    return begins, others, of_other

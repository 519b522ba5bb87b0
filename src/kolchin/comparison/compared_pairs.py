"""Pairs that were compared, in parts by their smaller record."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.distinct_rows import count_numbers
from kolchin.comparison.pairs_by_record import PairArray, find_places
from kolchin.engines.here import Here
from kolchin.store import MemoryStore, Store
from kolchin.workplace import Workplace

Numbers = NDArray[np.int32]


class PairPart(NamedTuple):
    """Some pairs i < j, sorted, and which outcome each of them has."""

    pairs: PairArray
    which: Numbers


class PairPlace(NamedTuple):
    """Where a part is: its pairs and their outcomes are two objects of a store."""

    store: Store
    pairs: str
    which: str

    def get(self) -> PairPart:
        """Return the part."""
        return PairPart(self.store.get(self.pairs), self.store.get(self.which))


class PairParts:
    """All parts, where a store has them; few are in memory at a time, unless that is the store.

    Parameters
    ----------
    places
        Where each part is.
    bounds
        Part k has the pairs whose smaller record is from ``bounds[k]`` to ``bounds[k + 1]``.
    counts
        How many pairs have each outcome.
    """

    def __init__(
        self, places: Sequence[PairPlace], bounds: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> None:
        self.places = tuple(places)
        self.bounds = bounds
        self.counts = counts

    @classmethod
    def of(cls, pairs: PairArray, which: Numbers) -> "PairParts":
        """Make one part of sorted pairs."""
        store = MemoryStore()
        store.put("pairs", pairs)
        store.put("which", which)
        last = int(pairs[:, 0].max(initial=0)) + 1
        counts = count_numbers(which, int(which.max(initial=-1)) + 1)
        return cls([PairPlace(store, "pairs", "which")], np.array([0, last]), counts)

    def find_workplace(self, work: Workplace | None) -> Workplace:
        """Return where the parts can be worked on: an engine that has them in its store, or here.

        A model that was made in this process may be sampled on an engine.
        """
        store = self.places[0].store
        return work if work is not None and work.store == store else Workplace(Here(), store)

    def delete(self) -> None:
        """Take all parts out of their store."""
        for place in self.places:
            place.store.delete(place.pairs, place.which)

    def __iter__(self) -> Iterator[PairPart]:
        return (place.get() for place in self.places)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def pairs(self) -> PairArray:
        """All pairs, put together."""
        pairs: PairArray = _concatenate([part.pairs for part in self])
        return pairs

    @property
    def which(self) -> Numbers:
        """The outcomes of all pairs, put together."""
        which: Numbers = _concatenate([part.which for part in self])
        return which

    def outcomes_of(self, wanted: NDArray[np.integer[Any]]) -> Numbers:
        """Return the outcome of each wanted pair (either way round), -1 if it was not compared.

        >>> pairs, which = np.array([[0, 2], [1, 2]], np.int32), np.array([5, 6], np.int32)
        >>> PairParts.of(pairs, which).outcomes_of(np.array([[2, 1], [0, 1]])).tolist()
        [6, -1]
        """
        result = np.full(len(wanted), -1, dtype=np.int32)
        inside = np.searchsorted(self.bounds, wanted.min(axis=1), side="right") - 1
        for k in np.unique(inside[inside < len(self)]):
            part = self.places[k].get()
            (rows,) = np.nonzero(inside == k)
            places = find_places(part.pairs, wanted[rows])
            found = places >= 0
            result[rows[found]] = part.which[places[found]]
        return result


def _concatenate(arrays: list[Any]) -> Any:
    """Put arrays together; one alone is as good as it is."""
    if len(arrays) == 1:
        return arrays[0]
    whole = np.concatenate(arrays)
    whole.setflags(write=False)
    return whole

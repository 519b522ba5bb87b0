"""Pairs that were compared, in parts by their smaller record."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.distinct_rows import counted
from kolchin.comparison.pairs_by_record import Pairs, places_of
from kolchin.engines.here import Here
from kolchin.store import Memory, Store
from kolchin.workplace import Work

Numbers = NDArray[np.int32]


class Part(NamedTuple):
    """Some pairs i < j, sorted, and which outcome each of them has."""

    pairs: Pairs
    which: Numbers


class Place(NamedTuple):
    """Where a part is: its pairs and their outcomes are two objects of a store."""

    store: Store
    pairs: str
    which: str

    def get(self) -> Part:
        """Return the part."""
        return Part(self.store.get(self.pairs), self.store.get(self.which))


class Parts:
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
        self, places: Sequence[Place], bounds: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> None:
        self.places = tuple(places)
        self.bounds = bounds
        self.counts = counts

    @classmethod
    def of(cls, pairs: Pairs, which: Numbers) -> "Parts":
        """Make one part of sorted pairs."""
        store = Memory()
        store.put("pairs", pairs)
        store.put("which", which)
        last = int(pairs[:, 0].max(initial=0)) + 1
        counts = counted(which, int(which.max(initial=-1)) + 1)
        return cls([Place(store, "pairs", "which")], np.array([0, last]), counts)

    def beside(self, work: Work | None) -> Work:
        """Return where the parts can be worked on: an engine that has them in its store, or here.

        A model that was made in this process may be sampled on an engine.
        """
        store = self.places[0].store
        return work if work is not None and work.store == store else Work(Here(), store)

    def __iter__(self) -> Iterator[Part]:
        return (place.get() for place in self.places)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def pairs(self) -> Pairs:
        """All pairs, put together."""
        pairs: Pairs = _together([part.pairs for part in self])
        return pairs

    @property
    def which(self) -> Numbers:
        """The outcomes of all pairs, put together."""
        which: Numbers = _together([part.which for part in self])
        return which

    def outcomes_of(self, wanted: NDArray[np.integer[Any]]) -> Numbers:
        """Return the outcome of each wanted pair (either way round), -1 if it was not compared.

        >>> pairs, which = np.array([[0, 2], [1, 2]], np.int32), np.array([5, 6], np.int32)
        >>> Parts.of(pairs, which).outcomes_of(np.array([[2, 1], [0, 1]])).tolist()
        [6, -1]
        """
        result = np.full(len(wanted), -1, dtype=np.int32)
        inside = np.searchsorted(self.bounds, wanted.min(axis=1), side="right") - 1
        for k in np.unique(inside[inside < len(self)]):
            part = self.places[k].get()
            (rows,) = np.nonzero(inside == k)
            places = places_of(part.pairs, wanted[rows])
            found = places >= 0
            result[rows[found]] = part.which[places[found]]
        return result


def _together(arrays: list[Any]) -> Any:
    """Put arrays together; one alone is as good as it is."""
    if len(arrays) == 1:
        return arrays[0]
    whole = np.concatenate(arrays)
    whole.setflags(write=False)
    return whole

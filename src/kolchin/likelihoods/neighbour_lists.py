"""With whom each record was compared, listed by the tasks of an engine.

Each task takes a part of the compared pairs and writes what places there are to tell of them,
sorted by place; then each takes some places, reads what was written of them, and lists them.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.compared_pairs import PairParts, PairPlace
from kolchin.comparison.pair_kernels.record_lists import place_entries, sort_neighbours
from kolchin.parameters import IntArray
from kolchin.store import JoinedArray, Store
from kolchin.workplace import Workplace, fetch_held

PLACES = "places"
PLACES_A_TASK = 1 << 17

Numbers = NDArray[np.int32]


class SpreadTask(NamedTuple):
    """A part of the pairs, to be told to the places of both records, under a name."""

    part: PairPlace
    name: str


class PlaceEntries(NamedTuple):
    """Entries by place: with whom it is paired, and the pattern of the pair."""

    at: Numbers
    other: Numbers
    pattern: Numbers


class ListTask(NamedTuple):
    """Some places, what was spread, and the name of the lists to be made."""

    store: Store
    spread: tuple[str, ...]
    first: int
    last: int
    name: str


class PlaceLists(NamedTuple):
    """How many others each place has, who they are and the patterns."""

    counts: NDArray[np.int64]
    others: Numbers
    pattern: Numbers


def list_neighbours(
    parts: PairParts, pattern_of_outcome: Numbers, order: IntArray, work: Workplace
) -> tuple[Any, Any, Any]:
    """Let tasks list for each place of an order those it was compared with.

    Returns where each list begins, the others, and the pattern of each pair: the last two as arrays
    that are read when they are put into a store (``store.Joined``).
    """
    store = work.store
    place = np.empty(order.size, dtype=np.int32)
    place[order] = np.arange(order.size, dtype=np.int32)
    store.put(PLACES, (place, pattern_of_outcome))
    tasks = [SpreadTask(part, f"spread-{k}") for k, part in enumerate(parts.places)]
    spread = tuple(work.run(spread_pairs, tasks))
    bounds = [*range(0, order.size, PLACES_A_TASK), order.size]
    listings = [
        ListTask(store, spread, first, last, f"lists-{first}")
        for first, last in itertools.pairwise(bounds)
    ]
    names = work.run(list_places, listings)
    store.delete(PLACES, *spread)
    begins = np.zeros(order.size + 1, dtype=np.int64)
    np.cumsum(np.concatenate([store.get(name).counts for name in names]), out=begins[1:])
    others: Any = JoinedArray(np.int32, _read(store, names, "others"))
    pattern: Any = JoinedArray(np.int32, _read(store, names, "pattern"))
    return begins, others, pattern


def _read(store: Store, names: Sequence[str], part: str) -> Iterator[NDArray[Any]]:
    """Give arrays one after the other; the last to be read is the last that they are needed for."""
    for name in names:
        yield getattr(store.get(name), part)
        if part == "pattern":
            store.delete(name)


def spread_pairs(task: SpreadTask) -> str:
    """Tell the pairs of a part to the places of both records."""
    store = task.part.store
    place, pattern = fetch_held(store, PLACES)
    pairs, which = task.part.get()
    i, j = place[pairs[:, 0]], place[pairs[:, 1]]
    at = np.concatenate([i, j])
    by_place = np.argsort(at, kind="stable")
    other = np.concatenate([j, i])[by_place]
    store.put(task.name, PlaceEntries(at[by_place], other, np.tile(pattern[which], 2)[by_place]))
    return task.name


def list_places(task: ListTask) -> str:
    """List for some places those they were compared with, in order."""
    store, first, last = task.store, task.first, task.last
    entries = []
    for name in task.spread:
        spread: PlaceEntries = store.get(name)
        inside = slice(*np.searchsorted(spread.at, [first, last]))
        entries.append(PlaceEntries(*(array[inside] for array in spread)))
    counts = np.zeros(last - first, dtype=np.int64)
    for at, _, _ in entries:
        counts += np.bincount(at - first, minlength=last - first)
    begins = np.append(0, np.cumsum(counts))
    others, pattern = np.empty((2, begins[-1]), dtype=np.int32)
    reached = begins[:-1].copy()
    for at, other, of_pair in entries:
        place_entries(at, other, of_pair, first, reached, others, pattern)
    sort_neighbours(begins, others, pattern, 0, last - first)
    store.put(task.name, PlaceLists(counts, others, pattern))
    return task.name

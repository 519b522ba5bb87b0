"""What no round changes: the model, all its records as kernels read them, and their blocks.

On an engine it is made by tasks: each takes a part of the compared pairs and writes what places
there are to tell of them, sorted by place; then each takes some places, reads what was written
of them, and lists them. The lists are put after each other in one file, of which workers map
what they need into memory.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.comparison.compared_pairs import Place
from kolchin.comparison.kernels import place_entries, sort_neighbours
from kolchin.likelihoods import Exemplar
from kolchin.model import Model
from kolchin.sampling.candidates import answers_of, kernel_data, of_equality
from kolchin.sampling.layout import Layout
from kolchin.store import Joined, Store
from kolchin.workplace import Work, held

GROUND = "ground"
PLACES = "places"
PLACES_A_TASK = 1 << 17

Numbers = NDArray[np.int32]


class Ground(NamedTuple):
    """The model, all its records as kernels read them, and their blocks."""

    model: Model
    data: kernels.Data
    layout: Layout


def ground_of(model: Model, layout: Layout, work: Work | None) -> Ground:
    """Put records into the order of a layout; where there are tasks to come, in their store."""
    compared = model.compared
    if work is None or layout.n_blocks == 1:
        return Ground(model, kernel_data(model, layout), layout)
    if compared is not None and compared.parts.beside(work) is work:
        data: Any = _listed(compared, _in_order(model, layout), layout, work)
    else:
        data = kernel_data(model, layout)
    work.store.put(GROUND, Ground(model.without_records(), data, layout))
    stored: Ground = work.store.get(GROUND)
    return stored._replace(model=model)


def _in_order(model: Model, layout: Layout) -> kernels.Data:
    """Return all but the lists."""
    data, order = of_equality(model), layout.order
    source = data.source[order] if data.source.size else data.source
    shown = np.empty(0, np.int32) if model.compared is None else model.compared.shown[order]
    answers = answers_of(model, order)
    return data._replace(codes=data.codes[order], source=source, shown=shown, answers=answers)


class Spreading(NamedTuple):
    """A part of the pairs, to be told to the places of both records, under a name."""

    part: Place
    name: str


class Spread(NamedTuple):
    """Entries by place: with whom it is paired, and the pattern of the pair."""

    at: Numbers
    other: Numbers
    pattern: Numbers


class Listing(NamedTuple):
    """Some places, what was spread, and the name of the lists to be made."""

    store: Store
    spread: tuple[str, ...]
    first: int
    last: int
    name: str


class Listed(NamedTuple):
    """How many others each place has, who they are and the patterns."""

    counts: NDArray[np.int64]
    others: Numbers
    pattern: Numbers


def _listed(compared: Exemplar, data: kernels.Data, layout: Layout, work: Work) -> kernels.Data:
    """Let tasks list for each place those it was compared with."""
    order, store = layout.order, work.store
    assert order is not None
    place = np.empty(order.size, dtype=np.int32)
    place[order] = np.arange(order.size, dtype=np.int32)
    store.put(PLACES, (place, compared.pattern_of_outcome))
    spreading = [Spreading(part, f"spread-{k}") for k, part in enumerate(compared.parts.places)]
    spread = tuple(work.run(_spread, spreading))
    bounds = [*range(0, order.size, PLACES_A_TASK), order.size]
    listings = [
        Listing(store, spread, first, last, f"lists-{first}")
        for first, last in itertools.pairwise(bounds)
    ]
    names = work.run(_list, listings)
    store.delete(PLACES, *spread)
    begins = np.zeros(order.size + 1, dtype=np.int64)
    np.cumsum(np.concatenate([store.get(name).counts for name in names]), out=begins[1:])
    others: Any = Joined(np.int32, _read(store, names, "others"))
    pattern: Any = Joined(np.int32, _read(store, names, "pattern"))
    return data._replace(begins=begins, others=others, pattern=pattern)


def _read(store: Store, names: Sequence[str], part: str) -> Iterator[NDArray[Any]]:
    """Give arrays one after the other; the last to be read is the last that they are needed for."""
    for name in names:
        yield getattr(store.get(name), part)
        if part == "pattern":
            store.delete(name)


def _spread(task: Spreading) -> str:
    """Tell the pairs of a part to the places of both records."""
    store = task.part.store
    place, pattern = held(store, PLACES)
    pairs, which = task.part.get()
    i, j = place[pairs[:, 0]], place[pairs[:, 1]]
    at = np.concatenate([i, j])
    by_place = np.argsort(at, kind="stable")
    other = np.concatenate([j, i])[by_place]
    store.put(task.name, Spread(at[by_place], other, np.tile(pattern[which], 2)[by_place]))
    return task.name


def _list(task: Listing) -> str:
    """List for some places those they were compared with, in order."""
    store, first, last = task.store, task.first, task.last
    entries = []
    for name in task.spread:
        spread: Spread = store.get(name)
        inside = slice(*np.searchsorted(spread.at, [first, last]))
        entries.append(Spread(*(array[inside] for array in spread)))
    counts = np.zeros(last - first, dtype=np.int64)
    for at, _, _ in entries:
        counts += np.bincount(at - first, minlength=last - first)
    begins = np.append(0, np.cumsum(counts))
    others, pattern = np.empty((2, begins[-1]), dtype=np.int32)
    reached = begins[:-1].copy()
    for at, other, of_pair in entries:
        place_entries(at, other, of_pair, first, reached, others, pattern)
    sort_neighbours(begins, others, pattern, 0, last - first)
    store.put(task.name, Listed(counts, others, pattern))
    return task.name

"""Pairs of many keys, within a budget, and those of some records put together, each once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.blocking.keys import ORDER, Cost, Key, Section, cut_into_sections
from kolchin.comparison.pair_kernels.blocks import count_pairs, list_pairs, unpack_pairs
from kolchin.comparison.pair_kernels.key_numbers import sample_keys
from kolchin.store import Store
from kolchin.threads import call_over_ranges
from kolchin.workplace import Workplace, fetch_held

SAMPLE = 1_000_000
"""About so many pairs of the budget are followed exactly, to know how many are new."""

MOST_FOUND_AGAIN = 2.0
"""Keys may find so many times the budget together; most of it again and again."""


RANGE = 1 << 20
"""About so many pairs are put together at a time."""


class KeyUse(NamedTuple):
    """A key that was used: its pairs, and how many blocks and records a window cut.

    Blocks of up to ``limit`` records were listed whole, of others the neighbours in a ``window``.
    """

    key: str
    pairs: int
    capped_blocks: int
    capped_records: int
    limit: int = 0
    window: int = 0


class ListingTask(NamedTuple):
    """A section of a key whose pairs are to be listed under a name, and sampled."""

    section: Section
    cost: Cost
    share: float
    name: str


class FoundPairs(NamedTuple):
    """What a key has found: names of sorted pairs in the store, and how many there are.

    With ``again`` two of them may have the same pair.
    """

    used: KeyUse
    names: tuple[str, ...]
    again: bool


class PairBudget:
    """Pairs so far, and what is left of the budget of different ones.

    Parameters
    ----------
    work
        Where keys are looked at; the store has the order of records within blocks.
    n_records
        How many records there are.
    budget
        How many different pairs there may be.
    n_parts
        Into how many parts the blocks of a key are divided.
    """

    def __init__(self, work: Workplace, n_records: int, budget: int, n_parts: int = 1) -> None:
        self.work = work
        self.n_records = n_records
        self.n_parts = n_parts
        self.left = float(budget)
        self._room = budget * (1 + MOST_FOUND_AGAIN)
        self._share = min(1.0, SAMPLE / budget)
        self._sample = np.empty(0, dtype=np.int64)
        self._found: dict[str, FoundPairs] = {}
        self._n_listed = 0

    @property
    def found(self) -> tuple[FoundPairs, ...]:
        """What each key has found."""
        return tuple(self._found.values())

    def take(self, wanted: Sequence[tuple[Key, Cost]], *, always: bool = False) -> list[bool]:
        """Add the pairs of keys, one after the other, if the budget has room for the new ones.

        A key that was taken before is taken again only for more pairs, which hold the old ones.
        """
        taken = [False] * len(wanted)
        first = 0
        while first < len(wanted):
            # As many as there is room for are listed at once.
            wave: list[int] = []
            room, last = self._room, first
            while last < len(wanted) and (not wave or room > 0):
                n_more = wanted[last][1].pairs - self._n_before(wanted[last][0])
                if n_more > 0 and (n_more <= self._room or always):
                    wave.append(last)
                    room -= n_more
                last += 1
            listed = self._list_all([wanted[k] for k in wave])
            for k, (names, parts) in zip(wave, listed, strict=True):
                taken[k] = self._take(*wanted[k], names, parts, always)
            first = last
        return taken

    def _n_before(self, key: Key) -> int:
        before = self._found.get(key.name)
        return 0 if before is None else before.used.pairs

    def _list_all(
        self, wanted: Sequence[tuple[Key, Cost]]
    ) -> list[tuple[tuple[str, ...], list[tuple[int, NDArray[np.int64]]]]]:
        """List the pairs of keys: names in the store, numbers of pairs and samples by section."""
        listings = []
        for key, cost in wanted:
            for section in cut_into_sections(self.work, [key], self.n_records, self.n_parts):
                name = f"found-{self._n_listed}-{section.part}"
                listings.append(ListingTask(section, cost, self._share, name))
            self._n_listed += 1
        results = self.work.run(_list_section, listings)
        grouped = range(0, len(listings), self.n_parts)
        return [
            (
                tuple(one.name for one in listings[k : k + self.n_parts]),
                results[k : k + self.n_parts],
            )
            for k in grouped
        ]

    def _take(
        self,
        key: Key,
        cost: Cost,
        names: tuple[str, ...],
        parts: list[tuple[int, NDArray[np.int64]]],
        always: bool,
    ) -> bool:
        n_before, n_pairs = self._n_before(key), sum(n for n, _ in parts)
        sample = sort_distinct(np.concatenate([self._sample, *(some for _, some in parts)]))
        n_new = (sample.size - self._sample.size) / self._share
        n_more = cost.pairs - n_before
        too_many = n_new > self.left or n_more > self._room
        if n_more <= 0 or (too_many and not always):
            self.work.store.delete(*names)
            return False
        if n_before:
            self.work.store.delete(*self._found[key.name].names)
        self.left -= n_new
        self._room -= n_pairs - n_before
        self._sample = sample
        cut = cost.capped_blocks, cost.capped_records, cost.limit, cost.window
        used = KeyUse(key.name, n_pairs, *cut)
        self._found[key.name] = FoundPairs(
            used, names, key.records is not None and self.n_parts > 1
        )
        return True


def _list_section(listing: ListingTask) -> tuple[int, NDArray[np.int64]]:
    """List the pairs of a section, sorted, each once; return their number and a sample."""
    section = listing.section
    pairs = list_neighbours(section) if section.key.window else _list_pairs(section, listing.cost)
    section.store.put(listing.name, pairs)
    return pairs.size, pairs if listing.share >= 1 else sample_keys(pairs, listing.share)


def _list_pairs(section: Section, cost: Cost) -> NDArray[np.int64]:
    """List the pairs of blocks, packed as low * n_records + high, sorted, each once."""
    packed = section.pack()
    records = fetch_held(section.store, ORDER)[packed & ((1 << section.shift) - 1)]
    packed >>= section.shift
    # What is counted for all sections is room enough for one.
    room = cost.pairs if section.n_parts == 1 else _count_pairs(packed, cost)
    out = np.empty(room, dtype=np.int64)
    n = list_pairs(packed, records, section.n_records, cost.limit, cost.window, out)
    pairs = out[:n]
    pairs.sort()
    # Two words in common are one pair.
    return pairs if section.key.records is None else pairs[is_first(pairs)]


def _count_pairs(blocks: NDArray[np.int64], cost: Cost) -> int:
    return int(count_pairs(blocks, np.array([cost.limit]), cost.window)[0, 0])


def list_neighbours(section: Section) -> NDArray[np.int64]:
    """List the pairs of records that come one after the other."""
    key, n = section.key, section.key.size
    order = fetch_held(section.store, key.columns[0])
    first, last = (n * k // section.n_parts for k in (section.part, section.part + 1))
    found = []
    for step in range(1, key.window + 1):
        end = max(min(last, n - step), first)
        one, other = order[first:end].astype(np.int64), order[first + step : end + step]
        found.append(np.minimum(one, other) * section.n_records + np.maximum(one, other))
    pairs = np.concatenate(found)
    pairs.sort()
    return pairs


def merge_pairs(
    store: Store, found: Sequence[FoundPairs], n_records: int, first: int, last: int
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return the pairs whose smaller record is in a range, each once, and how many keys found it.

    That is 255 at most.
    """
    arrays = [[store.get(name) for name in one.names] for one in found]
    n_found = sum(one.used.pairs for one in found)
    at_once = max(n_records * RANGE // max(n_found, 1), 1)

    def some(begin: int, end: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        bounds = (first + begin) * n_records, (first + end) * n_records
        parts = [np.empty(0, dtype=np.int64)]
        for one, of_key in zip(found, arrays, strict=True):
            slices = [array[slice(*np.searchsorted(array, bounds))] for array in of_key]
            parts += [sort_distinct(np.concatenate(slices))] if one.again else slices
        pairs, counts = unpack_pairs(np.sort(np.concatenate(parts)), n_records)
        return pairs, counts

    listed = call_over_ranges(some, last - first, at_once)
    return np.concatenate([one for one, _ in listed]), np.concatenate([one for _, one in listed])


def sort_distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort numbers, each once; sorting is faster than the hashing of `np.unique`."""
    ordered = np.sort(numbers)
    result: NDArray[np.int64] = ordered[is_first(ordered)]
    return result


def is_first(ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell where another number begins among sorted ones."""
    return np.append(True, ordered[1:] != ordered[:-1])[: ordered.size]

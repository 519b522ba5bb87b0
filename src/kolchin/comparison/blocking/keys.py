"""Keys: the ways in which records fall into blocks, and what each of them costs."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.blocking.blocking_features import BlockingFeature
from kolchin.comparison.pair_kernels.blocks import count_pairs
from kolchin.kernels.hashing import FOLDING, GOLDEN
from kolchin.store import Store
from kolchin.workplace import Workplace, fetch_held

LIMITS = (1000, 500, 200, 100, 50, 30, 20, 10, 5, 3)
LARGEST = 200
"""Larger blocks are listed whole only when all other keys have had their turn."""

WINDOW = 2
MOSTLY = 0.5
"""A key of which windows make more than this is no key, but a way of sorting."""

ORDER, RANK = "order", "rank"
"""The records as they are sorted within blocks, and the place of each, in the store."""

SCANNED = 1 << 20
"""So many records of a key are looked at, at a time."""


class Key(NamedTuple):
    """Records that share all of some blocks, or that come one after the other.

    Parameters
    ----------
    name
        What people read.
    columns
        Names of arrays in the store, each with a block a record, -1 for none.
    size
        How many entries they have.
    records
        The name of the records that the blocks are of, where that is not one after the other: a
        record may come again.
    window
        If more than 0, the column is an order of records, in which each pairs with so many
        next ones.
    """

    name: str
    columns: tuple[str, ...]
    size: int
    records: str | None = None
    window: int = 0

    def blocks(self, store: Store, first: int, last: int) -> NDArray[np.int64]:
        """Return the blocks of some entries, -1 for none."""
        arrays = [fetch_held(store, column)[first:last] for column in self.columns]
        if len(arrays) == 1:
            blocks: NDArray[np.int64] = arrays[0].astype(np.int64)
            return blocks
        mixed = np.zeros(len(arrays[0]), dtype=np.uint64)
        neither = np.zeros(len(arrays[0]), dtype=np.bool_)
        for array in arrays:
            neither |= array < 0
            mixed ^= array.astype(np.uint64)
            mixed *= GOLDEN
            mixed ^= mixed >> np.uint64(29)
        blocks = (mixed >> np.uint64(1)).view(np.int64)
        blocks[neither] = -1
        return blocks


class Section(NamedTuple):
    """A part of what a key finds: blocks are divided by their hashes."""

    store: Store
    key: Key
    n_records: int
    part: int = 0
    n_parts: int = 1

    @property
    def shift(self) -> int:
        """How many bits the place of a record takes beside its block."""
        return self.n_records.bit_length()

    def pack(self) -> NDArray[np.int64]:
        """Return blocks and, within them, places of records in their order, in one number."""
        store, key, rank = self.store, self.key, fetch_held(self.store, RANK)
        found = [np.empty(0, dtype=np.int64)]
        for first in range(0, key.size, SCANNED):
            last = min(first + SCANNED, key.size)
            blocks = hash_blocks(key.blocks(store, first, last), 63 - self.shift)
            inside = blocks >= 0
            if self.n_parts > 1:
                inside &= blocks % self.n_parts == self.part
            places = rank[first:last]
            if key.records is not None:
                places = rank[fetch_held(store, key.records)[first:last]]
            found.append(blocks[inside] << self.shift | places[inside])
        packed = np.concatenate(found)
        packed.sort()
        return packed


def cut_into_sections(
    work: Workplace, keys: Iterable[Key], n_records: int, n_parts: int
) -> list[Section]:
    """Divide what keys find into parts."""
    return [
        Section(work.store, key, n_records, part, n_parts)
        for key in keys
        for part in range(n_parts)
    ]


class Cost(NamedTuple):
    """What a key gives: pairs, the largest whole block, and the blocks that a window cuts."""

    pairs: int
    limit: int
    window: int
    capped_blocks: int
    capped_records: int


class PricedKey(NamedTuple):
    """A key, and what it would give: a row for each limit, and for windows of one neighbour."""

    key: Key
    table: NDArray[np.int64]

    def cost(
        self, allowance: float, *, largest: int = LARGEST, always: bool = False
    ) -> Cost | None:
        """Find the largest blocks that a key can afford; None if windows would be all of it.

        The larger a block, the less it tells: blocks above the limit are not given up, but
        their records, sorted by what else is known, pair only with the next ones.
        """
        for limit, row in zip(LIMITS, self.table, strict=False):
            pairs, by_window, blocks, records = map(int, row)
            if limit <= largest and pairs <= allowance:
                if by_window > MOSTLY * pairs and not always:
                    return None
                return Cost(pairs, limit, WINDOW, blocks, records)
        if not always:
            return None
        pairs, _, blocks, records = map(int, self.table[-1])
        return Cost(pairs, 1, 1, blocks, records)


def price_keys(
    work: Workplace, keys: Sequence[Key], n_records: int, n_parts: int
) -> list[PricedKey]:
    """Count what keys would give."""
    parts = work.run(_tabulate_costs, cut_into_sections(work, keys, n_records, n_parts))
    tables = [sum(parts[k : k + n_parts]) for k in range(0, len(parts), n_parts)]
    return [PricedKey(key, np.asarray(table)) for key, table in zip(keys, tables, strict=True)]


def _tabulate_costs(section: Section) -> NDArray[np.int64]:
    blocks = section.pack()
    blocks >>= section.shift
    rows = [count_pairs(blocks, np.array(LIMITS), WINDOW), count_pairs(blocks, np.array([1]), 1)]
    return np.concatenate(rows)


def hash_blocks(blocks: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Return blocks in so few bits that places fit beside them in one number, to sort at once.

    Records of no block stay negative. Very seldom two blocks become one.
    """
    mixed = blocks.astype(np.uint64)
    mixed *= GOLDEN
    mixed ^= mixed >> np.uint64(32)
    mixed *= FOLDING
    mixed >>= np.uint64(64 - bits)
    result = mixed.view(np.int64)
    result[blocks < 0] = -1
    return result


def join_features(atoms: Sequence[BlockingFeature]) -> Key:
    """Return the key of records that share all of several atoms."""
    columns = tuple(atom.column for atom in atoms)
    return Key(" + ".join(atom.name for atom in atoms), columns, atoms[0].n_records)


def list_conjunctions(
    atoms: Iterable[BlockingFeature], size: int, most_pairs: float, n_wanted: int
) -> Iterator[tuple[BlockingFeature, ...]]:
    """Give groups of atoms of different fields, in the order of their chance pairs.

    Groups that should give more than `most_pairs` by chance are left out, and of the others
    the `n_wanted` with the most are given: what is coarse forgives more mistakes.
    Atoms of a field are ways to err in it. For one mistake in one field it is enough to try each
    field's first with the others' first, second with second, and so on.
    """
    by_field: dict[int, list[BlockingFeature]] = {}
    for atom in atoms:
        by_field.setdefault(atom.field, []).append(atom)
    found: list[tuple[float, tuple[BlockingFeature, ...]]] = []
    for fields in combinations(by_field.values(), size):
        for turn in range(max(map(len, fields))):
            group = tuple(field[turn % len(field)] for field in fields)
            n_pairs = group[0].n_records ** 2 / 2
            expected = float(np.prod([atom.chance for atom in group])) * n_pairs
            if expected <= most_pairs:
                found.append((expected, group))
    found.sort(key=lambda one: (one[0], [atom.name for atom in one[1]]))
    yield from (group for _, group in found[-n_wanted:])

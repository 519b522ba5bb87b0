"""Keys: the ways in which records fall into blocks, and what each of them costs."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.atoms import Atom
from kolchin.comparison.base import Codes
from kolchin.comparison.kernels import count_pairs

LIMITS = (1000, 500, 200, 100, 50, 30, 20, 10, 5, 3)
LARGEST = 200
"""Larger blocks are listed whole only when all other keys have had their turn."""

WINDOW = 2
MOSTLY = 0.5
"""A key of which windows make more than this is no key, but a way of sorting."""


class Key(NamedTuple):
    """Records that share all of some atoms, or a block that is given.

    With `records`, a block is given for each of these, among which a record may come again.
    Blocks of atoms are made when asked for: all keys at once would fill the memory.
    """

    name: str
    atoms: tuple[Atom, ...] = ()
    given: NDArray[np.int64] | None = None
    records: Codes | None = None

    @property
    def size(self) -> int:
        """How many blocks there are, those of records that come again among them."""
        return int(self.atoms[0].blocks.size if self.given is None else self.given.size)

    def blocks(self) -> NDArray[np.int64]:
        """Return a block a record, -1 for none."""
        return _joined(self.atoms) if self.given is None else self.given


class Cost(NamedTuple):
    """What a key gives: pairs, the largest whole block, and the blocks that a window cuts."""

    pairs: int
    limit: int
    window: int
    capped_blocks: int
    capped_records: int


def cost_of(
    key: Key, allowance: float, *, largest: int = LARGEST, always: bool = False
) -> Cost | None:
    """Find the largest blocks that a key can afford; None if windows would be all of it.

    The larger a block, the less it tells: blocks above the limit are not given up, but
    their records, sorted by what else is known, pair only with the next ones.
    """
    ordered = np.sort(hashed(key.blocks(), hash_bits(key)))
    limits = np.array([limit for limit in LIMITS if limit <= largest])
    for limit, row in zip(limits, count_pairs(ordered, limits, WINDOW), strict=True):
        pairs, by_window, blocks, records = map(int, row)
        if pairs <= allowance:
            if by_window > MOSTLY * pairs and not always:
                return None
            return Cost(pairs, int(limit), WINDOW, blocks, records)
    if not always:
        return None
    pairs, _, blocks, records = map(int, count_pairs(ordered, np.array([1]), 1)[0])
    return Cost(pairs, 1, 1, blocks, records)


def hash_bits(key: Key) -> int:
    """Return how many bits are left for a block beside the place of a record in it."""
    return 63 - max(key.size, 1).bit_length()


def hashed(blocks: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Return blocks in so few bits that places fit beside them in one number, to sort at once.

    Records of no block stay negative. Very seldom two blocks become one.
    """
    mixed = blocks.astype(np.uint64)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    mixed >>= np.uint64(64 - bits)
    result = mixed.view(np.int64)
    result[blocks < 0] = -1
    return result


def joined(atoms: Sequence[Atom]) -> Key:
    """Return the key of records that share all of several atoms."""
    return Key(" + ".join(atom.name for atom in atoms), tuple(atoms))


def _joined(atoms: Sequence[Atom]) -> NDArray[np.int64]:
    """Return the blocks of records that share all of several atoms, by number."""
    blocks = atoms[0].blocks.astype(np.int64)
    for atom in atoms[1:]:
        n_blocks = int(atom.blocks.max(initial=0)) + 1
        # Numbered anew, so that products of many blocks stay small.
        numbers = blocks if atom is atoms[1] else np.unique(blocks, return_inverse=True)[1]
        neither = (blocks < 0) | (atom.blocks < 0)
        blocks = numbers * n_blocks
        blocks += atom.blocks
        blocks[neither] = -1
    return blocks


def conjunctions(
    atoms: Iterable[Atom], size: int, most_pairs: float, n_wanted: int
) -> Iterator[tuple[Atom, ...]]:
    """Give groups of atoms of different fields, in the order of their chance pairs.

    Groups that should give more than `most_pairs` by chance are left out, and of the others
    the `n_wanted` with the most are given: what is coarse forgives more mistakes.
    Atoms of a field are ways to err in it. For one mistake in one field it is enough to try each
    field's first with the others' first, second with second, and so on.
    """
    by_field: dict[int, list[Atom]] = {}
    for atom in atoms:
        by_field.setdefault(atom.field, []).append(atom)
    chance = {atom.name: atom.chance for group in by_field.values() for atom in group}
    found: list[tuple[float, tuple[Atom, ...]]] = []
    for fields in combinations(by_field.values(), size):
        for turn in range(max(map(len, fields))):
            group = tuple(field[turn % len(field)] for field in fields)
            n_records = group[0].blocks.size
            expected = float(np.prod([chance[atom.name] for atom in group])) * n_records**2 / 2
            if expected <= most_pairs:
                found.append((expected, group))
    found.sort(key=lambda one: (one[0], [atom.name for atom in one[1]]))
    yield from (group for _, group in found[-n_wanted:])

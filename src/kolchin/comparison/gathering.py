"""Pairs of many keys put together, each once, within a budget."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.kernels import list_pairs, unpack_pairs
from kolchin.comparison.keys import Cost, Key

SAMPLE = 1_000_000
"""About so many pairs of the budget are followed exactly, to know how many are new."""

MOST_FOUND_AGAIN = 2.0
"""Keys may find so many times the budget together; most of it again and again."""


class Used(NamedTuple):
    """A key that was used: its pairs, and how many blocks and records a window cut."""

    key: str
    pairs: int
    capped_blocks: int
    capped_records: int


class Candidates(NamedTuple):
    """Pairs i < j, sorted, how many keys found each, and the keys."""

    pairs: NDArray[np.int32]
    n_found: NDArray[np.int32]
    keys: tuple[Used, ...]


class Gathering:
    """Pairs so far, and what is left of the budget of different ones.

    Parameters
    ----------
    order
        The records as they are sorted within blocks.
    budget
        How many different pairs there may be.
    """

    def __init__(self, order: NDArray[np.int64], budget: int) -> None:
        self.order = order
        self.rank = np.empty_like(order)
        self.rank[order] = np.arange(order.size)
        self.left = float(budget)
        self._room = budget * (1 + MOST_FOUND_AGAIN)
        self._share = min(1.0, SAMPLE / budget)
        self._sample = np.empty(0, dtype=np.int64)
        self._parts: dict[str, NDArray[np.int64]] = {}
        self._used: dict[str, Used] = {}

    def take(self, key: Key, cost: Cost, *, always: bool = False) -> bool:
        """Add the pairs of a key, if the budget has room for those that are new.

        A key that was taken before is taken again only for more pairs, which hold the old ones.
        """
        before = self._parts.get(key.name)
        n_before = 0 if before is None else before.size
        n_more = cost.pairs - n_before
        if n_more <= 0 or (n_more > self._room and not always):
            return False
        pairs = self._pairs_of(key, cost)
        sample = distinct(np.concatenate([self._sample, self._sampled(pairs)]))
        n_new = (sample.size - self._sample.size) / self._share
        if n_new > self.left and not always:
            return False
        self.left -= n_new
        self._room -= pairs.size - n_before
        self._sample = sample
        self._parts[key.name] = pairs
        self._used[key.name] = Used(key.name, pairs.size, cost.capped_blocks, cost.capped_records)
        return True

    def candidates(self) -> Candidates:
        """Return all pairs, each once."""
        n_records = self.order.size
        together = np.concatenate([np.empty(0, dtype=np.int64), *self._parts.values()])
        together.sort()
        n_pairs = int(np.count_nonzero(_is_first(together)))
        pairs, n_found = np.empty((n_pairs, 2), dtype=np.int32), np.zeros(n_pairs, dtype=np.int32)
        unpack_pairs(together, n_records, pairs, n_found)
        return Candidates(pairs, n_found, tuple(self._used.values()))

    def _sampled(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the pairs of a random share of all pairs, the same for every key."""
        if self._share >= 1:
            return pairs
        mixed = pairs.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
        taken: NDArray[np.bool_] = (mixed >> np.uint64(40)) < self._share * 2**24
        sampled: NDArray[np.int64] = pairs[taken]
        return sampled

    def _pairs_of(self, key: Key, cost: Cost) -> NDArray[np.int64]:
        """List the pairs of one key, packed as low * n_records + high, each once."""
        blocks, records = key.blocks(), key.records
        if records is None:
            records, blocks = self.order.astype(np.int32), blocks[self.order]
        elif cost.limit > 1:
            by_rank = np.argsort(self.rank[records], kind="stable")
            records, blocks = records[by_rank], blocks[by_rank]
        by_block = np.argsort(blocks, kind="stable")
        out = np.empty(cost.pairs, dtype=np.int64)
        n_records = self.order.size
        n = list_pairs(blocks[by_block], records[by_block], n_records, cost.limit, cost.window, out)
        # Two words in common are one pair.
        pairs: NDArray[np.int64] = out[:n]
        return pairs if key.records is None else distinct(pairs)


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort numbers, each once; sorting is faster than the hashing of `np.unique`."""
    ordered = np.sort(numbers)
    result: NDArray[np.int64] = ordered[_is_first(ordered)]
    return result


def _is_first(ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell where another number begins among sorted ones."""
    return np.append(True, ordered[1:] != ordered[:-1])[: ordered.size]

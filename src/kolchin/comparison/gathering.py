"""Pairs of many keys put together, each once, within a budget."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.kernels import list_pairs, sample_keys, unpack_pairs
from kolchin.comparison.keys import Cost, Key, hash_bits, hashed
from kolchin.threads import over_ranges

SAMPLE = 1_000_000
"""About so many pairs of the budget are followed exactly, to know how many are new."""

MOST_FOUND_AGAIN = 2.0
"""Keys may find so many times the budget together; most of it again and again."""


RANGE = 1 << 20
"""About so many pairs are put together at a time."""


class Used(NamedTuple):
    """A key that was used: its pairs, and how many blocks and records a window cut."""

    key: str
    pairs: int
    capped_blocks: int
    capped_records: int


class Candidates(NamedTuple):
    """Pairs i < j, sorted, how many keys found each (at most 255), and the keys."""

    pairs: NDArray[np.int32]
    n_found: NDArray[np.uint8]
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

    def candidates(self, threads: int | None = None) -> Candidates:
        """Return all pairs, each once; the gathering is empty then."""
        n_records = self.order.size
        parts = list(self._parts.values())
        self._parts.clear()
        n_found = sum(part.size for part in parts)
        records_at_once = max(n_records * RANGE // max(n_found, 1), 1)

        def together(first: int, last: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
            bounds = first * n_records, last * n_records
            slices = (slice(*np.searchsorted(part, bounds)) for part in parts)
            found = [part[one] for part, one in zip(parts, slices, strict=True)]
            packed = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *found]))
            pairs, counts = unpack_pairs(packed, n_records)
            return pairs, counts

        found = over_ranges(together, n_records, records_at_once, threads)
        parts.clear()
        pairs = np.concatenate([one for one, _ in found])
        counts = np.concatenate([one for _, one in found])
        return Candidates(pairs, counts, tuple(self._used.values()))

    def _sampled(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the pairs of a random share of all pairs, the same for every key."""
        if self._share >= 1:
            return pairs
        sampled: NDArray[np.int64] = sample_keys(pairs, self._share)
        return sampled

    def _pairs_of(self, key: Key, cost: Cost) -> NDArray[np.int64]:
        """List the pairs of one key, packed as low * n_records + high, sorted, each once."""
        bits = hash_bits(key)
        blocks, records = hashed(key.blocks(), bits), key.records
        if records is None:
            place = self.rank
        elif cost.limit > 1:
            by_rank = np.argsort(self.rank[records], kind="stable")
            records, blocks = records[by_rank], blocks[by_rank]
            place = np.arange(records.size)
        else:
            place = np.arange(records.size)
        shift = 63 - bits
        inside = blocks >= 0
        packed = blocks[inside] << shift | place[inside]
        packed.sort()
        place = packed & ((1 << shift) - 1)
        packed >>= shift
        of_place = self.order if records is None else records
        out = np.empty(cost.pairs, dtype=np.int64)
        n_records = self.order.size
        n = list_pairs(packed, of_place[place], n_records, cost.limit, cost.window, out)
        pairs = out[:n]
        pairs.sort()
        # Two words in common are one pair.
        return pairs if key.records is None else pairs[_is_first(pairs)]


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort numbers, each once; sorting is faster than the hashing of `np.unique`."""
    ordered = np.sort(numbers)
    result: NDArray[np.int64] = ordered[_is_first(ordered)]
    return result


def _is_first(ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell where another number begins among sorted ones."""
    return np.append(True, ordered[1:] != ordered[:-1])[: ordered.size]

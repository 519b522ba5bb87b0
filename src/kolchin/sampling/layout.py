"""How records are laid out for shards: related ones near each other, in blocks of equal length.

A round pairs the blocks at random; two blocks are a shard, in which moves are made without a look
at the others (model section 5). Which records form a block depends on the data alone, and any two
blocks meet: that is all that exactness asks for. That the records of an entity mostly share a block
is for speed: clusters that reach outside their shard wait for a round in which they do not.
"""

from collections.abc import Sequence
from typing import NamedTuple, NewType

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.parameters import FloatArray, IntArray

Places = NewType("Places", NDArray[np.int32])
"""Where records are in the order of a layout: other numbers than the records' own."""

SMALLEST_SHARDED = 50_000
"""Smaller tables are one block: their sampler knows all clusters, and integrates more out."""

RECORDS_A_BLOCK, MOST_BLOCKS = 6_000, 2_000
"""Any two blocks have a table of pairs, so there are not more of them than that: with more records,
blocks are longer."""

LARGEST_GROUP = 0.25
"""Groups of related records are at most this share of a block, so that blocks fill evenly."""

SMALLEST_CROWD, LOOSER = 4, 4.0
"""Groups of so many records are large, and the largest have a block of their own.

Links as likely as e to minus that are reckoned with.
"""

MOST_CUT = 0.1
"""If so much of the likely links lies between blocks, shards would wait for each other too long."""


class Shard(NamedTuple):
    """One or two blocks, and their ranges of records: from, to, from, to."""

    blocks: tuple[int, ...]
    within: IntArray

    @property
    def n_records(self) -> int:
        """Number of records."""
        first, last, then, end = self.within
        return int(last - first + end - then)


class Layout(NamedTuple):
    """Blocks from ``bounds[b]`` to ``bounds[b + 1]``; place n has record ``order[n]`` (None: n).

    Where there are several, block 0 has the records of the largest groups.
    """

    bounds: IntArray
    order: IntArray | None = None

    @classmethod
    def single(cls, n_records: int) -> "Layout":
        """All records in one block, as they come."""
        return cls(np.array([0, n_records]))

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self.bounds.size - 1

    @property
    def lengths(self) -> IntArray:
        """Number of records of each block."""
        lengths: IntArray = np.diff(self.bounds)
        return lengths

    def find_range(self, block: int) -> slice:
        """Return the places of a block."""
        return slice(int(self.bounds[block]), int(self.bounds[block + 1]))

    def find_places(self, blocks: Sequence[int], among: IntArray) -> IntArray:
        """Return the places of some records among those of several blocks, one after the other."""
        ends = np.cumsum(self.lengths[list(blocks)])
        of_block = np.searchsorted(ends, among, side="right")
        shift = self.bounds[list(blocks)] - (ends - self.lengths[list(blocks)])
        places: IntArray = among + shift[of_block]
        return places

    @property
    def whole(self) -> Shard:
        """All places as one shard."""
        return Shard((0,), np.array([0, int(self.bounds[-1]), 0, 0]))

    def make_shard(self, *blocks: int) -> Shard:
        """Return one or two blocks as a shard."""
        ranges = [bound for b in blocks for bound in (self.bounds[b], self.bounds[b + 1])]
        return Shard(blocks, np.array([*ranges, 0, 0][:4], dtype=np.int64))

    @property
    def meeting(self) -> float:
        """The chance that two blocks are a shard."""
        n_blocks = self.n_blocks
        return 2 * (n_blocks // 2) / max(n_blocks * (n_blocks - 1), 1)

    def pair_blocks(self, rng: np.random.Generator) -> list[Shard]:
        """Pair the blocks at random; one may be left over."""
        order = rng.permutation(self.n_blocks).tolist()
        return [self.make_shard(*sorted(order[k : k + 2])) for k in range(0, len(order), 2)]

    def find_blocks(self, places: Places) -> IntArray:
        """Return the block of each place."""
        blocks: IntArray = np.searchsorted(self.bounds, places, side="right") - 1
        return blocks

    def to_places(self, pairs: NDArray[np.int32]) -> Places:
        """Return pairs of records as pairs of places, the smaller first."""
        if self.order is None:
            return Places(pairs)
        place = np.empty(self.order.size, dtype=np.int32)
        place[self.order] = np.arange(self.order.size, dtype=np.int32)
        return Places(np.sort(place[pairs], axis=1))


def lay_out(
    n_records: int,
    pairs: NDArray[np.int32],
    scores: FloatArray,
    likely: float,
    n_blocks: int | None = None,
) -> Layout:
    """Lay records out so that pairs of high scores lie in one block.

    ``likely`` is the score from which pairs are likely links; if too many of them would lie between
    blocks, there is one block.
    """
    if n_blocks is None:
        n_blocks = 1
        if n_records >= SMALLEST_SHARDED:
            n_blocks = min(round(n_records / RECORDS_A_BLOCK), MOST_BLOCKS)
    if n_blocks == 1:
        return Layout.single(n_records)
    largest = max(1, int(LARGEST_GROUP * n_records / n_blocks))
    best_first = np.argsort(-scores, kind="stable")
    n_loose = int(np.count_nonzero(scores > likely - LOOSER))
    crowd = _find_crowd(n_records, pairs, best_first[:n_loose], largest, n_records // n_blocks)
    group = kernels.form_bounded_groups(n_records, pairs, best_first, largest)
    group[crowd] = -1
    order = np.argsort(group, kind="stable")
    # A block ends at the first group that begins beyond its share of the records.
    opens = np.flatnonzero(np.append(True, np.diff(group[order]) != 0))
    wanted = np.linspace(crowd.size, n_records, n_blocks if crowd.size else n_blocks + 1)[:-1]
    ends = opens[np.minimum(np.searchsorted(opens, wanted), opens.size - 1)]
    layout = Layout(np.unique(np.concatenate([[0], ends, [n_records]])), order)
    strong = pairs[scores > likely]
    blocks = layout.find_blocks(layout.to_places(strong))
    if len(strong) and np.mean(blocks[:, 0] != blocks[:, 1]) > MOST_CUT:
        return Layout.single(n_records)
    return layout


def _find_crowd(
    n_records: int, pairs: NDArray[np.int32], order: IntArray, largest: int, most: int
) -> IntArray:
    """Return the records of the largest groups of some pairs, as many as a block holds."""
    group = kernels.form_bounded_groups(n_records, pairs, order, largest)
    size = np.bincount(group, minlength=n_records)[group]
    records = np.flatnonzero(size >= SMALLEST_CROWD)
    by_size = records[np.lexsort([group[records], -size[records]])]
    if by_size.size > most:
        # A group that would be cut stays out.
        cut = group[by_size[most]]
        by_size = by_size[:most][group[by_size[:most]] != cut]
    return np.sort(by_size)

"""The distinct clusters ever drawn.

A posterior visits the same clusters again and again. Everything that looks at all draws looks at
each distinct cluster once, weighted by how often it was drawn: the cost follows the uncertainty,
not the number of draws.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kolchin.posterior.draws import Posterior
    from kolchin.posterior.episodes import ClusterEpisodes

KEYS_SEED = 2016
"""Clusters are told apart by 128-bit hashes; fixed keys make that repeatable."""


class DistinctClusters:
    """Clusters of two or more: cluster d is ``members[offsets[d]:offsets[d + 1]]``, ascending.

    Attributes
    ----------
    counts : number of draws that had the cluster.
    ids : for each chain, the number of the cluster of each episode.
    sets, starts : the distinct clusters of record n, ``sets[starts[n]:starts[n + 1]]``.
    """

    def __init__(
        self,
        n_records: int,
        members: NDArray[np.int32],
        offsets: NDArray[np.int64],
        counts: NDArray[np.int64],
        ids: list[NDArray[np.int32]],
    ) -> None:
        from kolchin.posterior.summary_kernels.sorted_sets import transpose

        self.sets, self.starts = transpose(members, offsets, n_records)
        self.members, self.offsets = transpose(self.sets, self.starts, offsets.size - 1)
        self.counts = counts
        self.ids = ids

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Sizes of the distinct clusters."""
        sizes: NDArray[np.int64] = np.diff(self.offsets)
        return sizes


def collect_distinct(posterior: "Posterior") -> DistinctClusters:
    """Collect the distinct clusters of a posterior."""
    from kolchin.posterior.summary_kernels.set_numbers import copy_sets

    book = _ClusterBook(posterior.n_records)
    for chain in posterior.chains:
        book.enter(chain)
    offsets = np.concatenate(([0], np.cumsum(book.lengths[: book.n_known])))
    out = np.empty(offsets[-1], dtype=np.int32)
    copied = 0
    for chain, ids in zip(posterior.chains, book.ids, strict=True):
        copied = copy_sets(chain.members, chain.sizes, ids, offsets, copied, out)
    return DistinctClusters(posterior.n_records, out, offsets, book.counts[:copied], book.ids)


class _ClusterBook:
    """An open-addressing table of clusters that grows by doubling."""

    def __init__(self, n_records: int) -> None:
        rng = np.random.default_rng(KEYS_SEED)
        self.keys = rng.integers(0, 2**64, size=(n_records, 2), dtype=np.uint64)
        self.n_known = 0
        self.ids: list[NDArray[np.int32]] = []
        self.table = np.full(1024, -1, dtype=np.int32)
        self.hashes = np.empty((512, 2), dtype=np.uint64)
        self.lengths = np.zeros(512, dtype=np.int64)
        self.counts = np.zeros(512, dtype=np.int64)

    def enter(self, chain: "ClusterEpisodes") -> None:
        """Give the clusters of a chain's episodes numbers, and count their draws."""
        from kolchin.posterior.summary_kernels.set_numbers import number_sets

        self._make_room(self.n_known + chain.sizes.size)
        self.ids.append(np.empty(chain.sizes.size, dtype=np.int32))
        self.n_known = number_sets(
            chain.members, chain.sizes, chain.died - chain.born, self.keys, self.table,
            self.hashes, self.lengths, self.counts, self.n_known, self.ids[-1],
        )  # fmt: skip

    def _make_room(self, needed: int) -> None:
        """Keep the table at most half full."""
        from kolchin.posterior.summary_kernels.set_numbers import fill_table

        room = self.lengths.size
        if needed <= room:
            return
        while room < needed:
            room *= 2
        extra = room - self.lengths.size
        self.hashes = np.concatenate((self.hashes, np.empty((extra, 2), dtype=np.uint64)))
        self.lengths = np.concatenate((self.lengths, np.zeros(extra, dtype=np.int64)))
        self.counts = np.concatenate((self.counts, np.zeros(extra, dtype=np.int64)))
        self.table = np.full(2 * room, -1, dtype=np.int32)
        fill_table(self.table, self.hashes, self.n_known)

"""Weighted pairs from which a kernel draws in constant time, sorted by the blocks they lie in."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.parameters import FloatArray, IntArray
from kolchin.sampling.layout import Layout, Places, Shard


class PairTables(NamedTuple):
    """Weighted pairs in alias tables, one table for each two blocks (``kernels.Pairs``).

    The pairs of blocks a <= b are the rows from ``begins[a B + b]`` on, of B blocks; their weights
    add up to ``totals[a B + b]``.
    """

    table: NDArray[np.int32]
    begins: IntArray
    totals: FloatArray
    n_blocks: int

    @classmethod
    def of(cls, layout: Layout, pairs: Places, weight: FloatArray) -> "PairTables":
        """Sort pairs into tables."""
        n_tables = layout.n_blocks**2
        if n_tables == 1:
            begins, totals = np.array([0, weight.size]), np.array([weight.sum()])
        else:
            blocks = layout.find_blocks(pairs)
            number = blocks.min(axis=1) * layout.n_blocks + blocks.max(axis=1)
            order = np.argsort(number, kind="stable")
            pairs, weight, number = Places(pairs[order]), weight[order], number[order]
            begins = np.searchsorted(number, np.arange(n_tables + 1))
            totals = np.bincount(number, weight, minlength=n_tables)
        return cls(
            kernels.build_alias_tables(pairs, weight, begins), begins, totals, layout.n_blocks
        )

    def sum_within_reach(self, meeting: float) -> float:
        """Return the weight of all pairs whose blocks meet, on average; each meets itself."""
        totals = self.totals.reshape(self.n_blocks, self.n_blocks)
        own = float(np.trace(totals))
        return own + meeting * (float(totals.sum()) - own)

    def in_shard(self, shard: Shard) -> tuple[IntArray, FloatArray]:
        """Return the rows of a shard's tables, (table, from and to), and their total weights."""
        numbers = [a * self.n_blocks + b for a in shard.blocks for b in shard.blocks if a <= b]
        numbers = [k for k in numbers if self.totals[k] > 0]
        rows = np.array([[self.begins[k], self.begins[k + 1]] for k in numbers], dtype=np.int64)
        return rows.reshape(-1, 2), self.totals[numbers]

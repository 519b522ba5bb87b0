"""Loose links: pairs that are rarely linked, but so many that some of them always are.

They say how large delta is, and delta says how many of them there are: unless they come and go
quickly, both creep. Visited one by one, a pair of odds 1/1000 changes once in a thousand visits.
Here pairs are drawn in proportion to their odds and ask to be linked, and random records ask to
leave their cluster: what is proposed is about as probable as what is, so most is accepted
(``kernels.attach_records``). The list is frozen in warm-up; any list is valid.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.comparison.pairs_by_record import list_numbered_pairs
from kolchin.parameters import FloatArray, IntArray
from kolchin.sampling.layout import Layout, Places, Shard
from kolchin.sampling.proposals.mixture import LOOSE_ODDS
from kolchin.sampling.proposals.pair_tables import PairTables

LEFT_OUT = 0.01
"""Share of the links that is expected among all those pairs that are too unlikely to be listed."""

JOININGS = 2.0
"""How often a pair is asked to join, over its odds."""

MOST_PER_RECORD = 40
"""The list is no longer than this many pairs a record."""


CERTAIN_ODDS = 50.0
"""Pairs of larger odds never come apart by asking: they are not listed."""


class AttachLists(NamedTuple):
    """Lists of pairs, the neighbours of each record, and the records that have any.

    Neighbours of a record are sorted and stand from its start to the next record's. ``share`` is
    how often each of those records is asked to leave in a step, ``joinings`` how often a pair is
    asked to join, over its odds and that share.
    """

    tables: PairTables
    starts: IntArray
    neighbours: NDArray[np.int32]
    odds: FloatArray
    leavers: NDArray[np.int32]
    share: float = 1.0
    joinings: float = JOININGS

    def in_shard(self, shard: Shard) -> kernels.AttachRequest | None:
        """Return what is asked of a shard (``kernels.attach_records``); None if it has no pairs."""
        slices, totals = self.tables.in_shard(shard)
        if not len(slices):
            return None
        total = float(totals.sum())
        leaving = np.searchsorted(self.leavers, shard.within)
        n_leaving = int(leaving[1] - leaving[0] + leaving[3] - leaving[2])
        n_joining = min(self.joinings * total, n_leaving)
        n_moves = 1 + int(self.share * (n_leaving + n_joining))
        joining = n_joining / (n_leaving + n_joining)
        reach = np.cumsum(totals) / total
        pairs = kernels.Pairs(0.0, self.tables.table, slices, reach, shard.within)
        return kernels.AttachRequest(
            n_moves,
            joining,
            pairs,
            total,
            self.leavers,
            leaving,
            self.starts,
            self.neighbours,
            self.odds,
        )


def build_attach_lists(layout: Layout, pairs: Places, log_odds: FloatArray) -> AttachLists | None:
    """List the loose pairs of some candidates, by their log odds; None if there are none.

    Each record with neighbours is asked to leave about once, and a pair to join in proportion to
    its odds.
    """
    undecided = log_odds < np.log(CERTAIN_ODDS)
    pairs, log_odds = Places(pairs[undecided]), np.minimum(log_odds[undecided], np.log(LOOSE_ODDS))
    n_records = int(layout.bounds[-1])
    chosen = _choose_pairs(np.exp(log_odds), MOST_PER_RECORD * n_records)
    if not np.any(log_odds[chosen] > -np.inf):
        return None
    pairs, odds = Places(pairs[chosen]), np.exp(log_odds[chosen])
    starts, neighbours, which = list_numbered_pairs(pairs, n_records)
    leavers = np.flatnonzero(np.diff(starts)).astype(np.int32)
    tables = PairTables.of(layout, pairs, odds)
    return AttachLists(tables, starts, neighbours, odds[which], leavers)


def _choose_pairs(odds: FloatArray, most: int) -> IntArray:
    """Return which pairs to list: all but the least likely, these first."""
    total = float(odds.sum())
    # All that are less likely than this are left out even if every pair is: no need to sort them.
    kept = np.flatnonzero(odds >= LEFT_OUT * total / max(odds.size, 1))
    chosen: IntArray = kept[np.argsort(odds[kept], kind="stable")]
    links = total - float(odds[kept].sum()) + np.cumsum(odds[chosen])
    first = int(np.searchsorted(links, LEFT_OUT * total))
    return chosen[max(first, chosen.size - most) :]

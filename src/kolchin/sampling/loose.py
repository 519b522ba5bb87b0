"""Loose links: pairs that are rarely linked, but so many that some of them always are.

They say how large delta is, and delta says how many of them there are: unless they come and go
quickly, both creep. Visited one by one, a pair of odds 1/1000 changes once in a thousand visits.
Here pairs are drawn in proportion to their odds and ask to be linked, and random records ask to
leave their cluster: what is proposed is about as probable as what is, so most is accepted
(``kernels.attach``). The list is frozen in warm-up; any list is valid.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.parameters import FloatArray, IntArray
from kolchin.sampling.proposals import LOOSE_ODDS

LEFT_OUT = 0.01
"""Share of the links that is expected among all those pairs that are too unlikely to be listed."""

JOININGS = 2.0
"""How often a pair is asked to join, over its odds."""

MOST_PER_RECORD = 40
"""The list is no longer than this many pairs a record."""


class Loose(NamedTuple):
    """A list of pairs: how often to propose, a table to draw from, the neighbours of each record.

    Neighbours of a record are sorted and stand from its start to the next record's.
    """

    n_moves: int
    joining: float
    table: NDArray[np.int32]
    starts: IntArray
    neighbours: NDArray[np.int32]
    odds: FloatArray


def loose_pairs(n_records: int, pairs: NDArray[np.int32], log_odds: FloatArray) -> Loose | None:
    """Freeze the list; None if it is empty.

    Each record is asked to leave about once, and a pair to join in proportion to its odds.
    """
    log_odds = np.minimum(log_odds, np.log(LOOSE_ODDS))
    chosen = _listed(np.exp(log_odds), MOST_PER_RECORD * n_records)
    if not chosen.size:
        return None
    pairs, odds = pairs[chosen], np.exp(log_odds[chosen])
    record = np.concatenate([pairs[:, 0], pairs[:, 1]])
    other = np.concatenate([pairs[:, 1], pairs[:, 0]])
    order = np.lexsort([other, record])
    starts = np.concatenate([[0], np.cumsum(np.bincount(record, minlength=n_records))])
    n_joining = min(JOININGS * float(odds.sum()), n_records)
    return Loose(
        n_moves=int(n_records + n_joining),
        joining=n_joining / (n_records + n_joining),
        table=kernels.alias_table(pairs, odds),
        starts=starts,
        neighbours=other[order].astype(np.int32),
        odds=np.concatenate([odds, odds])[order],
    )


def _listed(odds: FloatArray, most: int) -> IntArray:
    """Return which pairs to list: all but the least likely, these first."""
    total = float(odds.sum())
    # All that are less likely than this are left out even if every pair is: no need to sort them.
    kept = np.flatnonzero(odds >= LEFT_OUT * total / max(odds.size, 1))
    chosen: IntArray = kept[np.argsort(odds[kept], kind="stable")]
    links = total - float(odds[kept].sum()) + np.cumsum(odds[chosen])
    first = int(np.searchsorted(links, LEFT_OUT * total))
    return chosen[max(first, chosen.size - most) :]

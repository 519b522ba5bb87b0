"""Which pairs the chaperones move is made on: a fixed mixture, learned in warm-up.

Any fixed distribution that reaches every pair is valid (model section 4). A share of the pairs
is uniform; the others come from a list, in proportion to how undecided they are. If a pair's
state were refreshed at rate w and had variance v = p(1-p), its part in the variance of K's mean
would be v/w. A move on the records S of two clusters looks at all pairs of them, so it costs about
|S|^2: for a given time, the best rates are proportional to sqrt(v) / |S|.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.comparison.pairs_by_record import list_numbered_pairs
from kolchin.parameters import FloatArray
from kolchin.sampling.layout import Layout, Places, Shard
from kolchin.sampling.proposals.observed_pairs import ObservedPairs
from kolchin.sampling.proposals.pair_tables import PairTables

UNIFORM_SHARE = 0.05
NO_PAIRS = Places(np.empty((0, 2), np.int32))
SMALLEST_SPREAD = 0.04
"""Listed pairs keep at least this sqrt(p(1-p)): what warm-up saw may not be all there is.

It is divided by the number of listed pairs that a record has, for the record with fewer.
"""

LOOSE_ODDS = 0.1
LOOSE_SPREAD = 0.1
"""Pairs of smaller odds, and not seen linked more often, are left to ``moves.attach``."""

RIVAL_SPREAD, MOST_NEIGHBOURS = 0.1, 8
"""Rivals, listed with the same record but not with each other, are visited like this.

If c and d each fit a cluster that has no room for both, or a record fits two clusters, nothing but
a move on the two rivals exchanges them: what comes between is too unlikely. Records listed with
more than so many have no rivals: they are of a crowd, in which all fit each other.
"""

LONE_SPREAD, MOST_LONE, LONE_SHARE = 0.1, 24, 0.1
"""Where few records are alone, each pair of them is visited like this, whatever they show.

In a table that has everybody twice, the last two without a partner are likely to be one. Few are
at most so many, and at most such a share of all records.
"""


class PairMixture(NamedTuple):
    """A distribution over pairs: a uniform share, and lists of weighted pairs."""

    uniform_share: float
    tables: PairTables

    @classmethod
    def uniform(cls) -> "PairMixture":
        """All pairs with equal probability."""
        return cls(1.0, PairTables.of(Layout.single(0), NO_PAIRS, np.empty(0)))

    def count_sweep(self, shard: Shard) -> int:
        """Return how many moves visit the undecided pairs of a shard once."""
        return int(2 * self.tables.in_shard(shard)[1].sum())

    def in_shard(self, shard: Shard) -> kernels.Pairs:
        """Return the pairs of a shard."""
        slices, totals = self.tables.in_shard(shard)
        share = self.uniform_share if len(slices) else 1.0
        reach = np.cumsum(totals) / max(totals.sum(), 1e-300)
        return kernels.Pairs(share, self.tables.table, slices, reach, shard.within)


def build_mixture(observed: ObservedPairs, log_odds: FloatArray, layout: Layout) -> PairMixture:
    """Weigh the candidates by how undecided they are, given the log odds that each is linked."""
    spread, chances = observed.estimate_spread(log_odds), observed.estimate_chances(log_odds)
    listed = (spread > LOOSE_SPREAD) | (log_odds > np.log(LOOSE_ODDS))
    pairs = observed.candidates[listed]
    # A move on two of many records that belong together looks at all of them.
    company = np.bincount(pairs.ravel())[pairs].min(axis=1) if len(pairs) else np.empty(0)
    spread = np.maximum(spread[listed], SMALLEST_SPREAD / company)
    begins, others, _ = list_numbered_pairs(pairs, int(layout.bounds[-1]))
    rivals = kernels.list_rival_pairs(begins, others, MOST_NEIGHBOURS)
    weight = np.append(spread, np.full(len(rivals), RIVAL_SPREAD))
    sizes = observed.estimate_sizes(chances, int(layout.bounds[-1]))
    lone = _list_lone_pairs(sizes, pairs)
    weight = np.append(weight, np.full(len(lone), LONE_SPREAD))
    everyone = np.concatenate([pairs, rivals, lone])
    both = sizes[everyone]
    together = np.append(chances[listed], np.zeros(len(rivals) + len(lone)))
    union = both.max(axis=1, initial=1.0) + (1 - together) * both.min(axis=1, initial=np.inf)
    weight *= np.minimum(1.0, 2.0 / union)
    return PairMixture(UNIFORM_SHARE, PairTables.of(layout, Places(everyone), weight))


def _list_lone_pairs(sizes: FloatArray, listed: NDArray[np.int32]) -> NDArray[np.int32]:
    """List the pairs of records that are mostly alone, where these are few, but for listed ones."""
    (lone,) = np.nonzero(sizes < 1.5)
    if lone.size > min(MOST_LONE, LONE_SHARE * sizes.size):
        lone = lone[:0]
    pairs = np.column_stack([lone[places] for places in np.triu_indices(lone.size, 1)])
    known = np.isin(pairs @ [sizes.size, 1], listed.astype(np.int64) @ [sizes.size, 1])
    return pairs[~known].astype(np.int32)

"""Which pairs the chaperones move is made on: a fixed mixture, learnt in warm-up.

Any fixed distribution that reaches every pair is valid (model section 4). A share of the pairs
is uniform; the others come from a list, in proportion to how undecided they are. If a pair's
state were refreshed at rate w and had variance v = p(1-p), its part in the variance of K's mean
would be v/w. A move on the records S of two clusters looks at all pairs of them, so it costs about
|S|^2: for a given time, the best rates are proportional to sqrt(v) / |S|.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.parameters import FloatArray
from kolchin.sampling.layout import Layout, PairTables, Shard

UNIFORM_SHARE = 0.05
SMALLEST_SPREAD = 0.04
"""Listed pairs keep at least this sqrt(p(1-p)): what warm-up saw may not be all there is.

It is divided by the number of listed pairs that a record has, for the record with fewer.
"""

LOOSE_ODDS = 0.1
LOOSE_SPREAD = 0.1
"""Pairs of smaller odds, and not seen linked more often, are left to ``loose``."""

RIVAL_SPREAD, MOST_NEIGHBOURS = 0.1, 8
"""Rivals, listed with the same record but not with each other, are visited like this.

If c and d each fit a cluster that has no room for both, or a record fits two clusters, nothing but
a move on the two rivals exchanges them: what comes between is too unlikely. Records listed with
more than so many have no rivals: they are of a crowd, in which all fit each other.
"""

CANDIDATES = "candidates"
"""The name of the candidate pairs in a store, which has them once for all chains."""

PRIOR_VISITS = 1.0
"""Weight of the pair's own evidence against what warm-up has seen, in observed states.

It is small: most pairs that are open by themselves are decided by the company that they are in.
"""


Observations = dict[str, Any]


@dataclass
class ObservedPairs:
    """A list of candidate pairs, and what warm-up has seen of them."""

    candidates: NDArray[np.int32]
    linked: NDArray[np.int32] = field(init=False)
    total_delta: FloatArray | float = 0.0
    n_seen: int = 0

    def __post_init__(self) -> None:
        self.linked = np.zeros(len(self.candidates), dtype=np.int32)

    def observe(self, following: NDArray[np.int32], delta: FloatArray) -> None:
        """Count which candidates are linked now, and take note of delta."""
        kernels.count_linked(following, self.candidates, self.linked)
        self.total_delta = self.total_delta + delta
        self.n_seen += 1

    def forget(self) -> None:
        """Begin to count anew: what was seen on the way to the typical set misleads."""
        self.linked[:] = 0
        self.total_delta = 0.0
        self.n_seen = 0

    def state(self) -> Observations:
        """Return a copy of what was seen; most candidates never were, and are left out."""
        seen = np.flatnonzero(self.linked)
        return {
            "n_candidates": len(self.candidates),
            "seen": seen,
            "linked": self.linked[seen],
            "total_delta": np.array(self.total_delta),
            "n_seen": self.n_seen,
        }

    def take(self, state: Observations) -> None:
        """Be as if this had been seen."""
        self.forget()
        self.linked[state["seen"]] = state["linked"]
        self.total_delta, self.n_seen = state["total_delta"], state["n_seen"]

    def mean_delta(self, now: FloatArray) -> FloatArray:
        """Return the mean of the deltas seen: one moment's may be far from typical."""
        return np.asarray(self.total_delta / self.n_seen) if self.n_seen else now

    def spread(self, log_odds: FloatArray) -> FloatArray:
        """Return sqrt(p(1-p)) of every candidate, p from its own evidence and from what was seen.

        Evidence alone is not enough: of three records that fit a fourth equally well, each has
        overwhelming evidence and a probability of a third.
        """
        p = self.chances(log_odds)
        result: FloatArray = np.sqrt(p * (1 - p))
        return result

    def chances(self, log_odds: FloatArray) -> FloatArray:
        """Return the chance that each candidate is linked, as things stand."""
        own = 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
        result: FloatArray = (self.linked + PRIOR_VISITS * own) / (self.n_seen + PRIOR_VISITS)
        return result

    def expected_sizes(self, chances: FloatArray, n_records: int) -> FloatArray:
        """Return how many records the cluster of each record has, itself included."""
        sizes = np.ones(n_records)
        for column in self.candidates.T:
            sizes += np.bincount(column, chances, n_records)
        return sizes

    def mixture(self, log_odds: FloatArray, layout: Layout) -> "PairMixture":
        """Freeze the mixture."""
        spread, chances = self.spread(log_odds), self.chances(log_odds)
        listed = (spread > LOOSE_SPREAD) | (log_odds > np.log(LOOSE_ODDS))
        pairs = self.candidates[listed]
        # A move on two of many records that belong together looks at all of them.
        company = np.bincount(pairs.ravel())[pairs].min(axis=1) if len(pairs) else np.empty(0)
        spread = np.maximum(spread[listed], SMALLEST_SPREAD / company)
        rivals = kernels.rival_pairs(int(layout.bounds[-1]), pairs, MOST_NEIGHBOURS)
        weight = np.append(spread, np.full(len(rivals), RIVAL_SPREAD))
        sizes = self.expected_sizes(chances, int(layout.bounds[-1]))
        everyone = np.concatenate([pairs, rivals])
        both = sizes[everyone]
        together = np.append(chances[listed], np.zeros(len(rivals)))
        union = both.max(axis=1, initial=1.0) + (1 - together) * both.min(axis=1, initial=np.inf)
        weight *= np.minimum(1.0, 2.0 / union)
        return PairMixture(UNIFORM_SHARE, PairTables.of(layout, everyone, weight))


class PairMixture(NamedTuple):
    """A distribution over pairs: a uniform share, and lists of weighted pairs."""

    uniform_share: float
    lists: PairTables

    @classmethod
    def uniform(cls) -> "PairMixture":
        """All pairs with equal probability."""
        return cls(1.0, PairTables.of(Layout.single(0), np.empty((0, 2), np.int32), np.empty(0)))

    def sweep(self, shard: Shard) -> int:
        """Return how many moves visit the undecided pairs of a shard once."""
        return int(2 * self.lists.in_shard(shard)[1].sum())

    def in_shard(self, shard: Shard) -> kernels.Pairs:
        """Return the pairs of a shard."""
        slices, totals = self.lists.in_shard(shard)
        share = self.uniform_share if len(slices) else 1.0
        reach = np.cumsum(totals) / max(totals.sum(), 1e-300)
        return kernels.Pairs(share, self.lists.table, slices, reach, shard.within)

"""Pairs that may be of one entity: all of them, or those of two sources that have a thing once.

Where records of one source are never linked, what they have in common says nothing of links: it is
counted among the other pairs alone, how often values agree by chance as well. Sources write in
styles of their own, so that chance within one is not chance between two.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.kinds.base import Codes, Floats

SAMPLED_PAIRS = 300_000
MOST_DRAWN = 20 * SAMPLED_PAIRS
"""At most so many pairs are drawn at random, of which those of one source are left out."""


class Possible(NamedTuple):
    """Which pairs may be of one entity.

    Parameters
    ----------
    n_records
        How many records there are.
    sources
        The number of each record's source, -1 where it has none; empty if all pairs are possible.
    """

    n_records: int
    sources: NDArray[np.int32]

    @classmethod
    def of(cls, n_records: int, sources: NDArray[np.int32] | None = None) -> "Possible":
        """Take the sources of records that are never linked within one, if they are given."""
        return cls(n_records, np.empty(0, dtype=np.int32) if sources is None else sources)

    @property
    def is_all(self) -> bool:
        """Whether every pair may be of one entity."""
        return not self.sources.size

    def keeps(self, pairs: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell which pairs are possible."""
        if self.is_all:
            return np.ones(len(pairs), dtype=np.bool_)
        one, other = self.sources[pairs].T
        result: NDArray[np.bool_] = (one < 0) | (one != other)
        return result

    def agreeing(self, codes: Codes, n_forms: int) -> Floats:
        """Count the possible pairs that agree on each form.

        >>> Possible.of(4).agreeing(np.array([0, 0, 0, -1]), 1).tolist()
        [3.0]
        >>> Possible.of(4, np.array([0, 0, 1, 1])).agreeing(np.array([0, 0, 0, -1]), 1).tolist()
        [2.0]
        """
        shown = codes >= 0
        pairs = _pairs_of(np.bincount(codes[shown], minlength=n_forms))
        if self.is_all:
            return pairs
        shown &= self.sources >= 0
        n_sources = int(self.sources.max(initial=0)) + 1
        cells = codes[shown].astype(np.int64) * n_sources + self.sources[shown]
        kept, counts = np.unique(cells, return_counts=True)
        inside: Floats = np.bincount(kept // n_sources, _pairs_of(counts), n_forms).astype(float)
        result: Floats = pairs - inside
        return result

    def share(self, shows: NDArray[np.bool_]) -> float:
        """Return the share of possible pairs among all those of some records."""
        n = int(shows.sum())
        if self.is_all or n < 2:
            return 1.0
        possible = self.agreeing(np.where(shows, 0, -1).astype(np.int32), 1)[0]
        return max(float(possible), 1.0) / (n * (n - 1) / 2)

    @property
    def most_linked(self) -> float:
        """The most pairs that can be linked, if each entity has a record of each source at most.

        >>> Possible.of(6, np.array([0, 0, 0, 1, 1, 2])).most_linked
        4.0
        """
        if self.is_all or (self.sources < 0).any():
            return np.inf
        largest_first = np.sort(np.bincount(self.sources))[::-1]
        return float(largest_first @ np.arange(largest_first.size))

    def random_pairs(self, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return possible pairs at random, or all if there are not many."""
        n = self.n_records
        if n * (n - 1) // 2 <= SAMPLED_PAIRS:
            pairs = np.column_stack(np.triu_indices(n, 1)).astype(np.int32)
            return pairs[self.keeps(pairs)]
        share = self.share(np.ones(n, dtype=np.bool_))
        n_drawn = min(int(SAMPLED_PAIRS / share), MOST_DRAWN)
        first = rng.integers(0, n, n_drawn)
        second = rng.integers(0, n - 1, n_drawn)
        pairs = np.column_stack([first, second + (second >= first)]).astype(np.int32)
        return pairs[self.keeps(pairs)]


def _pairs_of(counts: NDArray[np.int64]) -> Floats:
    """Return how many pairs there are of so many records."""
    result: Floats = counts * (counts - 1.0) / 2
    return result

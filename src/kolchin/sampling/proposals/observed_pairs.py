"""What warm-up has seen of the candidate pairs: how often each was linked."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.parameters import FloatArray, IntArray
from kolchin.sampling.layout import Places

CANDIDATES = "candidates"
"""The name of the candidate pairs in a store, which has them once for all chains."""

PRIOR_VISITS = 1.0
"""Weight of the pair's own evidence against what warm-up has seen, in observed states.

It is small: most pairs that are open by themselves are decided by the company that they are in.
"""


class Observations(NamedTuple):
    """How often pairs were linked in the states that were seen, and the sum of their deltas.

    ``linked[k]`` is of candidate ``seen[k]``; most candidates were never linked, and are left out.
    """

    n_candidates: int
    seen: IntArray
    linked: NDArray[np.int32]
    total_delta: FloatArray
    n_seen: int


@dataclass
class ObservedPairs:
    """A list of candidate pairs, and what warm-up has seen of them."""

    candidates: Places
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

    def copy_observations(self) -> Observations:
        """Return a copy of what was seen."""
        seen = np.flatnonzero(self.linked)
        total_delta = np.array(self.total_delta)
        return Observations(len(self.candidates), seen, self.linked[seen], total_delta, self.n_seen)

    def take(self, observations: Observations) -> None:
        """Take up what was seen before a stop, in place of what is here."""
        self.forget()
        self.linked[observations.seen] = observations.linked
        self.total_delta, self.n_seen = observations.total_delta, observations.n_seen

    def mean_delta(self, now: FloatArray) -> FloatArray:
        """Return the mean of the deltas seen: one moment's may be far from typical."""
        return np.asarray(self.total_delta / self.n_seen) if self.n_seen else now

    def estimate_spread(self, log_odds: FloatArray) -> FloatArray:
        """Return sqrt(p(1-p)) of every candidate, p from its own evidence and from what was seen.

        Evidence alone is not enough: of three records that fit a fourth equally well, each has
        overwhelming evidence and a probability of a third.
        """
        p = self.estimate_chances(log_odds)
        result: FloatArray = np.sqrt(p * (1 - p))
        return result

    def estimate_chances(self, log_odds: FloatArray) -> FloatArray:
        """Return the chance that each candidate is linked, as things stand."""
        own = 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
        result: FloatArray = (self.linked + PRIOR_VISITS * own) / (self.n_seen + PRIOR_VISITS)
        return result

    def estimate_sizes(self, chances: FloatArray, n_records: int) -> FloatArray:
        """Return how many records the cluster of each record has, itself included."""
        sizes = np.ones(n_records)
        for column in self.candidates.T:
            sizes += np.bincount(column, chances, n_records)
        return sizes

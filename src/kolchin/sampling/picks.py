"""Whom units may be linked with: each picks one other, and only what was picked is looked at.

A record picks one of its list, in proportion to how likely a link the two are, and now and then
any record at all. A list is long: pairs that are hopeless one by one are so many that some are
always linked, and if these were picked at random alone, they would never part.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.model import Model
from kolchin.parameters import FloatArray, IntArray
from kolchin.sampling.candidates import ALL_PAIRS_UP_TO, IntPairs, hopeful_pairs

DEEPER = 1.0
"""Log of how much less likely than candidates the pairs of a list may be."""

UNIFORM = 0.02
"""How often a record picks any other."""


class Picks(NamedTuple):
    """Lists of neighbours, sorted, from a record's start to the next one's, and their weights.

    ``reach`` is the sum of a record's weights up to each neighbour. A share ``uniform`` of what is
    picked is not of the list.
    """

    starts: IntArray
    neighbours: NDArray[np.int32]
    reach: FloatArray
    uniform: float = UNIFORM

    @classmethod
    def of(cls, n_records: int, pairs: IntPairs) -> "Picks":
        """List pairs of records, each for both; they are not weighed yet."""
        record = np.concatenate([pairs[:, 0], pairs[:, 1]])
        other = np.concatenate([pairs[:, 1], pairs[:, 0]])
        neighbours = other[np.lexsort([other, record])].astype(np.int32)
        starts = np.concatenate([[0], np.cumsum(np.bincount(record, minlength=n_records))])
        return cls(starts, neighbours, np.arange(1.0, neighbours.size + 1))

    def weighed(self, data: kernels.Data, delta: FloatArray, log_prior_odds: float) -> "Picks":
        """Weigh each pair by the chance that it is a link."""
        reach = np.empty(self.neighbours.size)
        lists = self.starts, self.neighbours
        odds = float(np.exp(log_prior_odds))
        kernels.weigh_picks(*lists, data.codes, data.gain, delta, odds, reach)
        return self._replace(reach=reach)


def picks_of(model: Model, data: kernels.Data, candidates: IntPairs) -> Picks:
    """List the candidates, and of small tables all pairs that are not much less likely."""
    small = model.n_records <= ALL_PAIRS_UP_TO
    pairs = hopeful_pairs(model, data, DEEPER) if small else candidates
    return Picks.of(model.n_records, pairs)

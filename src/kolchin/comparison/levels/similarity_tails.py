"""How often unrelated texts are similar: counted where nearly all pairs are unrelated, and beyond.

Among random pairs that are very similar, links would be taken for chance. So what is counted are
similarities that many more pairs have than there can be links; beyond, the number of pairs
falls on as it did before: a straight line on a log scale, which texts of unrelated records follow
closely.
"""

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.kinds.base import Floats

PAIRS_A_RECORD = 2.5
"""Similarities are counted that so many pairs a record reach, of all pairs of the table."""

FEWEST_PAIRS = 50
"""And that so many of the random pairs reach."""

FALL = 4.0
"""The line begins where so many times more pairs are."""

LEAST_SHARE = 1e-15


class SimilarityTail:
    """The share of unrelated pairs that reach a similarity.

    Parameters
    ----------
    similarities
        Those of random pairs.
    n_records
        How many records the table has.
    """

    def __init__(self, similarities: NDArray[np.float32], n_records: int) -> None:
        self.ordered = np.sort(similarities.astype(np.float64))
        n_pairs = max(self.ordered.size, 1)
        some = max(1 - np.searchsorted(self.ordered, 0.0, side="right") / n_pairs, 1 / n_pairs)
        least = max(2 * PAIRS_A_RECORD / max(n_records, 1), FEWEST_PAIRS / n_pairs)
        self.share = min(least, some / (2 * FALL))
        first = self._find_reached(FALL * self.share)
        self.last = max(self._find_reached(self.share), 1e-6)
        self.slope = np.log(FALL) / max(self.last - first, 1e-3)

    def _find_reached(self, share: float) -> float:
        """Return the similarity that a share of the pairs reach."""
        if not self.ordered.size:
            return 0.0
        place = int(np.clip((1 - share) * self.ordered.size, 0, self.ordered.size - 1))
        return float(self.ordered[place])

    def estimate_reaching(self, cuts: Floats) -> Floats:
        """Return the share of unrelated pairs that reach each of some similarities."""
        n_pairs = max(self.ordered.size, 1)
        seen = 1 - np.searchsorted(self.ordered, cuts, side="left") / n_pairs
        beyond = self.share * np.exp(-self.slope * np.maximum(cuts - self.last, 0.0))
        result: Floats = np.where(cuts > self.last, beyond, seen)
        return np.maximum(result, LEAST_SHARE)

    def levels(self, cuts: tuple[float, ...]) -> Floats:
        """Return the share of pairs in each level that cuts divide, the nearest first."""
        reaching = np.append(self.estimate_reaching(np.asarray(cuts, dtype=float)), 1.0)
        shares = np.diff(np.maximum.accumulate(reaching), prepend=0.0)
        result: Floats = np.maximum(shares, LEAST_SHARE)
        return result

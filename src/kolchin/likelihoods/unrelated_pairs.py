"""Unrelated records that share fields for a reason: how many pairs do is sampled (model section 6).

Chance gives n u_0(p) pairs of unrelated records with pattern p, of n pairs in all. Each set S of
fields that is shared for a reason gives nu_S B_S(p) u_0(p) more, where B_S(p) is the chance of
pattern p in a pair that shares S, over u_0(p). With pi_S = nu_S / n, and the sets F whose share is
fixed,

    u(p) / u_0(p) = 1 - sum over F of pi_S + sum over all S of pi_S B_S(p).

How many pairs share a set is a doubt where links would explain the same pairs: are two records with
all equal but the first name twins, or one person under two names? nu_S has the prior
Gamma(shape, scale) whose shape is far below one: mostly nobody shares such a set, but some may.
Given the clusters, the pairs of different clusters are divided among chance and the sets, and nu_S
follows from its part. In clusters of one or two records that is the conditional of the joint
density exactly; in larger ones two records of which neither is the exemplar are left out as well,
since they are no unrelated pair.
"""

import numpy as np
from numpy.typing import NDArray

from kolchin.likelihoods.dependence import Dependence
from kolchin.likelihoods.evidence_kernels.class_mixtures import add_shares
from kolchin.parameters import FloatArray, IntArray

SHAPE, RECORDS_A_PAIR = 0.1, 50.0
"""Shape of the prior of nu, and records for which its scale is one pair."""


LOOKED_AT = 50_000
"""Patterns times sets that may be looked at in every step."""

SMALLEST = 1e-30
"""Fewer pairs count as so many, since their log must be finite."""


class UnrelatedPairs:
    """The chance of patterns between unrelated records, over that of independent fields.

    Parameters
    ----------
    dependence
        Which sets are shared, how many pairs share those that are fixed, and a start for others.
    place, constant
        The levels of each row, and minus the logs of their chances.
    number
        How many pairs were compared and show each pattern; the first rows are of patterns.
    n_records
        How many records there are.
    """

    def __init__(
        self,
        dependence: Dependence,
        place: NDArray[np.int32],
        constant: FloatArray,
        number: FloatArray,
        n_records: int,
    ) -> None:
        self.dependence = dependence
        self.number = number
        self.n_pairs = max(dependence.n_pairs, 1.0)
        self.scale = max(n_records / RECORDS_A_PAIR, 1.0)
        self.base, self.parts = self.divide(place, constant)

    def divide(
        self, place: NDArray[np.int32], constant: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what is fixed of each row, and what a pair adds that shares each other set."""
        dependence = self.dependence
        parts = np.exp(dependence.log_shared(place, constant))
        fixed = ~dependence.sampled
        share = dependence.n_shared[fixed] / self.n_pairs
        base: FloatArray = 1 - share.sum() + parts[:, fixed] @ share
        return base, np.ascontiguousarray(parts[:, ~fixed]) / self.n_pairs

    @property
    def frequency(self) -> float:
        """How often the numbers of pairs are drawn: seldom, where there is much to look at."""
        return float(np.clip(LOOKED_AT / max(self.parts.size, 1), 0.1, 1.0))

    def ratio(self, n_sharing: FloatArray) -> FloatArray:
        """Return the chance of each row over that of independent fields."""
        result: FloatArray = add_shares(self.base, self.parts, n_sharing)
        return result

    def draw(self, rng: np.random.Generator, n_sharing: FloatArray, inside: IntArray) -> FloatArray:
        """Draw how many pairs share each set, given how many of each pattern are in clusters."""
        n_patterns = self.number.size
        apart = np.maximum(self.number - inside[:n_patterns], 0).astype(np.int64)
        rates = self.parts[:n_patterns] * n_sharing
        sharing = rates.sum(axis=1)
        (rows,) = np.nonzero((apart > 0) & (sharing > 0))
        chance = sharing[rows] / (self.base[rows] + sharing[rows])
        drawn = rng.binomial(apart[rows], chance)
        rows, drawn = rows[drawn > 0], drawn[drawn > 0]
        of_set = rng.multinomial(drawn, rates[rows] / sharing[rows, None]).sum(axis=0)
        drawn = rng.gamma(SHAPE + of_set, 1 / (1 + 1 / self.scale))
        result: FloatArray = np.maximum(drawn, SMALLEST)
        return result

    def log_density(self, n_sharing: FloatArray) -> float:
        """Log density of nu and of all pairs that were compared, were none of them linked.

        It is relative to chance alone and up to a constant.
        """
        # No library of linear algebra is asked: its threads would be in the way of the chains'.
        pairs = (self.number * np.log(self.ratio(n_sharing)[: self.number.size])).sum()
        prior = (SHAPE - 1) * np.log(n_sharing) - n_sharing * (1 + 1 / self.scale)
        return float(pairs + prior.sum())

"""What a pattern says: the evidence that a record shows it against its entity's true values.

Fields that move together do so on both sides of the ratio (`dependence`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kolchin.comparison.distinct_rows import find_distinct_rows
from kolchin.comparison.kinds.base import make_falling_weights
from kolchin.likelihoods import error_counts
from kolchin.likelihoods.compared_patterns import ComparedPatterns, UnmergedPatterns
from kolchin.likelihoods.dependence import Dependence
from kolchin.likelihoods.evidence_kernels.class_mixtures import (
    mix_ratios,
    multiply_kept_gains,
    weigh_classes,
)
from kolchin.likelihoods.outcomes import Outcomes
from kolchin.likelihoods.unrelated_pairs import UnrelatedPairs
from kolchin.parameters import FloatArray, IntArray, Values

STEP, DECIDED = 0.25, 12.0
"""Patterns count as one whose log evidence differs by less than a step, or is so far from even odds
that there is no doubt (e^-12 is 6 in a million)."""

NEARLY_CHANCE = 0.01
"""A pattern that is so little more frequent among unrelated records than by chance is chance."""

NO_SETS = np.empty(0)


class PatternRatios(NamedTuple):
    """Evidence of each pattern, and that of pairs not compared, by what both show."""

    ratio: FloatArray
    apart: FloatArray


class FixedFactors(NamedTuple):
    """What stays the same of the evidence of patterns while parameters change.

    Patterns that differ only in how frequent values are have the same vector of levels: ``vectors``
    are all of them, ``vector[p]`` is that of pattern p. ``gains`` is one over the chance of what
    each class keeps, by pattern and class.
    """

    vectors: NDArray[np.int32]
    vector: NDArray[np.int32]
    gains: FloatArray


class PatternEvidence(ComparedPatterns):
    """The evidence of patterns, by the parameters m, rho, tau and shared."""

    def __init__(
        self,
        compared: Outcomes,
        names: Sequence[str],
        weights: Sequence[ArrayLike] | None = None,
        dependence: Dependence | None = None,
    ) -> None:
        super().__init__(compared, names)
        if weights is None:
            weights = [make_falling_weights(n) for n in compared.n_levels]
        self.weights: FloatArray = np.concatenate([np.asarray(w, dtype=float) for w in weights])
        self._take_dependence(dependence)

    def _take_dependence(self, dependence: Dependence | None) -> None:
        """Say which fields move together."""
        self.dependence = dependence
        self._found_factors: FixedFactors | None = None
        self.counts_errors = dependence is not None and dependence.tau is not None
        if dependence is None:
            self.kept = np.ones((1, self.n_fields), dtype=bool)
            self.rho_weights = np.ones(1)
            self.unrelated: UnrelatedPairs | None = None
            return
        self.kept = ~dependence.replaced
        self.rho_weights = dependence.rho_weights
        self.weights = dependence.m_weights
        self.unrelated = UnrelatedPairs(
            dependence, self.place, self.constant, self._number, self.n_learnt
        )

    @property
    def has_classes(self) -> bool:
        """Whether fields may be replaced at once, so that there are chances of it to sample."""
        return len(self.kept) > 1

    @property
    def has_doubts(self) -> bool:
        """Whether it is sampled how many pairs share some sets of fields."""
        return self.dependence is not None and bool(self.dependence.sampled.any())

    @property
    def class_names(self) -> list[str]:
        """Which fields are replaced at once, in words; none in the first class."""
        return [self.write_names(~kept) or "nothing" for kept in self.kept]

    @property
    def doubtful_names(self) -> list[str]:
        """Which sets of fields may be shared by unrelated records, in words."""
        if self.dependence is None:
            return []
        return [
            self.write_names(fields) for fields in self.dependence.shared[self.dependence.sampled]
        ]

    def start(self, rng: np.random.Generator | None = None) -> Values:
        """Return m, rho and tau as they are expected."""
        if self.dependence is None:
            return {"m": self._normalise(self.weights)}
        values = {"m": self.dependence.m.copy()}
        if self.has_classes:
            values["rho"] = self.dependence.rho.copy()
        if self.dependence.tau is not None:
            values["tau"] = self.dependence.tau.copy()
        if self.has_doubts:
            values["shared"] = self.dependence.n_shared[self.dependence.sampled]
        return values

    def compute_ratios(self, values: Values) -> PatternRatios:
        """Return the evidence of patterns."""
        vectors, vector, gains = self._factors
        whole = mix_ratios(
            self._compute_class_weights(values, vectors), vector, gains, self._compute_scale(values)
        )
        return PatternRatios(whole[: self.n_patterns], whole[self.n_patterns :])

    def log_ratios(self) -> FloatArray:
        """Return the log evidence of each outcome, as it is expected."""
        ratio = np.log(np.maximum(self.compute_ratios(self.start()).ratio, 1e-300))
        result: FloatArray = ratio[self._pattern]
        return result

    @property
    def _factors(self) -> FixedFactors:
        """What stays the same of the evidence of patterns; found when it is asked for first."""
        if self._found_factors is None:
            rows, vector = find_distinct_rows(list(self.place.T))
            gains = multiply_kept_gains(
                self.place, self.constant, self._replaced, int(self.offsets[-1])
            )
            self._found_factors = FixedFactors(self.place[rows], vector, gains)
        return self._found_factors

    @property
    def _replaced(self) -> IntArray:
        """The fields that each class replaces, by bits."""
        result: IntArray = (~self.kept @ (1 << np.arange(self.n_fields))).astype(np.int64)
        return result

    def _compute_scale(self, values: Values) -> FloatArray:
        """Return one over the chance of patterns between unrelated records."""
        if self.unrelated is None:
            return np.ones(len(self.place))
        result: FloatArray = 1 / self.unrelated.ratio(values.get("shared", NO_SETS))
        return result

    def _get_rho(self, values: Values) -> FloatArray:
        """Return how often each class of fields is replaced; where there is one, always."""
        return values["rho"] if self.has_classes else np.ones(1)

    def _sum_wrong(self, values: Values) -> FloatArray:
        """Return the chance of an error by field, before their number is weighed."""
        others = values["m"].copy()
        others[self.offsets[:-1]] = 0.0
        result: FloatArray = np.add.reduceat(others, self.offsets[:-1])
        return result

    def _compute_tilts(self, values: Values) -> FloatArray:
        """Return what the number of errors weighs, by what is seen and how many are wrong."""
        if not self.counts_errors:
            return np.ones((1 << self.n_fields, self.n_fields + 1))
        return error_counts.compute_tilts(self._sum_wrong(values), values["tau"])

    def _normalise(self, weights: FloatArray) -> FloatArray:
        """Scale the levels of each field to sum to one."""
        totals = np.add.reduceat(weights, self.offsets[:-1])
        result: FloatArray = weights / np.repeat(totals, np.diff(self.offsets))
        return result

    def _weigh_classes(self, patterns: IntArray, values: Values) -> FloatArray:
        """Return how much each class weighs in the evidence of some patterns."""
        return (
            self._compute_class_weights(values, self.place[patterns])
            * self._factors.gains[patterns]
        )

    def _compute_class_weights(self, values: Values, vectors: NDArray[np.int32]) -> FloatArray:
        """Return the chances of vectors of levels by class, but for what it replaces."""
        rho, tilts = self._get_rho(values), self._compute_tilts(values)
        result: FloatArray = weigh_classes(
            vectors, self._replaced, rho, values["m"], tilts, self.offsets
        )
        return result

    def _merge_alike(self, step: float = STEP, margin: float = DECIDED) -> None:
        """Make one pattern of those with the same levels and nearly the same evidence.

        They differ in how frequent the values are on which records agree, but each costs time in
        every step of a chain. Evidence is nearly the same within a step of its log; beyond the
        margin around even odds, at one to N that a pair starts with, it is as good as the same.
        Where patterns become one, the gain of each field is the mean over pairs.
        """
        self._unmerged = UnmergedPatterns(
            self.place.astype(np.int16), self.constant.astype(np.float32), self._pattern
        )
        n, values = self.n_patterns, self.start()
        beyond = np.log(np.maximum(self.compute_ratios(values)[0], 1e-300)) - np.log(
            self.shown.size
        )
        self._flatten_hopeless(beyond < -margin, values)
        near = np.rint(np.clip(beyond, -margin, margin) / step).astype(np.int64)
        place, constant, number = self.place[:n], self.constant[:n], self._number
        rows, which = find_distinct_rows([*place.T, near])
        self._number = np.bincount(which, number).astype(float)
        means = [np.bincount(which, number * gain) / self._number for gain in constant.T]
        self.place = np.concatenate([place[rows], self.place[n:]])
        self.constant = np.concatenate([np.column_stack(means), self.constant[n:]])
        self.n_patterns = len(rows)
        self._pattern = which[self._pattern]
        self._take_dependence(self.dependence)

    def _flatten_hopeless(self, hopeless: NDArray[np.bool_], values: Values) -> None:
        """Take pairs for different in all fields that neither links nor sharing would explain.

        Most candidates are such coincidences, in tens of thousands of patterns, and nothing hangs
        on what they agree on: they stay as hopeless, like pairs that were not compared.
        """
        if self.unrelated is None:
            return
        whole = self.unrelated.ratio(values.get("shared", NO_SETS))[: self.n_patterns]
        rows = np.flatnonzero(hopeless & (whole < 1 + NEARLY_CHANCE))
        seen = self.place[rows] < self.offsets[-1]
        apart = self.constant[-1]  # of two records that show all fields and differ in all
        self.place[rows] = np.where(seen, self.offsets[1:] - 1, self.offsets[-1])
        self.constant[rows] = np.where(seen, apart, 0.0)

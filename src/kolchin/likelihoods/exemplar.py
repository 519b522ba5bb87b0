"""Compared fields: one record of each entity shows its true values (model section 6).

Two values of a compared field agree to some level: exact, near, ..., different. A record shows a
level against its entity's true value with chance m(level), and against that of another entity
with chance u(level). Which record of a cluster is the exemplar is not known; each may be:

    P(x_c) / prod P(x_n) = (1/|c|) sum over e in c of prod over n in c, n != e, of m(n, e) / u(n, e)

Pairs that were never compared count as different in every field that both records show. Fields
that move together do so on both sides of the ratio (`dependence`).
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kolchin import kernels
from kolchin.comparison import Comparisons
from kolchin.comparison.compared_pairs import PairParts
from kolchin.comparison.distinct_rows import find_distinct_rows
from kolchin.comparison.kinds.base import make_falling_weights
from kolchin.comparison.pairs_by_record import RecordLists, list_by_record
from kolchin.errors import ModelError
from kolchin.likelihoods import error_counts
from kolchin.likelihoods.chance import Coincidences, chances_of_values
from kolchin.likelihoods.compared_candidates import find_among_compared
from kolchin.likelihoods.dependence import Dependence, Masks
from kolchin.likelihoods.fitting import learn_dependence
from kolchin.likelihoods.kernels import (
    class_weights,
    draw_hidden_errors,
    kept_gains,
    mixed_ratios,
    slice_errors,
)
from kolchin.likelihoods.neighbour_lists import list_neighbours
from kolchin.likelihoods.pattern_counts import KeptLevels, PatternCounts, draw_classes
from kolchin.likelihoods.sharing import Chances, Patterns, shares_shown
from kolchin.likelihoods.unlinked import Unlinked
from kolchin.parameters import FloatArray, IntArray, Values
from kolchin.workplace import Workplace

MOST_FIELDS = 16
"""The fields that a record shows are the bits of a small number."""

DRAWS_FOR_EVIDENCE, WORK_FOR_EVIDENCE = 100, 2e9
"""Draws of the parameters over which evidence is a mean; fewer where each takes long."""

STEP, DECIDED = 0.25, 12.0
"""Patterns count as one whose log evidence differs by less than a step, or is so far from even odds
that there is no doubt (e^-12 is 6 in a million)."""

NEARLY_CHANCE = 0.01
"""A pattern that is so little more frequent among unrelated records than by chance is chance."""

SMALLEST_RATIO = 1e-300
NO_SETS = np.empty(0)


class Outcomes(NamedTuple):
    """Pairs of records (i < j) that were compared, and the level of each field (-1: missing).

    ``chance`` has, for each outcome and field, the chance that an unrelated record would show such
    a level: for an exact agreement, that of a value as frequent (few different numbers, since
    outcomes that differ in them are told apart). ``chance_apart[f]`` is the chance of the last
    level, ``shows[n, f]`` whether record n has a value of field f. There is an outcome for each
    pair, or ``which[k]`` is that of pair k, or the pairs come in parts that say it. ``bands`` are
    those of the values that agree exactly, by frequency, where outcomes are told apart by them.
    """

    pairs: NDArray[np.int32] | PairParts
    levels: NDArray[np.int8]
    chance: FloatArray
    n_levels: tuple[int, ...]
    chance_apart: FloatArray
    shows: NDArray[np.bool_]
    which: NDArray[np.int32] | None = None
    bands: NDArray[np.int8] | None = None


class Ratios(NamedTuple):
    """Evidence of each pattern, and that of pairs not compared, by what both show."""

    ratio: FloatArray
    apart: FloatArray


class AsCompared(NamedTuple):
    """Patterns before some were made one: levels, minus the logs of their chances, by outcome.

    Chains need not tell them apart, but who asks for the evidence of a pair wants its own.
    """

    place: NDArray[np.signedinteger[Any]]
    constant: NDArray[np.floating[Any]]
    pattern: NDArray[np.int32]


class Factors(NamedTuple):
    """What stays the same of the evidence of patterns while parameters change.

    Patterns that differ only in how frequent values are have the same vector of levels: ``vectors``
    are all of them, ``vector[p]`` is that of pattern p. ``gains`` is one over the chance of what
    each class keeps, by pattern and class.
    """

    vectors: NDArray[np.int32]
    vector: NDArray[np.int32]
    gains: FloatArray


NO_RATIOS = Ratios(np.empty(0), np.empty(0))


def outcomes_of(comparisons: Comparisons, shows: NDArray[np.bool_]) -> Outcomes:
    """Say what came out of comparing, and how often that happens by chance.

    For values that agree or are near the chance is that of their frequency: by band, that two
    unrelated records show such a level and band over that a record has a value of the band.
    """
    levels, bands = comparisons.outcomes, comparisons.outcome_bands
    chance = np.ones(levels.shape)
    for f, by_level in enumerate(comparisons.u):
        of_value = chances_of_values(
            comparisons.band_u[f], by_level, comparisons.in_band[f], comparisons.band_m[f]
        )
        chance[:, f] = of_value[levels[:, f], bands[:, f]]
    return Outcomes(
        pairs=comparisons.parts,
        levels=levels,
        chance=chance,
        n_levels=tuple(len(names) for names in comparisons.level_names),
        chance_apart=np.array([by_level[-1] for by_level in comparisons.u]),
        shows=shows,
        bands=bands,
    )


class Exemplar:
    """Likelihood of the compared fields of records.

    Parameters
    ----------
    compared
        Which pairs were compared, and what came out.
    names
        The fields' names.
    weights
        For each field the Dirichlet weights of m, or numbers that m is fixed to if ``fixed``.
    dependence
        Which fields move together, and how often; by default all are independent. It then gives the
        weights of m.
    """

    def __init__(
        self,
        compared: Outcomes,
        names: Sequence[str],
        weights: Sequence[ArrayLike] | None = None,
        fixed: bool = False,
        dependence: Dependence | None = None,
    ) -> None:
        if len(names) > MOST_FIELDS:
            raise ModelError(
                f"There may be at most {MOST_FIELDS} compared fields. Got {len(names)} instead."
            )
        self.names = tuple(names)
        self.n_patterns = 0
        self.comparisons: Comparisons | None = None
        self._as_compared: AsCompared | None = None
        self.fixed = fixed
        self.offsets = np.concatenate([[0], np.cumsum(compared.n_levels)]).astype(np.int64)
        if weights is None:
            weights = [make_falling_weights(n) for n in compared.n_levels]
        self.weights: FloatArray = np.concatenate([np.asarray(w, dtype=float) for w in weights])
        bits = (1 << np.arange(len(names))).astype(np.int32)
        self.shown: NDArray[np.int32] = (compared.shows @ bits).astype(np.int32)
        self.n_learnt = self.shown.size  # records may be added later
        self.parts = _parts(compared.pairs, compared.which)
        self._pattern = self._number_patterns(compared)
        counts, pattern = self.parts.counts, self._pattern[: self.parts.counts.size]
        self._number: FloatArray = np.bincount(pattern, counts, self.n_patterns).astype(float)
        self._depend(dependence)

    @classmethod
    def fit(cls, comparisons: Comparisons) -> Self:
        """Return the likelihood of records that were compared.

        What levels mean, and which fields move together, is learned from the pairs.
        """
        shows = comparisons.shows
        names = [field.column for field in comparisons.fields]
        likelihood = cls(outcomes_of(comparisons, shows), names)
        chances = Chances(
            n_records=len(shows),
            u=comparisons.u,
            agrees=comparisons.agrees,
            shows=shares_shown(shows),
            together=comparisons.together,
            possible=comparisons.possible.share(np.ones(len(shows), dtype=np.bool_)),
        )
        coincidences = Coincidences.of(comparisons, likelihood.bands)
        learnt = learn_dependence(likelihood.patterns, chances, coincidences)
        likelihood._take_chances(learnt.gain, learnt.u)
        likelihood._depend(learnt.dependence)
        likelihood._merge_alike()
        is_likely = likelihood.log_ratios() > np.log(len(shows))
        likelihood.comparisons = comparisons.judged(is_likely)
        return likelihood

    def __repr__(self) -> str:
        fields = "field" if self.n_fields == 1 else "fields"
        return f"Exemplar({self.shown.size:,} records, {self.n_fields} {fields})"

    def of_records(self, rows: IntArray) -> "Exemplar":
        """Return the likelihood of some of the records, in ascending order."""
        from kolchin.likelihoods.extending import restricted

        return restricted(self, rows)

    def _take_chances(self, gain: FloatArray, u: tuple[FloatArray, ...]) -> None:
        """Take other chances of levels, by pattern, and by field for pairs not compared."""
        last = -np.log([chances[-1] for chances in u])
        seen = self.place[self.n_patterns :] < self.offsets[-1]
        self.constant[:] = np.concatenate([gain, np.where(seen, last, 0.0)])

    @property
    def patterns(self) -> Patterns:
        """The different outcomes of comparing, and how many pairs show each."""
        place = self.place[: self.n_patterns]
        levels = np.where(place < self.offsets[-1], place - self.offsets[:-1], -1)
        return Patterns(levels.astype(np.int8), self.constant[: self.n_patterns], self._number)

    def _depend(self, dependence: Dependence | None) -> None:
        """Say which fields move together."""
        self.dependence = dependence
        self._known_factors: Factors | None = None
        self.counts_errors = dependence is not None and dependence.tau is not None
        if dependence is None:
            self.kept = np.ones((1, self.n_fields), dtype=bool)
            self.rho_weights = np.ones(1)
            self.unlinked: Unlinked | None = None
            return
        self.kept = ~dependence.replaced
        self.rho_weights = dependence.rho_weights
        self.weights = dependence.m_weights
        what = self.place, self.constant, self._number, self.n_learnt
        self.unlinked = Unlinked(dependence, *what)

    @property
    def _factors(self) -> Factors:
        """What stays the same of the evidence of patterns; found when it is asked for first."""
        if self._known_factors is None:
            rows, vector = find_distinct_rows(list(self.place.T))
            gains = kept_gains(self.place, self.constant, self._replaced, int(self.offsets[-1]))
            self._known_factors = Factors(self.place[rows], vector, gains)
        return self._known_factors

    @property
    def _replaced(self) -> IntArray:
        """The fields that each class replaces, by bits."""
        result: IntArray = (~self.kept @ (1 << np.arange(self.n_fields))).astype(np.int64)
        return result

    @property
    def has_doubts(self) -> bool:
        """Whether it is sampled how many pairs share some sets of fields."""
        return self.dependence is not None and bool(self.dependence.sampled.any())

    def _scale(self, values: Values) -> FloatArray:
        """Return one over the chance of patterns between unrelated records."""
        if self.unlinked is None:
            return np.ones(len(self.place))
        result: FloatArray = 1 / self.unlinked.ratio(values.get("shared", NO_SETS))
        return result

    def _number_patterns(self, compared: Outcomes) -> NDArray[np.int32]:
        """Give each outcome a number, and last those of pairs not compared, by what both show."""
        seen = compared.levels >= 0
        # The place of each level among all; the last place stands for a missing value.
        missing = self.offsets[-1]
        place = np.where(seen, compared.levels + self.offsets[:-1], missing).astype(np.int64)
        constant = -np.log(np.where(seen, compared.chance, 1.0))
        bands = np.zeros_like(compared.levels) if compared.bands is None else compared.bands
        told_apart = [*place.T, *constant.view(np.int64).T, *bands.T]
        first, pattern = find_distinct_rows(told_apart)
        self.bands: NDArray[np.int8] = bands[first]
        masks = np.arange(1 << self.n_fields)
        both = (masks[:, None] >> np.arange(self.n_fields)) & 1 == 1
        apart = np.where(both, self.offsets[1:] - 1, missing)
        self.place: NDArray[np.int32] = np.concatenate([place[first], apart]).astype(np.int32)
        last = np.where(both, -np.log(compared.chance_apart), 0.0)
        self.constant: FloatArray = np.concatenate([constant[first], last])
        self.n_patterns = len(first)
        return pattern

    def _merge_alike(self, step: float = STEP, margin: float = DECIDED) -> None:
        """Make one pattern of those with the same levels and nearly the same evidence.

        They differ in how frequent the values are on which records agree, but each costs time in
        every step of a chain. Evidence is nearly the same within a step of its log; beyond the
        margin around even odds, at one to N that a pair starts with, it is as good as the same.
        Where patterns become one, the gain of each field is the mean over pairs.
        """
        self._as_compared = AsCompared(
            self.place.astype(np.int16), self.constant.astype(np.float32), self._pattern
        )
        n, values = self.n_patterns, self.start()
        beyond = np.log(np.maximum(self.ratios(values)[0], 1e-300)) - np.log(self.shown.size)
        self._blur(beyond < -margin, values)
        near = np.rint(np.clip(beyond, -margin, margin) / step).astype(np.int64)
        place, constant, number = self.place[:n], self.constant[:n], self._number
        rows, which = find_distinct_rows([*place.T, near])
        self._number = np.bincount(which, number).astype(float)
        means = [np.bincount(which, number * gain) / self._number for gain in constant.T]
        self.place = np.concatenate([place[rows], self.place[n:]])
        self.constant = np.concatenate([np.column_stack(means), self.constant[n:]])
        self.n_patterns = len(rows)
        self._pattern = which[self._pattern]
        self._depend(self.dependence)

    def _blur(self, hopeless: NDArray[np.bool_], values: Values) -> None:
        """Take pairs for different in all fields that neither links nor sharing would explain.

        Most candidates are such coincidences, in tens of thousands of patterns, and nothing hangs
        on what they agree on: they stay as hopeless, like pairs that were not compared.
        """
        if self.unlinked is None:
            return
        whole = self.unlinked.ratio(values.get("shared", NO_SETS))[: self.n_patterns]
        rows = np.flatnonzero(hopeless & (whole < 1 + NEARLY_CHANCE))
        seen = self.place[rows] < self.offsets[-1]
        apart = self.constant[-1]  # of two records that show all fields and differ in all
        self.place[rows] = np.where(seen, self.offsets[1:] - 1, self.offsets[-1])
        self.constant[rows] = np.where(seen, apart, 0.0)

    settings: Mapping[str, object] = {}
    is_moved_by_links = False
    largest_log_gain = math.inf

    @property
    def n_compared(self) -> int:
        """Number of records that were compared."""
        return self.shown.size

    @property
    def coordinates(self) -> dict[str, list[str]]:
        """Names of the entries of those parameters that are vectors."""
        names: dict[str, list[str]] = {}
        if self.comparisons is not None:
            names["m"] = [
                f"{field.column}: {level}"
                for field, levels in zip(
                    self.comparisons.fields, self.comparisons.level_names, strict=True
                )
                for level in levels
            ]
        if self.has_classes:
            names["rho"] = self.class_names
        if self.counts_errors:
            names["errors"] = [f"{k} of {self.n_fields}" for k in range(self.n_fields + 1)]
        if self.has_doubts:
            names["shared"] = self.doubtful_names
        return names

    def generous_delta(self) -> FloatArray:
        """Return no delta: no field is categorical."""
        return np.empty(0)

    def evidence(self, values: Values) -> kernels.Evidence:
        """Return the evidence of patterns, as the kernels take it."""
        return kernels.Evidence(np.empty(0), *self.ratios(values))

    def log_reach(self, evidence: kernels.Evidence) -> float:
        """Return 0: no field is categorical."""
        return 0.0

    def kernel_data(
        self, order: IntArray | None = None, work: Workplace | None = None
    ) -> kernels.Data:
        """Return, in an order, what records show and with whom they were compared.

        Where compared pairs are in the store of an engine, its tasks list them.
        """
        shown = self.shown if order is None else self.shown[order]
        lists: tuple[Any, Any, Any]
        if work is not None and order is not None and self.parts.beside(work) is work:
            lists = list_neighbours(self.parts, self.pattern_of_outcome, order, work)
        else:
            lists = self.lists(order)
        no_codes = np.empty((shown.size, 0), dtype=np.int32)
        begins, others, pattern = lists
        return kernels.Data(no_codes, np.empty(0), begins, others, pattern, shown)

    def find_candidates(
        self, source: NDArray[np.int32], work: Workplace | None = None
    ) -> tuple[NDArray[np.int32], FloatArray]:
        """List the pairs that were compared and are not hopeless, and their log evidence."""
        no_codes = np.empty((self.shown.size, 0), dtype=np.int32)
        data = kernels.Data(no_codes, np.empty(0), source=source)
        return find_among_compared(self, data, np.empty(0), work)

    def log_terms(self, values: Values, statistics: PatternCounts) -> tuple[float, ...]:
        """Return the log density of records and parameters, given the clusters counted."""
        return (statistics.log_evidence + self.log_hyper(values),)

    def lists(self, order: IntArray | None = None) -> RecordLists:
        """List for each record, or each place of an order, those it was compared with.

        Kernels read them: where each list begins, the others, and the pattern of the pair.
        """
        begins, others, marks = list_by_record(list(self.parts), self.shown.size, order)
        np.take(self._pattern, marks, out=marks, mode="clip")
        return begins, others, marks

    def without_records(self) -> "Exemplar":
        """Return what does not depend on how many records there are."""
        bare = copy.copy(self)
        bare.comparisons = None
        bare.unlinked = bare._known_factors = bare._as_compared = None
        bare.shown = self.shown[:0].copy()
        bare.parts = PairParts.of(np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.int32))
        bare._pattern = self._pattern[:0].copy()
        return bare

    @property
    def n_fields(self) -> int:
        """Number of compared fields."""
        return len(self.names)

    @property
    def has_classes(self) -> bool:
        """Whether fields may be replaced at once, so that there are chances of it to sample."""
        return len(self.kept) > 1

    @property
    def class_names(self) -> list[str]:
        """Which fields are replaced at once, in words; nothing comes first."""
        return [self.named(~kept) or "nothing" for kept in self.kept]

    @property
    def doubtful_names(self) -> list[str]:
        """Which sets of fields may be shared by unrelated records, in words."""
        if self.dependence is None:
            return []
        return [self.named(fields) for fields in self.dependence.shared[self.dependence.sampled]]

    def named(self, fields: Masks) -> str:
        """Write a set of fields."""
        return " + ".join(self.listed(fields))

    def listed(self, fields: Masks) -> list[str]:
        """Return the names of a set of fields."""
        return [name for name, inside in zip(self.names, fields, strict=True) if inside]

    def start(self, rng: np.random.Generator | None = None) -> Values:
        """Return m, rho and tau as they are expected."""
        if self.dependence is None:
            return {"m": self._normalised(self.weights)}
        values = {"m": self.dependence.m.copy()}
        if self.has_classes:
            values["rho"] = self.dependence.rho.copy()
        if self.dependence.tau is not None:
            values["tau"] = self.dependence.tau.copy()
        if self.has_doubts:
            values["shared"] = self.dependence.n_shared[self.dependence.sampled]
        return values

    def _rho(self, values: Values) -> FloatArray:
        return values["rho"] if self.has_classes else np.ones(1)

    def _wrong(self, values: Values) -> FloatArray:
        """Return the chance of an error by field, before their number is weighed."""
        others = values["m"].copy()
        others[self.offsets[:-1]] = 0.0
        result: FloatArray = np.add.reduceat(others, self.offsets[:-1])
        return result

    def _tilts(self, values: Values) -> FloatArray:
        """Return what the number of errors weighs, by what is seen and how many are wrong."""
        if not self.counts_errors:
            return np.ones((1 << self.n_fields, self.n_fields + 1))
        return error_counts.tilts(self._wrong(values), values["tau"])

    def _normalised(self, weights: FloatArray) -> FloatArray:
        """Scale the levels of each field to sum to one."""
        totals = np.add.reduceat(weights, self.offsets[:-1])
        result: FloatArray = weights / np.repeat(totals, np.diff(self.offsets))
        return result

    def ratios(self, values: Values) -> Ratios:
        """Return the evidence of patterns."""
        vectors, vector, gains = self._factors
        whole = mixed_ratios(
            self._class_weights(values, vectors), vector, gains, self._scale(values)
        )
        return Ratios(whole[: self.n_patterns], whole[self.n_patterns :])

    def _weights_of(self, patterns: IntArray, values: Values) -> FloatArray:
        """Return how much each class weighs in the evidence of some patterns."""
        return self._class_weights(values, self.place[patterns]) * self._factors.gains[patterns]

    def _class_weights(self, values: Values, vectors: NDArray[np.int32]) -> FloatArray:
        """Return the chances of vectors of levels by class, but for what it replaces."""
        given = self._replaced, self._rho(values), values["m"], self._tilts(values), self.offsets
        result: FloatArray = class_weights(vectors, *given)
        return result

    def count(
        self,
        rng: np.random.Generator,
        data: kernels.Data,
        evidence: kernels.Evidence,
        members: NDArray[np.int32],
        sizes: NDArray[np.int32],
    ) -> PatternCounts:
        """Draw the exemplars of clusters, and count the patterns of the others against them.

        Members are numbered as the records of ``data`` are.
        """
        counts = kernels.count_patterns(rng, data, evidence, members, sizes)
        return PatternCounts(*counts)

    def update(
        self,
        rng: np.random.Generator,
        values: Values,
        counts: PatternCounts,
        *,
        holds_fitted: bool = False,
    ) -> Values:
        """Draw m, rho and tau given what was counted, unless they are held as they were fitted."""
        if self.fixed or holds_fitted:
            return values
        (rows,) = np.nonzero(counts.against)
        by_class = draw_classes(rng, counts.against[rows], self._weights_of(rows, values))
        result = dict(values)
        if self.has_classes:
            drawn = rng.standard_gamma(self.rho_weights + by_class.sum(axis=0))
            result["rho"] = np.maximum(drawn, 1e-300) / np.maximum(drawn, 1e-300).sum()
        # Looking at all patterns takes long where there are many: then it is done now and then.
        if self.unlinked is not None and self.has_doubts and rng.random() < self.unlinked.frequency:
            result["shared"] = self.unlinked.draw(rng, values["shared"], counts.inside)
        kept = KeptLevels.of(self.place[rows], by_class, self.kept, self.offsets)
        if self.counts_errors:
            return result | self._draw_errors(rng, values, kept)
        drawn = np.maximum(rng.standard_gamma(self.weights + kept.of_level), 1e-300)
        return result | {"m": self._normalised(drawn)}

    def _draw_errors(self, rng: np.random.Generator, values: Values, kept: KeptLevels) -> Values:
        """Draw which fields that are not seen are wrong, then tau, then m."""
        wrong = self._wrong(values)
        log_odds = np.log(wrong) - np.log1p(-wrong)
        tau = values["tau"].copy()
        records, n_wrong = np.zeros(tau.size), kept.n_wrong.astype(float)
        chances = error_counts.count_chances(wrong)
        given = kept.seen, kept.wrong, kept.number, chances, tau, np.exp(log_odds)
        draw_hidden_errors(rng, *given, records, n_wrong)
        first = self.offsets[:-1]
        right_weights = self.weights[first]
        wrong_weights = np.add.reduceat(self.weights, first) - right_weights
        n_right = records.sum() - n_wrong
        steps = error_counts.SPREAD, error_counts.FREEDOM, error_counts.first_falling(tau.size)
        prior = np.concatenate([right_weights, wrong_weights, steps])
        slice_errors(rng, tau, log_odds, records, n_right, n_wrong, prior)
        near = np.maximum(rng.standard_gamma(self.weights + kept.of_level), 1e-300)
        near[first] = 0.0
        odds = np.maximum(np.exp(log_odds), 1e-300)
        m = self._normalised(near) * np.repeat(odds / (1 + odds), np.diff(self.offsets))
        m[first] = 1 / (1 + odds)
        return {"m": np.maximum(m, 1e-300), "tau": tau}

    def sampled(self, values: Values) -> dict[str, Any]:
        """Return m, all fields after each other, and rho, as they are kept in the posterior.

        In place of tau, by which the numbers of errors are weighed, stands how often each is.
        """
        if self.fixed:
            return {}
        kept = {name: values[name].copy() for name in self.start() if name != "tau"}
        if self.counts_errors:
            kept["errors"] = error_counts.distribution(self._wrong(values), values["tau"])
        return kept

    def log_hyper(self, values: Values) -> float:
        """Log prior density of m, rho and tau."""
        if self.fixed:
            return 0.0
        from scipy.stats import dirichlet

        bounds = list(zip(self.offsets[:-1], self.offsets[1:], strict=True))
        total = sum(dirichlet(self.weights[a:b]).logpdf(values["m"][a:b]) for a, b in bounds)
        if self.has_classes:
            total += dirichlet(self.rho_weights).logpdf(values["rho"])
        if self.counts_errors:
            total += error_counts.log_prior(values["tau"])
        if self.unlinked is not None and self.has_doubts:
            total += self.unlinked.log_density(values["shared"])
        return float(total)

    def log_likelihood(self, labels: IntArray, values: Values) -> float:
        """Log evidence of a partition over singletons: the slow truth."""
        whole = np.concatenate(self.ratios(values)[:2])
        total = 0.0
        for cluster in np.unique(labels):
            members = np.flatnonzero(labels == cluster)
            pairs = np.stack(np.meshgrid(members, members), axis=-1).reshape(-1, 2)
            between = whole[self.patterns_of(pairs)].reshape(members.size, members.size)
            np.fill_diagonal(between, 1.0)
            total += float(np.log(between.prod(axis=0).mean()))
        return total

    def pair_evidence(self, pairs: NDArray[Any], draws: Mapping[str, FloatArray]) -> FloatArray:
        """Return each field's log Bayes factor that two records are one, (pair, field).

        It is the mean over draws of the parameters, each with the draws along its first axis. Where
        fields move together, a field's part is what it adds to those before it and to those
        after it, on average; the parts always add up to the whole.
        """
        told = self._as_compared
        if told is None:
            told = AsCompared(self.place, self.constant, self._pattern)
        numbers = self._numbers_of(pairs, told.pattern, len(told.place) - (1 << self.n_fields))
        patterns, place = np.unique(numbers, return_inverse=True)
        rows = told.place[patterns].astype(np.int32), told.constant[patterns].astype(float)
        start = self.start()
        n_draws = len(draws["m"]) if "m" in draws else 1
        cost = patterns.size * len(self.kept) * self.n_fields**2
        wanted = int(np.clip(WORK_FOR_EVIDENCE / max(cost, 1), 5, DRAWS_FOR_EVIDENCE))
        picks = np.unique(np.linspace(0, n_draws - 1, wanted).astype(int))
        total = np.zeros((patterns.size, self.n_fields))
        for pick in picks:
            drawn = {name: array[pick] for name, array in draws.items()}
            values = start if self.fixed else self.values({**start, **drawn})
            total += self._by_field(*rows, partial(self._log_linked, values))
            total -= self._by_field(*rows, partial(self._log_unlinked, values))
        return (total / picks.size)[place]

    def _by_field(
        self,
        places: NDArray[np.int32],
        constants: FloatArray,
        log_chance: Callable[[NDArray[np.int32], FloatArray], FloatArray],
    ) -> FloatArray:
        """Divide the log chance of patterns, over independent fields, among the fields.

        A field has what it adds to those before it, on average over both orders of the fields.
        """
        total = np.zeros(places.shape)
        for order in (range(self.n_fields), range(self.n_fields - 1, -1, -1)):
            place = np.full_like(places, self.offsets[-1])
            constant = np.zeros_like(constants)
            before = log_chance(place, constant)
            for f in order:
                place[:, f], constant[:, f] = places[:, f], constants[:, f]
                after = log_chance(place, constant)
                total[:, f] += (after - before) / 2
                before = after
        return total

    def _log_linked(
        self, values: Values, place: NDArray[np.int32], constant: FloatArray
    ) -> FloatArray:
        """Log chance of levels in an entity, over independent fields of unrelated records."""
        gains = kept_gains(place, constant, self._replaced, int(self.offsets[-1]))
        ratio = (self._class_weights(values, place) * gains).sum(axis=1)
        result: FloatArray = np.log(np.maximum(ratio, SMALLEST_RATIO))
        return result

    def _log_unlinked(
        self, values: Values, place: NDArray[np.int32], constant: FloatArray
    ) -> FloatArray:
        """Log chance of levels between unrelated records, over independent fields."""
        if self.unlinked is None:
            return np.zeros(len(place))
        base, parts = self.unlinked.divide(place, constant)
        result: FloatArray = np.log(base + parts @ values.get("shared", NO_SETS))
        return result

    def patterns_of(self, pairs: NDArray[Any]) -> IntArray:
        """Return the pattern of each pair, compared or not."""
        return self._numbers_of(pairs, self._pattern, self.n_patterns)

    def _numbers_of(
        self, pairs: NDArray[Any], pattern: NDArray[np.int32], n_patterns: int
    ) -> IntArray:
        """Return the pattern of each pair, given those of outcomes; others come after these."""
        shown = self.shown[pairs[:, 0]] & self.shown[pairs[:, 1]]
        result: IntArray = n_patterns + shown.astype(np.int64)
        which = self.parts.outcomes_of(pairs)
        found = which >= 0
        result[found] = pattern[which[found]]
        return result

    @property
    def pattern_of_outcome(self) -> NDArray[np.int32]:
        """The pattern of each outcome of the parts."""
        return self._pattern

    def log_ratios(self) -> FloatArray:
        """Return the log evidence of each outcome, as it is expected."""
        ratio = np.log(np.maximum(self.ratios(self.start()).ratio, 1e-300))
        result: FloatArray = ratio[self._pattern]
        return result

    def values(self, parameters: Mapping[str, Any]) -> Values:
        """Complete what a user gave; the numbers of errors as often as each is, or as tau."""
        result = self.start()
        if self.counts_errors and "errors" in parameters:
            chances = np.asarray(parameters["errors"], dtype=float)
            wrong = 1 - np.asarray(parameters["m"], dtype=float)[self.offsets[:-1]]
            parameters = {**parameters, "tau": error_counts.tau_of(wrong, chances)}
        for name, expected in result.items():
            if name not in parameters and not self.fixed:
                shown = "errors" if name == "tau" else name
                raise ModelError(f"The model needs a value for {shown!r}, which has a prior.")
            given = np.asarray(parameters.get(name, expected), dtype=float)
            if given.shape != expected.shape:
                what = "those of all fields after each other" if name == "m" else "one a class"
                raise ModelError(
                    f"The {name!r} parameter must have {expected.size} entries, {what}. "
                    f"Got {given.size} instead."
                )
            result[name] = given
        return result


def _parts(pairs: NDArray[np.int32] | PairParts, which: NDArray[np.int32] | None) -> PairParts:
    """Return pairs in parts, sorted."""
    if isinstance(pairs, PairParts):
        return pairs
    if which is None:
        which = np.arange(len(pairs), dtype=np.int32)
    order = np.lexsort([pairs[:, 1], pairs[:, 0]])
    return PairParts.of(pairs[order], which[order])

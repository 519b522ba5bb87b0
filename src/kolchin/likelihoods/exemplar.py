"""Compared fields: one record of each entity shows its true values (model section 6).

Two values of a compared field agree to some level: exact, near, ..., different. A record shows a
level against its entity's true value with chance m(level), and against that of another entity
with chance u(level). Which record of a cluster is the exemplar is not known; each may be, but those
that show more fields are likelier, since the others are not compared in what it does not show:

    P(x_c) / prod P(x_n) = sum over e in c of w_e/W prod over n in c, n != e, of m(n, e) / u(n, e)

Pairs that were never compared count as different in every field that both records show. Fields
that move together do so on both sides of the ratio (`dependence`).
"""

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kolchin import kernels
from kolchin.comparison import Comparisons
from kolchin.comparison.compared_pairs import PairParts
from kolchin.errors import ModelError
from kolchin.likelihoods import error_counts
from kolchin.likelihoods.chance import Coincidences
from kolchin.likelihoods.compared_candidates import find_among_compared
from kolchin.likelihoods.dependence import Dependence
from kolchin.likelihoods.evidence_kernels.error_numbers import draw_hidden_errors, slice_errors
from kolchin.likelihoods.learning import learn_dependence
from kolchin.likelihoods.neighbour_lists import list_neighbours
from kolchin.likelihoods.outcomes import Outcomes, describe_outcomes
from kolchin.likelihoods.pair_evidence import divide_evidence
from kolchin.likelihoods.pattern_counts import KeptLevels, PatternCounts, draw_classes
from kolchin.likelihoods.pattern_evidence import PatternEvidence
from kolchin.likelihoods.sharing import UnrelatedChances, compute_shown_shares
from kolchin.parameters import FloatArray, IntArray, Values, log_dirichlet
from kolchin.workplace import Workplace

MORE_SHOWN, WITH_SLIP = 20.0, 0.05
"""With each field that it shows a record is so many times likelier to be the exemplar: what this
does not show, the others are not compared in. And with each value that is probably a slip."""


class Exemplar(PatternEvidence):
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

    settings: Mapping[str, object] = {}
    is_moved_by_links = False
    largest_log_gain = math.inf

    def __init__(
        self,
        compared: Outcomes,
        names: Sequence[str],
        weights: Sequence[ArrayLike] | None = None,
        fixed: bool = False,
        dependence: Dependence | None = None,
    ) -> None:
        super().__init__(compared, names, weights, dependence)
        self.fixed = fixed
        self.comparisons: Comparisons | None = None

    @classmethod
    def fit(cls, comparisons: Comparisons) -> Self:
        """Return the likelihood of records that were compared.

        What levels mean, and which fields move together, is learned from the pairs.
        """
        shows = comparisons.shows
        names = [field.column for field in comparisons.fields]
        likelihood = cls(describe_outcomes(comparisons), names)
        chances = UnrelatedChances(
            n_records=len(shows),
            u=comparisons.u,
            agrees=comparisons.agrees,
            shows=compute_shown_shares(shows),
            together=comparisons.together,
            possible=comparisons.possible.share(np.ones(len(comparisons.shows), dtype=np.bool_)),
            most_linked=comparisons.possible.most_linked,
        )
        coincidences = Coincidences.of(comparisons, likelihood.bands)
        learnt = learn_dependence(likelihood.patterns, chances, coincidences)
        likelihood._take_chances(learnt.gain, learnt.u)
        likelihood._take_dependence(learnt.dependence)
        likelihood._merge_alike()
        is_likely = likelihood.log_ratios() > np.log(len(shows))
        likelihood.comparisons = comparisons.judge_links(is_likely)
        return likelihood

    def __repr__(self) -> str:
        fields = "field" if self.n_fields == 1 else "fields"
        return f"Exemplar({self.shown.size:,} records, {self.n_fields} {fields})"

    def take_records(self, rows: IntArray) -> "Exemplar":
        """Return the likelihood of some of the records, in ascending order."""
        from kolchin.likelihoods.extending import restrict_likelihood

        return restrict_likelihood(self, rows)

    def drop_records(self) -> "Exemplar":
        """Return what does not depend on how many records there are."""
        bare = copy.copy(self)
        bare.comparisons = None
        bare.unrelated = bare._found_factors = bare._unmerged = None
        bare.shown, bare.slips = self.shown[:0].copy(), self.slips[:0].copy()
        bare.parts = PairParts.of(np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.int32))
        bare._pattern = self._pattern[:0].copy()
        return bare

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

    def choose_generous_delta(self) -> FloatArray:
        """Return no delta: no field is categorical."""
        return np.empty(0)

    def compute_evidence(self, values: Values) -> kernels.Evidence:
        """Return the evidence of patterns, as the kernels take it."""
        return kernels.Evidence(np.empty(0), *self.compute_ratios(values))

    def log_reach(self, evidence: kernels.Evidence) -> float:
        """Return 0: no field is categorical."""
        return 0.0

    def make_kernel_data(
        self, order: IntArray | None = None, work: Workplace | None = None
    ) -> kernels.Data:
        """Return, in an order, what records show and with whom they were compared.

        Where compared pairs are in the store of an engine, its tasks list them.
        """
        shown, weight, slips = self.shown, self.weigh_exemplars(), self.slips
        if order is not None:
            shown, weight, slips = shown[order], weight[order], slips[order]
        lists: tuple[Any, Any, Any]
        if work is not None and order is not None and self.parts.find_workplace(work) is work:
            lists = list_neighbours(self.parts, self.pattern_of_outcome, order, work)
        else:
            lists = self.list_compared(order)
        no_codes = np.empty((shown.size, 0), dtype=np.int32)
        begins, others, pattern = lists
        by_pattern = shown, weight, slips, self.mark_near()
        return kernels.Data(no_codes, np.empty(0), begins, others, pattern, *by_pattern)

    def weigh_exemplars(self) -> FloatArray:
        """Return how likely each record is the exemplar of its cluster, up to a factor."""
        n_shown = np.bitwise_count(self.shown).astype(float)
        result: FloatArray = MORE_SHOWN**n_shown * WITH_SLIP ** np.bitwise_count(self.slips)
        return result

    def find_candidates(
        self, source: NDArray[np.int32], work: Workplace | None = None
    ) -> tuple[NDArray[np.int32], FloatArray]:
        """List the pairs that were compared and are not hopeless, and their log evidence."""
        no_codes = np.empty((self.shown.size, 0), dtype=np.int32)
        data = kernels.Data(no_codes, np.empty(0), source=source)
        return find_among_compared(self, data, np.empty(0), work)

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

    def log_terms(self, values: Values, statistics: PatternCounts) -> tuple[float, ...]:
        """Return the log density of records and parameters, given the clusters counted."""
        return (statistics.log_evidence + self.log_hyper(values),)

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
        by_class = draw_classes(rng, counts.against[rows], self._weigh_classes(rows, values))
        result = dict(values)
        if self.has_classes:
            drawn = rng.standard_gamma(self.rho_weights + by_class.sum(axis=0))
            result["rho"] = np.maximum(drawn, 1e-300) / np.maximum(drawn, 1e-300).sum()
        # Looking at all patterns takes long where there are many: then it is done now and then.
        if (
            self.unrelated is not None
            and self.has_doubts
            and rng.random() < self.unrelated.frequency
        ):
            result["shared"] = self.unrelated.draw(rng, values["shared"], counts.inside)
        kept = KeptLevels.of(self.place[rows], by_class, self.kept, self.offsets)
        if self.counts_errors:
            return result | self._draw_errors(rng, values, kept)
        drawn = np.maximum(rng.standard_gamma(self.weights + kept.of_level), 1e-300)
        return result | {"m": self._normalise(drawn)}

    def _draw_errors(self, rng: np.random.Generator, values: Values, kept: KeptLevels) -> Values:
        """Draw which fields that are not seen are wrong, then tau, then m."""
        wrong = self._sum_wrong(values)
        log_odds = np.log(wrong) - np.log1p(-wrong)
        tau = values["tau"].copy()
        records, n_wrong = np.zeros(tau.size), kept.n_wrong.astype(float)
        chances = error_counts.compute_error_chances_by_set(wrong)
        seen, wrong_seen, number = kept.seen, kept.wrong, kept.number
        draw_hidden_errors(
            rng, seen, wrong_seen, number, chances, tau, np.exp(log_odds), records, n_wrong
        )
        first = self.offsets[:-1]
        right_weights = self.weights[first]
        wrong_weights = np.add.reduceat(self.weights, first) - right_weights
        n_right = records.sum() - n_wrong
        steps = error_counts.SPREAD, error_counts.FREEDOM, error_counts.count_free_steps(tau.size)
        prior = np.concatenate([right_weights, wrong_weights, steps])
        slice_errors(rng, tau, log_odds, records, n_right, n_wrong, prior)
        near = np.maximum(rng.standard_gamma(self.weights + kept.of_level), 1e-300)
        near[first] = 0.0
        odds = np.maximum(np.exp(log_odds), 1e-300)
        m = self._normalise(near) * np.repeat(odds / (1 + odds), np.diff(self.offsets))
        m[first] = 1 / (1 + odds)
        return {"m": np.maximum(m, 1e-300), "tau": tau}

    def select_sampled(self, values: Values) -> dict[str, Any]:
        """Return m, all fields after each other, and rho, as they are kept in the posterior.

        In place of tau, by which the numbers of errors are weighed, stands how often each is.
        """
        if self.fixed:
            return {}
        kept = {name: values[name].copy() for name in self.start() if name != "tau"}
        if self.counts_errors:
            kept["errors"] = error_counts.compute_distribution(
                self._sum_wrong(values), values["tau"]
            )
        return kept

    def complete_values(self, parameters: Mapping[str, Any]) -> Values:
        """Complete what a user gave; the numbers of errors as often as each is, or as tau."""
        result = self.start()
        if self.counts_errors and "errors" in parameters:
            chances = np.asarray(parameters["errors"], dtype=float)
            wrong = 1 - np.asarray(parameters["m"], dtype=float)[self.offsets[:-1]]
            parameters = {**parameters, "tau": error_counts.compute_tau(wrong, chances)}
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

    def log_hyper(self, values: Values) -> float:
        """Log prior density of m, rho and tau."""
        if self.fixed:
            return 0.0
        total = log_dirichlet(values["m"], self.weights, self.offsets[:-1])
        if self.has_classes:
            total += log_dirichlet(values["rho"], self.rho_weights)
        if self.counts_errors:
            total += error_counts.log_prior(values["tau"])
        if self.unrelated is not None and self.has_doubts:
            total += self.unrelated.log_density(values["shared"])
        return float(total)

    def log_likelihood(self, labels: IntArray, values: Values) -> float:
        """Log evidence of a partition over singletons: the slow truth."""
        whole = np.concatenate(self.compute_ratios(values)[:2])
        weight, near = self.weigh_exemplars(), self.mark_near()
        total = 0.0
        for cluster in np.unique(labels):
            members = np.flatnonzero(labels == cluster)
            pairs = np.stack(np.meshgrid(members, members), axis=-1).reshape(-1, 2)
            patterns = self.find_patterns(pairs)  # exemplars first, others second
            slips = np.bitwise_count(self.slips[pairs] & near[patterns][:, None]).astype(float)
            more = np.maximum(slips[:, 0] - slips[:, 1], 0.0)
            between = whole[patterns] * kernels.FROM_SLIP**more
            between = between.reshape(members.size, members.size)
            np.fill_diagonal(between, 1.0)
            total += float(np.log(np.average(between.prod(axis=0), weights=weight[members])))
        return total

    def weigh_pairs(self, pairs: NDArray[Any], draws: Mapping[str, FloatArray]) -> FloatArray:
        """Return each field's log Bayes factor that two records are one, (pair, field).

        It is the mean over draws of the parameters, each with the draws along its first axis. Where
        fields move together, a field's part is what it adds to those before it and to those
        after it, on average; the parts always add up to the whole.
        """
        return divide_evidence(self, pairs, draws)

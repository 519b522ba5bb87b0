"""Categorical fields beside compared ones: given the clusters, the two are independent."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.comparison import Comparisons
from kolchin.likelihoods.categorical import Cells, DirichletCategorical
from kolchin.likelihoods.compared_candidates import find_among_compared
from kolchin.likelihoods.exemplar import Exemplar
from kolchin.likelihoods.pattern_counts import PatternCounts
from kolchin.parameters import FloatArray, IntArray, Values
from kolchin.workplace import Workplace


class BothStatistics(NamedTuple):
    """What the parameters of categorical and of compared fields depend on."""

    categorical: Cells
    compared: PatternCounts

    def add(self, other: "BothStatistics") -> "BothStatistics":
        """Add those of other clusters."""
        return BothStatistics(
            self.categorical.add(other.categorical), self.compared.add(other.compared)
        )


class IndependentFields:
    """The product of a likelihood of categorical fields and one of compared fields."""

    is_moved_by_links = False
    largest_log_gain = np.inf

    def __init__(self, categorical: DirichletCategorical, compared: Exemplar) -> None:
        self.categorical = categorical
        self.compared = compared

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields, categorical ones first."""
        return self.categorical.names + self.compared.names

    @property
    def n_fields(self) -> int:
        """Number of fields of both."""
        return self.categorical.n_fields + self.compared.n_fields

    @property
    def n_compared(self) -> int:
        """Number of records that were compared."""
        return self.compared.n_compared

    @property
    def comparisons(self) -> Comparisons | None:
        """What came out of comparing records, if that is known."""
        return self.compared.comparisons

    @property
    def coordinates(self) -> dict[str, list[str]]:
        """Names of the entries of those parameters that are vectors."""
        return self.categorical.coordinates | self.compared.coordinates

    @property
    def settings(self) -> dict[str, object]:
        """What is kept of it with the draws."""
        return self.categorical.settings

    def start(self, rng: np.random.Generator) -> Values:
        """Return parameters for a chain to start from."""
        return {**self.categorical.start(rng), **self.compared.start(rng)}

    def complete_values(self, parameters: Mapping[str, Any]) -> Values:
        """Complete what a user gave."""
        return {
            **self.categorical.complete_values(parameters),
            **self.compared.complete_values(parameters),
        }

    def select_sampled(self, values: Values) -> dict[str, Any]:
        """Return the parameters as they are kept in the posterior."""
        return self.categorical.select_sampled(values) | self.compared.select_sampled(values)

    def log_hyper(self, values: Values) -> float:
        """Log prior density of the parameters."""
        return self.categorical.log_hyper(values) + self.compared.log_hyper(values)

    def update(
        self,
        rng: np.random.Generator,
        values: Values,
        statistics: BothStatistics,
        *,
        holds_fitted: bool = False,
    ) -> Values:
        """Draw the parameters of both, given clusters."""
        cells, patterns = statistics
        values = self.categorical.update(rng, values, cells)
        return self.compared.update(rng, values, patterns, holds_fitted=holds_fitted)

    def choose_generous_delta(self) -> FloatArray:
        """Return a delta that forgives differences."""
        return self.categorical.choose_generous_delta()

    def log_likelihood(self, labels: IntArray, values: Values) -> float:
        """Log probability of the records given their clusters: the slow truth."""
        categorical = self.categorical.log_likelihood(labels, values)
        return categorical + self.compared.log_likelihood(labels, values)

    def count(
        self,
        rng: np.random.Generator,
        data: kernels.Data,
        evidence: kernels.Evidence,
        members: NDArray[np.int32],
        sizes: NDArray[np.int32],
    ) -> BothStatistics:
        """Count what the parameters depend on, of some clusters."""
        return BothStatistics(
            self.categorical.count(rng, data, evidence, members, sizes),
            self.compared.count(rng, data, evidence, members, sizes),
        )

    def log_terms(self, values: Values, statistics: BothStatistics) -> tuple[float, ...]:
        """Return what adds up to the log density of records and parameters, given clusters."""
        cells, patterns = statistics
        categorical = self.categorical.log_terms(values, cells)
        return *categorical, *self.compared.log_terms(values, patterns)

    def make_kernel_data(
        self, order: IntArray | None = None, work: Workplace | None = None
    ) -> kernels.Data:
        """Return the records in an order, as the kernels read them."""
        codes, gain = self.categorical.make_kernel_data(order)[:2]
        return self.compared.make_kernel_data(order, work)._replace(codes=codes, gain=gain)

    def compute_evidence(self, values: Values) -> kernels.Evidence:
        """Return what the fields say, by their parameters."""
        return self.compared.compute_evidence(values)._replace(delta=values["delta"])

    def log_reach(self, evidence: kernels.Evidence) -> float:
        """Bound the log of any product of one factor a categorical field."""
        return self.categorical.log_reach(evidence)

    def find_candidates(
        self, source: NDArray[np.int32], work: Workplace | None = None
    ) -> tuple[NDArray[np.int32], FloatArray]:
        """List the pairs that were compared and are not hopeless, and their log evidence."""
        data = self.categorical.make_kernel_data()._replace(source=source)
        return find_among_compared(self.compared, data, self.choose_generous_delta(), work)

    def drop_records(self) -> "IndependentFields":
        """Return what does not depend on how many records there are."""
        return IndependentFields(self.categorical.drop_records(), self.compared.drop_records())

    def take_records(self, rows: IntArray) -> "IndependentFields":
        """Return the likelihood of some of the records."""
        return IndependentFields(
            self.categorical.take_records(rows), self.compared.take_records(rows)
        )

    def weigh_pairs(self, pairs: NDArray[Any], draws: Mapping[str, FloatArray]) -> FloatArray:
        """Return each field's log Bayes factor that two records are one, categorical ones first."""
        both = self.categorical.weigh_pairs(pairs, draws), self.compared.weigh_pairs(pairs, draws)
        return np.concatenate(both, axis=1)

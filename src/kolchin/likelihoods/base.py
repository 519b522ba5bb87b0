"""What every likelihood can do: how the records of one entity resemble each other.

A likelihood is about the records that it was made for. Its parameters travel as a mapping from
names to arrays (``Values``); kernels read them as ``Evidence``, tables that follow from them.
Everything is relative to singletons where that is possible, so that a record alone costs nothing.
"""

from collections.abc import Mapping
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.comparison.comparisons import Comparisons
from kolchin.parameters import FloatArray, IntArray, Values
from kolchin.workplace import Workplace

FIELD_PARAMETERS = ("delta", "m", "rho", "errors", "tau", "shared")
"""Names of parameters that are no prior's."""

Members = NDArray[np.int32]


class Statistics(Protocol):
    """What the parameters of a likelihood depend on, counted from some clusters."""

    def add(self, other: Any) -> Self:
        """Add those of other clusters."""


class Likelihood(Protocol):
    """How the records of one entity resemble each other."""

    @property
    def n_fields(self) -> int:
        """Number of fields that it is about."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields."""

    @property
    def n_compared(self) -> int:
        """Number of records that were compared; 0 where all fields are categorical."""

    @property
    def comparisons(self) -> Comparisons | None:
        """What came out of comparing records, if they were."""

    @property
    def coordinates(self) -> dict[str, list[str]]:
        """Names of the entries of those parameters that are vectors."""

    @property
    def settings(self) -> Mapping[str, object]:
        """What is kept of it with the draws."""

    @property
    def is_moved_by_links(self) -> bool:
        """Whether loose links tell so much of the parameters that both are drawn in turns."""

    @property
    def largest_log_gain(self) -> float:
        """The most that fields say for a link; infinite where links cannot be summed over."""

    # --- parameters ---------------------------------------------------------------------------

    def start(self, rng: np.random.Generator) -> Values:
        """Return parameters for a chain to start from."""

    def complete_values(self, parameters: Mapping[str, Any]) -> Values:
        """Complete what a user gave, by the names of :meth:`select_sampled`."""

    def select_sampled(self, values: Values) -> dict[str, Any]:
        """Return the parameters as they are kept in the posterior; what is fixed is left out."""

    def log_hyper(self, values: Values) -> float:
        """Log prior density of the parameters."""

    def update(
        self,
        rng: np.random.Generator,
        values: Values,
        statistics: Any,
        *,
        holds_fitted: bool = False,
    ) -> Values:
        """Draw the parameters given clusters; those fitted before sampling may be held."""

    def choose_generous_delta(self) -> FloatArray:
        """Return a delta of categorical fields that forgives differences, to look for pairs."""

    # --- clusters -----------------------------------------------------------------------------

    def log_likelihood(self, labels: IntArray, values: Values) -> float:
        """Log probability of the records given their clusters: the slow truth."""

    def count(
        self,
        rng: np.random.Generator,
        data: kernels.Data,
        evidence: kernels.Evidence,
        members: Members,
        sizes: Members,
    ) -> Statistics:
        """Count what the parameters depend on, of clusters: their members, and their sizes."""

    def log_terms(self, values: Values, statistics: Any) -> tuple[float, ...]:
        """Return what adds up to the log density of records and parameters, given clusters.

        The clusters are those that were counted.
        """

    # --- for kernels --------------------------------------------------------------------------

    def make_kernel_data(
        self, order: IntArray | None = None, work: Workplace | None = None
    ) -> kernels.Data:
        """Return the records in the form that the kernels read, in an order.

        Where compared pairs are in the store of an engine, its tasks list them.
        """

    def compute_evidence(self, values: Values) -> kernels.Evidence:
        """Return what the fields say, by their parameters."""

    def log_reach(self, evidence: kernels.Evidence) -> float:
        """Bound the log of any product of one factor a categorical field, up or down."""

    def find_candidates(
        self, source: NDArray[np.int32], work: Workplace | None = None
    ) -> tuple[NDArray[np.int32], FloatArray]:
        """List the pairs of records that are not hopeless, and the log evidence of each.

        No two of them are of one source.
        """

    # --- other records ------------------------------------------------------------------------

    def drop_records(self) -> Self:
        """Return what does not depend on how many records there are."""

    def take_records(self, rows: IntArray) -> Self:
        """Return the likelihood of some of the records, in ascending order."""

    def weigh_pairs(self, pairs: NDArray[Any], draws: Mapping[str, FloatArray]) -> FloatArray:
        """Return each field's log Bayes factor that two records are one, (pair, field).

        It is the mean over draws of the parameters, each with the draws along its first axis.
        """

"""What every prior over partitions has in common (model section 1).

A prior is two functions, log P(C) = g(K) + sum over clusters of h(size): from them follow the
weights that the sampler needs, the probability of a partition and the updates of the parameters.
"""

from abc import ABC, abstractmethod
from collections.abc import Container, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kolchin.errors import ModelError
from kolchin.parameters import (
    Beta,
    FloatArray,
    Gamma,
    Hyper,
    IntArray,
    Range,
    Values,
    hyper_log_density,
    is_sampled,
    slice_sample,
    start_value,
)
from kolchin.partitions import size_counts


class SizeCounts(NamedTuple):
    """The size histogram of a partition: all that the parameters of a prior depend on."""

    n_records: int
    n_clusters: int
    sizes: IntArray
    counts: IntArray

    @classmethod
    def of(cls, counts: IntArray) -> "SizeCounts":
        """Build from an array whose entry m counts the clusters of size m (entry 0 is ignored)."""
        sizes = np.flatnonzero(counts[1:]) + 1
        numbers = np.asarray(counts[sizes], dtype=np.int64)
        return cls(int(sizes @ numbers), int(numbers.sum()), sizes, numbers)

    @property
    def mean_before_joining(self) -> float:
        """The mean size of what records joined, if clusters grew one by one; 1 if none did."""
        n_joined = self.n_records - self.n_clusters
        if n_joined == 0:
            return 1.0
        return float(self.counts @ (self.sizes * (self.sizes - 1) // 2)) / n_joined


class OpeningTerms(NamedTuple):
    """The weight of a new cluster when K others exist: exp(log_scale) (slope K + intercept).

    Where ``log_table`` is not empty, its entry K is the log weight instead. Where ``alpha`` is
    not 0, the weight is divided by alpha + K.
    """

    log_scale: float
    slope: float
    intercept: float
    log_table: FloatArray = np.empty(0)
    alpha: float = 0.0


class Tables(NamedTuple):
    """A prior as the sampler sees it: h(1), h(2), ..., the opening weight, and Dirichlet shapes.

    ``shapes`` is empty unless the size distribution is integrated out; then a cluster of m
    records weighs exp(h(m)) times shapes[m - 1] plus the number of other clusters of m.
    """

    log_h: FloatArray
    opening: OpeningTerms
    shapes: FloatArray = np.empty(0)


def table_size(largest: int) -> int:
    """How far to tabulate weights for clusters up to a size: they may meet and grow."""
    return max(32, 2 * largest)


class Prior(ABC):
    """A prior over the partitions of n records."""

    ranges: Mapping[str, Range]
    given: Mapping[str, Hyper]

    @abstractmethod
    def list_parameters(self, n_records: int) -> dict[str, Hyper]:
        """Return what each parameter is, defaults filled in: a number or a distribution."""

    @abstractmethod
    def log_g(self, n_clusters: int, n_records: int, values: Values) -> float:
        """Return g(K) with every factor that depends on parameters."""

    @abstractmethod
    def log_h(self, sizes: IntArray, values: Values) -> FloatArray:
        """Return h(m) for an array of sizes."""

    @abstractmethod
    def weigh_opening(self, n_records: int, values: Values) -> OpeningTerms:
        """Return the weight of opening a cluster, as a function of how many others exist."""

    @abstractmethod
    def draw(self, n_records: int, seed: int | np.random.Generator | None = None) -> IntArray:
        """Draw the labels of a partition from the prior."""

    def log_prob_counts(self, counts: SizeCounts, values: Values) -> float:
        """Log probability of a partition with these sizes, given the values of the parameters."""
        inside = float(counts.counts @ self.log_h(counts.sizes, values))
        return self.log_g(counts.n_clusters, counts.n_records, values) + inside

    def log_part(self, name: str, counts: SizeCounts, values: Values) -> float:
        """Log probability of the sizes as far as it depends on one parameter."""
        return self.log_prob_counts(counts, values)

    def log_hyper(self, n_records: int, values: Values) -> float:
        """Log prior density of the sampled parameters."""
        return hyper_log_density(self.list_parameters(n_records), values)

    def drop_integrated(self, values: Values) -> Values:
        """Return the values without those that can be integrated out; most priors have none."""
        return values

    def start(self, rng: np.random.Generator, counts: SizeCounts) -> Values:
        """Draw starting values of the parameters."""
        hypers = self.list_parameters(counts.n_records)
        return {name: start_value(rng, hyper, self.ranges[name]) for name, hyper in hypers.items()}

    def update(
        self,
        rng: np.random.Generator,
        values: Values,
        counts: SizeCounts,
        names: Container[str] | None = None,
    ) -> Values:
        """Update sampled parameters (all by default) once, given the sizes (model section 2)."""
        hypers = self.list_parameters(counts.n_records)
        for name in filter(lambda name: is_sampled(hypers[name]), hypers):
            if names is None or name in names:
                values = self._slice(rng, name, hypers, values, counts)
        return dict(values)

    def _slice(
        self,
        rng: np.random.Generator,
        name: str,
        hypers: Mapping[str, Hyper],
        values: Values,
        counts: SizeCounts,
    ) -> Values:
        def log_density(x: float) -> float:
            trial, log_change = self.move_parameter(name, x, values, counts)
            log_prior = hyper_log_density(hypers, trial) + log_change
            return log_prior + self.log_part(name, counts, trial)

        x = slice_sample(rng, log_density, values[name], self.ranges[name])
        return self.move_parameter(name, x, values, counts)[0]

    def move_parameter(
        self, name: str, x: float, values: Values, counts: SizeCounts
    ) -> tuple[Values, float]:
        """Return values with one set to x, and the log of how much volumes change by it.

        What the sizes know of several parameters together only may move along.
        """
        return dict(values) | {name: x}, 0.0

    def list_drawn_with_links(self, n_records: int) -> list[str]:
        """Return the sampled parameters that clusters depend on, given all other values."""
        return [
            name for name, hyper in self.list_parameters(n_records).items() if is_sampled(hyper)
        ]

    def tabulate(self, n_records: int, largest: int, values: Values) -> Tables:
        """Tabulate the prior for sizes up to ``largest``."""
        log_h = self.log_h(np.arange(1, largest + 1), values)
        return Tables(log_h, self.weigh_opening(n_records, values))

    def draw_integrated(
        self, rng: np.random.Generator, values: Values, counts: SizeCounts
    ) -> Values:
        """Return the values with those that were integrated out drawn given the sizes."""
        return values

    def extend_values(self, rng: np.random.Generator, values: Values, largest: int) -> Values:
        """Return values that cover sizes up to ``largest``; most priors have nothing to add."""
        return values

    def select_sampled(self, n_records: int, values: Values) -> dict[str, Any]:
        """Return the sampled parameters as they are kept in the posterior."""
        hypers = self.list_parameters(n_records)
        return {name: values[name] for name, h in hypers.items() if isinstance(h, Gamma | Beta)}

    def complete_values(self, n_records: int, parameters: Mapping[str, Any]) -> Values:
        """Complete the parameters that a user gave with the fixed ones."""
        hypers = self.list_parameters(n_records)
        result = dict(hypers) | dict(parameters)
        unknown = sorted(set(parameters) - set(hypers))
        lacking = [name for name in hypers if isinstance(result[name], Gamma | Beta)]
        outside = [
            f"The {name!r} parameter must be {self.ranges[name].words}. Got {value!r} instead."
            for name, value in parameters.items()
            if name in hypers and float(value) not in self.ranges[name]
        ]
        if unknown:
            outside.append(f"{self!r} has no parameter {', '.join(map(repr, unknown))}.")
        if lacking:
            outside.append(f"{self!r} needs a value for {', '.join(map(repr, lacking))}.")
        if outside:
            raise ModelError("\n".join(outside))
        return result

    def log_prob(self, labels: ArrayLike, **parameters: Any) -> float:
        """Log probability of a partition, given a value for every sampled parameter.

        Kolchin partition models give P(C, N), the paper's equation for P(C_N), and the ESC
        models the same without the factor for K: divide by their sum over all partitions of N
        records to condition on N. The Dirichlet and Pitman-Yor processes are normalised.
        """
        counts = SizeCounts.of(size_counts(labels))
        return self.log_prob_counts(counts, self.complete_values(counts.n_records, parameters))

    def weights(
        self, n_records: int, largest: int | None = None, **parameters: Any
    ) -> tuple[FloatArray, FloatArray]:
        """Return the tables of log join weights (by size m) and log open weights (by K).

        Entry 0 of the join weights is not used; sizes go up to ``largest`` (all records).
        """
        values = self.complete_values(n_records, parameters)
        log_h = self.log_h(np.arange(1, (largest or n_records) + 1), values)
        # A size of probability 0 cannot be joined, nor what lies beyond it.
        reached = np.where(np.isfinite(log_h), log_h, 0.0)
        steps = np.where(np.isfinite(log_h[1:]), np.diff(reached), -np.inf)
        log_join = np.concatenate([[np.nan], steps])
        return log_join, log_open(self.weigh_opening(n_records, values), n_records)

    def check(self, n_records: int) -> None:
        """Refuse a prior under which the sampler could not start or could not move."""
        if n_records < 2:
            raise ModelError(f"A model needs at least two records. Got {n_records} instead.")

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.given.items())
        return f"{type(self).__name__}({inside})"


def log_open(opening: OpeningTerms, n_records: int) -> FloatArray:
    """Tabulate the log weight of opening a cluster for K = 0, ..., n - 1 others."""
    if opening.log_table.size:
        return opening.log_table
    others = np.arange(n_records, dtype=np.float64)
    return opening.log_scale + np.log(opening.slope * others + opening.intercept)

"""Categorical fields: records copy from an entity's own distribution (model section 3).

theta_fk ~ Dirichlet(delta_f gamma_f) integrates out. Evidence is relative to singletons, whose
probability prod gamma does not depend on the partition or on delta.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from kolchin import kernels
from kolchin.errors import ModelError
from kolchin.likelihoods.categorical_candidates import find_by_codes
from kolchin.parameters import (
    POSITIVE,
    Beta,
    FloatArray,
    Gamma,
    Hyper,
    IntArray,
    Values,
    check_parameters,
    reflect,
    slice_sample,
)
from kolchin.records import Records
from kolchin.workplace import Workplace

Target: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, int, IntArray]


EVIDENCE_BUDGET = 50_000_000
"""Logarithms that the evidence of pairs may cost a field: beyond, some draws of delta stand in."""


class Cells(NamedTuple):
    """What the likelihood of delta depends on, collected once per update.

    A value shared by k records of a cluster gives the steps 1, ..., k-1; ``number`` counts equal
    (code, step). ``observed[f, j]`` counts the clusters in which more than j records show field
    f, ``n_cells[f]`` the different values seen in clusters.
    """

    code: IntArray
    frequency: FloatArray
    step: FloatArray
    number: FloatArray
    n_cells: IntArray
    observed: IntArray

    def add(self, other: "Cells") -> "Cells":
        """Add those of other clusters; equal steps may then be counted in several places."""
        longest = max(self.observed.shape[1], other.observed.shape[1])
        observed = np.zeros((len(self.observed), longest), dtype=self.observed.dtype)
        for part in (self.observed, other.observed):
            observed[:, : part.shape[1]] += part
        return Cells(
            np.concatenate([self.code, other.code]),
            np.concatenate([self.frequency, other.frequency]),
            np.concatenate([self.step, other.step]),
            np.concatenate([self.number, other.number]),
            self.n_cells + other.n_cells,
            observed,
        )


class DirichletCategorical:
    """Likelihood of the categorical fields of records; without any, they say nothing.

    Parameters
    ----------
    records
        The encoded table of categorical fields.
    delta
        How much the records of one entity vary: a number, or a prior.
    tied
        One delta for all fields, as in the paper, or one for each.
    """

    n_compared = 0
    comparisons = None

    def __init__(self, records: Records, delta: Hyper, tied: bool) -> None:
        self.delta = check_parameters("Model", {"delta": POSITIVE}, {"delta": delta})["delta"]
        self.tied = tied
        self.records = records
        sizes = [frequency.size for frequency in records.frequencies]
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.frequency: FloatArray = np.concatenate([np.empty(0), *records.frequencies])
        missing = records.codes < 0
        self.codes = np.where(missing, -1, records.codes + self.offsets[:-1]).astype(np.int32)
        self.largest_gain = np.array([1 / part.min() for part in records.frequencies])
        self.field_of_code = np.repeat(np.arange(len(sizes)), np.array(sizes, dtype=np.int64))
        self.log_singletons = float(np.log(self.frequency[self.codes[~missing]]).sum())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fields."""
        return tuple(self.records.names)

    @property
    def coordinates(self) -> dict[str, list[str]]:
        """Names of the entries of delta, where there is one a field."""
        return {} if self.tied or not self.n_fields else {"delta": list(self.records.names)}

    @property
    def settings(self) -> dict[str, object]:
        """What is kept of it with the draws."""
        return {"delta": repr(self.delta), "tied": self.tied}

    @property
    def is_moved_by_links(self) -> bool:
        """Whether loose links tell of delta: where it is sampled, they do."""
        return self.is_sampled

    @property
    def largest_log_gain(self) -> float:
        """The most that all fields say for a link."""
        return float(np.log1p(self.largest_gain).sum())

    def make_kernel_data(
        self, order: IntArray | None = None, work: Workplace | None = None
    ) -> kernels.Data:
        """Return the codes in an order, as the kernels read them."""
        codes = self.codes if order is None else self.codes[order]
        return kernels.Data(codes, 1 / self.frequency)

    def compute_evidence(self, values: Values) -> kernels.Evidence:
        """Return what the fields say: kernels work it out from delta."""
        return kernels.Evidence(values["delta"])

    def find_candidates(
        self, source: NDArray[np.int32], work: Workplace | None = None
    ) -> tuple[NDArray[np.int32], FloatArray]:
        """List the pairs that are not hopeless at a generous delta, and their log evidence."""
        return find_by_codes(self, source)

    def take_records(self, rows: IntArray) -> "DirichletCategorical":
        """Return the likelihood of some of the records."""
        return DirichletCategorical(self.records.take(rows), self.delta, self.tied)

    def count(
        self,
        rng: np.random.Generator,
        data: kernels.Data,
        evidence: kernels.Evidence,
        members: NDArray[np.int32],
        sizes: NDArray[np.int32],
    ) -> Cells:
        """Count what delta depends on, of some clusters."""
        return self.count_cells(*kernels.collect_agreement_cells(members, sizes, data.codes))

    def log_terms(self, values: Values, statistics: Cells) -> tuple[float, ...]:
        """Return what adds up to the log density of records and delta, given clusters."""
        evidence = self.log_evidence(statistics, values["delta"])
        return self.log_singletons, evidence, self.log_hyper(values)

    def drop_records(self) -> "DirichletCategorical":
        """Return what does not depend on how many records there are."""
        bare = copy.copy(self)
        bare.records, bare.codes = self.records.select([]), self.codes[:0].copy()
        return bare

    @property
    def n_fields(self) -> int:
        """Number of categorical fields."""
        return int(self.codes.shape[1])

    @property
    def is_sampled(self) -> bool:
        """Whether delta has a prior, and fields that tell of it."""
        return self.n_fields > 0 and isinstance(self.delta, Gamma | Beta)

    def start(self, rng: np.random.Generator) -> Values:
        """Return a start for delta: its fixed value, or one spread about a tenth of its mean."""
        delta = self.choose_generous_delta()
        if self.is_sampled:
            delta *= np.exp(rng.normal(size=1 if self.tied else self.n_fields))
        return {"delta": delta}

    def log_reach(self, evidence: kernels.Evidence) -> float:
        """Bound the log of any product of one factor a field, up or down."""
        delta = evidence.delta
        up = np.log(delta + self.largest_gain)
        return float(np.maximum(np.abs(up), np.abs(np.log(delta))).sum() + np.log1p(delta).sum())

    def choose_generous_delta(self) -> FloatArray:
        """Return a delta that forgives differences, to look for pairs with: fixed, or 0.1 mean."""
        delta = 0.1 * self.delta.mean if isinstance(self.delta, Gamma | Beta) else self.delta
        return np.full(self.n_fields, float(delta))

    def complete_values(self, parameters: Mapping[str, Any]) -> Values:
        """Complete what a user gave: one delta a field."""
        if not self.n_fields:
            return {"delta": np.empty(0)}
        given = parameters.get("delta", self.delta)
        if isinstance(given, Gamma | Beta):
            raise ModelError("The model needs a value for 'delta', which has a prior.")
        delta = np.asarray(given, dtype=float)
        if delta.ndim > 1 or (delta.ndim == 1 and delta.size not in (1, self.n_fields)):
            raise ModelError(
                f"The 'delta' parameter must be one number or {self.n_fields}, one for each "
                f"field. Got {given!r} instead."
            )
        if not np.all(np.isfinite(delta) & (delta > 0)):
            raise ModelError(
                f"The 'delta' parameter must be {POSITIVE.words}. Got {given!r} instead."
            )
        return {"delta": np.broadcast_to(delta, self.n_fields).copy()}

    def select_sampled(self, values: Values) -> dict[str, Any]:
        """Return delta as it is kept in the posterior, if it is sampled."""
        if not self.is_sampled:
            return {}
        return {"delta": float(values["delta"][0]) if self.tied else values["delta"].copy()}

    def log_hyper(self, values: Values) -> float:
        """Log prior density of delta."""
        if not (self.n_fields and isinstance(self.delta, Gamma | Beta)):
            return 0.0
        free = values["delta"][:1] if self.tied else values["delta"]
        return sum(self.delta.log_density(float(d)) for d in free)

    def log_likelihood(self, labels: IntArray, values: Values) -> float:
        """Log probability of the records given their clusters, in closed form: the slow truth."""
        total = 0.0
        for f in range(self.n_fields):
            seen = self.codes[:, f] >= 0
            gamma = values["delta"][f] * self.frequency
            cluster, code = labels[seen], self.codes[seen, f].astype(np.int64)
            in_cluster = np.unique(cluster, return_counts=True)[1]
            cells, in_cell = np.unique(cluster * gamma.size + code, return_counts=True)
            shape = gamma[cells % gamma.size]
            total += float(np.sum(gammaln(shape + in_cell) - gammaln(shape)))
            delta = values["delta"][f]
            total -= float(np.sum(gammaln(delta + in_cluster) - gammaln(delta)))
        return total

    def weigh_pairs(self, pairs: NDArray[Any], draws: Mapping[str, FloatArray]) -> FloatArray:
        """Return each field's log Bayes factor that two records are one, (pair, field).

        It is the mean over draws of delta; a missing value says nothing.
        """
        drawn = draws["delta"] if "delta" in draws else self.complete_values({})["delta"][None, :]
        drawn = drawn.reshape(len(drawn), -1)
        deltas = np.broadcast_to(drawn, (len(drawn), self.n_fields))
        evidence = np.zeros((len(pairs), self.n_fields))
        for f in range(self.n_fields):
            one, two = self.codes[pairs[:, 0], f], self.codes[pairs[:, 1], f]
            both = (one >= 0) & (two >= 0)
            equal = both & (one == two)
            shown, place = np.unique(one[equal], return_inverse=True)
            delta = _thin_draws(deltas[:, f], shown.size)
            evidence[both & (one != two), f] = np.mean(np.log(delta) - np.log1p(delta))
            gain = 1 / self.frequency[shown]
            summed = np.zeros(shown.size)
            for d in delta:
                summed += np.log(d + gain)
            evidence[equal, f] = (summed / delta.size - np.log1p(delta).mean())[place]
        return evidence

    def _choose_cells(self, cells: Cells, field: int | None) -> Target:
        """Return the cells of one field, or of all fields together (None)."""
        if field is None:
            pooled = cells.observed.sum(axis=0)
            return cells.frequency, cells.step, cells.number, int(cells.n_cells.sum()), pooled
        own = self.field_of_code[cells.code] == field
        return (
            cells.frequency[own],
            cells.step[own],
            cells.number[own],
            int(cells.n_cells[field]),
            cells.observed[field],
        )

    def count_cells(self, steps: IntArray, n_cells: IntArray, observed: IntArray) -> Cells:
        """Count equal steps (as the kernel lists them) once each, where that saves anything."""
        width = int(steps[:, 1].max(initial=0)) + 1
        key = steps[:, 0] * width + steps[:, 1]
        number = np.ones(key.size)
        if self.frequency.size * width < 4 * key.size + 1000:
            counts = np.bincount(key, minlength=1)
            key = np.flatnonzero(counts)
            number = counts[key].astype(float)
        code, step = key // width, (key % width).astype(float)
        return Cells(code, self.frequency[code], step, number, n_cells, observed)

    def log_evidence(self, cells: Cells, delta: FloatArray) -> float:
        """Log probability of the records given their clusters, over that of singletons."""
        own = delta[self.field_of_code[cells.code]]
        shared = np.log(own * cells.frequency + cells.step) - np.log(cells.frequency)
        below = np.log(delta[:, None] + np.arange(cells.observed.shape[1]))
        alone = cells.n_cells @ np.log(delta)
        return float(cells.number @ shared + alone - np.sum(cells.observed * below))

    def update(
        self,
        rng: np.random.Generator,
        values: Values,
        cells: Cells,
        log_more: Callable[[FloatArray], float] | None = None,
        typical: FloatArray | None = None,
        *,
        holds_fitted: bool = False,
    ) -> Values:
        """Slice sample delta given the clusters, tied or field by field.

        ``log_more`` adds a log factor that depends on all deltas. Where typical values are given,
        delta is reflected at its mode near to them instead.
        """
        prior = self.delta
        if not (self.n_fields and isinstance(prior, Gamma | Beta)):
            return values
        delta = values["delta"].copy()
        for field in (None,) if self.tied else range(self.n_fields):
            target = self._choose_cells(cells, field)
            place = slice(None) if field is None else field

            def log_density(x: float, target: Target = target, place: Any = place) -> float:
                delta[place] = x
                more = log_more(delta) if log_more else 0.0
                own = float(kernels.log_density_of_delta(x, *target))
                return prior.log_density(x) + own + more

            here = float(delta[field or 0])
            if typical is None:
                delta[place] = slice_sample(rng, log_density, here, POSITIVE, width=0.5)
            else:
                start = float(typical[field or 0])
                delta[place] = reflect(rng, log_density, here, POSITIVE, start)
        return dict(values) | {"delta": delta}


def _thin_draws(draws: FloatArray, n_values: int) -> FloatArray:
    """Return draws evenly spread, as many as may be looked at for so many values; 50 or more."""
    most = max(50, EVIDENCE_BUDGET // max(n_values, 1))
    return draws[:: max(1, -(-draws.size // most))]

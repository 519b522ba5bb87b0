"""The prior as the kernels see it: tables of weights, given all clusters or for shards alone."""

from threading import Lock
from typing import NamedTuple

import numpy as np

from kolchin import kernels
from kolchin.model import Model
from kolchin.parameters import FloatArray, Values
from kolchin.priors.base import Opening, SizeCounts, Tables

LARGEST_ENUMERATED = kernels.LARGEST_ENUMERATED
"""Up to this many records in two clusters, all ways to divide them are weighed at once."""

LARGEST_LOG = 600.0
"""Products of factors whose logs add up to less cannot leave the range of doubles."""

LARGEST_BESIDE = LARGEST_LOG - float(np.log(kernels.LARGEST_FACTOR))
"""What is left of it beside the evidence of compared fields, which the kernel looks after."""


def kernel_weights(model: Model, tables: Tables, evidence: kernels.Evidence) -> kernels.Weights:
    """Put the prior's tables into the form that the kernels read."""
    log_h, opening, shapes = tables
    log_size = np.append(0.0, log_h - log_h[0])
    small = log_size[: kernels.LARGEST_ENUMERATED + 1]
    numbers = opening.log_scale, opening.slope, opening.intercept, opening.alpha
    safe_pairs, safe_products = _safe_ranges(model, log_size, evidence)
    return kernels.Weights(
        log_size,
        np.exp(np.minimum(small, 700.0)),
        kernels.Opening(*map(float, numbers)),
        opening.log_table,
        np.append(0.0, shapes) if shapes.size else shapes,
        LARGEST_ENUMERATED,
        safe_pairs=safe_pairs,
        safe_products=safe_products,
    )


def _safe_ranges(
    model: Model, log_size: FloatArray, evidence: kernels.Evidence
) -> tuple[bool, bool]:
    """Tell whether products of the evidence of pairs, and of more records, stay in range."""
    reach = model.likelihood.log_reach(evidence.delta)
    largest = LARGEST_LOG if model.compared is None else LARGEST_BESIDE
    safe_products = (kernels.LARGEST_ENUMERATED - 1) * reach <= largest
    for ratio in (evidence.ratio, evidence.uncompared):
        if ratio.size:
            reach += max(np.log(ratio.max()), -np.log(max(ratio.min(), 1e-300)), 0.0)
    safe_pairs = reach <= LARGEST_LOG and np.abs(log_size[2]) <= LARGEST_LOG
    return bool(safe_pairs), bool(safe_pairs and safe_products)


def can_be_sharded(model: Model) -> bool:
    """Tell whether a variable t can make the clusters independent (model section 5)."""
    prior, n_records = model.prior, model.n_records
    counts = SizeCounts.of(np.array([0, n_records]))
    opening = prior.opening(n_records, prior.start(np.random.default_rng(0), counts))
    return opening.log_table.size == 0


class Auxiliaries(NamedTuple):
    """What makes the clusters independent: t, and the size distribution where that is free.

    ``capacity`` is how far tables reach at first.
    """

    values: Values
    log_t: float
    capacity: int

    @classmethod
    def drawn(
        cls,
        rng: np.random.Generator,
        model: Model,
        values: Values,
        counts: SizeCounts,
        capacity: int,
    ) -> "Given":
        """Draw them, given the sizes of the clusters.

        The open weight exp(log_scale) (slope K + intercept) is that of Gamma(K + intercept / slope)
        in the prior: t takes the place of K + intercept / slope.
        """
        values = model.prior.completed(rng, values, counts)
        opening = model.prior.opening(counts.n_records, values)
        log_t = 0.0
        if opening.slope > 0:
            shape = counts.n_clusters + opening.intercept / opening.slope
            log_t = float(np.log(rng.standard_gamma(shape)))
        return cls(values, log_t, capacity)


class ConditionalPrior:
    """The prior given all that: its weights are numbers that no cluster changes.

    Shards can use them at the same time.
    """

    def __init__(
        self, model: Model, given: Auxiliaries, evidence: kernels.Evidence, stream: np.random.Generator
    ) -> None:
        self.model = model
        self.evidence = evidence
        self._values, self._log_t, capacity = given
        self._stream = stream
        self._lock = Lock()
        self._levels = [self._tabulated(capacity)]

    def _tabulated(self, capacity: int) -> kernels.Weights:
        prior, n_records = self.model.prior, self.model.n_records
        self._values = prior.extended(self._stream, self._values, capacity)
        log_h, opening, _ = prior.tables(n_records, capacity, self._values)
        if opening.slope > 0:
            log_scale = opening.log_scale + np.log(opening.slope) + self._log_t
            opening = Opening(log_scale, 0.0, 1.0)
        return kernel_weights(self.model, Tables(log_h, opening), self.evidence)

    def weights(self, level: int) -> kernels.Weights:
        """Return the tables of a level: each is twice as long as the one before, and continues it.

        They do not depend on who asks first, nor when.
        """
        with self._lock:
            while len(self._levels) <= level:
                self._levels.append(self._tabulated(2 * (self._levels[-1].log_size.size - 1)))
            return self._levels[level]

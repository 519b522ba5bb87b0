"""The prior given variables that make the clusters independent (model section 5)."""

from threading import Lock
from typing import NamedTuple

import numpy as np

from kolchin import kernels
from kolchin.model import Model
from kolchin.parameters import Values
from kolchin.priors.base import OpeningTerms, SizeCounts, Tables
from kolchin.sampling.weights import build_kernel_weights


class Auxiliaries(NamedTuple):
    """What makes the clusters independent: t, and the size distribution where that is free.

    ``values`` are the prior's parameters with the size distribution drawn, ``capacity`` is how far
    tables reach at first.
    """

    values: Values
    log_t: float
    capacity: int


def draw_auxiliaries(
    rng: np.random.Generator, model: Model, values: Values, counts: SizeCounts, capacity: int
) -> Auxiliaries:
    """Draw the auxiliary variables, given the sizes of the clusters.

    The open weight exp(log_scale) (slope K + intercept) is that of Gamma(K + intercept / slope)
    in the prior: t takes the place of K + intercept / slope.
    """
    values = model.prior.draw_integrated(rng, values, counts)
    opening = model.prior.weigh_opening(counts.n_records, values)
    log_t = 0.0
    if opening.slope > 0:
        shape = counts.n_clusters + opening.intercept / opening.slope
        log_t = float(np.log(rng.standard_gamma(shape)))
    return Auxiliaries(values, log_t, capacity)


class ConditionalPrior:
    """The prior given auxiliaries: its weights are numbers that no cluster changes.

    Shards can use them at the same time.
    """

    def __init__(
        self,
        model: Model,
        auxiliaries: Auxiliaries,
        evidence: kernels.Evidence,
        stream: np.random.Generator,
    ) -> None:
        self.model = model
        self.evidence = evidence
        self._values, self._log_t, capacity = auxiliaries
        self._stream = stream
        self._lock = Lock()
        self._levels = [self._tabulate(capacity)]

    def _tabulate(self, capacity: int) -> kernels.Weights:
        """Return the tables up to a size, with t in place of the number of clusters."""
        prior, n_records = self.model.prior, self.model.n_records
        self._values = prior.extend_values(self._stream, self._values, capacity)
        log_h, opening, _ = prior.tabulate(n_records, capacity, self._values)
        if opening.slope > 0:
            log_scale = opening.log_scale + np.log(opening.slope) + self._log_t
            opening = OpeningTerms(log_scale, 0.0, 1.0)
        return build_kernel_weights(self.model, Tables(log_h, opening), self.evidence)

    def get_weights(self, level: int) -> kernels.Weights:
        """Return the tables of a level: each is twice as long as the one before, and continues it.

        They do not depend on who asks first, nor when.
        """
        with self._lock:
            while len(self._levels) <= level:
                self._levels.append(self._tabulate(2 * (self._levels[-1].log_size.size - 1)))
            return self._levels[level]

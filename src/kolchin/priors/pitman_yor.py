"""The Pitman-Yor process, seen as a prior over partitions."""

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
from scipy.special import betaln, gammaln

from kolchin.parameters import (
    POSITIVE,
    UNIT_OR_ZERO,
    Beta,
    FloatArray,
    Gamma,
    Hyper,
    IntArray,
    Range,
    Values,
    check_parameters,
    log_rising,
    start_value,
)
from kolchin.priors.base import OpeningTerms, Prior
from kolchin.priors.dirichlet_process import expected_clusters, theta_expecting


class PitmanYor(Prior):
    """Pitman-Yor process; by default theta ~ Gamma(1, rate 2/N) and discount ~ Beta(1, 1).

    Examples
    --------
    >>> PitmanYor(theta=1.0, discount=0.5).draw(5, seed=1).tolist()
    [0, 0, 1, 2, 0]
    """

    ranges: Mapping[str, Range] = {"theta": POSITIVE, "discount": UNIT_OR_ZERO}

    def __init__(self, theta: Hyper | None = None, discount: Hyper = Beta(1, 1)) -> None:
        given = {"theta": theta, "discount": discount}
        self.given = check_parameters("PitmanYor", self.ranges, given)

    @classmethod
    def expecting(cls, n_clusters: float, n_records: int, discount: float) -> "PitmanYor":
        """Fix theta so that n records are expected to form ``n_clusters`` clusters."""
        expected = partial(expected_clusters_with, discount)
        return cls(theta_expecting(expected, n_clusters, n_records), discount)

    def list_parameters(self, n_records: int) -> dict[str, Hyper]:
        """Return theta and the discount."""
        theta = self.given.get("theta", Gamma(1, 2 / n_records))
        return {"theta": theta, "discount": self.given["discount"]}

    def log_g(self, n_clusters: int, n_records: int, values: Values) -> float:
        """Log of prod_{k<K} (theta + k d) times Gamma(theta + 1) / Gamma(theta + N)."""
        theta, d = values["theta"], values["discount"]
        others = n_clusters - 1
        if d > 1e-12 * theta:
            opened = others * math.log(d) + log_rising(1 + theta / d, others)
        else:
            opened = others * math.log(theta)
        return opened - log_rising(theta + 1, n_records - 1)

    def log_h(self, sizes: IntArray, values: Values) -> FloatArray:
        """Log of Gamma(m - d) / Gamma(1 - d)."""
        d = values["discount"]
        result: FloatArray = gammaln(sizes - d) - math.lgamma(1 - d)
        return result

    def weigh_opening(self, n_records: int, values: Values) -> OpeningTerms:
        """Weight theta + K d."""
        return OpeningTerms(0.0, values["discount"], values["theta"])

    def draw(self, n_records: int, seed: int | np.random.Generator | None = None) -> IntArray:
        """Draw the labels of a partition by its urn.

        A record opens a cluster with weight theta + K d; else it copies a random earlier record
        of a cluster of size m, which is taken with probability (m - d) / m, or tries again.
        """
        rng = np.random.default_rng(seed)
        hypers = self.list_parameters(n_records)
        theta, d = (start_value(rng, hypers[name], self.ranges[name]) for name in hypers)
        labels = np.empty(n_records, dtype=np.int64)
        sizes: list[int] = []
        for n in range(n_records):
            label = len(sizes)
            if rng.random() * (theta + n) >= theta + label * d:
                label = labels[int(rng.random() * n)]
                while rng.random() * sizes[label] < d:
                    label = labels[int(rng.random() * n)]
                sizes[label] += 1
            else:
                sizes.append(1)
            labels[n] = label
        return labels


def expected_clusters_with(discount: float, theta: float, n_records: int) -> float:
    """Return E[K] of n records under a Pitman-Yor process (model section 1)."""
    if discount == 0:
        return expected_clusters(theta, n_records)
    log_ratio = float(betaln(theta, n_records) - betaln(theta + discount, n_records))
    # Gamma(theta+N+d) Gamma(theta) / (Gamma(theta+N) Gamma(theta+d)), by Beta functions
    return theta / discount * math.expm1(log_ratio)

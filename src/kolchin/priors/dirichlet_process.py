"""The Dirichlet process, seen as a prior over partitions: the Chinese restaurant process."""

import math
from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import digamma, gammaln

from kolchin.errors import ModelError
from kolchin.parameters import (
    POSITIVE,
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


class DirichletProcess(Prior):
    """Dirichlet process with concentration theta; by default theta ~ Gamma(1, rate 2/N).

    Examples
    --------
    >>> DirichletProcess(theta=1.0).draw(5, seed=3).tolist()
    [0, 1, 0, 0, 2]
    """

    ranges: Mapping[str, Range] = {"theta": POSITIVE}

    def __init__(self, theta: Hyper | None = None) -> None:
        self.given = check_parameters("DirichletProcess", self.ranges, {"theta": theta})

    @classmethod
    def expecting(cls, n_clusters: float, n_records: int) -> "DirichletProcess":
        """Fix theta so that n records are expected to form ``n_clusters`` clusters."""
        return cls(theta_expecting(expected_clusters, n_clusters, n_records))

    def list_parameters(self, n_records: int) -> dict[str, Hyper]:
        """Return theta."""
        return {"theta": self.given.get("theta", Gamma(1, 2 / n_records))}

    def log_g(self, n_clusters: int, n_records: int, values: Values) -> float:
        """Log of theta^K Gamma(theta) / Gamma(theta + N)."""
        theta = values["theta"]
        return n_clusters * math.log(theta) - log_rising(theta, n_records)

    def log_h(self, sizes: IntArray, values: Values) -> FloatArray:
        """Log of Gamma(m)."""
        result: FloatArray = gammaln(sizes)
        return result

    def weigh_opening(self, n_records: int, values: Values) -> OpeningTerms:
        """Weight theta."""
        return OpeningTerms(0.0, 0.0, values["theta"])

    def draw(self, n_records: int, seed: int | np.random.Generator | None = None) -> IntArray:
        """Draw the labels of a partition by its urn: copy an earlier record or open a cluster."""
        rng = np.random.default_rng(seed)
        theta = start_value(rng, self.list_parameters(n_records)["theta"], POSITIVE)
        earlier = np.arange(n_records)
        opens = rng.random(n_records) * (theta + earlier) < theta
        copied = (rng.random(n_records) * earlier).astype(np.int64)
        labels = np.empty(n_records, dtype=np.int64)
        n_clusters = 0
        for n in range(n_records):
            labels[n] = n_clusters if opens[n] else labels[copied[n]]
            n_clusters += opens[n]
        return labels


def expected_clusters(theta: float, n_records: int) -> float:
    """Return E[K] of n records under a Dirichlet process."""
    return theta * float(digamma(theta + n_records) - digamma(theta))


def theta_expecting(
    expected: Callable[[float, int], float], n_clusters: float, n_records: int
) -> float:
    """Solve E[K] = n_clusters for theta."""
    from scipy.optimize import brentq  # slow to import, and sampling never needs it

    if not 1 < n_clusters < n_records:
        raise ModelError(
            f"The 'n_clusters' parameter must be between 1 and n_records ({n_records}). "
            f"Got {n_clusters!r} instead."
        )

    def excess(log_theta: float) -> float:
        return expected(math.exp(log_theta), n_records) - n_clusters

    return math.exp(brentq(excess, -40.0, 2 * math.log(n_records) + 10, xtol=1e-12))

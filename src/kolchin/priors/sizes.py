"""Cluster sizes in a Kolchin partition model: the distribution mu on 1, 2, ..."""

import math
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from scipy.special import gammaln

from kolchin.parameters import (
    POSITIVE,
    UNIT,
    FloatArray,
    Hyper,
    IntArray,
    Range,
    Values,
    check_parameters,
)
from kolchin.priors.base import SizeCounts
from kolchin.priors.probabilities import (
    Probabilities,
    log_negative_binomial,
    log_negative_binomial_tail,
)

SIZES_KEPT = 20
"""How many entries of mu are kept with each draw."""

SMALLEST = float(np.finfo(float).tiny)
"""What counts for a drawn probability that is 0 as a number: its logarithm was far below."""
SMALLEST_LOG = -1e290
"""Stands for log 0: finite, so that differences stay numbers."""


class Sizes(Protocol):
    """A part of a Kolchin partition model: log m! mu_m."""

    @property
    def ranges(self) -> Mapping[str, Range]:
        """Range of each parameter."""

    @property
    def given(self) -> Mapping[str, Hyper]:
        """What the user gave for each parameter."""

    def list_parameters(self) -> dict[str, Hyper]:
        """Return what each parameter is."""

    def log_mu(self, sizes: IntArray, values: Values) -> FloatArray:
        """Log of mu_m."""


class NegativeBinomialSizes:
    """Sizes ~ NegBin(r, p) on 1, 2, ...; r ~ Gamma(1, 1) and p ~ Beta(2, 2) in the paper."""

    ranges: Mapping[str, Range] = {"r": POSITIVE, "p": UNIT}

    def __init__(self, owner: str, r: Hyper, p: Hyper) -> None:
        self.given = check_parameters(owner, self.ranges, {"r": r, "p": p})

    def list_parameters(self) -> dict[str, Hyper]:
        """Return r and p."""
        return dict(self.given)

    def log_mu(self, sizes: IntArray, values: Values) -> FloatArray:
        """Log of mu_m."""
        return log_negative_binomial(sizes, values["r"], values["p"])


class TableSizes:
    """Any fixed distribution of sizes on 1, 2, ..."""

    ranges: Mapping[str, Range] = {}
    given: Mapping[str, Hyper] = {}

    def __init__(self, mu: Probabilities) -> None:
        self.mu = mu

    def list_parameters(self) -> dict[str, Hyper]:
        """No parameters."""
        return {}

    def log_mu(self, sizes: IntArray, values: Values) -> FloatArray:
        """Log of mu_m."""
        return self.mu.log(sizes)


class DirichletSizes:
    """Sizes ~ mu, mu ~ Dirichlet(alpha, base) on 1, 2, ..., drawn as far as it is needed.

    ``log_mu`` holds mu_1, ..., mu_M and ``log_tail`` the mass beyond; when a larger size is
    asked for, the tail is split by the same Dirichlet, so that mu is exact for every N.
    The base is geometric(base), NegBin(r, p), or fixed probabilities.
    """

    def __init__(self, owner: str, alpha: Hyper, **base: Any) -> None:
        self.base_table: Probabilities | None = base.pop("table", None)
        self.ranges = {"alpha": POSITIVE} | {k: POSITIVE if k == "r" else UNIT for k in base}
        self.given = check_parameters(owner, self.ranges, {"alpha": alpha, **base})

    def list_parameters(self) -> dict[str, Hyper]:
        """Return alpha and the parameters of the base."""
        return dict(self.given)

    def log_base(self, sizes: IntArray, values: Values) -> FloatArray:
        """Log of the base measure mu0_m."""
        if self.base_table is not None:
            return self.base_table.log(sizes)
        if "base" in values:
            rho = values["base"]
            return np.float64(math.log(rho)) + (sizes - 1.0) * math.log1p(-rho)
        return log_negative_binomial(sizes, values["r"], values["p"])

    def log_base_tail(self, largest: int, values: Values) -> float:
        """Log of the base measure beyond a size."""
        if self.base_table is not None:
            return max(self.base_table.log_beyond(largest), SMALLEST_LOG)
        if "base" in values:
            return largest * math.log1p(-values["base"])
        return log_negative_binomial_tail(largest, values["r"], values["p"])

    def log_mu(self, sizes: IntArray, values: Values) -> FloatArray:
        """Log of mu_m, for sizes up to those drawn."""
        drawn: FloatArray = values["log_mu"]
        return drawn[sizes - 1]

    def log_marginal(self, counts: SizeCounts, values: Values) -> float:
        """Log of E[prod over clusters of mu_size]: mu integrated out."""
        alpha = values["alpha"]
        log_shape = math.log(alpha) + self.log_base(counts.sizes, values)
        shape = np.exp(log_shape)
        # Gamma(s) is 1/s for a small s, which need not be a number that a double can hold.
        tiny = log_shape < -600
        below = np.where(tiny, -log_shape, gammaln(np.where(tiny, 1.0, shape)))
        cells = gammaln(shape + counts.counts) - below
        rising = math.lgamma(alpha + counts.n_clusters) - math.lgamma(alpha)
        return float(cells.sum()) - rising

    def draw_mu(
        self, rng: np.random.Generator, values: Values, counts: SizeCounts, largest: int
    ) -> Values:
        """Draw mu_1, ..., mu_largest and the tail given the sizes (conjugate)."""
        sizes = np.arange(1, largest + 1)
        log_alpha = math.log(values["alpha"])
        log_shape = np.append(self.log_base(sizes, values), self.log_base_tail(largest, values))
        log_shape += log_alpha
        shape = np.exp(log_shape[counts.sizes - 1]) + counts.counts
        log_shape[counts.sizes - 1] = np.log(shape)
        log_mu = log_dirichlet(rng, log_shape)
        return dict(values) | {"log_mu": log_mu[:-1], "log_tail": float(log_mu[-1])}

    def split_tail(self, rng: np.random.Generator, values: Values, largest: int) -> Values:
        """Extend mu to a larger size by splitting its tail."""
        drawn = values["log_mu"].size
        if largest <= drawn:
            return values
        sizes = np.arange(drawn + 1, largest + 1)
        log_shape = np.append(
            self.log_base(sizes, values), self.log_base_tail(largest, values)
        ) + math.log(values["alpha"])
        parts = np.maximum(log_dirichlet(rng, log_shape) + values["log_tail"], SMALLEST_LOG)
        log_mu = np.concatenate([values["log_mu"], parts[:-1]])
        return dict(values) | {"log_mu": log_mu, "log_tail": float(parts[-1])}

    def log_density_mu(self, mu: FloatArray, values: Values) -> float:
        """Log density of (mu_1, ..., mu_M) and the mass beyond."""
        sizes = np.arange(1, mu.size + 1)
        log_shape = np.append(self.log_base(sizes, values), self.log_base_tail(mu.size, values))
        shape = np.exp(log_shape) * values["alpha"]
        parts = np.maximum(np.append(mu, 1 - mu.sum()), SMALLEST)
        with np.errstate(divide="ignore"):
            terms = (shape - 1) * np.log(parts) - gammaln(shape)
        return float(terms.sum() + gammaln(shape.sum()))


def log_dirichlet(rng: np.random.Generator, log_shape: FloatArray) -> FloatArray:
    """Draw a Dirichlet vector in logs, for shapes of any smallness.

    For a small shape s: log Gamma(s) = log Gamma(s + 1) + log(U) / s.
    """
    shape = np.exp(log_shape)
    log_part = np.log(rng.standard_gamma(shape + 1))
    small = np.log(-np.log(1 - rng.random(shape.size))) - log_shape
    log_part -= np.exp(np.minimum(small, math.log(-SMALLEST_LOG)))
    top = log_part.max()
    result: FloatArray = log_part - (top + np.log(np.exp(log_part - top).sum()))
    return result

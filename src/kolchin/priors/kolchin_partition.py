"""Kolchin partition models: NBNB, NBD, the ESC models, and any kappa and mu.

K ~ kappa, sizes ~ mu independently, a uniform assignment, given that the sizes add up to N:
g(K) = log K! + log kappa_K and h(m) = log m! + log mu_m (the paper's equation for P(C_N)).
"""

import math
from collections.abc import Container
from typing import Any

import numpy as np
from scipy.special import gammaln

from kolchin.errors import ModelError
from kolchin.parameters import (
    Beta,
    FloatArray,
    Gamma,
    Hyper,
    IntArray,
    Values,
    is_number,
    is_sampled,
)
from kolchin.partitions import make_canonical
from kolchin.priors.base import OpeningTerms, Prior, SizeCounts, Tables, table_size
from kolchin.priors.counts import Count, FlatCount, NegativeBinomialCount, TableCount
from kolchin.priors.drawing import draw_sizes
from kolchin.priors.free_sizes import FreeSizes
from kolchin.priors.probabilities import Probabilities
from kolchin.priors.sizes import (
    SIZES_KEPT,
    SMALLEST,
    DirichletSizes,
    NegativeBinomialSizes,
    Sizes,
    TableSizes,
)

ROUNDING = 1e-9
"""By how much drawn probabilities may exceed 1 together."""


class KolchinPartition(Prior):
    """Kolchin partition model with any distributions of the number of clusters and of sizes.

    Parameters
    ----------
    kappa
        The number of clusters: probabilities of 1, 2, ..., or a discrete SciPy distribution.
        By default negative binomial with mean and standard deviation N/2.
    mu
        The sizes of clusters, likewise. By default geometric with mean 2.

    Examples
    --------
    >>> prior = KolchinPartition(mu=[0.5, 0.5])
    >>> prior.draw(4, seed=1).tolist()
    [0, 1, 0, 1]
    """

    def __init__(self, kappa: Any = None, mu: Any = None) -> None:
        mu = 0.5 ** np.arange(1, 1001) if mu is None else mu
        count: Count = NegativeBinomialCount("KolchinPartition", 1.0, None)
        if kappa is not None:
            count = TableCount(Probabilities("kappa", kappa))
        self._assemble(count, TableSizes(Probabilities("mu", mu)))

    def _assemble(self, count: Count, sizes: Sizes) -> None:
        self.count = count
        self.sizes = sizes
        self.ranges = {**count.ranges, **sizes.ranges}
        self.given = {**count.given, **sizes.given}

    def list_parameters(self, n_records: int) -> dict[str, Hyper]:
        """Return what each parameter is, defaults filled in."""
        return {**self.count.list_parameters(n_records), **self.sizes.list_parameters()}

    def log_g(self, n_clusters: int, n_records: int, values: Values) -> float:
        """Log of K! kappa_K / N!."""
        log_kappa = float(self.count.log_kappa(np.array([n_clusters]), values)[0])
        return log_kappa + math.lgamma(n_clusters + 1) - math.lgamma(n_records + 1)

    def log_h(self, sizes: IntArray, values: Values) -> FloatArray:
        """Log of m! mu_m."""
        result: FloatArray = gammaln(sizes + 1.0) + self.sizes.log_mu(sizes, values)
        return result

    def weigh_opening(self, n_records: int, values: Values) -> OpeningTerms:
        """Weight of one cluster more, times mu_1."""
        part = self.count.weigh_opening(n_records, values)
        log_one = float(self.log_h(np.array([1]), values)[0])
        return part._replace(log_scale=part.log_scale + log_one, log_table=part.log_table + log_one)

    def log_part(self, name: str, counts: SizeCounts, values: Values) -> float:
        """Log probability of the number of clusters or of their sizes alone."""
        if name in self.count.ranges:
            return float(self.count.log_kappa(np.array([counts.n_clusters]), values)[0])
        return self.log_sizes(counts, values)

    def log_sizes(self, counts: SizeCounts, values: Values) -> float:
        """Log of the product of mu over all clusters."""
        return float(counts.counts @ self.sizes.log_mu(counts.sizes, values))

    def check(self, n_records: int) -> None:
        """Refuse distributions that forbid singletons, or numbers of clusters up to N."""
        super().check(n_records)
        faults = []
        if isinstance(self.sizes, TableSizes):
            log_mu = self.sizes.mu.log(np.arange(1, n_records + 1))
            if not np.all(np.isfinite(log_mu[: int(np.isfinite(log_mu).sum())])):
                faults.append(
                    "The 'mu' parameter must be positive on 1, 2, ... without a gap (it may end)."
                )
        if isinstance(self.count, TableCount):
            number = np.arange(1, n_records + 1)
            lacking = number[~np.isfinite(self.count.kappa.log(number))]
            if lacking.size:
                faults.append(
                    f"The 'kappa' parameter must be positive for every number of clusters from 1 "
                    f"to {n_records}. It is 0 at {lacking[0]}: add a small probability there."
                )
        if faults:
            raise ModelError("\n".join(faults))

    def log_distributions(self, n_records: int, values: Values) -> tuple[FloatArray, FloatArray]:
        """Tabulate log kappa and log mu on 1, ..., N."""
        number = np.arange(1, n_records + 1)
        return self.count.log_kappa(number, values), self.sizes.log_mu(number, values)

    def move_parameter(
        self, name: str, x: float, values: Values, counts: SizeCounts
    ) -> tuple[Values, float]:
        """Return values with one set to x; p moves along with r, while (r + c) p stays as it is.

        A cluster of m records gains another in proportion to (r + m) p, so the sizes know that
        product well, c being a typical m, and r hardly: one at a time, r and p would creep.
        """
        hypers = self.sizes.list_parameters()
        if name != "r" or not is_sampled(hypers.get("p", 1.0)):
            return super().move_parameter(name, x, values, counts)
        c = counts.mean_before_joining
        p = values["p"] * (values["r"] + c) / (x + c)
        if not 0 < p < 1:
            return dict(values) | {"r": x}, -math.inf
        return dict(values) | {"r": x, "p": p}, -math.log(x + c)

    def draw_given(self, rng: np.random.Generator, n_records: int, values: Values) -> IntArray:
        """Draw the sizes of a partition given N and the parameters, exactly (model section 7)."""
        values = self.extend_values(rng, values, n_records)
        return draw_sizes(rng, *self.log_distributions(n_records, values))

    def draw(
        self, n_records: int, seed: int | np.random.Generator | None = None, sweeps: int = 50
    ) -> IntArray:
        """Draw the labels of a partition of n records from the prior.

        With fixed parameters the draw is exact. Where parameters have priors, given N they are
        reweighted by P(N | parameters): parameters given the partition and the partition given
        the parameters (exactly) are drawn in turn, ``sweeps`` times.
        """
        rng = np.random.default_rng(seed)
        counts = SizeCounts.of(np.array([0, n_records]))
        values = self.start(rng, counts)
        for _ in range(sweeps if self.is_free(n_records, values) else 1):
            sizes = self.draw_given(rng, n_records, values)
            values = self.update(rng, values, SizeCounts.of(np.bincount(sizes)))
        labels = np.repeat(np.arange(sizes.size), sizes)
        return make_canonical(rng.permutation(labels))

    def is_free(self, n_records: int, values: Values) -> bool:
        """Tell whether an exact draw needs values that depend on the partition."""
        return any(map(is_sampled, self.list_parameters(n_records).values()))


class FreeSizesPartition(KolchinPartition):
    """Kolchin partition model whose size distribution mu is itself drawn from a Dirichlet."""

    sizes: DirichletSizes

    def log_sizes(self, counts: SizeCounts, values: Values) -> float:
        """Log of the product of mu, or of its expectation where mu is not among the values."""
        if "log_mu" in values:
            return super().log_sizes(counts, values)
        return self.sizes.log_marginal(counts, values)

    def log_prob_counts(self, counts: SizeCounts, values: Values) -> float:
        """Log probability of the sizes, with mu integrated out unless it is among the values."""
        arranged = float(counts.counts @ gammaln(counts.sizes + 1.0))
        outside = self.log_g(counts.n_clusters, counts.n_records, values)
        return outside + arranged + self.log_sizes(counts, values)

    def log_hyper(self, n_records: int, values: Values) -> float:
        """Log density of the sampled parameters, mu with them where it is given."""
        density = super().log_hyper(n_records, values)
        if "log_mu" in values:
            density += self.sizes.log_density_mu(np.exp(values["log_mu"]), values)
        return density

    def drop_integrated(self, values: Values) -> Values:
        """Return the values without mu, which can be integrated out."""
        return {name: value for name, value in values.items() if name not in ("log_mu", "log_tail")}

    def start(self, rng: np.random.Generator, counts: SizeCounts) -> Values:
        """Draw starting values, mu given the sizes."""
        return self.draw_integrated(rng, super().start(rng, counts), counts)

    def update(
        self,
        rng: np.random.Generator,
        values: Values,
        counts: SizeCounts,
        names: Container[str] | None = None,
    ) -> Values:
        """Update alpha and the base with mu integrated out, then mu if it is among the values."""
        scalars = super().update(rng, self.drop_integrated(values), counts, names)
        return self.draw_integrated(rng, scalars, counts) if "log_mu" in values else scalars

    def list_drawn_with_links(self, n_records: int) -> list[str]:
        """Return the sampled parameters of K: given mu, the others say nothing of clusters."""
        names = super().list_drawn_with_links(n_records)
        return [name for name in names if name in self.count.ranges]

    def compute_shape(self, size: int, values: Values) -> float:
        """Return what the Dirichlet has for a size."""
        return float(values["alpha"] * np.exp(self.sizes.log_base(np.array([size]), values))[0])

    def tabulate(self, n_records: int, largest: int, values: Values) -> Tables:
        """Tabulate the prior; without mu, a cluster's weight depends on the others' sizes."""
        if "log_mu" in values:
            return super().tabulate(n_records, largest, values)
        sizes = np.arange(1, largest + 1)
        opening = self.count.weigh_opening(n_records, values)._replace(alpha=values["alpha"])
        shapes = values["alpha"] * np.exp(self.sizes.log_base(sizes, values))
        return Tables(gammaln(sizes + 1.0), opening, shapes)

    def draw_integrated(
        self, rng: np.random.Generator, values: Values, counts: SizeCounts
    ) -> Values:
        """Draw mu given the sizes."""
        return self.sizes.draw_mu(rng, values, counts, table_size(int(counts.sizes[-1])))

    def draw_given(self, rng: np.random.Generator, n_records: int, values: Values) -> IntArray:
        """Draw the sizes of a partition given N, with mu integrated out where that is possible."""
        if not self._integrates_out(n_records, values):
            return super().draw_given(rng, n_records, values)
        base = np.exp(self.sizes.log_base(np.arange(1, n_records + 1), values))
        scale = math.exp(self.count.weigh_opening(n_records, values).log_scale)
        return FreeSizes(scale, values["alpha"], base).draw(rng, n_records)

    def is_free(self, n_records: int, values: Values) -> bool:
        """Tell whether an exact draw needs values that depend on the partition."""
        return super().is_free(n_records, values) or not self._integrates_out(n_records, values)

    def _integrates_out(self, n_records: int, values: Values) -> bool:
        """Tell whether the factor for K cancels, so that only the sum of sizes is fixed."""
        opening = self.count.weigh_opening(n_records, values)
        return bool(opening.intercept == values["alpha"])

    def extend_values(self, rng: np.random.Generator, values: Values, largest: int) -> Values:
        """Split the tail of mu as far as needed, if mu is among the values."""
        if "log_mu" not in values:
            return values
        return self.sizes.split_tail(rng, values, largest)

    def select_sampled(self, n_records: int, values: Values) -> dict[str, Any]:
        """Return the sampled parameters, mu cut to its first entries."""
        mu = np.exp(values["log_mu"][:SIZES_KEPT])
        return super().select_sampled(n_records, values) | {"mu": mu}

    def complete_values(self, n_records: int, parameters: dict[str, Any]) -> Values:  # type: ignore[override]
        """Complete the parameters; mu may be given or left to be integrated out."""
        rest = {name: value for name, value in parameters.items() if name != "mu"}
        result = super().complete_values(n_records, rest)
        if "mu" in parameters:
            mu = np.asarray(parameters["mu"], dtype=float)
            if mu.ndim != 1 or not np.all(mu >= 0) or not mu.sum() <= 1 + ROUNDING:
                raise ModelError(
                    "The 'mu' parameter must be the probabilities of sizes 1, 2, ..., none less "
                    f"than 0, with a sum of at most 1. Got {parameters['mu']!r} instead."
                )
            result["log_mu"] = np.log(np.maximum(mu, SMALLEST))
            result["log_tail"] = math.log(max(1 - mu.sum(), 1e-300))
        return result


class NBNB(KolchinPartition):
    """Negative binomial number of clusters, negative binomial sizes: the paper's NBNB model."""

    def __init__(
        self,
        a: Hyper = 1.0,
        q: Hyper | None = None,
        r: Hyper = Gamma(1, 1),
        p: Hyper = Beta(2, 2),
    ) -> None:
        self._assemble(NegativeBinomialCount("NBNB", a, q), NegativeBinomialSizes("NBNB", r, p))


class NBD(FreeSizesPartition):
    """Negative binomial number of clusters, free sizes: the paper's NBD model.

    ``base`` is the parameter of a geometric base measure (or its Beta prior), or the base
    measure's own probabilities of 1, 2, ....
    """

    def __init__(
        self,
        a: Hyper = 1.0,
        q: Hyper | None = None,
        alpha: Hyper = 1.0,
        base: Any = 0.5,
    ) -> None:
        count = NegativeBinomialCount("NBD", a, q)
        if is_number(base) or isinstance(base, Gamma | Beta):
            sizes = DirichletSizes("NBD", alpha, base=base)
        else:
            sizes = DirichletSizes("NBD", alpha, table=Probabilities("base", base))
        self._assemble(count, sizes)


class ESCNB(KolchinPartition):
    """Exchangeable sequence of clusters with negative binomial sizes."""

    def __init__(self, r: Hyper = Gamma(1, 1), p: Hyper = Beta(2, 2)) -> None:
        self._assemble(FlatCount(), NegativeBinomialSizes("ESCNB", r, p))


class ESCD(FreeSizesPartition):
    """Exchangeable sequence of clusters with free sizes around a negative binomial base."""

    def __init__(self, alpha: Hyper = 1.0, r: Hyper = Gamma(1, 1), p: Hyper = Beta(2, 2)) -> None:
        self._assemble(FlatCount(), DirichletSizes("ESCD", alpha, r=r, p=p))

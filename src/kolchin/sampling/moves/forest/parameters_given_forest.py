"""The prior's parameters, drawn while links are summed over.

Given the links, the prior's parameters are known far better than they are a posteriori, as delta
is. Given t (model section 5) clusters are independent and the sum over all links of a forest is a
number, so each parameter is drawn by its density times that sum, and t likewise.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kolchin.parameters import (
    POSITIVE,
    FloatArray,
    Range,
    Values,
    hyper_log_density,
    reflect,
    slice_sample,
)
from kolchin.priors.base import OpeningTerms, Prior, SizeCounts
from kolchin.priors.kolchin_partition import FreeSizesPartition
from kolchin.sampling.conditional_prior import Auxiliaries

LARGEST_LOG_PRIOR, LARGEST_LOG_JOIN = 230.0, 300.0
"""A prior that says more decides alone: it says just that at first, and not much more later."""

LARGEST_SHAPE = 1e12
"""Where the open weight hardly depends on K, t tells nothing, and is too large to reckon with."""

LARGEST_DRAWN = 4
"""The probabilities of sizes up to this one are drawn so; the others are known from few."""

SMALLEST_Y = 1e-200
"""Sizes that are as good as impossible stay so here."""


class TypicalState(NamedTuple):
    """A state that was typical in warm-up: modes are looked for near to it."""

    delta: FloatArray
    values: Values
    counts: SizeCounts

    def count_clusters(self, size: int) -> int:
        """Return how many clusters there were of a size."""
        return _count_clusters(self.counts, size)


class ParametersGivenForest:
    """The prior of what is left when the records of all links are alone, and the links' sum.

    Parameters are reflected at their modes if a typical state is known, else slice sampled.
    ``given`` is where they start.
    """

    def __init__(
        self,
        prior: Prior,
        counts: SizeCounts,
        log_sum: Callable[[FloatArray], float],
        given: Auxiliaries,
        typical: TypicalState | None = None,
    ) -> None:
        self.prior = prior
        self.counts = counts
        self.log_sum = log_sum
        self.typical = typical
        self._hypers = prior.list_parameters(counts.n_records)
        self._all_sizes = np.arange(1, given.capacity + 1)
        log_h, log_open = self._log_h(given.values), self._log_open(given)
        self._at_first = _log_steps(log_h) - log_open
        # mu of sizes that no cluster has is about 0: who left for such a size will join again.
        self._certain = np.flatnonzero(self._at_first[1:] > LARGEST_LOG_PRIOR) + 1

    def weigh_joins(self, given: Auxiliaries) -> FloatArray:
        """Return the weight of one more record, by the size it makes, against being alone."""
        return _exponentiate(self._log_joins(given))

    def _log_joins(self, given: Auxiliaries) -> FloatArray:
        """Log weight of one more record, by the size it makes, against being alone."""
        return self._log_joins_of(self._log_h(given.values), self._log_open(given))

    def _log_h(self, values: Values) -> FloatArray:
        """Log weight h of each size that tables reach."""
        return self.prior.log_h(self._all_sizes, values)

    def _log_open(self, given: Auxiliaries) -> float:
        """Log weight of opening a cluster, given t."""
        return _log_open(self._weigh_opening(given.values), given.log_t)

    def _log_joins_of(self, log_h: FloatArray, log_open: float) -> FloatArray:
        """Take the logs; those that are certain are less by an amount that stays the same."""
        joins = np.zeros(log_h.size + 1)
        joins[2:] = _log_steps(log_h) - log_open
        joins[2:][self._certain] += LARGEST_LOG_PRIOR - self._at_first[self._certain]
        return joins

    def _log_links(self, log_joins: FloatArray) -> float:
        """Log of the sum over all links, by the log weights of joins."""
        return self.log_sum(_exponentiate(log_joins))

    def update(self, rng: np.random.Generator, given: Auxiliaries) -> Auxiliaries:
        """Draw each parameter once, and t."""
        opening = self._weigh_opening(given.values)
        if _compute_shape(opening) > LARGEST_SHAPE:
            return given
        for name in self.prior.list_drawn_with_links(self.counts.n_records):
            given = self._draw(rng, name, given)
        if isinstance(self.prior, FreeSizesPartition):
            for size in self.counts.sizes[self.counts.sizes <= LARGEST_DRAWN]:
                given = self._draw_mu(rng, self.prior, int(size), given)
        elif opening.slope > 0:
            given = self._draw_t(rng, given)
        return given

    def _draw(self, rng: np.random.Generator, name: str, given: Auxiliaries) -> Auxiliaries:
        """Draw a parameter; t moves along in proportion to what is expected of it."""
        log_ratio = given.log_t - self._log_expected_t(self._weigh_opening(given.values))

        def change(x: float) -> tuple[Auxiliaries, OpeningTerms, float]:
            values, log_change = self.prior.move_parameter(name, x, given.values, self.counts)
            opening = self._weigh_opening(values)
            log_expected = self._log_expected_t(opening)
            trial = given._replace(values=values, log_t=log_ratio + log_expected)
            return trial, opening, log_change + log_expected

        def log_density(x: float) -> float:
            trial, opening, log_change = change(x)
            if _compute_shape(opening) > LARGEST_SHAPE:
                return -math.inf
            return self._log_density(trial, opening) + log_change

        start = None if self.typical is None else self.typical.values[name]
        here, allowed = given.values[name], self.prior.ranges[name]
        return change(_draw_value(rng, log_density, here, allowed, start, 1.0))[0]

    def _draw_t(self, rng: np.random.Generator, given: Auxiliaries) -> Auxiliaries:
        """Draw t, on which the weight of opening a cluster depends."""
        opening = self._weigh_opening(given.values)
        others = self.counts.n_clusters - 1
        # All links are against clusters that are opened in proportion to t.
        log_joins = self._log_joins(given) + given.log_t

        def log_density(t: float) -> float:
            log_t = math.log(t)
            return _log_opened(opening, others, log_t) + self._log_links(log_joins - log_t)

        start, here = None, math.exp(given.log_t)
        if self.typical is not None:
            start = _compute_shape(opening) + self.typical.counts.n_clusters
        width = 4 / math.sqrt(_compute_shape(opening) + self.counts.n_clusters)
        t = _draw_value(rng, log_density, here, POSITIVE, start, width)
        return given._replace(log_t=math.log(t))

    def _draw_mu(
        self, rng: np.random.Generator, prior: FreeSizesPartition, size: int, given: Auxiliaries
    ) -> Auxiliaries:
        """Draw mu of a size, and t with it: those of y = t mu are free of each other."""
        values = given.values
        shape = prior.compute_shape(size, values)
        number = _count_clusters(self.counts, size)
        more = _compute_shape(self._weigh_opening(values)) - values["alpha"]
        log_y = given.log_t + values["log_mu"]
        here = math.exp(log_y[size - 1])
        if here < SMALLEST_Y:
            return given
        others = math.exp(given.log_t) * -math.expm1(values["log_mu"][size - 1])
        log_joins, direction = self._log_joins(given), self._compute_direction(size)

        def change(y: float) -> Auxiliaries:
            log_t = math.log(others + y)
            log_mu = log_y - log_t
            log_mu[size - 1] = math.log(y) - log_t
            log_tail = given.log_t + values["log_tail"] - log_t
            mu = {"log_mu": log_mu, "log_tail": log_tail}
            return given._replace(values=values | mu, log_t=log_t)

        def log_density(y: float) -> float:
            if y < SMALLEST_Y:
                return -math.inf
            own: float = (shape + number - 1) * math.log(y) - y + more * math.log(others + y)
            return own + self._log_links(log_joins + math.log(y / here) * direction)

        start = None if self.typical is None else shape + self.typical.count_clusters(size)
        width = 4 / math.sqrt(shape + number)
        return change(_draw_value(rng, log_density, here, POSITIVE, start, width))

    def _compute_direction(self, size: int) -> FloatArray:
        """Return how the log weight of joins, by the size they make, goes with that of a size."""
        direction = np.zeros(self._all_sizes.size + 2)
        if size == 1:
            direction[2:] = -1.0
        direction[size] += 1.0
        direction[size + 1] -= 1.0
        return direction[:-1]

    def _weigh_opening(self, values: Values) -> OpeningTerms:
        """Return what opening a cluster weighs, by the parameters of the prior."""
        return self.prior.weigh_opening(self.counts.n_records, values)

    def _log_expected_t(self, opening: OpeningTerms) -> float:
        """Log of about what t is expected to be; t need only go along with the parameters."""
        return (
            math.log(_compute_shape(opening) + self.counts.n_clusters) if opening.slope > 0 else 0.0
        )

    def _log_density(self, given: Auxiliaries, opening: OpeningTerms) -> float:
        """Log density of parameters and t, of the clusters without links, and of all links."""
        prior, counts, values = self.prior, self.counts, given.values
        outside = prior.log_g(1, counts.n_records, values)
        outside += _log_opened(opening, counts.n_clusters - 1, given.log_t)
        hyper = hyper_log_density(self._hypers, values)
        log_h = self._log_h(values)
        links = self._log_links(self._log_joins_of(log_h, _log_open(opening, given.log_t)))
        return hyper + outside + self._log_inside(log_h) + links

    def _log_inside(self, log_h: FloatArray) -> float:
        """Log weight of the sizes, as far as it depends on parameters: given mu, it does not."""
        if isinstance(self.prior, FreeSizesPartition):
            return 0.0
        one = log_h[0]
        return float(one + self.counts.counts @ (log_h[self.counts.sizes - 1] - one))


def _draw_value(
    rng: np.random.Generator,
    log_density: Callable[[float], float],
    here: float,
    allowed: Range,
    start: float | None,
    width: float,
) -> float:
    """Reflect a parameter, if it is known where its mode is about, else slice sample it."""
    if start is None:
        return slice_sample(rng, log_density, here, allowed, width)
    return reflect(rng, log_density, here, allowed, start)


def _exponentiate(log_joins: FloatArray) -> FloatArray:
    """Exponentiate weights of joins, in range; no size is made by 0 or 1."""
    joins = np.minimum(log_joins, LARGEST_LOG_JOIN)
    joins[:2] = 0.0
    joins[2] = min(joins[2], LARGEST_LOG_PRIOR)
    result: FloatArray = np.exp(joins, out=joins)
    return result


def _log_steps(log_h: FloatArray) -> FloatArray:
    """Return h of sizes 2, 3, ... less that of one less; sizes may end."""
    with np.errstate(invalid="ignore"):
        steps: FloatArray = log_h[1:] - log_h[:-1]
    return steps


def _count_clusters(counts: SizeCounts, size: int) -> int:
    """Return how many clusters there are of a size."""
    return int(counts.counts[counts.sizes == size].sum())


def _compute_shape(opening: OpeningTerms) -> float:
    """Return what K is added to in the shape of t."""
    return opening.intercept / opening.slope if opening.slope > 0 else 0.0


def _log_open(opening: OpeningTerms, log_t: float) -> float:
    """Log weight of opening a cluster, given t."""
    if opening.slope > 0:
        return opening.log_scale + math.log(opening.slope) + log_t
    return opening.log_scale + math.log(opening.intercept)


def _log_opened(opening: OpeningTerms, others: int, log_t: float) -> float:
    """Log of what all clusters but one are opened by, and of the density of t.

    That is t^(K + c - 1) e^-t / Gamma(1 + c) for c = intercept / slope, which may be large.
    """
    opened = others * _log_open(opening, log_t)
    if not opening.slope > 0:
        return opened
    c = _compute_shape(opening)
    more = log_t - math.log(c)
    log_gamma = math.lgamma(1 + c) - c * math.log(c) + c
    if c > 1e3:
        log_gamma = 0.5 * math.log(2 * math.pi * c) + 1 / (12 * c)
    if c < 1:
        return opened + c * more - (math.exp(log_t) - c) - log_gamma
    return opened + c * (more - math.expm1(more)) - log_gamma

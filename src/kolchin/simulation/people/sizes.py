"""How many records each person has, for millions of records."""

import numpy as np

from kolchin.errors import ModelError
from kolchin.parameters import Beta, Gamma
from kolchin.partitions import cluster_sizes
from kolchin.priors import ESCNB, KolchinPartition
from kolchin.priors.base import SizeCounts
from kolchin.simulation.categorical import PartitionPrior
from kolchin.simulation.people.coded import Floats, Ints

USUAL_PRIOR = ESCNB(r=1.0, p=1 / 3)
"""Sizes are geometric: two thirds of persons have one record, the mean is 1.5."""

TRIES = 200


def draw_sizes(
    rng: np.random.Generator, n_records: int, prior: PartitionPrior | None = None
) -> Ints:
    """Draw the number of records of each person, in random order, exactly by the prior."""
    if not isinstance(n_records, int | np.integer) or n_records < 1:
        raise ModelError(
            f"The 'n' parameter must be a whole number, 1 or more. Got {n_records!r} instead."
        )
    prior = USUAL_PRIOR if prior is None else prior
    if isinstance(prior, KolchinPartition) and _can_be_tried(prior, n_records):
        sizes = _draw_by_trying(rng, n_records, prior)
        if sizes is not None:
            return sizes
    return rng.permutation(cluster_sizes(prior.draw(n_records, seed=rng)))


def _can_be_tried(prior: KolchinPartition, n_records: int) -> bool:
    """Tell whether sizes can be tried: kappa is fixed, and mu has a form."""
    hypers = prior.count.list_parameters(n_records).values()
    is_free = "alpha" in prior.sizes.ranges
    return not is_free and not any(isinstance(hyper, Gamma | Beta) for hyper in hypers)


def _draw_by_trying(
    rng: np.random.Generator, n_records: int, prior: KolchinPartition
) -> Ints | None:
    """Draw parameters and sizes until some sizes add up to N, and keep them by kappa of K.

    K sizes that add up to N come up with probability mu_1 ... mu_K, and stay with kappa_K: that
    is the prior given N, and takes a few passes where the prior's own draw is worse than linear.
    Nothing comes back after too many tries, as when kappa asks for sizes that mu hardly has.
    """
    lone = SizeCounts.of(np.array([0, n_records]))
    for _ in range(TRIES):
        log_kappa, log_mu = prior.log_distributions(n_records, prior.start(rng, lone))
        sizes = _draw_until(rng, n_records, np.cumsum(np.exp(log_mu)))
        if sizes is None:
            continue
        if np.log(rng.random()) <= log_kappa[sizes.size - 1] - log_kappa.max():
            return sizes
    return None


def _draw_until(rng: np.random.Generator, n_records: int, cumulative: Floats) -> Ints | None:
    """Draw sizes until they reach N, and return them if they do so exactly."""
    sizes = 1 + np.searchsorted(cumulative, rng.random(n_records), side="right")
    ends = np.cumsum(sizes)
    last = int(np.searchsorted(ends, n_records))
    return sizes[: last + 1] if ends[last] == n_records else None

"""How many records each person has."""

import numpy as np

from kolchin.errors import ModelError
from kolchin.partitions import cluster_sizes
from kolchin.simulation.categorical import PartitionPrior
from kolchin.simulation.people.coded import Ints

SINGLETONS = 2 / 3


def draw_sizes(rng: np.random.Generator, n_records: int, prior: PartitionPrior | None) -> Ints:
    """Draw the number of records of each person, in random order.

    Without a prior, sizes are geometric with two thirds of ones, given that some of them add up
    to the number of records: `ESCNB(r=1, p=1/3)`, drawn directly by trying until they do.
    """
    if not isinstance(n_records, int | np.integer) or n_records < 1:
        raise ModelError(
            f"The 'n' parameter must be a whole number, 1 or more. Got {n_records!r} instead."
        )
    if prior is not None:
        return rng.permutation(cluster_sizes(prior.draw(n_records, seed=rng)))
    while True:
        sizes = rng.geometric(SINGLETONS, n_records)
        ends = np.cumsum(sizes)
        last = int(np.searchsorted(ends, n_records))
        if ends[last] == n_records:
            return sizes[: last + 1]

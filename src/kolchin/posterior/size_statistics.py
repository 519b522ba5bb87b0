"""What a draw's cluster sizes look like."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kolchin.posterior.draws import Posterior
    from kolchin.posterior.episodes import ClusterEpisodes

NAMES = ("n_clusters", "singletons", "largest", "mean_size", "q90_size")


def compute_size_statistics(posterior: "Posterior") -> dict[str, NDArray[np.float64]]:
    """Return number of clusters, singletons, largest, mean and 90th percentile of sizes."""
    tables = [count_sizes_by_draw(chain, posterior.n_records) for chain in posterior.chains]
    rows = [summarise_sizes(sizes, counts) for sizes, counts in tables]
    return {name: np.array([row[k] for row in rows]) for k, name in enumerate(NAMES)}


def count_sizes_by_draw(
    chain: "ClusterEpisodes", n_records: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sizes that occur, 1 first, and how many clusters have them, (draw, size)."""
    sizes, which = np.unique(chain.sizes, return_inverse=True)
    shape = (chain.n_draws + 1, sizes.size)
    begun, ended = (
        np.bincount(when.astype(np.int64) * sizes.size + which, minlength=shape[0] * shape[1])
        for when in (chain.born, chain.died)
    )
    counts = np.cumsum((begun - ended).reshape(shape), axis=0)[:-1]
    singletons = n_records - counts @ sizes
    return np.append(1, sizes), np.column_stack((singletons, counts))


def summarise_sizes(
    sizes: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], ...]:
    """Return what ``NAMES`` lists of histograms, (draw, size), with sizes in ascending order."""
    n_clusters = counts.sum(axis=1)
    largest = sizes[np.where(counts > 0, np.arange(sizes.size), 0).max(axis=1)]
    # The percentile interpolates between the two order statistics next to 0.9 (K - 1).
    rank = 0.9 * (n_clusters - 1)
    below = rank.astype(np.int64)
    reached = np.cumsum(counts, axis=1)
    above = np.minimum(below + 1, n_clusters - 1)
    low, high = (sizes[np.argmax(reached > place[:, None], axis=1)] for place in (below, above))
    q90 = low + (rank - below) * (high - low)
    columns = n_clusters, counts[:, 0], largest, (counts @ sizes) / n_clusters, q90
    return tuple(np.asarray(column, dtype=np.float64) for column in columns)

"""What a draw's cluster sizes look like."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kolchin.posterior.draws import Posterior

NAMES = ("n_clusters", "singletons", "largest", "mean_size", "q90_size")


def size_statistics(posterior: "Posterior") -> dict[str, NDArray[np.float64]]:
    """Return number of clusters, singletons, largest, mean and 90th percentile of sizes."""
    shape = (posterior.n_chains, posterior.n_draws)
    table = np.array(
        [
            _of_histogram(histogram(chain.at(t)[1], posterior.n_records))
            for chain in posterior.chains
            for t in range(posterior.n_draws)
        ],
        dtype=np.float64,
    ).reshape(*shape, len(NAMES))
    return {name: np.ascontiguousarray(table[..., k]) for k, name in enumerate(NAMES)}


def histogram(sizes: NDArray[np.int32], n_records: int) -> NDArray[np.int64]:
    """Count the clusters of each size, singletons included."""
    counts = np.bincount(sizes, minlength=2)
    counts[1] = n_records - int(sizes.sum(dtype=np.int64))
    return counts


def _of_histogram(counts: NDArray[np.int64]) -> tuple[float, ...]:
    n_clusters = int(counts.sum())
    n_records = int(np.arange(counts.size) @ counts)
    largest = int(np.flatnonzero(counts)[-1])
    # The percentile interpolates between the two order statistics next to 0.9 (K - 1).
    rank = 0.9 * (n_clusters - 1)
    below = int(rank)
    reached = np.cumsum(counts)
    low, high = np.searchsorted(reached, [below, min(below + 1, n_clusters - 1)], side="right")
    q90 = low + (rank - below) * (high - low)
    return n_clusters, int(counts[1]), largest, n_records / n_clusters, q90

"""What the prior says: the weight of clusters by their sizes, and of one cluster more."""

import numpy as np

from kolchin.kernels.arrays import Floats, Partition, Sides, Weights
from kolchin.kernels.compiling import hot, lean


@lean
def log_open_weight(weights: Weights, n_others: int) -> float:
    """Log weight of opening a cluster when ``n_others`` exist."""
    if weights.log_open.size > 0:
        # With all records alone there is nothing to split: any value will do.
        return weights.log_open[min(n_others, weights.log_open.size - 1)]
    opening = weights.opening
    weight = opening.slope * n_others + opening.intercept
    if opening.alpha > 0.0:
        weight /= opening.alpha + n_others
    return opening.log_scale + np.log(weight)


@hot
def compute_size_factor(weights: Weights, partition: Partition, one: int, other: int) -> float:
    """Dirichlet factor of two clusters of given sizes (0: none) beside all those counted."""
    if weights.shape.size == 0:
        return 1.0
    factor = weights.shape[one] + partition.size_counts[one]
    if other > 0:
        factor *= weights.shape[other] + partition.size_counts[other] + (1 if one == other else 0)
    return factor


@lean
def weigh_pairs(weights: Weights, partition: Partition, pair_weight: Floats) -> None:
    """Weigh two records apart and joined (columns), if they are apart or joined now (rows)."""
    for now in range(2):
        opened = log_open_weight(weights, partition.n_clusters[0] - 1 + now)
        pair_weight[now, 0] = np.exp(opened)
        pair_weight[now, 1] = weights.size[2]
        if weights.shape.size > 0:
            alone = weights.shape[1] + partition.size_counts[1] - 2 * (1 - now)
            pair_weight[now, 0] *= alone * (alone + 1.0)
            pair_weight[now, 1] *= weights.shape[2] + partition.size_counts[2] - now


@lean
def count_sides(partition: Partition, side: Sides, n_members: int, sign: int) -> None:
    """Add the clusters of S to the counts (sign 1), or take them out (-1)."""
    on_j = 0
    for k in range(n_members):
        on_j += side[k]
    partition.size_counts[n_members - on_j] += sign
    partition.n_clusters[0] += sign
    if on_j > 0:
        partition.size_counts[on_j] += sign
        partition.n_clusters[0] += sign


@lean
def log_merge_weight(
    weights: Weights, partition: Partition, one: int, other: int, joins: bool
) -> float:
    """Log prior weight of one cluster over that of two; these are counted if they are to join."""
    n_clusters = partition.n_clusters[0] - 1 if joins else partition.n_clusters[0]
    log_weight = weights.log_size[one + other] - weights.log_size[one]
    if other > 1:
        log_weight += weights.log_size[1] - weights.log_size[other]
    log_weight -= log_open_weight(weights, n_clusters)
    if weights.shape.size > 0:
        count_two(partition, one, other, joins, -1)
        joined = compute_size_factor(weights, partition, one + other, 0)
        apart = compute_size_factor(weights, partition, one, other)
        count_two(partition, one, other, joins, 1)
        log_weight += np.log(joined / apart)
    return log_weight


@hot
def count_two(partition: Partition, one: int, other: int, apart: bool, sign: int) -> None:
    """Add two clusters to the counts of sizes (sign 1), or take them out (-1).

    They count as two if they are apart, else as one that has the records of both.
    """
    if apart:
        partition.size_counts[one] += sign
        partition.size_counts[other] += sign
    else:
        partition.size_counts[one + other] += sign

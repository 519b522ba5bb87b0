"""What the prior says: the weight of clusters by their sizes, and of one cluster more."""

import numpy as np

from kolchin.kernels.arrays import Floats, Int64s, Sides
from kolchin.kernels.compiling import hot, lean


@lean
def log_open_weight(opening: Floats, log_open: Floats, n_others: int) -> float:
    """Log weight of opening a cluster when ``n_others`` exist."""
    if log_open.size > 0:
        # With all records alone there is nothing to split: any value will do.
        return log_open[min(n_others, log_open.size - 1)]
    weight = opening[1] * n_others + opening[2]
    if opening[3] > 0.0:
        weight /= opening[3] + n_others
    return opening[0] + np.log(weight)


@lean
def free_factor(shape: Floats, size_counts: Int64s, one: int, other: int) -> float:
    """Dirichlet factor of two clusters of given sizes (0: none) beside all those counted."""
    if shape.size == 0:
        return 1.0
    factor = shape[one] + size_counts[one]
    if other > 0:
        factor *= shape[other] + size_counts[other] + (1 if one == other else 0)
    return factor


@lean
def weigh_pairs(
    size: Floats,
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    size_counts: Int64s,
    pair_weight: Floats,
) -> None:
    """Weigh two records apart and joined (columns), if they are apart or joined now (rows)."""
    for now in range(2):
        opened = log_open_weight(opening, log_open, size_counts[0] - 1 + now)
        pair_weight[now, 0] = np.exp(opened)
        pair_weight[now, 1] = size[2]
        if shape.size > 0:
            alone = shape[1] + size_counts[1] - 2 * (1 - now)
            pair_weight[now, 0] *= alone * (alone + 1.0)
            pair_weight[now, 1] *= shape[2] + size_counts[2] - now


@lean
def count_sides(size_counts: Int64s, side: Sides, n_members: int, sign: int) -> None:
    """Add the clusters of S to the counts, or take them out."""
    on_j = 0
    for k in range(n_members):
        on_j += side[k]
    size_counts[n_members - on_j] += sign
    size_counts[0] += sign
    if on_j > 0:
        size_counts[on_j] += sign
        size_counts[0] += sign


@lean
def log_merge_weight(
    log_size: Floats,
    opening: Floats,
    log_open: Floats,
    shape: Floats,
    size_counts: Int64s,
    one: int,
    other: int,
    joins: bool,
) -> float:
    """Log prior weight of one cluster over that of two; these are counted if they are to join."""
    n_clusters = size_counts[0] - 1 if joins else size_counts[0]
    log_weight = log_size[one + other] - log_size[one]
    if other > 1:
        log_weight += log_size[1] - log_size[other]
    log_weight -= log_open_weight(opening, log_open, n_clusters)
    if shape.size > 0:
        count_two(size_counts, one, other, joins, -1)
        joined = free_factor(shape, size_counts, one + other, 0)
        apart = free_factor(shape, size_counts, one, other)
        count_two(size_counts, one, other, joins, 1)
        log_weight += np.log(joined / apart)
    return log_weight


@hot
def count_two(size_counts: Int64s, one: int, other: int, apart: bool, sign: int) -> None:
    """Count two clusters, or no longer: as two or as one."""
    if apart:
        size_counts[one] += sign
        size_counts[other] += sign
    else:
        size_counts[one + other] += sign

"""How far the sets of each draw agree with known entities."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled
from kolchin.posterior.summary_kernels.sorted_sets import sort_run


@compiled
def score_sets(
    members: Any, sizes: Any, born: Any, died: Any, truth: Any, true_sizes: Any, n_draws: int
) -> Any:
    """Return what the sets of each draw change, (what, draw), where every record was alone.

    That is linked pairs, pairs of them with equal truth, clusters, clusters that are whole
    entities, and the sums over records of B-cubed precision and recall. Unknown truth is negative
    and does not count.
    """
    begun = np.zeros((6, n_draws + 1))
    values = np.empty(max(sizes.max(), 1) if sizes.size else 1, dtype=np.int64)
    changes = np.empty(6)
    position = 0
    for k in range(sizes.size):
        n_known = 0
        for n in members[position : position + sizes[k]]:
            if truth[n] >= 0:
                values[n_known] = truth[n]
                n_known += 1
        position += sizes[k]
        sort_run(values, 0, n_known)
        changes[:] = 0.0
        changes[0] = n_known * (n_known - 1) // 2
        first = 0
        while first < n_known:
            last = first
            while last < n_known and values[last] == values[first]:
                last += 1
            overlap, size = last - first, true_sizes[values[first]]
            share = overlap / n_known
            changes[1] += overlap * (overlap - 1) // 2
            changes[2] += share - overlap
            changes[3] += int(overlap == n_known and overlap == size) - (size == 1) * overlap
            changes[4] += overlap * share - overlap
            changes[5] += overlap * (overlap - 1) / size
            first = last
        for what in range(6):
            begun[what, born[k]] += changes[what]
            begun[what, died[k]] -= changes[what]
    for what in range(6):
        for t in range(n_draws):
            begun[what, t + 1] += begun[what, t]
    return begun[:, :n_draws].copy()

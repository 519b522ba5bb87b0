"""In how many draws each pair is together, and each cluster exactly as it is shown."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled
from kolchin.posterior.summary_kernels.sorted_sets import sort_run


@compiled
def enlarge(pairs: Any, times: Any, n_pairs: int, size: int) -> Any:
    """Copy the first entries to longer arrays."""
    more_pairs = np.empty((size, 2), dtype=np.int32)
    more_times = np.empty(size, dtype=np.int64)
    for k in range(n_pairs):
        more_pairs[k, 0] = pairs[k, 0]
        more_pairs[k, 1] = pairs[k, 1]
        more_times[k] = times[k]
    return more_pairs, more_times


@compiled
def count_pairs(members: Any, offsets: Any, counts: Any, sets: Any, starts: Any, least: int) -> Any:
    """Return all pairs a < b that share sets counted ``least`` times or more, and those counts."""
    n_records = starts.size - 1
    together = np.zeros(n_records, dtype=np.int64)
    touched = np.empty(n_records, dtype=np.int32)
    pairs = np.empty((1024, 2), dtype=np.int32)
    times = np.empty(1024, dtype=np.int64)
    n_pairs = 0
    for a in range(n_records):
        n_touched = 0
        for k in range(starts[a], starts[a + 1]):
            d = sets[k]
            # Members ascend, so those after a are met from the end.
            position = offsets[d + 1] - 1
            while members[position] > a:
                b = members[position]
                if together[b] == 0:
                    touched[n_touched] = b
                    n_touched += 1
                together[b] += counts[d]
                position -= 1
        kept = 0
        for k in range(n_touched):
            b = touched[k]
            if together[b] >= least:
                touched[kept] = b
                kept += 1
            else:
                together[b] = 0
        if n_pairs + kept > times.size:
            pairs, times = enlarge(pairs, times, n_pairs, 2 * (n_pairs + kept))
        sort_run(touched, 0, kept)
        for k in range(kept):
            b = touched[k]
            pairs[n_pairs, 0] = a
            pairs[n_pairs, 1] = b
            times[n_pairs] = together[b]
            together[b] = 0
            n_pairs += 1
    return pairs[:n_pairs], times[:n_pairs]


@compiled
def count_exact(members: Any, offsets: Any, counts: Any, labels: Any, sizes: Any) -> Any:
    """Count the draws of each cluster exactly as it is, and of each record with company."""
    cluster = np.zeros(sizes.size, dtype=np.int64)
    accompanied = np.zeros(labels.size, dtype=np.int64)
    for d in range(offsets.size - 1):
        label = labels[members[offsets[d]]]
        same = sizes[label] == offsets[d + 1] - offsets[d]
        for k in range(offsets[d], offsets[d + 1]):
            accompanied[members[k]] += counts[d]
            same = same and labels[members[k]] == label
        if same:
            cluster[label] += counts[d]
    return cluster, accompanied

"""Episodes: clusters with the draws from which and up to which they live."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled


@compiled
def join_episodes(
    order: Any, members: Any, offsets: Any, born: Any, died: Any, n_records: int
) -> Any:
    """Copy episodes in an order by birth; one that goes on with the last of its set extends it."""
    latest = np.full(n_records, -1, dtype=np.int64)
    out = np.empty(members.size, dtype=np.int32)
    starts = np.zeros(order.size + 1, dtype=np.int64)
    sizes, begins, ends = np.empty((3, order.size), dtype=np.int32)
    n_known = 0
    for d in order:
        records = members[offsets[d] : offsets[d + 1]]
        known = latest[records[0]]
        if known >= 0 and ends[known] == born[d]:
            last = out[starts[known] : starts[known + 1]]
            if last.size == records.size and np.all(last == records):
                ends[known] = died[d]
                continue
        latest[records[0]] = n_known
        starts[n_known + 1] = starts[n_known] + records.size
        for k in range(records.size):
            out[starts[n_known] + k] = records[k]
        sizes[n_known] = records.size
        begins[n_known] = born[d]
        ends[n_known] = died[d]
        n_known += 1
    whole = out[: starts[n_known]].copy()
    return whole, sizes[:n_known].copy(), begins[:n_known].copy(), ends[:n_known].copy()


@compiled
def read_labels(draw: int, members: Any, sizes: Any, born: Any, died: Any, n_records: int) -> Any:
    """Return the canonical labels of one draw of a chain of episodes."""
    first = np.arange(n_records)
    position = 0
    for k in range(sizes.size):
        if born[k] > draw:
            break
        if draw < died[k]:
            first[members[position : position + sizes[k]]] = members[position]
        position += sizes[k]
    labels = np.empty(n_records, dtype=np.int64)
    n_labels = 0
    for n in range(n_records):
        if first[n] == n:
            labels[n] = n_labels
            n_labels += 1
        else:
            labels[n] = labels[first[n]]
    return labels

"""What changes from one draw to the next, told from the rings of both."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled


@compiled
def renew_rings(before: Any, after: Any, born: Any, now: int) -> Any:
    """Turn rings into those of another draw; return what ended, its births, and sizes begun.

    ``following[n]`` is the record after n in its ring. The same records in another order are the
    same cluster. ``born`` holds a cluster's birth at its smallest record.
    """
    changed = np.flatnonzero(before != after)
    ring = np.full(before.size, -1, dtype=np.int32)
    done = np.zeros(before.size, dtype=np.bool_)
    members = np.empty(before.size, dtype=np.int32)
    sizes = np.empty(changed.size, dtype=np.int32)
    births = np.empty(changed.size, dtype=np.int32)
    n_members, n_ended = 0, 0
    for k in range(changed.size):
        start = changed[k]
        if ring[start] >= 0:
            continue
        size, smallest, n = 0, start, start
        while ring[n] != k:
            ring[n] = k
            members[n_members + size] = n
            smallest = min(smallest, n)
            size += 1
            n = before[n]
        n, left = after[start], size - 1
        while n != start and ring[n] == k:
            n = after[n]
            left -= 1
        if n == start and left == 0:
            done[members[n_members : n_members + size]] = True
        elif size > 1:
            sizes[n_ended] = size
            births[n_ended] = born[smallest]
            n_ended += 1
            n_members += size
    begun = np.empty(changed.size, dtype=np.int32)
    n_begun = 0
    for start in changed:
        size, smallest, n = 0, start, start
        while not done[n]:
            done[n] = True
            smallest = min(smallest, n)
            size += 1
            n = after[n]
        if size > 1:
            born[smallest] = now
            begun[n_begun] = size
            n_begun += 1
    for n in changed:
        before[n] = after[n]
    ended = members[:n_members].copy(), sizes[:n_ended].copy(), births[:n_ended].copy()
    return ended, begun[:n_begun].copy()


@compiled
def open_rings(following: Any, born: Any) -> Any:
    """List the records of rings of two or more, their sizes and births."""
    done = np.empty(following.size, dtype=np.bool_)
    for n in range(following.size):
        done[n] = following[n] == n
    members = np.empty(following.size - done.sum(), dtype=np.int32)
    sizes = np.empty(members.size // 2, dtype=np.int32)
    births = np.empty(members.size // 2, dtype=np.int32)
    n_members, n_rings = 0, 0
    for start in range(following.size):
        if done[start]:
            continue
        first, n = n_members, start
        while not done[n]:
            done[n] = True
            members[n_members] = n
            n_members += 1
            n = following[n]
        sizes[n_rings] = n_members - first
        births[n_rings] = born[start]
        n_rings += 1
    return members, sizes[:n_rings], births[:n_rings]


@compiled
def close_rings(members: Any, sizes: Any, births: Any, following: Any, born: Any) -> None:
    """Make rings of clusters, in their members' order."""
    position = 0
    for k in range(sizes.size):
        records = members[position : position + sizes[k]]
        position += sizes[k]
        for i in range(records.size):
            following[records[i - 1]] = records[i]
        born[records.min()] = births[k]

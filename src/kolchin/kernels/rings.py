"""A partition as rings: ``following[n]`` is the next record of the cluster of n."""

import numpy as np
from numpy.typing import NDArray

from kolchin.kernels.arrays import Int32s, Int64s, Sides
from kolchin.kernels.compiling import compiled, hot, lean
from kolchin.kernels.pairs import find_index, is_inside, record_at


@lean
def is_first(following: Int32s, record: int) -> bool:
    """Tell whether a record is the smallest of its ring."""
    n = following[record]
    while n > record:
        n = following[n]
    return n == record


@compiled
def make_rings(labels: Int64s) -> Int32s:
    """Turn canonical labels into rings in increasing order."""
    n_records = labels.size
    following = np.empty(n_records, dtype=np.int32)
    first = np.full(n_records, -1, dtype=np.int32)
    last = np.empty(n_records, dtype=np.int32)
    for n in range(n_records):
        c = labels[n]
        if first[c] < 0:
            first[c] = n
        else:
            following[last[c]] = n
        following[n] = first[c]
        last[c] = n
    return following


@compiled
def list_members(following: Int32s, within: Int64s) -> tuple[Int32s, Int32s, Int32s]:
    """List the records of clusters of two or more of a shard, cluster after cluster.

    Also returns the clusters' sizes, and the records of the shard whose clusters reach outside.
    """
    n_records = within[1] - within[0] + within[3] - within[2]
    seen = np.zeros(n_records, dtype=np.bool_)
    n_members = 0
    for place in range(n_records):
        n = record_at(within, place)
        n_members += following[n] != n
    members = np.empty(n_members, dtype=np.int32)
    sizes = np.empty(n_members // 2 + 1, dtype=np.int32)
    leaving = np.empty(n_members, dtype=np.int32)
    k, n_clusters, n_leaving = walk_rings(following, within, seen, members, sizes, leaving)
    return members[:k], sizes[:n_clusters], leaving[:n_leaving]


@compiled
def list_members_among(following: Int32s, records: Int32s) -> tuple[Int32s, Int32s]:
    """List the clusters that consist of some records (ascending), and their sizes."""
    members = np.empty(records.size, dtype=np.int32)
    sizes = np.empty(records.size, dtype=np.int32)
    k = 0
    n_clusters = 0
    for start in records:
        if is_first(following, start):
            first = k
            n = start
            while k == first or n != start:
                members[k] = n
                k += 1
                n = following[n]
            sizes[n_clusters] = k - first
            n_clusters += 1
    return members[:k], sizes[:n_clusters]


@lean
def walk_rings(
    following: Int32s,
    within: Int64s,
    seen: NDArray[np.bool_],
    members: Int32s,
    sizes: Int32s,
    leaving: Int32s,
) -> tuple[int, int, int]:
    """Write what ``list_members`` returns: how many members, clusters and leaving there are."""
    k, n_clusters, n_leaving = 0, 0, 0
    for place in range(seen.size):
        start = record_at(within, place)
        if seen[place] or following[start] == start:
            continue
        first = k
        n = np.int64(start)
        while is_inside(within, n) and not seen[find_index(within, n)]:
            members[k] = n
            k += 1
            seen[find_index(within, n)] = True
            n = np.int64(following[n])
        if n == start:
            sizes[n_clusters] = k - first
            n_clusters += 1
        else:
            for other in range(first, k):
                leaving[n_leaving] = members[other]
                n_leaving += 1
            k = first
    return k, n_clusters, n_leaving


@hot
def list_ring(following: Int32s, start: int, members: Int32s) -> int:
    """Write as many records of a ring as there is room for; return how many it has."""
    size = 0
    n = np.int64(start)
    while True:
        if size < members.size:
            members[size] = n
        size += 1
        n = np.int64(following[n])
        if n == start:
            return size


@lean
def is_cluster_inside(following: Int32s, within: Int64s, start: int) -> bool:
    """Tell whether all records of a cluster are in the shard."""
    n = following[start]
    while n != start:
        if not is_inside(within, n):
            return False
        n = following[n]
    return True


@lean
def write_rings(following: Int32s, members: Int32s, side: Sides, n_members: int) -> None:
    """Make the members of each side a ring."""
    for own in range(2):
        first = -1
        last = -1
        for k in range(n_members):
            if side[k] == own:
                if first < 0:
                    first = members[k]
                else:
                    following[last] = members[k]
                last = members[k]
        if first >= 0:
            following[last] = first


@compiled
def count_sizes(following: Int32s, size_counts: Int64s) -> int:
    """Count the clusters of each size; return how many there are in all."""
    n_clusters = 0
    size_counts[:] = 0
    known = np.zeros(following.size, dtype=np.bool_)
    for first in range(following.size):
        if known[first]:
            continue
        size = 0
        n = np.int64(first)
        while not known[n]:
            known[n] = True
            size += 1
            n = np.int64(following[n])
        size_counts[size] += 1
        n_clusters += 1
    return n_clusters


@compiled
def count_linked(following: Int32s, pairs: Int32s, counts: Int32s) -> None:
    """Add one to the count of every listed pair that is together now."""
    label = np.arange(following.size)
    for n in range(following.size):
        if following[n] != n and is_first(following, n):
            record = following[n]
            while record != n:
                label[record] = n
                record = following[record]
    for k in range(pairs.shape[0]):
        counts[k] += label[pairs[k, 0]] == label[pairs[k, 1]]

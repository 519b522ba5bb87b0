"""Compiled code of the posterior room: arrays in, arrays out, nothing else.

Sets of records are held one after another: set d is ``members[offsets[d]:offsets[d + 1]]``.
In the point estimate's search, ``slope[x] = f(x + 1) - f(x)`` for the loss's f (see
``posterior.point_estimate``), and the *cells* of a drawn cluster are its overlaps with the
clusters of the current partition: ``used[d]`` pairs (label, count) from ``offsets[d]`` on.
"""

from typing import Any

import numpy as np
from numba import njit

compiled = njit(cache=True, nogil=True)

IMPROVEMENT = 1e-9
"""A change of the total loss below this is rounding, not progress."""


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


@compiled
def sort_run(values: Any, first: int, last: int) -> None:
    """Put the values from one place to another in ascending order."""
    # Steps of a third each (Shell's sort): short runs are most, and NumPy's sort compiles slowly.
    gap = 1
    while 3 * gap + 1 < last - first:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(first + gap, last):
            n, place = values[k], k
            while place >= first + gap and values[place - gap] > n:
                values[place] = values[place - gap]
                place -= gap
            values[place] = n
        gap //= 3


@compiled
def sort_sets(members: Any, offsets: Any) -> None:
    """Put the members of each set in ascending order."""
    for d in range(offsets.size - 1):
        sort_run(members, offsets[d], offsets[d + 1])


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
def labels_at(draw: int, members: Any, sizes: Any, born: Any, died: Any, n_records: int) -> Any:
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


@compiled
def number_sets(
    members: Any,
    sizes: Any,
    times: Any,
    keys: Any,
    table: Any,
    hashes: Any,
    lengths: Any,
    counts: Any,
    n_known: int,
    ids: Any,
) -> int:
    """Give sets of records numbers by content and return how many are known now.

    Set k counts ``times[k]`` times. The hash of a set is the exclusive or of two random 64-bit
    keys of its members.
    """
    mask = np.uint64(table.size - 1)
    position = 0
    for k in range(sizes.size):
        low, high = np.uint64(0), np.uint64(0)
        for n in members[position : position + sizes[k]]:
            low ^= keys[n, 0]
            high ^= keys[n, 1]
        position += sizes[k]
        slot = np.int64(low & mask)
        while table[slot] >= 0:
            known = table[slot]
            if hashes[known, 0] == low and hashes[known, 1] == high:
                break
            slot = (slot + 1) & (table.size - 1)
        if table[slot] < 0:
            table[slot] = n_known
            hashes[n_known, 0] = low
            hashes[n_known, 1] = high
            lengths[n_known] = sizes[k]
            n_known += 1
        ids[k] = table[slot]
        counts[table[slot]] += times[k]
    return n_known


@compiled
def fill_table(table: Any, hashes: Any, n_known: int) -> None:
    """Enter known hashes into an empty table."""
    mask = np.uint64(table.size - 1)
    for known in range(n_known):
        slot = np.int64(hashes[known, 0] & mask)
        while table[slot] >= 0:
            slot = (slot + 1) & (table.size - 1)
        table[slot] = known


@compiled
def copy_sets(members: Any, sizes: Any, ids: Any, offsets: Any, n_known: int, out: Any) -> int:
    """Copy the members of sets not copied before; sets are numbered in order of appearance."""
    position = 0
    for k in range(sizes.size):
        if ids[k] == n_known:
            for i in range(sizes[k]):
                out[offsets[n_known] + i] = members[position + i]
            n_known += 1
        position += sizes[k]
    return n_known


@compiled
def transpose(members: Any, offsets: Any, n_columns: int) -> Any:
    """Turn sets of columns into, for each column, the ascending sets that hold it."""
    starts = np.zeros(n_columns + 1, dtype=np.int64)
    for n in members:
        starts[n + 1] += 1
    for n in range(n_columns):
        starts[n + 1] += starts[n]
    place = starts[:-1].copy()
    sets = np.empty(members.size, dtype=np.int32)
    for d in range(offsets.size - 1):
        for k in range(offsets[d], offsets[d + 1]):
            sets[place[members[k]]] = d
            place[members[k]] += 1
    return sets, starts


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
def exact_counts(members: Any, offsets: Any, counts: Any, labels: Any, sizes: Any) -> Any:
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


@compiled
def find_root(parent: Any, n: int) -> int:
    """Return the root of n's tree, halving the path to it."""
    while parent[n] != n:
        parent[n] = parent[parent[n]]
        n = parent[n]
    return n


@compiled
def number_roots(parent: Any) -> Any:
    """Turn a forest into canonical labels."""
    labels = np.empty(parent.size, dtype=np.int64)
    label_of = np.full(parent.size, -1, dtype=np.int64)
    n_labels = 0
    for n in range(parent.size):
        root = find_root(parent, n)
        if label_of[root] < 0:
            label_of[root] = n_labels
            n_labels += 1
        labels[n] = label_of[root]
    return labels


@compiled
def connected_sets(n_records: int, pairs: Any) -> Any:
    """Return canonical labels of the connected sets of a graph."""
    parent = np.arange(n_records)
    for k in range(pairs.shape[0]):
        a, b = find_root(parent, pairs[k, 0]), find_root(parent, pairs[k, 1])
        parent[max(a, b)] = min(a, b)
    return number_roots(parent)


@compiled
def join_sets(members: Any, sizes: Any, parent: Any) -> None:
    """Join the trees of the members of each set."""
    first = 0
    for size in sizes:
        for k in range(first + 1, first + size):
            a, b = find_root(parent, members[first]), find_root(parent, members[k])
            parent[max(a, b)] = min(a, b)
        first += size


@compiled
def join_partitions(one: Any, two: Any) -> Any:
    """Return the finest partition that is coarser than both."""
    parent = np.arange(one.size)
    for labels in (one, two):
        first = np.full(one.size, -1, dtype=np.int64)
        for n in range(one.size):
            if first[labels[n]] < 0:
                first[labels[n]] = n
            else:
                a, b = find_root(parent, first[labels[n]]), find_root(parent, n)
                parent[max(a, b)] = min(a, b)
    return number_roots(parent)


@compiled
def block_losses(
    labels: Any, blocks: Any, members: Any, offsets: Any, weights: Any, value: Any
) -> Any:
    """Return the loss of each block of clusters: sum f(|C|) - 2 sum over d of w_d f(|C and d|)."""
    losses = np.zeros(labels.size, dtype=np.float64)
    size = np.zeros(labels.size, dtype=np.int64)
    for n in range(labels.size):
        size[labels[n]] += 1
    for n in range(labels.size):
        losses[blocks[n]] += value[size[labels[n]]]
        size[labels[n]] = 0
    for d in range(offsets.size - 1):
        for n in members[offsets[d] : offsets[d + 1]]:
            size[labels[n]] += 1
        for n in members[offsets[d] : offsets[d + 1]]:
            losses[blocks[n]] -= 2 * weights[d] * value[size[labels[n]]]
            size[labels[n]] = 0
    return losses


@compiled
def set_losses(
    wanted: Any, members: Any, offsets: Any, sets: Any, starts: Any, weights: Any, value: Any
) -> Any:
    """Return the loss of each wanted drawn cluster as a cluster of the estimate; others get 0."""
    losses = np.zeros(offsets.size - 1, dtype=np.float64)
    overlap = np.zeros(offsets.size - 1, dtype=np.int64)
    for d in range(offsets.size - 1):
        if not wanted[d]:
            continue
        losses[d] = value[offsets[d + 1] - offsets[d]]
        for n in members[offsets[d] : offsets[d + 1]]:
            for k in range(starts[n], starts[n + 1]):
                overlap[sets[k]] += 1
        for n in members[offsets[d] : offsets[d + 1]]:
            for k in range(starts[n], starts[n + 1]):
                losses[d] -= 2 * weights[sets[k]] * value[overlap[sets[k]]]
                overlap[sets[k]] = 0
    return losses


@compiled
def choose_blocks(one: Any, two: Any, blocks: Any, losses: Any, other_losses: Any) -> Any:
    """Take each block's clusters from the partition whose loss is lower there."""
    n_records = one.size
    label_of = np.full(2 * n_records, -1, dtype=np.int64)
    labels = np.empty(n_records, dtype=np.int64)
    n_labels = 0
    for n in range(n_records):
        better = other_losses[blocks[n]] < losses[blocks[n]] - IMPROVEMENT
        label = n_records + two[n] if better else one[n]
        if label_of[label] < 0:
            label_of[label] = n_labels
            n_labels += 1
        labels[n] = label_of[label]
    return labels


@compiled
def tabulate_cells(members: Any, offsets: Any, labels: Any) -> Any:
    """Return each drawn cluster's overlaps with the clusters of a partition."""
    cells = np.empty((members.size, 2), dtype=np.int32)
    used = np.zeros(offsets.size - 1, dtype=np.int32)
    where = np.full(labels.size, -1, dtype=np.int64)
    for d in range(offsets.size - 1):
        for n in members[offsets[d] : offsets[d + 1]]:
            label = labels[n]
            if where[label] < 0:
                where[label] = offsets[d] + used[d]
                cells[where[label], 0] = label
                cells[where[label], 1] = 0
                used[d] += 1
            cells[where[label], 1] += 1
        for k in range(offsets[d], offsets[d] + used[d]):
            where[cells[k, 0]] = -1
    return cells, used


@compiled
def shift_record(
    n: int, old: int, new: int, sets: Any, starts: Any, offsets: Any, cells: Any, used: Any
) -> None:
    """Update the cells when record n goes from one cluster to another."""
    for k in range(starts[n], starts[n + 1]):
        d = sets[k]
        end = offsets[d] + used[d]
        source, target = -1, -1
        for c in range(offsets[d], end):
            if cells[c, 0] == old:
                source = c
            elif cells[c, 0] == new:
                target = c
        cells[source, 1] -= 1
        if target >= 0:
            cells[target, 1] += 1
            if cells[source, 1] == 0:
                cells[source] = cells[end - 1]
                used[d] -= 1
        else:
            if cells[source, 1] > 0:
                source = end
                used[d] += 1
            cells[source, 0] = new
            cells[source, 1] = 1


@compiled
def weigh_moves(
    n: int,
    here: int,
    sets: Any,
    starts: Any,
    offsets: Any,
    weights: Any,
    slope: Any,
    cells: Any,
    used: Any,
    gain: Any,
    touched: Any,
) -> Any:
    """Add up what a record loses with its cluster and gains with each other one that it knows."""
    lost, n_touched = 0.0, 0
    for k in range(starts[n], starts[n + 1]):
        d = sets[k]
        twice = 2 * weights[d]
        for c in range(offsets[d], offsets[d] + used[d]):
            label, count = cells[c, 0], cells[c, 1]
            if label == here:
                lost += twice * slope[count - 1]
            else:
                if gain[label] == 0:
                    touched[n_touched] = label
                    n_touched += 1
                gain[label] += twice * slope[count]
    return lost, n_touched


@compiled
def move_records(
    labels: Any,
    sizes: Any,
    sets: Any,
    starts: Any,
    offsets: Any,
    weights: Any,
    slope: Any,
    cells: Any,
    used: Any,
) -> int:
    """Move each record once to the cluster, old or new, that lowers the loss most; count moves."""
    gain = np.zeros(labels.size, dtype=np.float64)
    touched = np.empty(labels.size, dtype=np.int64)
    free, n_moves = 0, 0
    for n in range(labels.size):
        here = labels[n]
        lost, n_touched = weigh_moves(
            n, here, sets, starts, offsets, weights, slope, cells, used, gain, touched
        )
        leave = lost - slope[sizes[here] - 1]
        best, best_change = -1, leave
        for label in touched[:n_touched]:
            change = leave + slope[sizes[label]] - gain[label]
            gain[label] = 0
            if change < best_change - IMPROVEMENT:
                best, best_change = label, change
        if best_change >= -IMPROVEMENT:
            continue
        if best < 0:
            while sizes[free] > 0:
                free = (free + 1) % labels.size
            best = free
        shift_record(n, here, best, sets, starts, offsets, cells, used)
        labels[n] = best
        sizes[here] -= 1
        sizes[best] += 1
        n_moves += 1
    return n_moves


@compiled
def weigh_merges(
    records: Any,
    here: int,
    sets: Any,
    starts: Any,
    offsets: Any,
    weights: Any,
    value: Any,
    cells: Any,
    used: Any,
    seen: Any,
    gain: Any,
    touched: Any,
) -> int:
    """Add up what a cluster gains by a merge with each other one that its records know."""
    n_touched = 0
    for n in records:
        for d in sets[starts[n] : starts[n + 1]]:
            if seen[d] == here:
                continue
            seen[d] = here
            inside = 0
            for c in range(offsets[d], offsets[d] + used[d]):
                if cells[c, 0] == here:
                    inside = cells[c, 1]
            for c in range(offsets[d], offsets[d] + used[d]):
                label, count = cells[c, 0], cells[c, 1]
                if label != here:
                    if gain[label] == 0:
                        touched[n_touched] = label
                        n_touched += 1
                    overlap = value[inside + count] - value[inside] - value[count]
                    gain[label] += 2 * weights[d] * overlap
    return n_touched


@compiled
def merge_clusters(
    labels: Any,
    sizes: Any,
    sets: Any,
    starts: Any,
    offsets: Any,
    weights: Any,
    value: Any,
    cells: Any,
    used: Any,
) -> int:
    """Merge each cluster once with the one that lowers the loss most; count merges."""
    by_label = np.argsort(labels, kind="mergesort")
    ends = np.cumsum(sizes)
    seen = np.full(used.size, -1, dtype=np.int64)
    grown = np.zeros(labels.size, dtype=np.bool_)
    gain = np.zeros(labels.size, dtype=np.float64)
    touched = np.empty(labels.size, dtype=np.int64)
    n_merges = 0
    for here in range(labels.size):
        records = by_label[ends[here - 1] if here else 0 : ends[here]]
        # The list of a cluster that has grown lacks its new records; it waits for the next call.
        if records.size == 0 or grown[here]:
            continue
        n_touched = weigh_merges(
            records, here, sets, starts, offsets, weights, value, cells, used, seen, gain, touched
        )
        best, best_change = -1, 0.0
        for label in touched[:n_touched]:
            change = value[sizes[here] + sizes[label]] - value[sizes[here]] - value[sizes[label]]
            change -= gain[label]
            gain[label] = 0
            if change < best_change - IMPROVEMENT:
                best, best_change = label, change
        if best >= 0:
            for n in records:
                shift_record(n, here, best, sets, starts, offsets, cells, used)
                labels[n] = best
            sizes[best] += sizes[here]
            sizes[here] = 0
            grown[best] = True
            n_merges += 1
    return n_merges

"""Records move and clusters merge as long as the expected loss falls.

``slope[x] = f(x + 1) - f(x)`` for the loss's f (see ``posterior.point_estimate``).
"""

from typing import Any, NamedTuple

import numpy as np

from kolchin.kernels.compiling import compiled, lean
from kolchin.posterior.summary_kernels.losses import IMPROVEMENT


class DrawnSets(NamedTuple):
    """Which drawn clusters hold each record: record n those from ``starts[n]`` on, by weight."""

    sets: Any
    starts: Any
    weights: Any


class Overlaps(NamedTuple):
    """The cells of each drawn cluster: its overlaps with the clusters of the current partition.

    Drawn cluster d has ``used[d]`` pairs (label, count) from ``offsets[d]`` on.
    """

    offsets: Any
    cells: Any
    used: Any


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


@lean
def shift_record(n: int, old: int, new: int, drawn: DrawnSets, overlaps: Overlaps) -> None:
    """Update the cells when record n goes from one cluster to another."""
    cells = overlaps.cells
    for k in range(drawn.starts[n], drawn.starts[n + 1]):
        d = drawn.sets[k]
        end = overlaps.offsets[d] + overlaps.used[d]
        source, target = -1, -1
        for c in range(overlaps.offsets[d], end):
            if cells[c, 0] == old:
                source = c
            elif cells[c, 0] == new:
                target = c
        cells[source, 1] -= 1
        if target >= 0:
            cells[target, 1] += 1
            if cells[source, 1] == 0:
                cells[source, 0] = cells[end - 1, 0]
                cells[source, 1] = cells[end - 1, 1]
                overlaps.used[d] -= 1
        else:
            if cells[source, 1] > 0:
                source = end
                overlaps.used[d] += 1
            cells[source, 0] = new
            cells[source, 1] = 1


@lean
def weigh_moves(
    n: int, here: int, drawn: DrawnSets, overlaps: Overlaps, slope: Any, gain: Any, touched: Any
) -> Any:
    """Add up what a record loses with its cluster and gains with each other one that it knows."""
    lost, n_touched = 0.0, 0
    for k in range(drawn.starts[n], drawn.starts[n + 1]):
        d = drawn.sets[k]
        twice = 2 * drawn.weights[d]
        for c in range(overlaps.offsets[d], overlaps.offsets[d] + overlaps.used[d]):
            label, count = overlaps.cells[c, 0], overlaps.cells[c, 1]
            if label == here:
                lost += twice * slope[count - 1]
            else:
                if gain[label] == 0:
                    touched[n_touched] = label
                    n_touched += 1
                gain[label] += twice * slope[count]
    return lost, n_touched


@compiled
def move_records(labels: Any, sizes: Any, drawn: DrawnSets, overlaps: Overlaps, slope: Any) -> int:
    """Move each record once to the cluster, old or new, that lowers the loss most; count moves."""
    gain = np.zeros(labels.size, dtype=np.float64)
    touched = np.empty(labels.size, dtype=np.int64)
    free, n_moves = 0, 0
    for n in range(labels.size):
        here = labels[n]
        lost, n_touched = weigh_moves(n, here, drawn, overlaps, slope, gain, touched)
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
        shift_record(n, here, best, drawn, overlaps)
        labels[n] = best
        sizes[here] -= 1
        sizes[best] += 1
        n_moves += 1
    return n_moves


@lean
def weigh_merges(
    records: Any,
    here: int,
    drawn: DrawnSets,
    overlaps: Overlaps,
    value: Any,
    seen: Any,
    gain: Any,
    touched: Any,
) -> int:
    """Add up what a cluster gains by a merge with each other one that its records know."""
    n_touched = 0
    for i in range(records.size):
        n = records[i]
        for k in range(drawn.starts[n], drawn.starts[n + 1]):
            d = drawn.sets[k]
            if seen[d] == here:
                continue
            seen[d] = here
            inside = 0
            first, end = overlaps.offsets[d], overlaps.offsets[d] + overlaps.used[d]
            for c in range(first, end):
                if overlaps.cells[c, 0] == here:
                    inside = overlaps.cells[c, 1]
            for c in range(first, end):
                label, count = overlaps.cells[c, 0], overlaps.cells[c, 1]
                if label != here:
                    if gain[label] == 0:
                        touched[n_touched] = label
                        n_touched += 1
                    overlap = value[inside + count] - value[inside] - value[count]
                    gain[label] += 2 * drawn.weights[d] * overlap
    return n_touched


@compiled
def merge_clusters(
    labels: Any, sizes: Any, drawn: DrawnSets, overlaps: Overlaps, value: Any
) -> int:
    """Merge each cluster once with the one that lowers the loss most; count merges."""
    by_label = np.argsort(labels, kind="mergesort")
    ends = np.cumsum(sizes)
    seen = np.full(overlaps.used.size, -1, dtype=np.int64)
    grown = np.zeros(labels.size, dtype=np.bool_)
    gain = np.zeros(labels.size, dtype=np.float64)
    touched = np.empty(labels.size, dtype=np.int64)
    n_merges = 0
    for here in range(labels.size):
        records = by_label[ends[here - 1] if here else 0 : ends[here]]
        # The list of a cluster that has grown lacks its new records; it waits for the next call.
        if records.size == 0 or grown[here]:
            continue
        n_touched = weigh_merges(records, here, drawn, overlaps, value, seen, gain, touched)
        best, best_change = -1, 0.0
        for label in touched[:n_touched]:
            change = value[sizes[here] + sizes[label]] - value[sizes[here]] - value[sizes[label]]
            change -= gain[label]
            gain[label] = 0
            if change < best_change - IMPROVEMENT:
                best, best_change = label, change
        if best >= 0:
            for n in records:
                shift_record(n, here, best, drawn, overlaps)
                labels[n] = best
            sizes[best] += sizes[here]
            sizes[here] = 0
            grown[best] = True
            n_merges += 1
    return n_merges

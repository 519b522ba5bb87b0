"""The expected loss of a partition, block by block (see ``posterior.point_estimate``)."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled

IMPROVEMENT = 1e-9
"""A change of the total loss below this is rounding, not progress."""


@compiled
def sum_block_losses(
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
def sum_set_losses(
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

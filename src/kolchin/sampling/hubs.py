"""Delta and the loose links drawn together, so that neither holds the other back.

Given the partition, delta is known far better than it is a posteriori: links with a difference
say how large delta is, and delta says how many such links there are. Drawn in turn, both creep.

Here half of the records, at random, are hubs. A hub that is linked to one other record alone
points at it; a hub that is alone points at a random neighbour, from a fixed distribution w. Given
where hubs point, each leaf (no hub) is alone or linked to one of the hubs that point at it, with
odds o(delta) / w, independently of all others once the number of clusters is decoupled by
t ~ Gamma(K + a) (model section 5). So their links are summed out, delta is drawn from

    p(delta) P(all other clusters | delta) prod over leaves of (1 + sum over hubs of o(delta) / w),

and then the links. Every step is a draw from an exact conditional of an extended posterior.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.parameters import FloatArray, IntArray

UNDECIDED = 7.0
"""Pairs with larger log odds, for or against a link, are not pointed at: they gain little."""


class Neighbours(NamedTuple):
    """For each record, others that it may point at, and a running sum of their weights."""

    starts: IntArray
    neighbours: NDArray[np.int32]
    cumulative: FloatArray


class Target(NamedTuple):
    """Hubs that point at leaves, those of a leaf side by side, and the log weight of a link."""

    log_link: FloatArray
    hubs: NDArray[np.int32]
    starts: IntArray
    points_at: NDArray[np.int32]


def neighbours_of(n_records: int, pairs: NDArray[np.int32], log_odds: FloatArray) -> Neighbours:
    """Freeze where records may point: at their candidates, in proportion to the odds."""
    kept = np.abs(log_odds) < UNDECIDED
    odds = np.exp(log_odds[kept])
    first, second = pairs[kept, 0], pairs[kept, 1]
    record = np.concatenate([first, second])
    order = np.argsort(record, kind="stable")
    other = np.concatenate([second, first])[order]
    weight = np.concatenate([odds, odds])[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(record, minlength=n_records))])
    return Neighbours(starts, other.astype(np.int32), kernels.running_sums(starts, weight))

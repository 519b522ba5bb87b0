"""Delta and loose links at once: links are summed over, whatever they are, while delta is drawn.

Given the links, delta is known far better than it is a posteriori, so that in turns both creep.
Here every record picks another one; of two that are linked, one picks the other. Given what was
picked, a link counts 1 / (how often the two pick each other) times its weight, and all of them are
free. What is picked has at most one circle a component, which loses a step; what was linked by it
stays. What is left are trees, on which the sum over all links, each record in at most one, is a
product over records from leaf to root (a matching polynomial). So delta is drawn with all links
summed over, and then the links, given delta. What was picked tells little of how many links there
were, if most of it is not linked.

Larger clusters take part: one record of each may be taken out, and the others are a unit that one
record may join. The prior's weights are those of shards (model section 5), given t.
"""

from typing import Any

import numpy as np

from kolchin import kernels
from kolchin.model import Model
from kolchin.parameters import FloatArray
from kolchin.sampling.picks import Picks
from kolchin.sampling.weights import can_be_sharded

APART = np.array([0.6, 0.97])
"""How often a record is taken out of clusters whose records are all alike, and of others."""

LARGEST_LOG_GAIN = 380.0
"""Where all fields together can say more, weights of links could leave the range of doubles."""


def can_be_forested(model: Model) -> bool:
    """Tell whether delta and links can be drawn at once: clusters independent, weights in range."""
    gains = model.likelihood.largest_gain
    in_range = float(np.log1p(gains).sum()) < LARGEST_LOG_GAIN
    return model.compared is None and in_range and can_be_sharded(model)


class Grown:
    """A forest, and the sum over all of its links."""

    def __init__(self, forest: kernels.Forest) -> None:
        self.forest = forest
        self._evidence, self._weight, self._free = np.empty((3, forest.unit.size))

    def see(self, delta: FloatArray) -> None:
        """Weigh links by what the fields say, given delta."""
        forest = self.forest
        what = forest.parent, forest.shared, forest.seen, forest.chance
        kernels.weigh_links(delta, *what, self._evidence)

    def log_sum(self, joins: FloatArray) -> float:
        """Return the log of the sum over all links, by the prior's weights of joins."""
        forest = self.forest
        what = forest.parent, forest.size, self._evidence
        return float(kernels.sum_forest(*what, joins, self._weight, self._free))

    def link(self, rng: np.random.Generator, following: Any) -> None:
        """Draw the links in proportion to their weights, as they were last summed."""
        what = self.forest.unit, self.forest.parent, self._weight, self._free
        kernels.link_forest(rng, *what, following)


def grown(
    rng: np.random.Generator,
    picks: Picks,
    data: kernels.Data,
    following: Any,
    apart: FloatArray = APART,
) -> Grown:
    """Draw a graph and grow a forest in it; the records of its links are taken apart."""
    unit, taken, former = kernels.take_apart(rng, following, data.codes, apart)
    lists: tuple[Any, ...] = picks
    picked = kernels.pick_units(rng, *lists, following, data.source, unit, taken, former)  # type: ignore[call-arg]
    *what, rate, stayed = kernels.grow_forest(
        rng, *picked, taken, former, following, data.codes, data.gain, apart
    )
    return Grown(kernels.Forest._make((*what, rate * stayed)))

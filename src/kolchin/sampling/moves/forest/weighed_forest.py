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

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.model import Model
from kolchin.parameters import FloatArray
from kolchin.sampling.weights import can_be_sharded

REMOVAL = kernels.Removal(alike=0.6, unlike=0.97)
"""How often a record is taken out of clusters whose records are all alike, and of others."""

LARGEST_LOG_GAIN = 380.0
"""Where all fields together can say more, weights of links could leave the range of doubles."""


def can_be_forested(model: Model) -> bool:
    """Tell whether delta and links can be drawn at once: clusters independent, weights in range."""
    log_gain = model.likelihood.largest_log_gain
    in_range = (
        log_gain < LARGEST_LOG_GAIN and log_gain + _find_largest_answer(model) < LARGEST_LOG_GAIN
    )
    return in_range and can_be_sharded(model)


def _find_largest_answer(model: Model) -> float:
    """Return how much answers may say of one record, but for those that are certain."""
    lists = model.answers.lists()
    if not lists.others.size:
        return 0.0
    at = np.repeat(np.arange(model.n_records), np.diff(lists.starts))
    said = np.where(np.isinf(lists.log_factor), 0.0, np.abs(lists.log_factor))
    return float(np.bincount(at, said).max())


class WeighedForest:
    """A forest, and the sum over all of its links."""

    def __init__(self, forest: kernels.Forest) -> None:
        self.forest = forest
        self._evidence, self._weight, self._free = np.empty((3, forest.unit.size))

    def weigh_links(self, delta: FloatArray) -> None:
        """Weigh links by what the fields say, given delta."""
        kernels.weigh_links(delta, self.forest, self._evidence)

    def log_sum(self, joins: FloatArray) -> float:
        """Return the log of the sum over all links, by the prior's weights of joins."""
        total = kernels.sum_forest(self.forest, self._evidence, joins, self._weight, self._free)
        return float(total)

    def link(self, rng: np.random.Generator, following: NDArray[np.int32]) -> None:
        """Draw the links in proportion to their weights, as they were last summed."""
        kernels.link_forest(rng, self.forest, self._weight, self._free, following)


def grow_weighed_forest(
    rng: np.random.Generator,
    proposals: kernels.LinkProposals,
    data: kernels.Data,
    following: NDArray[np.int32],
    removal: kernels.Removal = REMOVAL,
) -> WeighedForest:
    """Draw a graph and grow a forest in it; the records of its links are taken apart."""
    units = kernels.take_apart(rng, following, data, removal)
    picked, rate = kernels.pick_units(rng, proposals, following, data.source, units)
    forest, stayed = kernels.grow_forest(rng, picked, rate, units, following, data, removal)
    return WeighedForest(forest._replace(chance=forest.chance * stayed))

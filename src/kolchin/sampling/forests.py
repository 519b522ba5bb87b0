"""Delta and loose links at once: links are summed over, whatever they are, while delta is drawn.

Given the links, delta is known far better than it is a posteriori, so that in turns both creep.
Here a random graph is laid over the records: each pair that is linked is an edge, and each that is
not is one with a chance a of its own. Given the graph, a link then counts 1 / a times its weight,
and all of them are free. Edges that close circles stay as they are; what is left are trees, on
which the sum over all links, each record in at most one, is a product over records from leaf to
root (a matching polynomial). So delta is drawn with all links summed over, and then
the links, given delta. The graph tells little of how many links there were, if most of its edges
are not linked.

Larger clusters take part: one record of each may be taken out, and the others are a unit that one
record may join. The prior's weights are those of shards (model section 5), given t.
"""

from typing import Any, NamedTuple

import numpy as np

from kolchin import kernels
from kolchin.model import Model
from kolchin.parameters import FloatArray
from kolchin.sampling.layout import Shard
from kolchin.sampling.loose import Loose
from kolchin.sampling.weights import can_be_sharded

EDGES_A_RECORD, UNIFORM_EDGES = 0.75, 0.05
"""So many edges a record are drawn, of listed pairs at most, and of all pairs."""

EDGES_OVER_ODDS = 10.0
"""A listed pair is drawn at most so many times its odds."""

APART = np.array([0.6, 0.99])
"""How often a record is taken out of clusters whose records are all alike, and of others."""

LARGEST_LOG_GAIN = 400.0
"""Where all fields together can say more, weights of links could leave the range of doubles."""


def can_be_forested(model: Model) -> bool:
    """Tell whether delta and links can be drawn at once: clusters independent, weights in range."""
    gains = model.likelihood.largest_gain
    in_range = float(np.log1p(gains).sum()) < LARGEST_LOG_GAIN
    return model.compared is None and in_range and can_be_sharded(model)


class Rates(NamedTuple):
    """How often any pair is drawn, and a listed one more, over its odds."""

    uniform: float
    listed: float

    @classmethod
    def of(cls, n_records: int, total: float) -> "Rates":
        """Choose rates for so many records, and listed odds that add up to a total."""
        uniform = UNIFORM_EDGES * n_records / (n_records * (n_records - 1) / 2)
        return cls(uniform, min(EDGES_OVER_ODDS, EDGES_A_RECORD * n_records / total))


class Grown:
    """A forest, and the sum over all of its links."""

    def __init__(self, forest: kernels.Forest) -> None:
        self.forest = forest
        self._evidence, self._weight, self._free = np.empty((3, forest.unit.size))

    def see(self, delta: FloatArray) -> None:
        """Weigh links by what the fields say, given delta."""
        forest = self.forest
        kernels.weigh_links(delta, forest.parent, forest.shared, forest.seen, self._evidence)

    def log_sum(self, joins: FloatArray) -> float:
        """Return the log of the sum over all links, by the prior's weights of joins."""
        forest = self.forest
        what = forest.parent, forest.size, self._evidence, forest.chance
        return float(kernels.sum_forest(*what, joins, self._weight, self._free))

    def link(self, rng: np.random.Generator, following: Any) -> None:
        """Draw the links in proportion to their weights, as they were last summed."""
        what = self.forest.unit, self.forest.parent, self._weight, self._free
        kernels.link_forest(rng, *what, following)


def grown(
    rng: np.random.Generator,
    loose: Loose,
    data: kernels.Data,
    following: Any,
    apart: FloatArray = APART,
) -> Grown:
    """Draw a graph and grow a forest in it; the records of its links are taken apart."""
    n_records = following.size
    within = np.array([0, n_records, 0, 0])
    slices, totals = loose.lists.in_shard(Shard((0,), within))
    total = float(totals.sum())
    rates = Rates.of(n_records, total)
    unit, taken, former = kernels.take_apart(rng, following, data.codes, apart)
    n_uniform = rng.poisson(rates.uniform * n_records * (n_records - 1) / 2)
    drawn = n_uniform, rng.poisson(rates.listed * total)
    lists: tuple[Any, ...] = loose.lists.table, slices, np.cumsum(totals) / total, within
    edges = kernels.draw_edges(rng, *drawn, *lists, following, data.source, unit)  # type: ignore[call-arg]
    *what, rate, stayed = kernels.grow_forest(
        rng, edges, taken, former, loose.starts, loose.neighbours, loose.odds, *rates,
        following, data.codes, data.gain, apart,
    )  # fmt: skip
    return Grown(kernels.Forest._make((*what, -np.expm1(-rate) * stayed)))

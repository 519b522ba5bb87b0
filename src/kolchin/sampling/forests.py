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

APART = np.array([0.0, 0.0, 0.8, 0.5])
"""How often a record is taken out of clusters of 2, and of more."""

LARGEST_LOG_GAIN = 400.0
"""Where all fields together can say more, weights of links could leave the range of doubles."""

LARGEST_LOG_PRIOR = 230.0
"""A prior that says more, as of sizes that no cluster has, decides alone: it may say just that."""


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


class Grown(NamedTuple):
    """A forest, and the weight of each link but for the evidence of the fields."""

    forest: kernels.Forest
    scale: FloatArray
    weight: FloatArray
    free: FloatArray

    def log_sum(self, delta: FloatArray) -> float:
        """Return the log of the sum over all links, by delta."""
        forest = self.forest
        return float(
            kernels.weigh_forest(
                delta, forest.parent, forest.shared, forest.seen, self.scale, self.weight, self.free
            )
        )

    def link(self, rng: np.random.Generator, delta: FloatArray, following: Any) -> None:
        """Draw the links, given delta."""
        self.log_sum(delta)
        what = self.forest.unit, self.forest.parent, self.weight, self.free
        kernels.link_forest(rng, *what, following)


def grown(
    rng: np.random.Generator,
    loose: Loose,
    data: kernels.Data,
    weights: kernels.Weights,
    following: Any,
    apart: FloatArray = APART,
) -> Grown:
    """Draw a graph and grow a forest in it; the records of its links are taken apart."""
    n_records = following.size
    within = np.array([0, n_records, 0, 0])
    slices, totals = loose.lists.in_shard(Shard((0,), within))
    total = float(totals.sum())
    rates = Rates.of(n_records, total)
    unit, taken, former = kernels.take_apart(rng, following, apart)
    n_uniform = rng.poisson(rates.uniform * n_records * (n_records - 1) / 2)
    drawn = n_uniform, rng.poisson(rates.listed * total)
    lists: tuple[Any, ...] = loose.lists.table, slices, np.cumsum(totals) / total, within
    edges = kernels.draw_edges(rng, *drawn, *lists, following, data.source, unit)  # type: ignore[call-arg]
    forest = kernels.Forest._make(
        kernels.grow_forest(
            edges, taken, former, loose.starts, loose.neighbours, loose.odds, *rates,
            following, data.codes, data.gain,
        )
    )  # fmt: skip
    scale = _scale(forest, weights, apart)
    return Grown(forest, scale, np.empty_like(scale), np.empty_like(scale))


def _scale(forest: kernels.Forest, weights: kernels.Weights, apart: FloatArray) -> FloatArray:
    """Return the prior weight of each link, over the chance of its edge and of what was taken out.

    A cluster of m came apart with chance ``apart[m] / m`` for each record (a pair is the same
    whichever is taken), and one that a record joins stayed whole with chance ``1 - apart[m - 1]``.
    """
    size = np.maximum(forest.size, 2)
    places = np.minimum(size, apart.size - 1)
    log_size = weights.log_size
    log_prior = log_size[size] - log_size[size - 1]
    log_prior -= kernels.log_open_weight(weights.opening, weights.log_open, 1)
    came = np.where(size == 2, 1.0, 1.0 / size) * apart[places]
    stayed = np.where(size == 2, 1.0, 1.0 - apart[np.minimum(size - 1, apart.size - 1)])
    prior = np.exp(np.minimum(log_prior, LARGEST_LOG_PRIOR))
    scale: FloatArray = prior * came / stayed / -np.expm1(-forest.rate)
    return scale

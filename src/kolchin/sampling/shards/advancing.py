"""What is done in a shard: moves, loose links, and counts of all that parameters depend on.

A round (model section 5) sends out the parameters, lets the shards advance beside each other, and
adds up what they count. What a shard does follows from its records, the parameters and a stream of
random numbers of its own, so that it may be done anywhere, in any order, and again.
"""

from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.likelihoods.categorical import Cells
from kolchin.likelihoods.exemplar import Ratios
from kolchin.likelihoods.pattern_counts import PatternCounts
from kolchin.model import Model
from kolchin.parameters import FloatArray, IntArray
from kolchin.sampling.layout import Layout, Shard
from kolchin.sampling.proposals.attach_lists import AttachLists
from kolchin.sampling.proposals.mixture import PairMixture
from kolchin.sampling.weights import ConditionalPrior, Auxiliaries

SWEEPS_A_STEP = 2
FEWEST_MOVES = 300
"""Moves between two updates: how often undecided pairs are visited, and what an update costs."""


class FieldStatistics(NamedTuple):
    """What the parameters of the fields depend on, of some clusters; they add up."""

    cells: Cells
    levels: PatternCounts | None

    def plus(self, other: "Statistics") -> "Statistics":
        """Add those of other clusters."""
        if self.levels is None or other.levels is None:
            return FieldStatistics(self.cells.plus(other.cells), None)
        return FieldStatistics(self.cells.plus(other.cells), self.levels.plus(other.levels))


class Fields(NamedTuple):
    """The fields of records, and what they say by the parameters as they are."""

    model: Model
    data: kernels.Data
    delta: FloatArray
    ratios: Ratios

    @property
    def evidence(self) -> kernels.Evidence:
        """What the fields say, as the kernels take it."""
        return kernels.Evidence(self.delta, self.ratios.ratio, self.ratios.apart)

    def statistics(
        self, rng: np.random.Generator, members: NDArray[np.int32], sizes: NDArray[np.int32]
    ) -> FieldStatistics:
        """Count what the parameters depend on, of some clusters."""
        steps = kernels.agreement_cells(members, sizes, self.data.codes)
        cells = self.model.likelihood.cells(*steps)
        levels = None
        if self.model.compared is not None:
            levels = self.model.compared.count(rng, self.data, self.evidence, members, sizes)
        return FieldStatistics(cells, levels)


class LearnedPairs(NamedTuple):
    """Which pairs moves are made on: learnt in warm-up, and the same in every round after it."""

    mixture: PairMixture
    loose: AttachLists | None = None


class RoundInput(NamedTuple):
    """What a round sends to every shard: parameters of fields and prior, what to do, and its name.

    ``moves`` is how many moves a whole step is to have; 0 leaves that to the pairs of each shard.
    ``key`` and ``number`` are of the chain and of the round.
    """

    delta: FloatArray
    ratios: Ratios
    given: Auxiliaries
    moves: int
    dissolve: bool
    key: int
    number: int

    def stream(self, *place: int) -> np.random.Generator:
        """Return the random numbers of a place in the round."""
        return stream(self.key, self.number, *place)

    def fields(self, model: Model, data: kernels.Data) -> Fields:
        """Return what the fields say in this round."""
        return Fields(model, data, self.delta, self.ratios)

    def prior(self, fields: Fields, layout: Layout) -> ConditionalPrior:
        """Return the prior's weights in this round; tables grow alike wherever they do."""
        return ConditionalPrior(fields.model, self.given, fields.evidence, self.stream(layout.n_blocks))


def stream(key: int, *place: int) -> np.random.Generator:
    """Return random numbers of their own for each place."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(key, spawn_key=place)))


class ShardResult(NamedTuple):
    """What comes back from a shard: changes in the counts of sizes, and of all clusters.

    ``leaving`` are the records of clusters that reach outside; the statistics are of the others.
    """

    size_changes: IntArray
    n_clusters_change: int
    statistics: FieldStatistics
    leaving: NDArray[np.int32]


def advance(
    shard: Shard,
    sent: RoundInput,
    fields: Fields,
    prior: ConditionalPrior,
    learnt: LearnedPairs,
    following: NDArray[np.int32],
) -> ShardResult:
    """ShardResult a shard; of the rings, nothing but its own records is read or written."""
    rng, mixture, moves = sent.stream(*shard.blocks), learnt.mixture, sent.moves
    level = 0
    weights = prior.weights(level)
    state = kernels.State(
        following,
        np.zeros(weights.log_size.size, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.array([-1, -1]),
    )
    pairs = mixture.in_shard(shard)
    data, evidence = fields.data, fields.evidence
    n_records = int(shard.within[1] - shard.within[0] + shard.within[3] - shard.within[2])
    share = n_records / fields.model.n_records
    n_moves = int(np.ceil(share * (moves or FEWEST_MOVES)))
    if moves == 0:
        n_moves = max(n_moves, SWEEPS_A_STEP * mixture.sweep(shard))
    if n_records == 1:
        n_moves = 0
    done = 0
    while done < n_moves:
        done += kernels.make_chaperones_moves(
            rng, n_moves - done, False, pairs, data, evidence, weights, state
        )
        if done < n_moves:
            level += 1
            weights = prior.weights(level)
            more = np.zeros(weights.log_size.size - state.size_counts.size, np.int64)
            state = state._replace(size_counts=np.append(state.size_counts, more))
    if sent.dissolve:
        kernels.make_chaperones_moves(rng, n_records, True, pairs, data, evidence, weights, state)
    asked = None if learnt.loose is None else learnt.loose.in_shard(shard)
    if asked is not None:
        kernels.attach_records(rng, asked, data, evidence, weights, state)
    members, sizes, leaving = kernels.grouped(following, shard.within)
    statistics = fields.statistics(rng, members, sizes)
    return ShardResult(state.size_counts, int(state.n_clusters[0]), statistics, leaving)


def added(changes: list[IntArray]) -> IntArray:
    """Add up counts of sizes of unequal length."""
    total = np.zeros(max(change.size for change in changes), dtype=np.int64)
    for change in changes:
        total[: change.size] += change
    return total


def pooled(parts: list[FieldStatistics]) -> FieldStatistics:
    """Add up statistics, always in the same order."""
    return reduce(FieldStatistics.plus, parts)

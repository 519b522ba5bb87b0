"""What is done in a shard: moves, loose links, and counts of all that parameters depend on.

A round (model section 5) sends out the parameters, lets the shards advance beside each other, and
adds up what they count. What a shard does follows from its records, the parameters and a stream of
random numbers of its own, so that it may be done anywhere, in any order, and again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.likelihoods.base import Statistics
from kolchin.parameters import IntArray
from kolchin.sampling.conditional_prior import Auxiliaries, ConditionalPrior
from kolchin.sampling.layout import Shard
from kolchin.sampling.problem import Problem
from kolchin.sampling.proposals.learning import LearnedPairs
from kolchin.sampling.proposals.mixture import PairMixture

SWEEPS_A_STEP = 2
FEWEST_MOVES = 300
"""Moves between two updates: how often undecided pairs are visited, and what an update costs."""


class RoundInput(NamedTuple):
    """What a round sends to every shard: the parameters, what to do, and its name.

    ``n_moves`` is how many moves a whole step is to have; 0 leaves that to the pairs of each shard.
    ``stream_key`` and ``round_number`` are of the chain and of the round.
    """

    evidence: kernels.Evidence
    auxiliaries: Auxiliaries
    n_moves: int
    dissolves: bool
    stream_key: int
    round_number: int

    def open_stream(self, *place: int) -> np.random.Generator:
        """Return random numbers of their own for each place in the round."""
        key = np.random.SeedSequence(self.stream_key, spawn_key=(self.round_number, *place))
        return np.random.Generator(np.random.SFC64(key))

    def condition_prior(self, problem: Problem) -> ConditionalPrior:
        """Return the prior's weights in this round; tables grow alike wherever they do."""
        stream = self.open_stream(problem.layout.n_blocks)
        return ConditionalPrior(problem.model, self.auxiliaries, self.evidence, stream)


class ShardResult(NamedTuple):
    """What comes back from a shard: changes in the counts of sizes, and of all clusters.

    ``leaving`` are the records of clusters that reach outside; the statistics are of the others.
    """

    size_changes: IntArray
    n_clusters_change: int
    statistics: Statistics
    leaving: NDArray[np.int32]


def advance_shard(
    shard: Shard,
    given: RoundInput,
    problem: Problem,
    prior: ConditionalPrior,
    learned: LearnedPairs,
    following: NDArray[np.int32],
) -> ShardResult:
    """Advance a shard; of the rings, nothing but its own records is read or written."""
    rng, data, evidence = given.open_stream(*shard.blocks), problem.data, given.evidence
    pairs = learned.mixture.in_shard(shard)
    n_left = _count_moves(shard, given, problem, learned.mixture)
    level = 0
    weights = prior.get_weights(level)
    partition = kernels.Partition(
        following,
        np.zeros(weights.log_size.size, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.array([-1, -1]),
    )
    while n_left > 0:
        n_left -= kernels.make_chaperones_moves(
            rng, n_left, False, pairs, data, evidence, weights, partition
        )
        if n_left > 0:
            level += 1
            weights = prior.get_weights(level)
            more = np.zeros(weights.log_size.size - partition.size_counts.size, np.int64)
            counts = np.append(partition.size_counts, more)
            partition = partition._replace(size_counts=counts)
    if given.dissolves:
        kernels.make_chaperones_moves(
            rng, shard.n_records, True, pairs, data, evidence, weights, partition
        )
    lists = learned.attach_lists
    request = None if lists is None else lists.in_shard(shard)
    if request is not None:
        kernels.attach_records(rng, request, data, evidence, weights, partition)
    members, sizes, leaving = kernels.list_members(following, shard.within)
    statistics = problem.model.likelihood.count(rng, data, evidence, members, sizes)
    return ShardResult(partition.size_counts, int(partition.n_clusters[0]), statistics, leaving)


def _count_moves(shard: Shard, given: RoundInput, problem: Problem, mixture: PairMixture) -> int:
    """Return how many moves a shard makes: its share of a step, or what its pairs need."""
    if shard.n_records == 1:
        return 0
    share = shard.n_records / problem.n_records
    n_moves = int(np.ceil(share * (given.n_moves or FEWEST_MOVES)))
    if given.n_moves == 0:
        n_moves = max(n_moves, SWEEPS_A_STEP * mixture.count_sweep(shard))
    return n_moves

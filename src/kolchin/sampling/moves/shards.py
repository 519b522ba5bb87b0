"""A round of shards: blocks are paired anew, and all pairs advance beside each other.

See model section 5 and ``shards.advancing``.
"""

from functools import reduce
from typing import NamedTuple

import numpy as np

from kolchin import kernels
from kolchin.sampling.conditional_prior import draw_auxiliaries
from kolchin.sampling.moves.chaperones import ChaperonesMove, move_in_shard
from kolchin.sampling.problem import Problem
from kolchin.sampling.proposals.learning import LearnedPairs
from kolchin.sampling.shards.advancing import SWEEPS_A_STEP, RoundInput
from kolchin.sampling.shards.executors import ShardExecutor
from kolchin.sampling.state import State, count_changes


class RoundMove(NamedTuple):
    """Chaperones moves and loose links in all shards; what parameters depend on is counted, too.

    It does not matter on how many ``cores`` they advance. ``moves_asked`` are the moves of a round,
    0 for as many as the pairs of each shard need; ``n_moves`` is what that is on average.
    """

    executor: ShardExecutor
    learned: LearnedPairs
    moves_asked: int
    n_moves: int
    cores: int = 1
    dissolves: bool = False

    def step(self, rng: np.random.Generator, problem: Problem, state: State) -> State:
        """Make a round."""
        if state.weights.shape.size:
            state = self._move_crowd(rng, problem, state)
        model, layout = problem.model, problem.layout
        auxiliaries = draw_auxiliaries(rng, model, state.prior_values, state.counts, state.capacity)
        number = state.round_number + 1
        given = RoundInput(
            state.evidence, auxiliaries, self.moves_asked, self.dissolves, state.stream_key, number
        )
        shards = layout.pair_blocks(rng)
        results = self.executor.advance(shards, given, self.learned, state.following, self.cores)
        for result in results:
            state = count_changes(state, result.size_changes)
        state.partition.n_clusters[0] += sum(result.n_clusters_change for result in results)
        # Clusters between shards stayed as they are, but what they say of the parameters counts.
        between = np.concatenate([result.leaving for result in results])
        members, sizes = kernels.list_members_among(state.following, np.sort(between))
        stream = given.open_stream(layout.n_blocks + 1)
        others = model.likelihood.count(stream, problem.data, state.evidence, members, sizes)
        # In the same order always: sums of floating-point numbers depend on it.
        parts = [*(result.statistics for result in results), others]
        statistics = reduce(lambda one, other: one.add(other), parts)
        return state._replace(round_number=number, statistics=statistics)

    def next_portion(self, n_left: int, cores: int, dissolves: bool) -> tuple["RoundMove", int]:
        """Return a whole round, which is not divided."""
        return self._replace(cores=cores, dissolves=dissolves), 0

    def _move_crowd(self, rng: np.random.Generator, problem: Problem, state: State) -> State:
        """Make moves in the block of the largest groups alone, with mu integrated out.

        Given mu, which is about 0 at sizes that no cluster has, large clusters would hardly form.
        """
        crowd, mixture = problem.layout.make_shard(0), self.learned.mixture
        moves = ChaperonesMove(mixture, SWEEPS_A_STEP * mixture.count_sweep(crowd))
        state = move_in_shard(rng, problem, state, moves, crowd)
        self.executor.note_changes(0)
        return state

"""Chaperones moves: a pair of records is drawn, and what the clusters of both have is divided anew.

See model section 4 and ``kernels.chaperones``.
"""

from typing import NamedTuple

import numpy as np

from kolchin import kernels
from kolchin.sampling.layout import Shard
from kolchin.sampling.problem import Problem
from kolchin.sampling.proposals.mixture import PairMixture
from kolchin.sampling.state import State, tabulate_weights

MOVES_AT_ONCE = 200_000
"""After so many moves a chain can be stopped."""


class ChaperonesMove(NamedTuple):
    """So many chaperones moves on pairs of all records."""

    mixture: PairMixture
    n_moves: int

    def step(self, rng: np.random.Generator, problem: Problem, state: State) -> State:
        """Make the moves; where clusters outgrow the tables of weights, these grow."""
        return move_in_shard(rng, problem, state, self, problem.whole)

    def next_portion(
        self, n_left: int, cores: int, dissolves: bool
    ) -> tuple["ChaperonesMove", int]:
        """Return the next moves, and how many are left then."""
        n_moves = min(n_left, MOVES_AT_ONCE)
        return self._replace(n_moves=n_moves), n_left - n_moves


class DissolvingMove(NamedTuple):
    """Moves on neighbours in rings, by which clusters that do not hold together come apart.

    Which pairs are drawn depends on the partition, so the posterior is not kept: for warm-up alone.
    """

    mixture: PairMixture

    def step(self, rng: np.random.Generator, problem: Problem, state: State) -> State:
        """Make a move on each record and the next one of its ring."""
        pairs = self.mixture.in_shard(problem.whole)
        kernels.make_chaperones_moves(
            rng,
            problem.n_records,
            True,
            pairs,
            problem.data,
            state.evidence,
            state.weights,
            state.partition,
        )
        return state._replace(statistics=None)


def move_in_shard(
    rng: np.random.Generator, problem: Problem, state: State, moves: ChaperonesMove, shard: Shard
) -> State:
    """Make moves on pairs of one shard, given all clusters."""
    pairs = moves.mixture.in_shard(shard)
    n_left = moves.n_moves
    while n_left > 0:
        n_made = kernels.make_chaperones_moves(
            rng, n_left, False, pairs, problem.data, state.evidence, state.weights, state.partition
        )
        n_left -= int(n_made)
        if n_left > 0:
            at_least = 2 * (state.weights.log_size.size - 1)
            state = tabulate_weights(rng, problem, state, at_least)
    return state._replace(statistics=None)

"""Which moves a step of a chain is made of: data, chosen whenever proposals are learned."""

from typing import NamedTuple

import numpy as np

from kolchin import kernels
from kolchin.sampling.moves.attach import AttachMove
from kolchin.sampling.moves.base import DividedMove, Move
from kolchin.sampling.moves.chaperones import ChaperonesMove
from kolchin.sampling.moves.forest.move import ForestMove
from kolchin.sampling.moves.forest.parameters_given_forest import TypicalState
from kolchin.sampling.moves.parameters import UpdateFieldParameters, UpdateParameters
from kolchin.sampling.moves.regroup import RegroupMove
from kolchin.sampling.moves.shards import RoundMove
from kolchin.sampling.problem import Problem
from kolchin.sampling.proposals.learning import LearnedPairs, LearningInput
from kolchin.sampling.proposals.link_proposals import weigh_proposals
from kolchin.sampling.proposals.mixture import PairMixture
from kolchin.sampling.proposals.observed_pairs import ObservedPairs
from kolchin.sampling.shards.advancing import FEWEST_MOVES, SWEEPS_A_STEP
from kolchin.sampling.shards.executors import ShardExecutor
from kolchin.sampling.state import State, log_prior_odds

GENEROUS = 2.0
"""Loose links are listed for a delta this many times the typical one, or what is generous."""

FEWEST_ROUNDS, MOST_ROUNDS = 4, 12
MOVES_A_ROUND = 500
"""How often loose links and parameters follow each other in a step: a round for so many moves."""

FOREST_ROUNDS, FOREST_SWEEPS = (2, 3), 0.25
"""Where they are drawn at once, few rounds are enough, and an eighth as many moves."""

GIVEN_LINKS = 0.1
"""How often parameters that are drawn with links are drawn given these, too."""


class Tuning(NamedTuple):
    """What was learned in warm-up, and by which moves are made ever after.

    ``link_proposals`` say whom records propose links with, where links and parameters can be drawn
    at once; modes of parameters are looked for near those of a ``typical`` state.
    """

    pairs: LearnedPairs
    link_proposals: kernels.LinkProposals | None = None
    typical: TypicalState | None = None


class Schedule(NamedTuple):
    """A step: moves on pairs, which may be many, then links, and parameters last.

    Between links and parameters the state may be kept as a draw.
    """

    on_pairs: DividedMove
    on_links: tuple[Move, ...]
    on_parameters: UpdateParameters


def learn_tuning(
    problem: Problem,
    state: State,
    observed: ObservedPairs,
    executor: ShardExecutor,
    link_proposals: kernels.LinkProposals | None = None,
) -> Tuning:
    """Learn from what was observed, and from the state, which pairs moves are to be made on."""
    delta = observed.mean_delta(state.evidence.delta)
    generous = np.maximum(GENEROUS * delta, problem.model.likelihood.choose_generous_delta())
    log_odds = log_prior_odds(state)
    pairs = executor.learn(observed, LearningInput(state.evidence, delta, generous, log_odds))
    if link_proposals is not None:
        link_proposals = weigh_proposals(link_proposals, problem.data, GENEROUS * delta, log_odds)
    return Tuning(pairs, link_proposals, TypicalState(delta, state.prior_values, state.counts))


def choose_schedule(
    problem: Problem, tuning: Tuning, executor: ShardExecutor, moves_asked: int = 0
) -> Schedule:
    """Choose the moves of a step; without ``moves_asked``, undecided pairs are visited twice."""
    mixture, lists = tuning.pairs
    n_moves = _count_moves_a_step(problem, mixture, SWEEPS_A_STEP)
    if problem.layout.n_blocks > 1:
        on_pairs = RoundMove(executor, tuning.pairs, moves_asked, moves_asked or n_moves)
        return Schedule(on_pairs, (), UpdateParameters())
    if lists is None:
        return Schedule(ChaperonesMove(mixture, moves_asked or n_moves), (), UpdateParameters())
    attach = AttachMove(lists)
    if not problem.model.likelihood.is_moved_by_links:
        on_pairs_alone = ChaperonesMove(mixture, moves_asked or n_moves)
        return Schedule(on_pairs_alone, (attach,), UpdateParameters())
    n_rounds = n_moves // SWEEPS_A_STEP // MOVES_A_ROUND
    if tuning.link_proposals is None:
        n_rounds = min(max(FEWEST_ROUNDS, n_rounds), MOST_ROUNDS)
        on_links = (attach, UpdateFieldParameters()) * (n_rounds - 1) + (attach,)
        moves = ChaperonesMove(mixture, moves_asked or n_moves)
        return Schedule(moves, on_links, UpdateParameters())
    fewest, most = FOREST_ROUNDS
    n_rounds = min(max(fewest, n_rounds), most)
    regroup = RegroupMove(tuning.link_proposals)
    forest = ForestMove(tuning.link_proposals, tuning.typical)
    n_moves = _count_moves_a_step(problem, mixture, FOREST_SWEEPS)
    moves = ChaperonesMove(mixture, moves_asked or n_moves)
    return Schedule(moves, (regroup, forest) * (n_rounds - 1), UpdateParameters(GIVEN_LINKS))


def _count_moves_a_step(problem: Problem, mixture: PairMixture, sweeps: float) -> int:
    """Return how many moves a step has, so that undecided pairs are visited a few times.

    In shards that is what it has on average: blocks meet at random.
    """
    weight = mixture.tables.sum_within_reach(problem.layout.meeting)
    return max(int(sweeps * 2 * weight), FEWEST_MOVES)

"""Learning in warm-up: which pairs moves are made on, from what a chain has seen of them."""

from typing import NamedTuple

import numpy as np

from kolchin import kernels
from kolchin.parameters import FloatArray
from kolchin.sampling.problem import Problem
from kolchin.sampling.proposals.answered import OPEN_LOG_ODDS, find_answered
from kolchin.sampling.proposals.attach_lists import AttachLists, build_attach_lists
from kolchin.sampling.proposals.mixture import PairMixture, build_mixture
from kolchin.sampling.proposals.observed_pairs import ObservedPairs


class LearningInput(NamedTuple):
    """What learning starts from: the evidence, a typical delta and a generous one, prior odds.

    ``log_prior_odds`` are those of two singletons to be a pair.
    """

    evidence: kernels.Evidence
    delta: FloatArray
    generous_delta: FloatArray
    log_prior_odds: float


class LearnedPairs(NamedTuple):
    """Which pairs moves are made on: learned in warm-up, the same in every step after it.

    ``mixture`` is for chaperones moves, ``attach_lists`` are for loose links, if there are any.
    """

    mixture: PairMixture
    attach_lists: AttachLists | None = None


def learn_pairs(problem: Problem, observed: ObservedPairs, given: LearningInput) -> LearnedPairs:
    """Take pairs in proportion to how undecided they are, and list the loose ones."""
    log_odds = _log_odds(problem, observed, given, given.delta)
    mixture = build_mixture(observed, log_odds, problem.layout)
    log_odds = _log_odds(problem, observed, given, given.generous_delta)
    return LearnedPairs(mixture, build_attach_lists(problem.layout, observed.candidates, log_odds))


def _log_odds(
    problem: Problem, observed: ObservedPairs, given: LearningInput, delta: FloatArray
) -> FloatArray:
    """Log odds that each candidate is linked, as the parameters are now."""
    evidence = given.evidence._replace(delta=delta)
    scores: FloatArray = kernels.compute_pair_scores(problem.data, evidence, observed.candidates)
    scores += given.log_prior_odds
    answered = find_answered(problem.data.answers, observed.candidates)
    scores[answered] = np.clip(scores[answered], -OPEN_LOG_ODDS, OPEN_LOG_ODDS)
    return scores

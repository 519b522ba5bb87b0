"""Learning in warm-up: which pairs moves are made on, from what a chain has seen of them."""

from typing import NamedTuple

import numpy as np

from kolchin import kernels
from kolchin.parameters import FloatArray
from kolchin.sampling.proposals.answered import OPEN_LOG_ODDS, answered_among
from kolchin.sampling.problem import PROBLEM, Problem
from kolchin.sampling.proposals.attach_lists import list_loose_pairs
from kolchin.sampling.proposals.mixture import CANDIDATES, ObservedPairs, Observations
from kolchin.sampling.shards.advancing import LearnedPairs
from kolchin.store import Store
from kolchin.work import held


class LearningInput(NamedTuple):
    """How things stand: the evidence, a typical delta, a generous one, and a pair's prior odds."""

    evidence: kernels.Evidence
    delta: FloatArray
    generous: FloatArray
    log_prior_odds: float


def learnt(ground: Problem, proposals: ObservedPairs, standing: LearningInput) -> LearnedPairs:
    """Take pairs in proportion to how undecided they are, and list the loose ones."""
    mixture = proposals.mixture(
        _log_odds(ground, proposals, standing, standing.delta), ground.layout
    )
    log_odds = _log_odds(ground, proposals, standing, standing.generous)
    return LearnedPairs(mixture, list_loose_pairs(ground.layout, proposals.candidates, log_odds))


def _log_odds(
    ground: Problem, proposals: ObservedPairs, standing: LearningInput, delta: FloatArray
) -> FloatArray:
    """Log odds that each candidate is linked, as things stand."""
    evidence = standing.evidence._replace(delta=delta)
    scores: FloatArray = kernels.pair_scores(ground.data, evidence, proposals.candidates)
    scores += standing.log_prior_odds
    answered = answered_among(ground.data.answers, proposals.candidates)
    scores[answered] = np.clip(scores[answered], -OPEN_LOG_ODDS, OPEN_LOG_ODDS)
    return scores


class LearningTask(NamedTuple):
    """What a chain saw, by its name in a store, and the name of what is learnt from it."""

    store: Store
    saw: str
    name: str


def learn(task: LearningTask) -> None:
    """Write down what is learnt from what a chain saw."""
    store = task.store
    saw: Observations
    standing: LearningInput
    saw, standing = store.get(task.saw)
    proposals = ObservedPairs(held(store, CANDIDATES))
    proposals.take(saw)
    store.put(task.name, learnt(held(store, PROBLEM), proposals, standing))

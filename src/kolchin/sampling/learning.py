"""Learning in warm-up: which pairs moves are made on, from what a chain has seen of them."""

from typing import NamedTuple

import numpy as np

from kolchin import kernels
from kolchin.parameters import FloatArray
from kolchin.sampling.answered import OPEN_LOG_ODDS, answered_among
from kolchin.sampling.ground import GROUND, Ground
from kolchin.sampling.loose import loose_pairs
from kolchin.sampling.proposals import CANDIDATES, Proposals, Saw
from kolchin.sampling.shards import Learnt
from kolchin.store import Store
from kolchin.workplace import held


class Standing(NamedTuple):
    """How things stand: the evidence, a typical delta, a generous one, and a pair's prior odds."""

    evidence: kernels.Evidence
    delta: FloatArray
    generous: FloatArray
    log_prior_odds: float


def learnt(ground: Ground, proposals: Proposals, standing: Standing) -> Learnt:
    """Take pairs in proportion to how undecided they are, and list the loose ones."""
    mixture = proposals.mixture(
        _log_odds(ground, proposals, standing, standing.delta), ground.layout
    )
    log_odds = _log_odds(ground, proposals, standing, standing.generous)
    return Learnt(mixture, loose_pairs(ground.layout, proposals.candidates, log_odds))


def _log_odds(
    ground: Ground, proposals: Proposals, standing: Standing, delta: FloatArray
) -> FloatArray:
    """Log odds that each candidate is linked, as things stand."""
    evidence = standing.evidence._replace(delta=delta)
    scores: FloatArray = kernels.pair_scores(ground.data, evidence, proposals.candidates)
    scores += standing.log_prior_odds
    answered = answered_among(ground.data.answers, proposals.candidates)
    scores[answered] = np.clip(scores[answered], -OPEN_LOG_ODDS, OPEN_LOG_ODDS)
    return scores


class Learning(NamedTuple):
    """What a chain saw, by its name in a store, and the name of what is learnt from it."""

    store: Store
    saw: str
    name: str


def learn(task: Learning) -> None:
    """Write down what is learnt from what a chain saw."""
    store = task.store
    saw: Saw
    standing: Standing
    saw, standing = store.get(task.saw)
    proposals = Proposals(held(store, CANDIDATES))
    proposals.take(saw)
    store.put(task.name, learnt(held(store, GROUND), proposals, standing))

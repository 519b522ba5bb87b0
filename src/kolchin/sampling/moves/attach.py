"""Loose links: lone records join a cluster that they are listed with, and others leave theirs.

See ``proposals.attach_lists`` and ``kernels.attach``.
"""

from typing import NamedTuple

import numpy as np

from kolchin import kernels
from kolchin.sampling.problem import Problem
from kolchin.sampling.proposals.attach_lists import AttachLists
from kolchin.sampling.state import State


class AttachMove(NamedTuple):
    """Records with loose links are asked to join others, or to leave."""

    lists: AttachLists

    def step(self, rng: np.random.Generator, problem: Problem, state: State) -> State:
        """Ask about each record on the lists once."""
        request = self.lists.in_shard(problem.whole)
        if request is None:
            return state
        kernels.attach_records(
            rng, request, problem.data, state.evidence, state.weights, state.partition
        )
        return state._replace(statistics=None)

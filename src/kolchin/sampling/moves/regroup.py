"""Regrouping: clusters of records that are equal in all fields exchange their records.

See ``kernels.regroup``.
"""

from typing import NamedTuple

import numpy as np

from kolchin import kernels
from kolchin.sampling.problem import Problem
from kolchin.sampling.state import State


class RegroupMove(NamedTuple):
    """Equal records join others and leave them, as they propose each other."""

    proposals: kernels.LinkProposals

    def step(self, rng: np.random.Generator, problem: Problem, state: State) -> State:
        """Regroup all equal records."""
        kernels.regroup_records(
            rng, self.proposals, problem.data, state.evidence, state.weights, state.partition
        )
        return state._replace(statistics=None)

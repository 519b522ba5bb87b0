"""What all moves have in common."""

from typing import Protocol

import numpy as np

from kolchin.sampling.problem import Problem
from kolchin.sampling.state import State


class Move(Protocol):
    """A step of a Markov chain that keeps the posterior of the problem."""

    def step(self, rng: np.random.Generator, problem: Problem, state: State) -> State:
        """Return the state after the move.

        Rings and counts are changed in place, so the state before must not be used any more.
        """


class DividedMove(Move, Protocol):
    """A move that may be made in portions, between which a chain can be stopped."""

    @property
    def n_moves(self) -> int:
        """How many moves of the kernel it is, all portions together."""

    def next_portion(self, n_left: int, cores: int, dissolves: bool) -> tuple[Move, int]:
        """Return what to do next, and how many of ``n_left`` moves are left then.

        ``cores`` may be used for it. Where it ``dissolves``, clusters that do not hold together
        come apart: that is for warm-up alone, which it helps to find the typical states.
        """

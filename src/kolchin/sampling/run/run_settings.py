"""What a run is asked to do, checked before any work begins."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kolchin.errors import ModelError
from kolchin.sampling.run.starts import STARTS

LEAST = {
    "chains": 1,
    "draws": 1,
    "warmup": 0,
    "thin": 1,
    "moves": 1,
    "most_draws": 1,
    "cores": 1,
    "seed": 0,
}
HELD = 8
"""In the first of so many parts of learning, what compared fields say is not learned."""

FEWEST_WARMUP_STEPS = 400
STEPS_IF_COMPARED = {50_000: 150, 500_000: 100}
FEWEST_IF_COMPARED = 60
"""Compared fields decide nearly all links at once: such chains arrive within some twenty steps.

Up to so many records there are so many steps of warm-up, beyond, the fewest.
"""


class RunSettings(NamedTuple):
    """How long chains run, and from where.

    A step is some moves (0: as many as is learnt) and one update of all parameters; warm-up is
    counted in steps, and ``thin`` steps make a draw.
    """

    chains: int
    draws: int
    warmup: int
    thin: int
    moves: int
    starts: tuple[str, ...]

    @property
    def learning(self) -> int:
        """Steps of warm-up after which proposals are frozen."""
        return int(0.8 * self.warmup)

    @property
    def learning_steps(self) -> frozenset[int]:
        """After which steps proposals are learned: often while clusters form, then at the end."""
        n_steps = self.learning
        parts = (n_steps // 16, n_steps // 8, n_steps // 4, n_steps // 2)
        return frozenset({1, 4, *parts, n_steps})

    def dissolves(self, step: int) -> bool:
        """Tell whether a step is one of the first quarter, which finds the typical set."""
        return 4 * step <= self.learning

    def holds_fitted(self, step: int) -> bool:
        """Tell whether what compared fields say stays as it was fitted in a step.

        A start without links would else teach that nothing is ever linked.
        """
        return HELD * step <= self.learning

    def keeps(self, step: int) -> bool:
        """Tell whether the state of a step is kept as a draw."""
        return step > self.warmup and (step - self.warmup) % self.thin == 0


def choose_warmup(draws: int, n_compared: int = 0) -> int:
    """Return the steps of warm-up where none are asked for.

    ``n_compared`` is the number of records whose fields are compared, 0 if all are categorical.

    >>> choose_warmup(250), choose_warmup(250, 10_000), choose_warmup(250, 1_000_000)
    (400, 150, 60)
    """
    if not n_compared:
        return max(FEWEST_WARMUP_STEPS, draws // 2)
    fitting = (steps for most, steps in STEPS_IF_COMPARED.items() if n_compared <= most)
    return min(FEWEST_WARMUP_STEPS, next(fitting, FEWEST_IF_COMPARED))


def check_run_settings(
    chains: int,
    draws: int,
    warmup: int | None,
    thin: int,
    moves: int | None,
    start: str | Sequence[str],
    n_compared: int = 0,
    **others: object,
) -> RunSettings:
    """Check every argument of a run; all faults are told in one message."""
    starts = (start,) if isinstance(start, str) else tuple(start)
    numbers = {"chains": chains, "draws": draws, "warmup": warmup, "thin": thin, "moves": moves}
    faults = [
        f"The {name!r} parameter must be a whole number of at least {LEAST[name]}. "
        f"Got {value!r} instead."
        for name, value in {**numbers, **others}.items()
        if value is not None and not _is_whole(value, LEAST[name])
    ]
    if not starts or not set(starts) <= set(STARTS):
        faults.append(
            f"The 'start' parameter must be one or several of {', '.join(map(repr, STARTS))}. "
            f"Got {start!r} instead."
        )
    if faults:
        raise ModelError("\n".join(faults))
    steps = choose_warmup(int(draws), n_compared) if warmup is None else int(warmup)
    return RunSettings(int(chains), int(draws), steps, int(thin), int(moves or 0), starts)


def _is_whole(value: object, least: int) -> bool:
    if isinstance(value, np.random.SeedSequence):
        return True
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and int(value) >= least  # type: ignore[call-overload]

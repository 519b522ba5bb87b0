"""Threads of this process: what there is without any engine."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from kolchin.threads import at_most, n_cores, over_ranges

Item = TypeVar("Item")
Result = TypeVar("Result")


class Here:
    """Threads of this process; a task that is alone has all of them for itself."""

    @property
    def n_workers(self) -> int:
        """How many items are worked on at the same time."""
        return n_cores()

    def run(self, task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return the result for each item, in order."""
        cores = max(n_cores() // max(len(items), 1), 1)

        def call(k: int, _: int) -> Result:
            with at_most(cores):
                return task(items[k])

        return over_ranges(call, len(items), size=1)

    def close(self) -> None:
        """Nothing to let go of."""

"""Threads of this process: what there is without any engine."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from kolchin.threads import call_over_ranges, count_cores, limit_cores

Item = TypeVar("Item")
Result = TypeVar("Result")


class Here:
    """Threads of this process; a task that is alone has all of them for itself."""

    @property
    def n_workers(self) -> int:
        """How many items are worked on at the same time."""
        return count_cores()

    def run(self, task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return the result for each item, in order."""
        cores = max(count_cores() // max(len(items), 1), 1)

        def call(k: int, _: int) -> Result:
            with limit_cores(cores):
                return task(items[k])

        return call_over_ranges(call, len(items), size=1)

    def close(self) -> None:
        """Nothing to let go of."""

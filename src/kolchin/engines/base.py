"""What every engine does: call a function for each of some items, wherever that is."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from threading import Lock
from typing import Any, Protocol, TypeVar

from kolchin.errors import SamplerError

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_LOSSES = 5
"""After so many lost workers with no task done in between, the fault is in the task."""


class Engine(Protocol):
    """Calls functions for items; several threads may ask at the same time.

    ``n_workers`` is how many items it works on at once. A call that was lost with its worker is
    made again, so that a call must not mind having been made before.
    """

    @property
    def n_workers(self) -> int:
        """How many items are worked on at the same time."""

    def run(self, task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return the result for each item, in order."""

    def close(self) -> None:
        """Let go of what this engine has started."""


class OnExecutor:
    """An engine of any executor of ``concurrent.futures``; a broken one is replaced."""

    def __init__(self, start: Callable[[], Executor], n_workers: int) -> None:
        self._start = start
        self._n_workers = n_workers
        self._executor: Executor | None = None
        self._lock = Lock()
        self._losses = 0

    @property
    def n_workers(self) -> int:
        """How many items are worked on at the same time."""
        return self._n_workers

    def run(self, task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return the result for each item, in order."""
        results: dict[int, Result] = {}
        while len(results) < len(items):
            executor = self._ensure_executor()
            futures: dict[int, Future[Result]] = {}
            try:
                for k, item in enumerate(items):
                    if k not in results:
                        futures[k] = executor.submit(task, item)
            except BrokenProcessPool:
                pass
            results |= self._gather(executor, futures)
        return [results[k] for k in range(len(items))]

    def _gather(
        self, executor: Executor, futures: dict[int, "Future[Result]"]
    ) -> dict[int, Result]:
        """Wait for calls; those that were lost with their worker are missing."""
        done: dict[int, Result] = {}
        broken = None
        for k, future in futures.items():
            try:
                done[k] = future.result()
                self._losses = 0
            except BrokenProcessPool as error:
                broken = error
        if broken is not None or not futures:
            self._lose(executor, broken)
        return done

    def _ensure_executor(self) -> Executor:
        with self._lock:
            if self._executor is None:
                self._executor = self._start()
            return self._executor

    def _lose(self, executor: Executor, error: Exception | None) -> None:
        """Put a broken executor aside, once for all threads that found it broken."""
        with self._lock:
            if self._executor is not executor:
                return
            self._executor = None
            self._losses += 1
        executor.shutdown(wait=True)
        if self._losses > MOST_LOSSES:
            raise SamplerError(
                f"Workers were lost {self._losses} times in a row: they may lack memory. Fewer "
                "workers, or larger ones, may help; what was saved before is intact."
            ) from error

    def close(self) -> None:
        """Let go of what this engine has started."""
        with self._lock:
            executor, self._executor = self._executor, None
        if executor is not None:
            self._shut(executor)

    def _shut(self, executor: Executor) -> None:
        executor.shutdown(wait=True, cancel_futures=True)


def describe_missing(extra: str, package: str) -> str:
    """Say how to install what an engine needs."""
    return f"This engine needs {package}: pip install 'kolchin[{extra}]'."


def is_of(value: Any, package: str, name: str) -> bool:
    """Tell whether a value is of a class of a package, which need not be installed."""
    return any(
        kind.__module__.split(".")[0] == package and kind.__name__ == name
        for kind in type(value).__mro__
    )

"""Work over fixed ranges, on all cores: the same result for any number of threads."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Result = TypeVar("Result")

RANGE = 1 << 18
_most: ContextVar[int | None] = ContextVar("most cores", default=None)


@contextmanager
def limit_cores(cores: int | None) -> Iterator[None]:
    """Use no more cores than a user allows, where they are not given one by one; None: all.

    >>> with limit_cores(1):
    ...     count_cores()
    1
    """
    token = _most.set(cores)
    try:
        yield
    finally:
        _most.reset(token)


def count_cores() -> int:
    """Return how many cores this process may use."""
    allowed = _most.get()
    if allowed is not None:
        return allowed
    if hasattr(os, "sched_getaffinity"):
        return max(len(os.sched_getaffinity(0)), 1)
    return os.cpu_count() or 1


def call_over_ranges(
    work: Callable[[int, int], Result], n: int, size: int = RANGE, threads: int | None = None
) -> list[Result]:
    """Call ``work(first, last)`` for each range of `size`; return the results in order.

    Ranges do not depend on the number of threads. It pays for work that releases the
    interpreter lock: compiled code, and NumPy on large arrays.

    >>> call_over_ranges(lambda first, last: last - first, 5, size=2)
    [2, 2, 1]
    """
    ranges = [(first, min(first + size, n)) for first in range(0, n, size)]
    threads = min(count_cores() if threads is None else threads, len(ranges))
    if threads <= 1:
        return [work(*one) for one in ranges]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda one: work(*one), ranges))

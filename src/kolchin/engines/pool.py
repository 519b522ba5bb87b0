"""Processes of this machine: the standard library's pool, whose workers end with their driver."""

import multiprocessing
import os
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from kolchin.engines.base import OnExecutor

SECONDS_BETWEEN_LOOKS = 0.5


def pool(n_workers: int) -> OnExecutor:
    """Return an engine of so many processes."""
    start = partial(
        ProcessPoolExecutor,
        n_workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_watch,
        initargs=(os.getpid(),),
    )
    return OnExecutor(start, n_workers)


def _watch(driver: int) -> None:
    """End this process when its driver is gone, even in the middle of a task."""

    def look() -> None:
        while os.getppid() == driver:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=look, daemon=True, name="kolchin driver watch").start()

"""Processes of this machine: the standard library's pool, whose workers end with their driver."""

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from kolchin.engines.base import OnExecutor

SECONDS_BETWEEN_LOOKS = 0.5


def start_pool(n_workers: int) -> OnExecutor:
    """Return an engine of so many processes."""
    start = partial(
        ProcessPoolExecutor,
        n_workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_prepare,
        initargs=(os.getpid(),),
    )
    return OnExecutor(start, n_workers)


def _prepare(driver: int) -> None:
    """Let a worker end when its driver is gone, even in the middle of a task.

    Ctrl-C reaches all processes of a terminal, but is for the driver, which lets rounds end.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def look() -> None:
        while os.getppid() == driver:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    threading.Thread(target=look, daemon=True, name="kolchin driver watch").start()

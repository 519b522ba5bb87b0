"""Seconds by phase."""

import time


class Stopwatch:
    """Seconds of each phase of some work: a phase ends when the next begins.

    >>> watch = Stopwatch("reading")
    >>> watch.begin("comparing")
    >>> list(watch.seconds())
    ['reading', 'comparing']
    """

    def __init__(self, phase: str) -> None:
        self._ended: dict[str, float] = {}
        self._phase = phase
        self._began = time.monotonic()

    def begin(self, phase: str) -> None:
        """End a phase and begin the next."""
        self._ended, self._phase, self._began = self.seconds(), phase, time.monotonic()

    def seconds(self) -> dict[str, float]:
        """Return the seconds of all phases so far."""
        return self._ended | {self._phase: time.monotonic() - self._began}

"""A progress bar for the terminal."""

import sys
import time
from types import TracebackType
from typing import Self


class ProgressBar:
    """Progress on standard error: a bar on a terminal, now and then a line elsewhere."""

    def __init__(self, seconds_between_lines: float = 30.0) -> None:
        self._seconds_between_lines = seconds_between_lines
        self._last_line = float("-inf")
        self._bar = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )

            self._bar = Progress(
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.description}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("starting", total=None)

    def __call__(self, done: int, total: int, what: str) -> None:
        """Show how many of all parts are done, and what is under way."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, description=what)
        elif done == total or time.monotonic() - self._last_line > self._seconds_between_lines:
            self._last_line = time.monotonic()
            sys.stderr.write(f"{done} of {total}: {what}\n")
            sys.stderr.flush()

    def __enter__(self) -> Self:
        """Start the bar."""
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take the bar away, also after an error."""
        if self._bar is not None:
            self._bar.stop()

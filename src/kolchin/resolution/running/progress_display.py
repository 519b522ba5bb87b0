"""What a person sees on standard error while a table is resolved."""

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import numpy as np
import polars as pl

from kolchin.records.columns.column_display import write_columns
from kolchin.sampling import Progress

Watcher = Callable[[Progress], None]


class Display:
    """Messages, and a live line on a terminal.

    ``progress`` is True (tell), False (be silent), None (tell on a terminal alone), or a function
    that is called with the state of sampling a few times a second.
    """

    def __init__(self, progress: bool | Watcher | None) -> None:
        self._watcher = progress if callable(progress) else None
        terminal = sys.stderr.isatty()
        self.tells = progress is True or (progress is None and terminal)
        self._live: Any = None
        if self.tells and terminal:
            from rich.console import Console

            self._live = Console(stderr=True).status("")

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, message: str) -> None:
        """Say something that stays."""
        if self._live is not None:
            self._live.console.print(message, markup=False, highlight=False)
        elif self.tells:
            sys.stderr.write(f"{message}\n")
            sys.stderr.flush()

    def phase(self, words: str) -> None:
        """Say what is going on now."""
        if self._live is not None:
            self._live.update(_escape(words))

    def fields(self, table: pl.DataFrame) -> None:
        """Show what became of each column; missing markers have a note of their own."""
        if self.tells:
            self.say(write_columns(table.iter_rows(named=True)))

    def show_sampling(self, state: Progress, seconds_left: float, until_enough: bool) -> None:
        """Show how far sampling is."""
        if self._watcher is not None:
            self._watcher(state)
        self.phase(describe_sampling(state, seconds_left, until_enough))


def describe_sampling(state: Progress, seconds_left: float, until_enough: bool) -> str:
    """Say phase, draws, entities with their interval, R-hat and the time left in one line."""
    if state.warming_up or not state.n_clusters.size:
        return f"warming up: {state.now:,.0f} entities now, {_write_time_left(seconds_left)}"
    low, high = np.quantile(state.n_clusters, [0.05, 0.95])
    rhat = f", R-hat {state.rhat:.3f}" if np.isfinite(state.rhat) else ""
    total = "" if until_enough else f" of {state.total_draws:,}"
    left = seconds_left if until_enough else min(state.seconds_left, seconds_left)
    return (
        f"sampling: {state.draws:,}{total} draws, {state.n_clusters.mean():,.0f} entities "
        f"({low:,.0f} to {high:,.0f}){rhat}, "
        f"{'' if not until_enough else 'at most '}{_write_time_left(left)}"
    )


def _write_time_left(seconds: float) -> str:
    if not np.isfinite(seconds):
        return "no time limit"
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    return f"{minutes}:{rest:02d} left"


def _escape(words: str) -> str:
    return words.replace("[", r"\[")

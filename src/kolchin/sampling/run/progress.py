"""What a person wants to know while chains run."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from kolchin.parameters import FloatArray

SECONDS_BEFORE_SHOWING = 2.0
DRAWS_BEFORE_RHAT = 20


class Progress(NamedTuple):
    """The state of a run."""

    share: float
    warming_up: bool
    draws: int
    total_draws: int
    n_clusters: FloatArray
    now: float
    seconds: float

    @property
    def seconds_left(self) -> float:
        """Estimated time to the end."""
        return self.seconds * (1 - self.share) / max(self.share, 1e-9)

    @property
    def rhat(self) -> float:
        """R-hat of the number of clusters so far, plain (not rank-normalised), for a glance."""
        n_draws = self.n_clusters.shape[1] if self.n_clusters.ndim == 2 else 0
        if n_draws < DRAWS_BEFORE_RHAT:
            return float("nan")
        half = n_draws // 2
        halves = np.concatenate([self.n_clusters[:, :half], self.n_clusters[:, -half:]])
        within = halves.var(axis=1, ddof=1).mean()
        between = halves.mean(axis=1).var(ddof=1)
        return float(np.sqrt((half - 1) / half + between / within)) if within > 0 else 1.0

    def words(self) -> str:
        """Say it in one line."""
        if self.warming_up or not self.n_clusters.size:
            return f"warming up, {self.now:,.0f} clusters"
        mean, sd = self.n_clusters.mean(), self.n_clusters.std()
        rhat = f", R-hat {self.rhat:.3f}" if np.isfinite(self.rhat) else ""
        return (
            f"{self.draws:,} of {self.total_draws:,} draws, {mean:,.0f} ± {sd:,.0f} clusters{rhat}"
        )


@contextmanager
def show_progress(
    progress: bool | Callable[[Progress], None] | None,
) -> Iterator[Callable[[Progress], None]]:
    """Give a function to call with each state: the user's own, a progress bar, or nothing."""
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not sys.stderr.isatty()):
        yield lambda state: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=False) as bar:
        task = bar.add_task("", total=1.0, visible=False)

        def show(state: Progress) -> None:
            late = state.seconds > SECONDS_BEFORE_SHOWING
            bar.update(task, completed=state.share, description=state.words(), visible=late)

        yield show

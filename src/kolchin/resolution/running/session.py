"""One process's part in a run: take it up, sample, make the results."""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from kolchin.model import Model
from kolchin.options import command
from kolchin.posterior import Posterior
from kolchin.posterior.episodes import make_plain
from kolchin.resolution.results.events import list_events
from kolchin.resolution.results.result import Result
from kolchin.resolution.results.summary import is_enough
from kolchin.resolution.running.directory import RunDirectory
from kolchin.resolution.running.progress_display import Display
from kolchin.resolution.running.review_answers import has_new_answers
from kolchin.resolution.running.settings import Settings
from kolchin.resolution.tables.entity_numbers import GivenIds
from kolchin.resolution.tables.input_table import InputTable
from kolchin.sampling.run.endings import Ending
from kolchin.sampling.run.runner import Run
from kolchin.workplace import Workplace

GROWTH = 1.5
"""How many times as many draws there are at each look at the diagnostics as at the one before."""


class Session:
    """One process's part in a run."""

    def __init__(
        self,
        given: InputTable,
        settings: Settings,
        model: Model,
        directory: RunDirectory | None,
        limit: float,
        display: Display,
        seconds: Mapping[str, float],
        work: Workplace | None = None,
    ) -> None:
        self.given = given
        self.settings = settings
        self.model = model
        self.directory = directory
        self.limit = limit
        self.display = display
        self.seconds = seconds
        self.work = work

    def run(self, merged: bool = False) -> Result:
        """Sample from where the run is, and make the results."""
        began = time.monotonic()
        run = self._take_up()
        starting = time.monotonic() - began
        if not _has_all(run.ended, self.settings.draws) or run.kept < run.wanted:
            self._sample(run)
        began = time.monotonic()
        self.display.phase("making the results")
        seconds = {**self.seconds, "starting": starting, "sampling": run.seconds}
        ended = Ending.TIME if run.ended == Ending.STOPPED else run.ended
        if run.kept == 0:
            ended, drawn = Ending.WARM_UP, run.collect_provisional()
        else:
            drawn = self._read_draws(run)
        del run  # the chains, which results do not need
        about = self.given, self.settings, drawn, ended, seconds, self.model
        where = None if self.directory is None else self.directory.path
        result = Result(*about, self.work, where)
        if self.directory is not None:
            write_results(self.directory, result, merged, began)
        if self.work is not None:
            result.detach()
        return result

    def _read_draws(self, run: Run) -> Posterior:
        """Return all draws; what is on disk is not in memory."""
        if self.directory is None:
            return run.posterior()
        return replace(self.directory.draws(), settings=make_plain(run.describe_settings()))

    def _take_up(self) -> Run:
        self.display.phase("looking for pairs")
        run = Run.begin(self.model, self.settings.run_settings(), self.settings.seed, self.work)
        if self.directory is not None:
            self.directory.restore(run)
        if self.settings.draws is not None:
            run.wanted = self.settings.draws
        else:  # an earlier call may have asked for a few
            run.wanted = max(run.wanted, run.settings.draws)
        return run

    def _sample(self, run: Run) -> None:
        """Draw until it is enough, or until time is up; keep what was drawn."""
        until = time.monotonic() + self.limit
        enough = None if self.settings.draws else lambda: is_enough(run.collect_traces())

        def pause() -> bool:
            if self.directory is not None:
                self.directory.save_if_due(run)
            return time.monotonic() >= until

        run.go_on(
            enough=enough,
            growth=GROWTH,
            pause=pause,
            report=lambda state: self.display.show_sampling(
                state, until - time.monotonic(), enough is not None
            ),
        )
        if run.ended == Ending.INTERRUPTED and run.kept:
            self.display.say("Interrupted: results are made from what was drawn.")
        if self.directory is not None:
            self.directory.save(run, last=True)
        if run.kept == 0 and run.ended == Ending.INTERRUPTED:
            self._tell_nothing_drawn()

    def _tell_nothing_drawn(self) -> None:
        where = (
            ""
            if self.directory is None
            else f" The chains are kept: {command('resume', self.directory.path)} goes on."
        )
        raise KeyboardInterrupt(f"Sampling ended during warm-up, before the first draw.{where}")


def write_results(
    directory: RunDirectory, result: Result, merged: bool = False, began: float | None = None
) -> None:
    """Write all files of a result; summary.json comes last and says that they are complete."""
    directory.write_ids(GivenIds(result.entity_of, result.first_free))
    directory.write_table(
        "entities.csv", result.entities.with_columns(pl.col("confidence").round(6))
    )
    directory.write_table("links.csv", _round_links(result.links))
    if result.events is not None:
        directory.write_table("events.csv", list_events(result.events))
    if merged:
        directory.write_table("merged.csv", result.merged())
    written = time.monotonic()
    if began is not None:
        result.seconds["results"] = written - began
    directory.write_text("report.html", result.page())
    if began is not None:
        result.seconds["report"] = time.monotonic() - written
    directory.write_json("summary.json", result.summary())


def _round_links(links: pl.DataFrame) -> pl.DataFrame:
    """Round probabilities and bits; by place, since Polars takes some names for patterns."""
    columns = [column.alias("") for column in links.iter_columns()]
    columns[2] = columns[2].round(6)
    rounded = [*columns[:4], *(bits.round(4) for bits in columns[4:])]
    named = zip(rounded, links.columns, strict=True)
    return pl.DataFrame([column.alias(name) for column, name in named])


def _has_all(ended: str, asked: int | None) -> bool:
    """Tell whether a run has ended as it was asked: with its draws, or when they are enough."""
    return ended == Ending.ENOUGH or (ended == Ending.DRAWS and asked is not None)


def is_finished(out: str | Path, draws: int | None = None) -> bool:
    """Tell whether a run has ended by itself, its results are written, and no more is asked for."""
    directory = RunDirectory(Path(out))
    asked = Settings.from_json(directory.read_asked()["settings"]).draws
    if has_new_answers(directory):
        return False
    header = directory.header()
    summary = directory.read_summary()
    if summary.get("ended") != header["ended"]:
        return False
    enough = summary.get("diagnostics", {}).get("converged", False)
    if not _has_all(header["ended"], asked) and not (header["ended"] == Ending.DRAWS and enough):
        return False
    kept = summary.get("draws", 0)
    return bool(kept == header["kept"] and (draws is None or draws <= kept))

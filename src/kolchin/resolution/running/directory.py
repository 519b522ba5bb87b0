"""The directory of a run: results in front, and behind them all that they were made from.

``posterior/`` holds the table (records.npz and three Parquet files), what was asked for
(run.json), what comparing gave (compared.npz, made again where it is missing), the ids of the last
list (ids.npz), the draws (draws-00000.npz, ...) and the state of the chains (state.npz). Parts of
draws have a fixed length and are never changed once they are full; the state holds the draws of the
part that is not full. Every file is replaced whole, and the state last, so that a run can be killed
between any two bytes and goes on from the state before.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from filelock import BaseFileLock, FileLock, Timeout
from numpy.typing import NDArray

from kolchin.errors import DataError, SamplerError
from kolchin.files import replace_whole
from kolchin.likelihoods import Exemplar, Likelihood
from kolchin.options import command, option
from kolchin.posterior import Posterior
from kolchin.posterior.draws_on_disk import name_part, save, write_arrays
from kolchin.posterior.recorder import collect_posterior
from kolchin.records import Records
from kolchin.resolution.results.spreadsheet_formulas import quote_formulas
from kolchin.resolution.running.kept_likelihood import FILE as LIKELIHOOD
from kolchin.resolution.running.kept_likelihood import read_likelihood, write_likelihood
from kolchin.resolution.tables.entity_numbers import GivenIds
from kolchin.resolution.tables.input_table import UNREADABLE, InputTable, write_ids
from kolchin.sampling.run.checkpoint import pack_run, read_header, restore, take_chains
from kolchin.sampling.run.runner import Run

RESULTS = ("entities.csv", "links.csv", "summary.json", "report.html", "merged.csv", "events.csv")
SECONDS_BETWEEN = 5.0
LARGEST_SHARE = 0.05
"""Time between checkpoints, and the largest share of all time that they may take."""

FORMAT = 4
DRAWS_A_PART = 250
RECORDS_A_PART = 2**26
"""A part of draws holds so many, or fewer where the draws of so many records are a part.

A part begins with a whole partition, and its changes are in memory until it is full.
"""


class RunDirectory:
    """Where a run keeps everything."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.posterior = path / "posterior"
        self._saved_parts = 0
        self._last = time.monotonic()
        self._cost = 0.0

    @property
    def has_run(self) -> bool:
        """Whether there is a run that can be taken up or looked at."""
        return (self.posterior / "run.json").exists()

    @property
    def _resuming(self) -> str:
        """What goes on with the run."""
        return command("resume", self.path)

    def check_free(self, overwrite: bool) -> None:
        """Refuse a directory with results in it, unless they may go."""
        if self.path.exists() and not self.path.is_dir():
            raise DataError(f"{self.path} is a file. Name another directory with {option('out')}.")
        folders = (self.path, *self.path.absolute().parents)
        above = next(folder for folder in folders if folder.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise DataError(
                f"{self.path} cannot be written to: {above} "
                f"{'may not be changed' if above.is_dir() else 'is a file'}. Name another "
                f"directory with {option('out')}."
            )
        there = [name for name in RESULTS if (self.path / name).exists()]
        if (self.has_run or there) and not overwrite:
            raise DataError(
                f"{self.path} holds an earlier run. {self._resuming} goes on with it, "
                f"{option('out')} names another directory, and {option('overwrite')} replaces it."
            )

    def begin(self, given: InputTable, asked: dict[str, Any]) -> InputTable:
        """Clear an older run away and write what this one starts from; run.json comes last.

        Return the input as it is kept.
        """
        with self.explain_write_faults():
            (self.posterior / "run.json").unlink(missing_ok=True)
            for name in RESULTS:
                (self.path / name).unlink(missing_ok=True)
            outdated = [self.posterior / name for name in ("state.npz", LIKELIHOOD)]
            for old in [*self.posterior.glob("draws-*.npz"), *outdated]:
                old.unlink(missing_ok=True)
            given = given.save(self.posterior)
        self.ask(asked)
        return given

    def write_likelihood(self, likelihood: Likelihood) -> None:
        """Write what comparing has taught, so that nobody need compare the records again."""
        with self.explain_write_faults():
            write_likelihood(self.posterior, likelihood)

    def read_likelihood(self, records: Records) -> Exemplar | None:
        """Return what was learned from comparing these records, if that was kept."""
        return read_likelihood(self.posterior, records)

    def write_ids(self, ids: GivenIds) -> None:
        """Write the ids of a list before people see it: whatever comes later, they stay."""
        with self.explain_write_faults():
            write_ids(self.posterior, ids)

    def ask(self, asked: dict[str, Any]) -> None:
        """Write what is asked for."""
        from kolchin import __version__

        self.write_json("posterior/run.json", {"format": FORMAT, "version": __version__, **asked})

    def read_asked(self) -> dict[str, Any]:
        """Read what was asked for."""
        path = self.posterior / "run.json"
        if not path.exists():
            raise DataError(f"There is no run in {self.path}. Start one with {command('resolve')}.")
        try:
            data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DataError(f"{path} is damaged and cannot be read: {error}.") from error
        if data.get("format") != FORMAT:
            raise DataError(f"{path} is of another version of kolchin: go on with that one.")
        return data

    @contextmanager
    def lock(self) -> Iterator[BaseFileLock]:
        """Keep two processes from working on one directory; a killed one lets go by itself."""
        with self.explain_write_faults():
            self.posterior.mkdir(parents=True, exist_ok=True)
            lock = _take_lock(self.posterior)
        if lock is None:
            raise DataError(f"Another process is working on {self.path}.")
        with lock as held:
            for folder in (self.path, self.posterior):
                for half in folder.glob(".*.part"):  # of a process that was killed
                    half.unlink(missing_ok=True)
            yield held

    @contextmanager
    def explain_write_faults(self) -> Iterator[None]:
        """Say what to do when a file cannot be written."""
        try:
            yield
        except (OSError, pl.exceptions.PolarsError) as error:
            goes_on = f"What was saved before is intact: {self._resuming} goes on from it."
            raise SamplerError(
                f"{self.path} cannot be written to: {getattr(error, 'strerror', None) or error}. "
                + (goes_on if self.has_run else "Nothing was begun.")
            ) from error

    def save_if_due(self, run: Run) -> None:
        """Save the run every few seconds, or less often where that takes long."""
        waited = time.monotonic() - self._last
        if waited >= max(SECONDS_BETWEEN, self._cost / LARGEST_SHARE):
            self.save(run)

    def save(self, run: Run, last: bool = False) -> None:
        """Write new parts of draws, and then the state; at the end also the last, short part."""
        began = time.monotonic()
        length = choose_part_length(run.model.n_records)
        with self.explain_write_faults():
            while (self._saved_parts + 1) * length <= run.kept:
                self._save_part(run, self._saved_parts, length)
                self._saved_parts += 1
                for chain in run.chains:
                    chain.draws.forget(self._saved_parts * length)
            if last and run.kept > self._saved_parts * length:
                self._save_part(run, self._saved_parts, length)
            state = pack_run(run, self._saved_parts * length)
            write_arrays(self.posterior / "state.npz", state)
        self._last = time.monotonic()
        self._cost = self._last - began

    def _save_part(self, run: Run, number: int, length: int) -> None:
        inside = slice(number * length, min((number + 1) * length, run.kept))
        drawn = [chain.draws for chain in run.chains]
        posterior = collect_posterior(drawn, run.settings_of_draws, inside.start, inside.stop)
        save(posterior, name_part(self.posterior, number), inside.start)

    def restore(self, run: Run) -> None:
        """Bring a new run to the saved state, if there is one."""
        arrays = self._state()
        if arrays is None:
            return
        header = read_header(arrays)
        if header.get("answers", "") != run.model.answers.stamp:
            self._condition(run, arrays)
            return
        first_draw = header["first_draw"]
        self._saved_parts = first_draw // choose_part_length(run.model.n_records)
        paths = (name_part(self.posterior, number) for number in range(self._saved_parts))
        restore(run, arrays, map(Posterior.load, paths))

    def _condition(self, run: Run, arrays: dict[str, NDArray[Any]]) -> None:
        """Let the chains go on, given other answers; draws from before are of another posterior.

        What is asked for has been written: until there is a new state, this is done again.
        """
        take_chains(run, arrays)
        with self.explain_write_faults():
            for old in self.posterior.glob("draws-*.npz"):
                old.unlink()
        self.save(run)

    def draws(self) -> Posterior:
        """Read all draws of full parts, and of the last one once the run has ended."""
        return Posterior.load(self.posterior)

    def header(self) -> dict[str, Any]:
        """Return what the saved state says of the run as a whole."""
        arrays = self._state(only="header")
        return {"ended": "", "seconds": 0.0, "kept": 0} if arrays is None else read_header(arrays)

    def _state(self, only: str | None = None) -> dict[str, NDArray[Any]] | None:
        path = self.posterior / "state.npz"
        if not path.exists():
            return None
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
                return {name: data[name] for name in data.files if only in (None, name)}
        except UNREADABLE as error:
            raise DataError(f"{path} is damaged and cannot be read: {error}.") from error

    def read_summary(self) -> dict[str, Any]:
        """Return what summary.json holds; nothing where there is none."""
        try:
            data: dict[str, Any] = json.loads(
                (self.path / "summary.json").read_text(encoding="utf-8")
            )
        except (OSError, ValueError):
            return {}
        return data

    def write_table(self, name: str, table: pl.DataFrame) -> None:
        """Write a table as CSV, whole or not at all; formulas are quoted if that was asked for."""
        if self.read_asked().get("safe_csv", False):
            table = quote_formulas(table)
        with self.explain_write_faults(), replace_whole(self.path / name) as part:
            table.write_csv(part)

    def write_text(self, name: str, text: str) -> None:
        """Write a text, whole or not at all."""
        with self.explain_write_faults(), replace_whole(self.path / name) as part:
            part.write_text(text, encoding="utf-8")

    def write_json(self, name: str, data: Any) -> None:
        """Write plain data, whole or not at all."""
        self.write_text(name, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def choose_part_length(n_records: int) -> int:
    """Return the number of draws of a chain in a part."""
    return min(DRAWS_A_PART, max(1, RECORDS_A_PART // n_records))


def _take_lock(folder: Path) -> AbstractContextManager[BaseFileLock] | None:
    """Keep others out of a folder until the context is left; None if another is in."""
    try:  # the system lets go when a process dies
        return FileLock(folder / ".lock").acquire(timeout=0)
    except Timeout:
        return None

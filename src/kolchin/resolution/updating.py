"""New records join a finished run: given its parameters, or, for categories, by a new run."""

import os
import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kolchin.errors import DataError
from kolchin.model import Model
from kolchin.parameters import IntArray
from kolchin.posterior import Posterior
from kolchin.posterior.draws_on_disk import name_part, save
from kolchin.resolution.running.directory import RESULTS, RunDirectory
from kolchin.resolution.running.grown_models import extend_model, forget_base
from kolchin.resolution.running.progress_display import Display
from kolchin.resolution.running.session import Session, write_results
from kolchin.resolution.running.settings import AUTO, check_cores, choose_limit
from kolchin.resolution.tables.changed_rows import ChangedTable, ChangeRequest, change_table
from kolchin.resolution.tables.entity_numbers import EarlierEntities
from kolchin.resolution.tables.input_table import InputTable
from kolchin.sampling.run.endings import Ending
from kolchin.sampling.updating import update_draws
from kolchin.threads import limit_cores

KEPT_BY_PEOPLE = ("answers.csv", "golden.toml")
OUTDATED = (*RESULTS, "golden.csv", "golden_values.csv", "posterior")
"""What is of the run as it was, and not of what it has become."""

if TYPE_CHECKING:
    from kolchin.resolution.results.result import Result


def update(
    result: "Result",
    rows: Any = None,
    *,
    table: str | None = None,
    query: str | None = None,
    key: str | None = None,
    delete: Any = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    seed: int | None = None,
    cores: int | None = None,
    progress: bool | None = None,
) -> "Result":
    """Let new records join a result; see :meth:`kolchin.Result.update`."""
    if result.ended == Ending.WARM_UP:
        raise DataError("The run was stopped during warm-up: resume it before records are added.")
    directory = None if out is None else RunDirectory(Path(out))
    if directory is not None:
        directory.check_free(overwrite)
    with limit_cores(check_cores(cores)), Display(progress) as display:
        display.phase("reading the new records")
        found = change_table(result._given, ChangeRequest(rows, table, query, key, delete))
        before = EarlierEntities.of(result._given.ids, result.entity_of, result.first_free)
        found = found._replace(given=replace(found.given, before=before))
        _tell(display, result._given, found)
        if not result._model.likelihood.n_compared:
            return _run_again(result, found, directory, display)
        return _draw_given_parameters(result, found, directory, seed, display)


def _tell(display: Display, old: InputTable, found: ChangedTable) -> None:
    known = _find_rows(old, found.given) >= 0
    n_new, n_now = int((~known).sum()), found.row_before.size
    n_changed, n_gone = int((known & (found.row_before < 0)).sum()), old.ids.len() - known.sum()
    what = [f"{n_new:,} new row{'s' * (n_new != 1)}"]
    what += [f"{n_changed:,} changed"] * bool(n_changed) + [f"{n_gone:,} deleted"] * bool(n_gone)
    display.say(f"{found.given.title}: {', '.join(what)}; {n_now:,} records now")
    for note in found.given.notes:
        display.say(f"Note: {note}")


def _find_rows(old: InputTable, new: InputTable) -> IntArray:
    """Return where each record was before, changed or not; -1 for new ones.

    What people said of a record they said of whoever has its id.
    """
    before = pl.DataFrame({"id": old.ids}).with_row_index("row")
    found = pl.DataFrame({"id": new.ids}).join(before, on="id", how="left", maintain_order="left")
    rows: IntArray = found["row"].cast(pl.Int64).fill_null(-1).to_numpy()
    return rows


def _draw_given_parameters(
    result: "Result",
    found: ChangedTable,
    directory: RunDirectory | None,
    seed: int | None,
    display: Display,
) -> "Result":
    from kolchin.resolution.results.result import Result

    began = time.monotonic()
    display.phase("comparing the new records")
    given, row_before = found
    settings = result._settings.move_rows(_find_rows(result._given, given))
    model = extend_model(result._base_model, given, settings)
    compared = time.monotonic()
    display.phase("drawing what they touch")
    seed = result._settings.seed if seed is None else seed
    # Another number each time, so that updates in a row do not repeat their draws.
    stream = np.random.SeedSequence([seed, given.records.n_records, result.first_free])
    posterior = update_draws(result.posterior, model, row_before, row_before < 0, stream)
    seconds = {"comparing": compared - began, "sampling": time.monotonic() - compared}
    base = result._base_model
    made = Result(given, settings, posterior, Ending.UPDATED, seconds, model)
    made.__dict__["_base_model"] = base
    if directory is not None:
        made.directory = directory.path
        _keep(directory, result, made, posterior, display)
    return made


def _find_asked(result: "Result") -> dict[str, Any]:
    """Return how the files of a result were asked for: with the table, and with quoted formulas."""
    asked: dict[str, Any] = {"merged": False, "safe_csv": False}
    if result.directory is None:
        return asked
    earlier = RunDirectory(result.directory).read_asked()
    return {name: earlier[name] for name in asked}


def _keep(
    directory: RunDirectory,
    result: "Result",
    made: "Result",
    posterior: Posterior,
    display: Display,
) -> None:
    """Write the run and its results."""
    began = time.monotonic()
    display.phase("making the results")
    asked = _find_asked(result)
    with directory.lock():
        _bring_along(result, directory)
        whole = {
            "settings": made._settings.to_json(),
            "input": None,
            **asked,
            "seconds": made.seconds,
            "updated": True,
        }
        directory.begin(made._given, whole)
        directory.write_likelihood(made._base_model.likelihood)
        with directory.explain_write_faults():
            save(posterior, name_part(directory.posterior, 0), 0)
        write_results(directory, made, asked["merged"], began)


def add(
    path: Path,
    rows: Any = None,
    *,
    table: str | None = None,
    query: str | None = None,
    key: str | None = None,
    delete: Path | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    seed: int | None = None,
    cores: int | None = None,
    progress: bool | None = None,
) -> "Result":
    """Let new records join the run of a directory, or another one that it is copied to.

    The run is replaced when all is written: until then the old one is as it was.
    """
    from kolchin.resolution.results.result import Result

    result = Result.load(path)
    update = partial(
        result.update,
        rows,
        table=table,
        query=query,
        key=key,
        delete=delete,
        seed=seed,
        cores=cores,
        progress=progress,
    )
    if out is not None and out.resolve() != path.resolve():
        return update(out=out, overwrite=overwrite)
    beside = path.resolve().with_name(f".{path.resolve().name}.adding")
    with RunDirectory(path).lock() as lock:
        shutil.rmtree(beside, ignore_errors=True)
        try:
            made = update(out=beside)
            if os.name == "nt":  # pragma: no cover - there, no folder with an open file is renamed
                lock.release()
            _exchange(path.resolve(), beside)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    made.directory = path
    return made


def _bring_along(result: "Result", new: RunDirectory) -> None:
    """Copy what people said about the records: answers, and rules for golden records."""
    if result.directory is None or result.directory.resolve() == new.path.resolve():
        return
    for name in KEPT_BY_PEOPLE:
        if (result.directory / name).exists():
            shutil.copy2(result.directory / name, new.path / name)


def _exchange(path: Path, beside: Path) -> None:
    """Put a new run in the place of the old one; what else is in the directory stays."""
    away = path.with_name(f".{path.name}.before")
    shutil.rmtree(away, ignore_errors=True)
    for old in path.iterdir():
        if not (beside / old.name).exists() and old.name not in OUTDATED:
            shutil.move(old, beside / old.name)
    path.rename(away)
    beside.rename(path)
    shutil.rmtree(away, ignore_errors=True)


def _run_again(
    result: "Result", found: ChangedTable, directory: RunDirectory | None, display: Display
) -> "Result":
    """Resolve all records anew, with the same settings: categories have no candidates to go by."""
    given = forget_base(found.given)
    settings = result._settings.move_rows(_find_rows(result._given, given))
    model: Model = settings.model(given.records, given.source)
    limit = choose_limit(AUTO, model.n_records)
    if directory is None:
        return Session(given, settings, model, None, limit, display, {}).run()
    with directory.lock():
        _bring_along(result, directory)
        asked = _find_asked(result)
        whole = {"settings": settings.to_json(), "input": None, **asked, "seconds": {}}
        given = directory.begin(given, whole)
        return Session(given, settings, model, directory, limit, display, {}).run(asked["merged"])

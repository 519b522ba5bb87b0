"""Resolve a table: read, sample until it is enough, and write down what was found."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kolchin.engines import open_engine
from kolchin.errors import ModelError
from kolchin.likelihoods import Exemplar, compare_records
from kolchin.model import Model
from kolchin.parameters import Gamma, Hyper
from kolchin.partitions import NO_SOURCES
from kolchin.priors import Prior
from kolchin.records import DataWarning
from kolchin.records.fields.declarations import FieldLike
from kolchin.records.files.column_renames import Renames
from kolchin.records.loading import load
from kolchin.resolution.results.outweighed_fields import describe_too_weak
from kolchin.resolution.results.result import Result
from kolchin.resolution.results.spreadsheet_formulas import note_formulas
from kolchin.resolution.running.directory import RunDirectory
from kolchin.resolution.running.grown_models import forget_base
from kolchin.resolution.running.progress_display import Display, Watcher
from kolchin.resolution.running.review_answers import read_reviewed
from kolchin.resolution.running.session import Session
from kolchin.resolution.running.settings import (
    AUTO,
    Settings,
    check_cores,
    choose_limit,
    number_sources,
    read_limit,
)
from kolchin.resolution.running.stopwatch import Stopwatch
from kolchin.resolution.tables.answer_tables import UserAnswers, read_known
from kolchin.resolution.tables.input_table import InputTable, check_fields_can_be_kept
from kolchin.resolution.tables.table_source import check_unchanged, describe_source, open_source
from kolchin.threads import limit_cores
from kolchin.workplace import Workplace, open_workplace

BEGINNING = ("updated", "format", "version")
"""What is no part of what a run is asked for."""


def resolve(
    data: Any,
    /,
    *,
    table: str | None = None,
    query: str | None = None,
    fields: Iterable[FieldLike] | FieldLike | str | Path | None = None,
    id: str | None = None,
    source: str | None = None,
    truth: str | None = None,
    one_per_source: bool = False,
    keys: Sequence[Sequence[str]] | None = None,
    same: Any = None,
    different: Any = None,
    answer_error: float = 0.0,
    prior: str | Prior = "nbd",
    likelihood: str = "compared",
    delta: Hyper = Gamma(1, 1),
    tied: bool = True,
    chains: int = 4,
    draws: int | None = None,
    seed: int | None = None,
    time_limit: float | str | None = AUTO,
    out: str | Path | None = None,
    overwrite: bool = False,
    merged: bool = False,
    safe_csv: bool = False,
    normalise: bool = True,
    missing: Iterable[str] | None = None,
    rename: Renames | None = None,
    cores: int | None = None,
    engine: Any = None,
    store: str | Path | None = None,
    progress: bool | Watcher | None = None,
) -> Result:
    """Find the records of a table that belong to the same entity.

    Parameters
    ----------
    data
        A path, several paths, a DataFrame of any kind, a list of dictionaries, or a database:
        ``"sqlite:///FILE"``, ``"duckdb:///FILE"``, ``"postgresql://HOST/DB"``, or any DB-API, ADBC
        or DuckDB connection.
    table, query
        Of a database, the table to read (the only one by default), or a SELECT.
    fields
        What the model looks at: column names, fields, or a FIELDS.toml file; found by default.
        Names become fields of the kind that their columns seem to be.
    id, source, truth
        Columns with the records' ids, their sources, and their true entities. The truth never
        informs the model: it is for the evaluation alone. Without ``id``, a column of
        identifiers whose values all differ names the records, else the row number from 0.
    one_per_source
        No source has two records of one entity, so never link records of the same source.
    keys
        Columns on all of which records agree that should be compared, such as
        ``[("surname", "dob")]``, beside the pairs that are found automatically.
    same, different
        Pairs of records, by their ids, that are known to be the same or not: a list such as
        ``[(1, 2)]``, a table of two columns, or a file. A third entry or column is the rate at
        which that answer errs.
    answer_error
        The rate at which answers err that have none of their own; 0, by default, says that they
        are certain.
    prior
        "nbd", "nbnb", "dp", "pyp", "escnb" or "escd", or a prior such as ``kp.NBNB(r=1)``.
    likelihood
        "compared", for any table, or "categorical", the paper's: every value is a category, and
        fields are independent.
    delta, tied
        As in :class:`kolchin.Model`, for the likelihood of categories.
    chains, draws
        Number of chains, and of draws of each. Without ``draws``, sampling goes on until R-hat is
        below 1.01 and the effective sample size at least 400 for every monitored quantity.
    seed
        The same seed gives the same result.
    time_limit
        Seconds of sampling after which results are made from what was drawn, or a text such as
        "90s", "10m" or "2h"; None for no limit, "auto" for ten minutes, or ten for each million
        records.
    out, overwrite
        A directory for results and checkpoints (without it nothing is written), and whether an
        older run there may be replaced.
    merged
        Also write the input with a column of entities to ``out``.
    safe_csv
        Quote cells of the CSV files in ``out`` that a spreadsheet would run as formulas.
    normalise
        Treat values as equal that differ in case, spaces or Unicode form alone.
    missing
        Values, whatever their case, that stand for none, beside empty ones; by default those such
        as "NA", "null" and "-", but for what is a name in a column of names.
    rename
        By file, the new names of columns, where files name them differently:
        ``{"b.csv": {"Surname": "last_name"}}``.
    cores
        How many cores to use; all by default. The result does not depend on it.
    engine
        Where the work is done (and tables of 50,000 records or more sampled): None for threads,
        "pool" or "pool:4" for processes, "dask://host:port", "spark", "spark://host:port",
        "sc://host:port", a Dask client or a Spark session. The result does not depend on it.
    store
        A directory that this process and all workers see under the same path, for what they
        exchange; by default in ``out``, or a temporary one.
    progress
        True tells what goes on, False nothing; None tells it on a terminal. A function is called
        with the state of sampling.

    Notes
    -----
    Ctrl-C ends sampling, not the work: results are made from what was drawn.

    Examples
    --------
    >>> people = {"name": ["ann", "ann", "bob", "eve"] * 3, "year": [1, 1, 2, 3] * 3}
    >>> result = resolve(people, chains=2, draws=20, seed=1)
    >>> result.entities.columns
    ['record', 'entity', 'entity_size', 'confidence']
    """
    time_limit = read_limit(time_limit)
    settings = Settings.check(
        prior, delta, tied, chains, draws, seed, time_limit, one_per_source, keys, likelihood
    )
    if merged and out is None:
        raise ModelError(
            "The 'merged' parameter needs 'out', a directory to write to; without one, use the "
            "result's merged()."
        )
    if isinstance(fields, Iterator):
        fields = list(fields)
    directory = None if out is None else RunDirectory(Path(out))
    if directory is not None:
        check_fields_can_be_kept(fields if isinstance(fields, Iterable) else [fields])
        settings.to_json()  # refuses priors that a directory cannot hold
        directory.check_free(overwrite)
    if missing is not None:
        missing = [missing] if isinstance(missing, str) else list(missing)
    choices: dict[str, Any] = {"fields": fields, "id": id, "source": source, "truth": truth}
    choices |= {"missing": missing, "rename": rename}
    watch = Stopwatch("reading")
    with (
        limit_cores(check_cores(cores)),
        open_engine(engine) as running,
        Display(progress) as display,
        ExitStack() as stack,
    ):
        if directory is not None and running is not None:
            stack.enter_context(directory.lock())
        work = stack.enter_context(open_workplace(running, _find_folder(store, directory)))
        display.phase("reading the table")
        content, title = open_source(data, table, query)
        loaded = load(content, **choices, normalise=normalise, work=work)
        cleaning = {"normalise": normalise, "missing": missing}
        given = replace(InputTable.of(loaded, title), cleaning=cleaning)
        del loaded
        if directory is not None and not safe_csv:
            formulas = note_formulas(given.texts, given.texts.columns)
            given = replace(given, notes=(*given.notes, *formulas))
        _tell_input(display, given)
        # Before anything is compared: answers that cannot hold are refused.
        said = UserAnswers(same, different, answer_error)
        sources = number_sources(given.source).astype(np.int32) if one_per_source else NO_SOURCES
        settings = settings.with_known(read_known(said, given, sources))
        watch.begin("comparing")
        # Before results are written over: a model refuses what it cannot use.
        model = _build_model(settings, given, display, watch, work)
        for sentence in describe_too_weak(model):
            display.say(f"Note: {sentence}")
        settings = settings.fit_to_model(model)
        seconds = watch.seconds()
        if directory is not None:
            if running is None:
                stack.enter_context(directory.lock())
            asked = {
                "settings": settings.to_json(),
                "input": describe_source(content, choices | {"normalise": normalise}),
                "merged": merged,
                "safe_csv": safe_csv,
                "seconds": seconds,
            }
            given = directory.begin(given, asked)
            if work is None:  # else pairs are where the engine has them
                directory.write_likelihood(model.likelihood)
        limit = choose_limit(time_limit, model.n_records)
        session = Session(given, settings, model, directory, limit, display, seconds, work)
        return session.run(merged)


def resume(
    out: str | Path,
    *,
    draws: int | None = None,
    time_limit: float | str | None = AUTO,
    cores: int | None = None,
    engine: Any = None,
    store: str | Path | None = None,
    progress: bool | Watcher | None = None,
) -> Result:
    """Go on with a run where it stopped, or draw more: ``draws`` of each chain in all.

    Of a run that was to go on until it is enough, ``draws`` ends this call alone: without it, the
    next one goes on until it is enough.

    Answers of a review that came since then count from now on: chains go on from where they are,
    and draws from before are dropped.

    A run that was killed and is resumed ends with the same files, to the bit, as one that was
    not, whatever the engines. The input must not have changed since.
    """
    time_limit = read_limit(time_limit)
    directory = RunDirectory(Path(out))
    asked = directory.read_asked()
    settings = Settings.from_json(asked["settings"])
    with (
        limit_cores(check_cores(cores)),
        open_engine(engine) as running,
        Display(progress) as display,
        directory.lock(),
        open_workplace(running, _find_folder(store, directory)) as work,
    ):
        display.phase("reading the table")
        given = InputTable.load(directory.posterior, hold=work is None)
        if asked.get("updated"):  # parameters are to be drawn as well: from the beginning
            given = forget_base(given)
            asked = {name: value for name, value in asked.items() if name not in BEGINNING}
            given = directory.begin(given, asked)
        check_unchanged(asked["input"], given, display, work)
        reviewed = read_reviewed(directory.path, given.ids)
        if reviewed.known != settings.reviewed:
            display.say(reviewed.words())
            settings = settings.with_reviewed(reviewed.known, directory.header()["kept"] > 0)
            directory.ask({**asked, "settings": settings.to_json()})
        elif draws is not None:
            _check_more(directory, draws)
        if draws is not None:
            Settings.check(settings.prior, 1.0, True, 1, draws, 1, time_limit)
            asked_until_enough = settings.draws is None
            settings = settings.with_draws(draws)
            if not asked_until_enough:  # else the number is for this call alone
                directory.ask({**asked, "settings": settings.to_json()})
        kept = directory.read_likelihood(given.records) if work is None else None
        model = _build_model(settings, given, display, Stopwatch("comparing"), work, kept)
        if work is None and kept is None:
            directory.write_likelihood(model.likelihood)
        limit = choose_limit(time_limit, model.n_records)
        seconds = asked["seconds"]
        session = Session(given, settings, model, directory, limit, display, seconds, work)
        return session.run(asked["merged"])


def _find_folder(store: str | Path | None, directory: RunDirectory | None) -> Path | None:
    """Return where a store is to be, if that is not left open."""
    if store is not None:
        return Path(store)
    return None if directory is None else directory.posterior


def _build_model(
    settings: Settings,
    given: InputTable,
    display: Display,
    watch: Stopwatch,
    work: Workplace | None,
    kept: Exemplar | None = None,
) -> Model:
    """Build the model once, which may take a while where there is much to compare.

    ``kept`` is what was learned from comparing these records before.
    """
    if kept is None and settings.likelihood != "categorical":
        sources = settings.sources_of(given.source)
        comparisons = compare_records(given.records, settings.keys, display.phase, work, sources)
        watch.begin("dependence")
        display.phase("learning which fields move together")
        kept = Exemplar.fit(comparisons)
    return settings.model(given.records, given.source, kept)


def _check_more(directory: RunDirectory, draws: int) -> None:
    """Refuse fewer draws than there are: they would end a run that has not converged."""
    kept = directory.header()["kept"]
    if draws < kept:
        raise ModelError(
            f"The run in {directory.path} has {kept:,} draws of each chain already, so 'draws' "
            f"must be more. Got {draws:,}; without it the run goes on until it is enough."
        )


def _tell_input(display: Display, given: InputTable) -> None:
    display.say(f"{given.title}: {given.records.n_records:,} records")
    display.fields(given.fields)
    for note in given.notes:
        display.say(f"Note: {note}")
    if given.notes and not display.tells:
        lines = "\n".join(f"- {note}" for note in given.notes)
        warnings.warn(f"What was done with the table:\n{lines}", DataWarning, stacklevel=3)

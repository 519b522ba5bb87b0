"""Commands that look at a table and resolve it."""

from pathlib import Path
from typing import Annotated

import typer

from kolchin.cli.application import conclude, keep_resumable, say
from kolchin.cli.arguments import (
    Cores,
    Directory,
    EngineName,
    LikelihoodName,
    Missing,
    PriorName,
    Query,
    Quiet,
    Renamed,
    StorePath,
    TableName,
    Tables,
    TimeLimit,
)


def fields(
    table: Tables,
    name: TableName = None,
    query: Query = None,
    out: Annotated[Path | None, typer.Option(help="The .toml file to write.")] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", help="Column that names records.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Column that says the source.")] = None,
    truth: Annotated[str | None, typer.Option(help="Column of the true entities.")] = None,
    missing: Missing = None,
    renamed: Renamed = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file if it is there.")
    ] = False,
) -> None:
    """Show what each column is, and write the choice of fields as a file to edit."""
    from kolchin.records import choices_text, inspect, write_choices
    from kolchin.records.columns.column_display import show_columns
    from kolchin.records.files.column_renames import read_renames
    from kolchin.resolution.tables.table_source import open_source

    rows, _ = open_source(table[0] if len(table) == 1 else table, name, query)
    found = inspect(
        rows,
        id=id_column,
        source=source,
        truth=truth,
        missing=missing,
        rename=read_renames(renamed or ()),
    )
    if out is not None:
        write_choices(found, out, overwrite=overwrite)
    show_columns(found.columns)
    for note in found.notes:
        say(f"Note: {note}")
    if out is None:
        typer.echo(choices_text(found), nl=False)
    else:
        say(f"Wrote {out}")


def resolve(
    table: Tables,
    name: TableName = None,
    query: Query = None,
    out: Annotated[
        Path | None, typer.Option(help="The directory to write to; TABLE.resolved by default.")
    ] = None,
    fields: Annotated[
        Path | None, typer.Option(help="A FIELDS.toml that says what each column is.")
    ] = None,
    id: Annotated[str | None, typer.Option("--id", help="Column with the records' ids.")] = None,
    source: Annotated[str | None, typer.Option(help="Column with the records' source.")] = None,
    truth: Annotated[
        str | None, typer.Option(help="Column with the true entities; for the evaluation alone.")
    ] = None,
    one_per_source: Annotated[
        bool, typer.Option("--one-per-source", help="Never link two records of one source.")
    ] = False,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            help="Columns: records that agree on all of them are compared; as often as needed.",
            metavar="COLUMN,COLUMN",
        ),
    ] = None,
    same: Annotated[
        Path | None,
        typer.Option(help="A file of pairs that are the same: two columns of ids.", metavar="FILE"),
    ] = None,
    different: Annotated[
        Path | None,
        typer.Option(help="A file of pairs that are different.", metavar="FILE"),
    ] = None,
    answer_error: Annotated[
        float,
        typer.Option(help="How often such answers err, where no third column says it; 0: never."),
    ] = 0.0,
    prior: Annotated[PriorName, typer.Option(help="Prior over partitions.")] = PriorName.NBD,
    likelihood: Annotated[
        LikelihoodName,
        typer.Option(help="How near values are, and what moves together; or categories alone."),
    ] = LikelihoodName.COMPARED,
    chains: Annotated[int, typer.Option(min=1, help="Number of chains.")] = 4,
    draws: Annotated[
        int | None, typer.Option(min=1, help="Draws of each chain; by default until enough.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same result.")] = None,
    time_limit: TimeLimit = "auto",
    merged: Annotated[
        bool, typer.Option("--merged", help="Also write the table with the entities added.")
    ] = False,
    safe_csv: Annotated[
        bool,
        typer.Option("--safe-csv", help="Quote cells that a spreadsheet would run as formulas."),
    ] = False,
    normalise: Annotated[
        bool, typer.Option(help="Ignore differences of case, spaces and Unicode form.")
    ] = True,
    missing: Missing = None,
    renamed: Renamed = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an older run.")] = False,
    cores: Cores = None,
    engine: EngineName = None,
    store: StorePath = None,
    quiet: Quiet = False,
) -> None:
    """Find the records of a table that belong to the same entity.

    Sampling goes on until the diagnostics say that it is enough, or the time limit. Ctrl-C ends
    sampling early: results are made from what was drawn, and 'kolchin resume' goes on.
    """
    from kolchin import resolution
    from kolchin.databases import read_path
    from kolchin.records.files.column_renames import read_renames
    from kolchin.resolution.running.settings import read_seconds

    first = read_path(table[0])
    named = first if first.name.strip(".") else first.resolve()
    where = out or named.with_name(f"{named.name}.resolved")
    with keep_resumable(where):
        result = resolution.resolve(
            table[0] if len(table) == 1 else table,
            table=name,
            query=query,
            fields=fields,
            id=id,
            source=source,
            truth=truth,
            one_per_source=one_per_source,
            keys=[tuple(name.strip() for name in key.split(",")) for key in keys or ()],
            same=same,
            different=different,
            answer_error=answer_error,
            prior=prior.value,
            likelihood=likelihood.value,
            chains=chains,
            draws=draws,
            seed=seed,
            time_limit=read_seconds(time_limit),
            out=where,
            overwrite=overwrite,
            merged=merged,
            safe_csv=safe_csv,
            normalise=normalise,
            missing=missing,
            rename=read_renames(renamed or ()) or None,
            cores=cores,
            engine=engine,
            store=store,
            progress=not quiet,
        )
    conclude(result, where, quiet)


def resume(
    directory: Directory,
    draws: Annotated[
        int | None, typer.Option(min=1, help="Draws of each chain in all; more than there are.")
    ] = None,
    time_limit: TimeLimit = "auto",
    cores: Cores = None,
    engine: EngineName = None,
    store: StorePath = None,
    quiet: Quiet = False,
) -> None:
    """Go on with a run where it stopped, make answers of a review count, or draw more."""
    from kolchin import resolution
    from kolchin.resolution.running.session import is_finished
    from kolchin.resolution.running.settings import read_seconds

    seconds = read_seconds(time_limit)
    if is_finished(directory, draws):
        say(f"{directory} is finished. A larger --draws draws more.")
        return
    with keep_resumable(directory):
        result = resolution.resume(
            directory,
            draws=draws,
            time_limit=seconds,
            cores=cores,
            engine=engine,
            store=store,
            progress=not quiet,
        )
    conclude(result, directory, quiet)

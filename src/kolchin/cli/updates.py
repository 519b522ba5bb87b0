"""Commands for tables that change."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from kolchin.cli.application import keep_resumable, say
from kolchin.cli.arguments import Cores, Directory, Quiet
from kolchin.errors import DataError


def add(
    directory: Directory,
    rows: Annotated[
        str | None,
        typer.Argument(
            help="New records: a file, or a database as in resolve; none where records only go.",
            metavar="[NEW]",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option("--table", help="The table of a database.")] = None,
    query: Annotated[str | None, typer.Option(help="A SELECT that a database answers.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Another directory to write to; DIR by default.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            help="The column of ids: rows of known ids take the place of the old ones.",
            metavar="COLUMN",
        ),
    ] = None,
    delete: Annotated[
        Path | None, typer.Option(help="A file with the ids of records to take out.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an older run.")] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same result.")] = None,
    cores: Cores = None,
    quiet: Quiet = False,
) -> None:
    """Let new records join a finished run: entities keep their ids, events.csv says what changed.

    Parameters stay as they were drawn; 'kolchin resume' draws them again, with all records.
    """
    from kolchin import resolution
    from kolchin.resolution.results.result_differences import describe_change

    if rows is None and delete is None:
        raise DataError("Name a file of new records, or with --delete one of those that go.")
    where = out or directory
    had_golden = (directory / "golden.csv").exists()
    with keep_resumable(where):
        result = resolution.add(
            directory,
            rows,
            table=name,
            query=query,
            key=key,
            delete=delete,
            out=out,
            overwrite=overwrite,
            seed=seed,
            cores=cores,
            progress=not quiet,
        )
    if not quiet and result.events is not None:
        say(describe_change(result.events))
        say(f"Results are in {where}; events.csv says what became of which entity.")
        if had_golden:
            say(f"'kolchin golden {quote(str(where))}' makes golden records of the new list.")
        for note in result.due:
            say(f"Note: {note}")


def diff(
    before: Annotated[Path, typer.Argument(help="The directory of a run.", metavar="BEFORE")],
    after: Annotated[Path, typer.Argument(help="The directory of a later one.", metavar="AFTER")],
    out: Annotated[Path | None, typer.Option(help="A .csv file for the events, to write.")] = None,
) -> None:
    """Say what changed between two runs: which entities were created, grew, merged, split."""
    from kolchin import resolution

    changes = resolution.diff(before, after)
    if out is not None:
        say(f"Wrote {changes.write(out)}")
    typer.echo(str(changes))

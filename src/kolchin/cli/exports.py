"""Commands that write what a run found."""

from pathlib import Path
from typing import Annotated

import typer

from kolchin.cli.application import say
from kolchin.cli.arguments import Directory


def golden(
    directory: Directory,
    rules: Annotated[
        Path | None,
        typer.Option(help="A RULES.toml: how to choose values, and values that are set."),
    ] = None,
) -> None:
    """Write golden records: one row an entity, the best value of each field."""
    from kolchin.resolution.golden.golden_files import write_golden

    for line in write_golden(directory, rules):
        say(line)


def write(
    directory: Directory,
    uri: Annotated[
        str,
        typer.Argument(
            help="sqlite:///FILE, duckdb:///FILE or postgresql://HOST/DB.", metavar="URI"
        ),
    ],
    prefix: Annotated[
        str, typer.Option(help="What the names of the tables begin with.")
    ] = "kolchin_",
    append: Annotated[
        bool, typer.Option("--append", help="Keep what earlier runs wrote beside it.")
    ] = False,
) -> None:
    """Write entities, links and golden records to a database, in one transaction."""
    from kolchin.resolution import Result

    written = Result.load(directory).write(uri, prefix, append)
    for name, n_rows in written.n_rows.items():
        say(f"{name}: {n_rows:,} rows of run {written.run}.")


def report(directory: Directory) -> None:
    """Write the report of a run again, from its draws."""
    from kolchin.resolution import Result

    say(f"Wrote {Result.load(directory).report(directory / 'report.html')}")

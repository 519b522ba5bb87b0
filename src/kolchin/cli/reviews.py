"""Commands for the answers of people."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from kolchin.cli.application import say
from kolchin.cli.arguments import Directory
from kolchin.errors import DataError


def review(
    directory: Directory,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; a free one by default.")
    ] = 0,
    reviewer: Annotated[
        str | None, typer.Option(help="Who answers; your name on this machine by default.")
    ] = None,
    audit: Annotated[
        int | None,
        typer.Option(min=10, help="Ask so many pairs of a random sample: how good is the list?"),
    ] = None,
) -> None:
    """Serve a page, on this machine alone, that asks what no field can tell."""
    from kolchin.resolution import Result

    with Result.load(directory).review(port, reviewer, audit, block=False) as served:
        say(f"The review page is at {served.address}")
        say("Ctrl-C ends it; every answer is saved at once.")
        served.wait()
    say(f"{directory / 'answers.csv'} has {served.n_answers:,} answers.")
    if audit is not None:
        say(f"'kolchin audit {quote(str(directory))}' says what they tell.")


def audit(
    directory: Directory,
    json: Annotated[bool, typer.Option("--json", help="Write everything as JSON.")] = False,
) -> None:
    """Say how good the list is, from the answers to a random sample of pairs."""
    from json import dumps

    from kolchin.review.audit import describe_audit, read_audit

    measures = read_audit(directory)
    if measures is None:
        raise DataError(
            f"{directory} has no answers of an audit. 'kolchin review {quote(str(directory))} "
            "--audit 100' asks them."
        )
    typer.echo(dumps(measures, indent=2) if json else "\n".join(describe_audit(measures)))


def answers(
    directory: Directory,
    file: Annotated[
        Path,
        typer.Argument(
            help="Splink's clerical labels, dedupe's training file (.json), or record_a, record_b "
            "and answer.",
            metavar="FILE",
        ),
    ],
    reviewer: Annotated[
        str | None, typer.Option(help="Whose they are; your name on this machine by default.")
    ] = None,
) -> None:
    """Add labels that another tool has to the answers of a run."""
    from kolchin.resolution.reviewing import import_answers

    found = import_answers(directory, file, reviewer)
    for note in found.notes:
        say(f"Note: {note}")
    say(f"Added {len(found.answers):,} answers to {directory / 'answers.csv'}.")

"""Commands that ask a finished run."""

from typing import Annotated

import typer

from kolchin.cli.application import say
from kolchin.cli.arguments import Directory


def evaluate(
    directory: Directory,
    truth: Annotated[
        str, typer.Option(help="FILE or FILE:COLUMN with the true entity of each record.")
    ],
    json: Annotated[bool, typer.Option("--json", help="Write everything as JSON.")] = False,
) -> None:
    """Compare a run with known entities."""
    import warnings
    from json import dumps

    from kolchin.records import DataWarning
    from kolchin.resolution import Result
    from kolchin.resolution.results.evaluation_text import write_evaluation

    result = Result.load(directory)
    say(result.describe_matching(truth))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        measures = result.evaluate(truth)
    typer.echo(dumps(measures, indent=2) if json else write_evaluation(measures))


def explain(
    directory: Directory,
    record_a: Annotated[str, typer.Argument(help="The id of a record.", metavar="RECORD")],
    record_b: Annotated[str, typer.Argument(help="The id of another.", metavar="RECORD")],
) -> None:
    """Say why two records are (not) the same: evidence field by field, in bits."""
    from kolchin.resolution import Result

    typer.echo(str(Result.load(directory).explain(record_a, record_b)))


def entity(
    directory: Directory,
    number: Annotated[str, typer.Argument(help="Its number in entities.csv.", metavar="ENTITY")],
) -> None:
    """Show one entity: its records, how sure it is, its weakest link, who else could belong."""
    from kolchin.resolution import Result

    typer.echo(str(Result.load(directory).entity(number)))

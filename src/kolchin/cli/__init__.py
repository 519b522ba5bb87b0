"""The command line: a thin layer over the public functions.

Packages that take time to load are imported inside the commands, so that help is immediate.
"""

from kolchin.cli.application import app
from kolchin.cli.experiments import reproduce, simulate
from kolchin.cli.exports import golden, report, write
from kolchin.cli.questions import entity, evaluate, explain
from kolchin.cli.reviews import answers, audit, review
from kolchin.cli.runs import fields, resolve, resume
from kolchin.cli.updates import add, diff

__all__ = ["app", "main"]

COMMANDS = (
    fields,
    resolve,
    resume,
    evaluate,
    explain,
    entity,
    add,
    diff,
    golden,
    write,
    report,
    review,
    audit,
    answers,
    simulate,
    reproduce,
)
"""In the order in which help lists them."""

for command in COMMANDS:
    app.command()(command)


def main() -> None:
    """Run the command line."""
    app()

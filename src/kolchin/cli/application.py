"""The command line's frame: exit codes, how faults are told, what every command says."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from kolchin.errors import KolchinError, SamplerError
from kolchin.options import command_line

EXIT_UNFINISHED = 1
EXIT_FAULT = 2
EXIT_INTERRUPTED = 130
STOPPED = "Stopped."


class CommandGroup(TyperGroup):
    """Commands whose errors are told in words, with the exit codes that users rely on."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; say what went wrong on standard error and exit with its code."""
        try:
            with command_line():
                return super().invoke(ctx)
        except SamplerError as error:
            fail(str(error), EXIT_UNFINISHED)
        except (KolchinError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            fail(str(error), EXIT_FAULT)
        except KeyboardInterrupt as error:
            say(str(error) or STOPPED)
            raise typer.Exit(EXIT_INTERRUPTED) from None


app = typer.Typer(
    cls=CommandGroup,
    name="kolchin",
    help="Find the records that belong to the same entity.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        import kolchin

        typer.echo(f"kolchin {kolchin.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Find the records that belong to the same entity."""


@contextmanager
def keep_resumable(directory: Path) -> Iterator[None]:
    """Say how to go on after Ctrl-C at a moment when there is nothing to show yet.

    Notes about the table are told by the display, or, with --quiet, not at all.
    """
    import warnings

    from kolchin.records import DataWarning

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            yield
    except KeyboardInterrupt as error:
        has_run = (directory / "posterior" / "run.json").exists()
        words = (
            f"Stopped. 'kolchin resume {quote(str(directory))}' goes on. What was saved is kept."
            if has_run
            else "Stopped before anything was kept: the same command begins again."
        )
        raise KeyboardInterrupt(str(error) or words) from None


def conclude(result: Any, directory: Path, quiet: bool) -> None:
    """Say what was found and where it is."""
    from kolchin.resolution.results.summary import write_headline
    from kolchin.sampling.run.endings import Ending

    if not quiet:
        for line in write_headline(result.summary()):
            say(line)
        say(f"Results are in {directory}.")
        where = quote(str(directory))
        say(f"'kolchin entity {where} 0' shows an entity,")
        say(f"'kolchin golden {where}' writes golden records, one row an entity.")
    if result.ended in (Ending.TIME, Ending.WARM_UP, Ending.INTERRUPTED):
        say(f"'kolchin resume {quote(str(directory))}' goes on from here.")
    if result.ended == Ending.WARM_UP:
        raise typer.Exit(EXIT_UNFINISHED)
    if result.ended == Ending.INTERRUPTED:
        raise typer.Exit(EXIT_INTERRUPTED)


def say(message: str) -> None:
    """Say something to the user, on standard error."""
    typer.echo(message, err=True)


def fail(message: str, code: int) -> NoReturn:
    """Say what went wrong, and end the command with a code."""
    say(f"Error: {message}")
    raise typer.Exit(code) from None

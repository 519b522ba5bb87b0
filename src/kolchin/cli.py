"""The command line: a thin layer over the public functions.

Packages that take time to load are imported inside the commands, so that help is immediate.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from kolchin.errors import DataError, KolchinError, SamplerError

EXIT_UNFINISHED = 1
EXIT_FAULT = 2
EXIT_INTERRUPTED = 130


class _Group(TyperGroup):
    """Commands whose errors are told in words, with the exit codes that users rely on."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; say what went wrong on standard error and exit with its code."""
        try:
            return super().invoke(ctx)
        except SamplerError as error:
            _fail(str(error), EXIT_UNFINISHED)
        except (KolchinError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            _fail(str(error), EXIT_FAULT)
        except KeyboardInterrupt:
            _say("Stopped. Finished parts are kept; the same command goes on from there.")
            raise typer.Exit(EXIT_INTERRUPTED) from None


app = typer.Typer(
    cls=_Group,
    name="kolchin",
    help="Find the records that belong to the same entity.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class SimulatedSet(StrEnum):
    """The tables that can be simulated."""

    ITALY = "italy"
    NLTCS5000 = "nltcs5000"
    SYRIA2000 = "syria2000"
    SYRIASIZES = "syriasizes"
    PEOPLE = "people"


class PaperResult(StrEnum):
    """The parts of the paper that can be reproduced."""

    TABLE1 = "table1"
    FIGURE1 = "figure1"
    FIGURE2 = "figure2"


def main() -> None:
    """Run the command line."""
    app()


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


@app.command()
def fields(
    table: Annotated[list[Path], typer.Argument(help="The file, or several to link together.")],
    out: Annotated[Path | None, typer.Option(help="The .toml file to write.")] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", help="Column that names records.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="Column that says the source.")] = None,
    truth: Annotated[str | None, typer.Option(help="Column of the true entities.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file if it is there.")
    ] = False,
) -> None:
    """Show what each column is, and write the choice of fields as a file to edit."""
    from kolchin.records import choices_text, inspect, write_choices
    from kolchin.records.showing import show_columns

    found = inspect(table, id=id_column, source=source, truth=truth)
    if out is not None:
        write_choices(found, out, overwrite=overwrite)
    show_columns(found.columns)
    for note in found.notes:
        _say(f"Note: {note}")
    if out is None:
        typer.echo(choices_text(found), nl=False)
    else:
        _say(f"Wrote {out}")


@app.command()
def simulate(
    name: Annotated[SimulatedSet, typer.Argument(help="Which table to simulate.")],
    out: Annotated[Path, typer.Option(help="The file to write: .csv or .parquet.")],
    delta: Annotated[float, typer.Option(help="Distortion: larger means more errors.")] = 0.05,
    n: Annotated[int | None, typer.Option("--n", help="Number of records, for people.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same table.")] = None,
) -> None:
    """Write synthetic records with known entities, such as the paper's data sets."""
    import numpy as np

    from kolchin.simulation import simulate_paper
    from kolchin.simulation.files import check_table_path, write_table

    if name is SimulatedSet.PEOPLE:
        raise DataError(
            "'people' cannot be simulated yet. Use italy, nltcs5000, syria2000 or syriasizes."
        )
    if n is not None:
        raise DataError(
            f"The '--n' option is for people alone: the number of records of {name} is the paper's."
        )
    check_table_path(out)
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    table = simulate_paper(name, delta=delta, seed=seed)
    write_table(table, out)
    n_entities = table["ent_id"].n_unique()
    _say(f"{out}: {table.height} records of {n_entities} entities (delta {delta:g}, seed {seed})")


@app.command()
def reproduce(
    part: Annotated[PaperResult, typer.Argument(help="Which table or figure of the paper.")],
    out: Annotated[Path, typer.Option(help="The directory to write to.")] = Path("reproduced"),
    quick: Annotated[bool, typer.Option("--quick", help="A smaller version, in a minute.")] = False,
    replicates: Annotated[
        int | None, typer.Option(min=1, help="Simulated data sets per row of the table.")
    ] = None,
    cores: Annotated[
        int | None, typer.Option(min=1, help="Worker processes; as many as cores by default.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same result.")] = 1,
) -> None:
    """Run the paper's experiments again: its table and its figures, beside the printed ones.

    What is finished is kept in the directory: the same command goes on after a stop.
    """
    from kolchin import paper
    from kolchin.paper.progress import ProgressBar

    with ProgressBar() as progress:
        if part is PaperResult.FIGURE1:
            result = paper.reproduce_figure1(out, quick=quick, seed=seed, progress=progress)
        else:
            table = part is PaperResult.TABLE1
            make = paper.reproduce_table1 if table else paper.reproduce_figure2
            result = make(
                out, quick=quick, replicates=replicates, cores=cores, seed=seed, progress=progress
            )
    result.show()
    for note in result.notes:
        _say(note)
    for file in result.files:
        _say(f"Wrote {file}")


def _say(message: str) -> None:
    typer.echo(message, err=True)


def _fail(message: str, code: int) -> NoReturn:
    _say(f"Error: {message}")
    raise typer.Exit(code) from None

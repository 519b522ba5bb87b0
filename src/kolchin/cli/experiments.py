"""Commands that simulate tables and reproduce the paper."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from kolchin.cli.application import say
from kolchin.cli.arguments import PaperResult, SimulatedSet
from kolchin.errors import DataError


def simulate(
    name: Annotated[SimulatedSet, typer.Argument(help="Which table to simulate.")],
    out: Annotated[Path, typer.Option(help="The file to write: .csv or .parquet.")],
    delta: Annotated[
        float | None,
        typer.Option(help="Distortion, 0.05 by default; for people the share of mistyped values."),
    ] = None,
    n: Annotated[
        int | None, typer.Option("--n", help="Number of records, for people; 10000 by default.")
    ] = None,
    shares: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="For people, a share such as households=0 or moved=0.2; as often as needed.",
            metavar="NAME=SHARE",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same table.")] = None,
) -> None:
    """Write synthetic records with known entities: the paper's data sets, or people."""
    import numpy as np

    from kolchin.simulation import simulate_paper
    from kolchin.simulation.files import check_table_path, write_table

    check_table_path(out)
    if seed is None:
        seed = int(np.random.SeedSequence().generate_state(1)[0])
    if name is SimulatedSet.PEOPLE:
        table = _simulate_people(10_000 if n is None else n, delta, shares or [], seed)
        settings = f"seed {seed}"
    elif n is None and not shares:
        delta = 0.05 if delta is None else delta
        table = simulate_paper(name, delta=delta, seed=seed)
        settings = f"delta {delta:g}, seed {seed}"
    else:
        raise DataError("The '--n' and '--set' options are for people alone.")
    write_table(table, out)
    n_entities = table["ent_id"].n_unique()
    say(f"{out}: {table.height} records of {n_entities} entities ({settings})")


def _simulate_people(n: int, delta: float | None, shares: list[str], seed: int) -> Any:
    """Return a table of people."""
    from kolchin.simulation.people import read_shares, simulate_people

    asked: dict[str, Any] = {} if delta is None else {"typos": delta}
    return simulate_people(n, seed, **asked | read_shares(shares))


@contextmanager
def _keep_finished() -> Iterator[None]:
    """Say how to go on after Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt as error:
        words = "Stopped. Finished parts are kept; the same command goes on from there."
        raise KeyboardInterrupt(str(error) or words) from None


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

    with _keep_finished(), ProgressBar() as progress:
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
        say(note)
    for file in result.files:
        say(f"Wrote {file}")

"""The command line: a thin layer over the public functions.

Packages that take time to load are imported inside the commands, so that help is immediate.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from kolchin.errors import DataError, KolchinError, SamplerError
from kolchin.options import command_line

EXIT_UNFINISHED = 1
EXIT_FAULT = 2
EXIT_INTERRUPTED = 130
STOPPED = "Stopped. Finished parts are kept; the same command goes on from there."


class _Group(TyperGroup):
    """Commands whose errors are told in words, with the exit codes that users rely on."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; say what went wrong on standard error and exit with its code."""
        try:
            with command_line():
                return super().invoke(ctx)
        except SamplerError as error:
            _fail(str(error), EXIT_UNFINISHED)
        except (KolchinError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise
            _fail(str(error), EXIT_FAULT)
        except KeyboardInterrupt as error:
            _say(str(error) or STOPPED)
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


class PriorName(StrEnum):
    """The priors over partitions, with their default parameters."""

    NBD = "nbd"
    NBNB = "nbnb"
    DP = "dp"
    PYP = "pyp"
    ESCNB = "escnb"
    ESCD = "escd"


class LikelihoodName(StrEnum):
    """How records of one entity resemble each other."""

    COMPARED = "compared"
    CATEGORICAL = "categorical"


TimeLimit = Annotated[
    str,
    typer.Option(
        help="Time for sampling, such as 90s, 10m or 2h, or none; by default 10 minutes, or 10 for "
        "each million records.",
        metavar="TIME",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing unless something is wrong.")]
Cores = Annotated[int | None, typer.Option(min=1, help="Cores to use; all by default.")]
EngineName = Annotated[
    str | None,
    typer.Option(
        help="Where to sample: pool, pool:4, dask://host:port, spark, spark://host:port or "
        "sc://host:port; threads by default."
    ),
]
StorePath = Annotated[
    Path | None,
    typer.Option(help="A directory that all workers of an engine see; in the run by default."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        help="A value, whatever its case, that stands for none, in place of NA, null and the like; "
        "as often as needed.",
        metavar="VALUE",
    ),
]
Renamed = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        help="Another name for a column of a file, or a .toml file of them; as often as needed.",
        metavar="FILE:COLUMN=NAME",
    ),
]
Directory = Annotated[Path, typer.Argument(help="The directory of a run.", metavar="DIR")]


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
    table: Annotated[list[Path], typer.Argument(help="The file or folder, or several to link.")],
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

    found = inspect(
        table,
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
        _say(f"Note: {note}")
    if out is None:
        typer.echo(choices_text(found), nl=False)
    else:
        _say(f"Wrote {out}")


@app.command()
def resolve(
    table: Annotated[
        list[str],
        typer.Argument(
            help="The table: one file, folder or database (sqlite:///FILE, duckdb:///FILE, "
            "postgresql://HOST/DB), or several files to link.",
            metavar="TABLE",
        ),
    ],
    name: Annotated[str | None, typer.Option("--table", help="The table of a database.")] = None,
    query: Annotated[str | None, typer.Option(help="A SELECT that a database answers.")] = None,
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
    with _resumable(where):
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
    _conclude(result, where, quiet)


@app.command()
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
        _say(f"{directory} is finished. A larger --draws draws more.")
        return
    with _resumable(directory):
        result = resolution.resume(
            directory,
            draws=draws,
            time_limit=seconds,
            cores=cores,
            engine=engine,
            store=store,
            progress=not quiet,
        )
    _conclude(result, directory, quiet)


@app.command()
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
    _say(result.matching(truth))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        measures = result.evaluate(truth)
    typer.echo(dumps(measures, indent=2) if json else write_evaluation(measures))


@app.command()
def explain(
    directory: Directory,
    record_a: Annotated[str, typer.Argument(help="The id of a record.", metavar="RECORD")],
    record_b: Annotated[str, typer.Argument(help="The id of another.", metavar="RECORD")],
) -> None:
    """Say why two records are (not) the same: evidence field by field, in bits."""
    from kolchin.resolution import Result

    typer.echo(str(Result.load(directory).explain(record_a, record_b)))


@app.command()
def entity(
    directory: Directory,
    number: Annotated[str, typer.Argument(help="Its number in entities.csv.", metavar="ENTITY")],
) -> None:
    """Show one entity: its records, how sure it is, its weakest link, who else could belong."""
    from kolchin.resolution import Result

    typer.echo(str(Result.load(directory).entity(number)))


@app.command()
def add(
    directory: Directory,
    rows: Annotated[
        str,
        typer.Argument(help="New records: a file, or a database as in resolve.", metavar="NEW"),
    ],
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
    from kolchin.resolution.results.result_differences import describe_event

    where = out or directory
    had_golden = (directory / "golden.csv").exists()
    with _resumable(where):
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
        _say(describe_event(result.events))
        _say(f"Results are in {where}; events.csv says what became of which entity.")
        if had_golden:
            _say(f"'kolchin golden {quote(str(where))}' makes golden records of the new list.")
        for note in result.due:
            _say(f"Note: {note}")


@app.command()
def diff(
    before: Annotated[Path, typer.Argument(help="The directory of a run.", metavar="BEFORE")],
    after: Annotated[Path, typer.Argument(help="The directory of a later one.", metavar="AFTER")],
    out: Annotated[Path | None, typer.Option(help="A .csv file for the events, to write.")] = None,
) -> None:
    """Say what changed between two runs: which entities were created, grew, merged, split."""
    from kolchin import resolution

    changes = resolution.diff(before, after)
    if out is not None:
        _say(f"Wrote {changes.write(out)}")
    typer.echo(str(changes))


@app.command()
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
        _say(line)


@app.command()
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
        _say(f"{name}: {n_rows:,} rows of run {written.run}.")


@app.command()
def report(directory: Directory) -> None:
    """Write the report of a run again, from its draws."""
    from kolchin.resolution import Result

    _say(f"Wrote {Result.load(directory).report(directory / 'report.html')}")


@app.command()
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
        _say(f"The review page is at {served.address}")
        _say("Ctrl-C ends it; every answer is saved at once.")
        served.wait()
    _say(f"{directory / 'answers.csv'} has {served.n_answers:,} answers.")
    if audit is not None:
        _say(f"'kolchin audit {quote(str(directory))}' says what they tell.")


@app.command()
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


@app.command()
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
        _say(f"Note: {note}")
    _say(f"Added {len(found.answers):,} answers to {directory / 'answers.csv'}.")


@app.command()
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
    _say(f"{out}: {table.height} records of {n_entities} entities ({settings})")


def _simulate_people(n: int, delta: float | None, shares: list[str], seed: int) -> Any:
    """Return a table of people."""
    from kolchin.simulation.people import read_shares, simulate_people

    asked: dict[str, Any] = {} if delta is None else {"typos": delta}
    return simulate_people(n, seed, **asked | read_shares(shares))


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


@contextmanager
def _resumable(directory: Path) -> Iterator[None]:
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


def _conclude(result: Any, directory: Path, quiet: bool) -> None:
    """Say what was found and where it is."""
    from kolchin.resolution.results.summary import write_headline

    if not quiet:
        for line in write_headline(result.summary()):
            _say(line)
        _say(f"Results are in {directory}.")
        where = quote(str(directory))
        _say(f"'kolchin entity {where} 0' shows an entity,")
        _say(f"'kolchin golden {where}' writes golden records, one row an entity.")
    if result.ended in ("time", "warm-up", "interrupted"):
        _say(f"'kolchin resume {quote(str(directory))}' goes on from here.")
    if result.ended == "warm-up":
        raise typer.Exit(EXIT_UNFINISHED)
    if result.ended == "interrupted":
        raise typer.Exit(EXIT_INTERRUPTED)


def _say(message: str) -> None:
    typer.echo(message, err=True)


def _fail(message: str, code: int) -> NoReturn:
    _say(f"Error: {message}")
    raise typer.Exit(code) from None

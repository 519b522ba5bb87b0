"""How long tables take to converge, what their moves cost, and whether model or mixing is at fault.

    python benchmarks/convergence [--tables sipp voters] [--quick] [--data ../data] [--out docs]

Development tables (a folder of CSV files with `rec_id` and `ent_id`) and simulated ones of 1.2 to
20 records an entity, 500 to 100,000 records, each resolved with defaults in a process of its own,
one after another, on `--cores` cores. `--beside PATH` resolves the same tables by another
checkout's package too, in turn. With `--diagnose`, chains from the true partition go on for some
seconds, which tells model from mixing. With `--json`, rows are kept in a file after each table, and
a run goes on with what is missing; with `--out`, writes convergence.md into the folder.
"""

import argparse
import shlex
import sys
from pathlib import Path

# Last, since the folder `coverage` has the name of a package that others import.
sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[1] / "coverage"))

from rows import Row, Rows
from running import PATIENCE, Checkout, run_worker

from convergence.tables import Table, choose_tables, list_tables
from convergence.telling import tell_row, tell_summary, write_page

HERE = Checkout("here", Path(__file__).parents[2])
WORKER = Path(__file__).with_name("worker.py")
USUAL_SECONDS, QUICK_SECONDS = 120, 30
QUICK_RECORDS = 3_000
WARM_UP = ("entities of 4, 500", "Italy, simulated, 789")
"""Tables that between them need all that is compiled for tables of usual size."""


def tell(line: str) -> None:
    """Say what goes on."""
    print(line, file=sys.stderr, flush=True)


def measure(table: Table, checkout: Checkout, given: argparse.Namespace) -> Row:
    """Resolve a table by a checkout, and return its row."""
    drawn = table.make(given.seed)
    settings = {"seed": given.seed, "time_limit": given.limit, "cores": given.cores}
    settings |= {"diagnose": given.diagnose, "most_cpu": given.cpu, **table.settings}
    seconds = 4 * given.limit + given.diagnose + PATIENCE
    return {
        "name": table.name,
        "seed": given.seed,
        "limit": given.limit,
        "cores": given.cores,
        "checkout": checkout.name,
        "commit": checkout.commit,
        "n_records": drawn.height,
        "n_entities": drawn["ent_id"].n_unique(),
        **run_worker(checkout, drawn, settings, seconds, WORKER),
    }


def warm_up(checkout: Checkout) -> None:
    """Compile what is compiled, so that no table pays for it."""
    tell(f"compiling in {checkout.folder.resolve()}")
    for table in list_tables(None):
        if table.name in WARM_UP:
            settings = {"seed": 1, "chains": 2, "draws": 20, **table.settings}
            run_worker(checkout, table.make(1), settings, 2 * PATIENCE, WORKER)


def run(
    tables: list[Table], checkouts: list[Checkout], kept: Rows, given: argparse.Namespace
) -> None:
    """Run what is missing, and keep and tell each row as it comes."""
    missing = [
        (table, checkout)
        for table in tables
        for checkout in checkouts
        if not kept.has(table.name, given.seed, checkout.name)
    ]
    for checkout in checkouts:
        if any(other == checkout for _, other in missing):
            warm_up(checkout)
    for table, checkout in missing:
        row = measure(table, checkout, given)
        kept.add(row)
        tell(tell_row(row))


def _arguments(given: list[str] | None) -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*", help="only tables whose names contain one of these")
    parser.add_argument("--largest", type=int, help="only tables of up to so many records")
    parser.add_argument(
        "--quick", action="store_true", help="up to 3,000 records, 30 s of sampling a table"
    )
    parser.add_argument("--data", type=Path, help="folder of development tables")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--limit", type=float, help="seconds of sampling a table; 120")
    parser.add_argument(
        "--cpu", type=float, help="CPU seconds of sampling, where others use the machine, too"
    )
    parser.add_argument(
        "--diagnose",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="CPU seconds of a chain from the truth, 10 by default; 0: no diagnosis",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beside", type=Path, metavar="PATH", help="another checkout to run too")
    parser.add_argument("--json", type=Path, help="file of all rows, gone on with where it exists")
    parser.add_argument("--out", type=Path, help="folder for convergence.md")
    read = parser.parse_args(given)
    if read.limit is None:
        read.limit = QUICK_SECONDS if read.quick else USUAL_SECONDS
    if read.largest is None and read.quick:
        read.largest = QUICK_RECORDS
    return read


def _command(given: argparse.Namespace) -> str:
    """Return the command in the form in which anybody may run it."""
    words = ["--tables", *given.tables] if given.tables else []
    words += ["--largest", str(given.largest)] if given.largest else []
    words += ["--data", "../data"] if given.data else []
    words += ["--limit", f"{given.limit:g}", "--diagnose", f"{given.diagnose:g}"]
    words += ["--cpu", f"{given.cpu:g}"] if given.cpu else []
    words += ["--seed", str(given.seed), "--cores", str(given.cores)]
    words += ["--beside", "OTHER_CHECKOUT"] if given.beside else []
    return shlex.join(["python", "benchmarks/convergence", *words, "--out", given.out.name])


def main(arguments: list[str] | None = None) -> None:
    """Run all tables, tell the summary and write the page."""
    given = _arguments(arguments)
    tables = choose_tables(list_tables(given.data), given.tables, given.largest)
    checkouts = [HERE] if given.beside is None else [HERE, Checkout("beside", given.beside)]
    kept = Rows(given.json)
    run(tables, checkouts, kept, given)
    order = {table.name: place for place, table in enumerate(tables)}
    asked = [row for row in kept.rows if row["name"] in order and row["seed"] == given.seed]
    rows = sorted(asked, key=lambda row: order[row["name"]])
    names = [checkout.name for checkout in checkouts]
    print("\n".join(tell_summary(rows, names)))
    if given.out is not None:
        tell(f"Written to {write_page(rows, names, _command(given), given.out)}")


if __name__ == "__main__":
    main()

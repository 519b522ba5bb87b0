"""How often the 90% interval of the number of entities holds the truth, on tables of many kinds.

    python benchmarks/coverage [--tables voters survey] [--quick] [--jobs 2] [--out docs]

Simulated tables that differ in how records and errors come about, resolved with defaults in
worker processes. `--beside PATH` resolves the same tables by another checkout's package too. With
`--json`, rows are kept in a file after each table, and a run goes on with what is missing; with
`--out`, writes coverage.md into the folder.
"""

import argparse
import shlex
import sys
from pathlib import Path

# Last, since the folder `coverage` in it has the name of a package that others import.
sys.path.append(str(Path(__file__).parents[1]))

from kinds import Table, choose_tables
from rows import Rows
from running import Checkout, Job, run_all, warm_up
from telling import tell_row, tell_summary, write_kinds, write_page

HERE = Checkout("here", Path(__file__).parents[2])
USUAL_SECONDS, QUICK_SECONDS = 120, 20
QUICK_RECORDS = 1_000


def tell(line: str) -> None:
    """Say what goes on."""
    print(line, file=sys.stderr, flush=True)


def list_jobs(tables: list[Table], checkouts: list[Checkout], kept: Rows, seed: int) -> list[Job]:
    """List what is missing."""
    return [
        Job(table, checkout)
        for table in tables
        for checkout in checkouts
        if not kept.has(table.name, seed, checkout.name)
    ]


def run(
    tables: list[Table], checkouts: list[Checkout], kept: Rows, given: argparse.Namespace
) -> None:
    """Run what is missing, and keep and tell each row as it comes."""
    jobs = list_jobs(tables, checkouts, kept, given.seed)
    n_there = len(tables) * len(checkouts) - len(jobs)
    if n_there:
        tell(f"{n_there} runs are in {kept.file} already")
    for checkout in checkouts:
        if any(job.checkout == checkout for job in jobs):
            warm_up(checkout, tell)
    for row in run_all(jobs, given.jobs, given.seed, given.limit):
        kept.add(row)
        tell(tell_row(row))


def _arguments(given: list[str] | None) -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="*", help="only tables whose names contain one of these")
    parser.add_argument(
        "--quick", action="store_true", help="up to 1,000 records, 20 s of sampling"
    )
    parser.add_argument("--jobs", type=int, default=2, help="tables resolved at once, a core each")
    parser.add_argument("--limit", type=float, help="seconds of sampling a table; 120")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--beside", type=Path, metavar="PATH", help="another checkout to run too")
    parser.add_argument("--json", type=Path, help="file of all rows, gone on with where it exists")
    parser.add_argument("--out", type=Path, help="folder for coverage.md")
    read = parser.parse_args(given)
    if read.limit is None:
        read.limit = QUICK_SECONDS if read.quick else USUAL_SECONDS
    return read


def _command(given: argparse.Namespace) -> str:
    """Return the command in the form in which anybody may run it."""
    words = ["--tables", *given.tables] if given.tables else []
    words += ["--quick"] if given.quick else []
    words += ["--limit", f"{given.limit:g}", "--seed", str(given.seed)]
    words += ["--beside", "OTHER_CHECKOUT"] if given.beside else []
    return shlex.join(["python", "benchmarks/coverage", *words, "--out", given.out.name])


def main(arguments: list[str] | None = None) -> None:
    """Run all tables, tell the summary and write the page."""
    given = _arguments(arguments)
    tables = choose_tables(given.tables, QUICK_RECORDS if given.quick else None)
    checkouts = [HERE] if given.beside is None else [HERE, Checkout("beside", given.beside)]
    kept = Rows(given.json)
    run(tables, checkouts, kept, given)
    order = {table.name: place for place, table in enumerate(tables)}
    asked = [row for row in kept.rows if row["name"] in order and row["seed"] == given.seed]
    rows = sorted(asked, key=lambda row: order[row["name"]])
    names = [checkout.name for checkout in checkouts]
    print("\n".join([*write_kinds(rows, names), "", *tell_summary(rows, names)]))
    if given.out is not None:
        tell(f"Written to {write_page(rows, names, _command(given), given.out)}")


if __name__ == "__main__":
    main()

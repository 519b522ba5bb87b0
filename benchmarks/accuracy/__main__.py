"""Accuracy and calibration of kolchin with defaults alone, beside Splink, in one run.

    python benchmarks/accuracy [--data ../shared/data] [--tables rldata500 people] [--out docs]

For the development data in a folder and for simulated people, with and without each kind of
dependence: F1, entities, seconds and calibration. Splink runs in an environment of its own, made
once in the user's cache, or named by `--splink PYTHON`. With `--out`, writes accuracy.md and
figures/accuracy.{svg,png} into the folder; with `--json`, all numbers into a file.
"""

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from accuracy.measures import Ints
from accuracy.ours import run_kolchin, warm_up
from accuracy.page import links_table, write_page
from accuracy.peer import best_of, environment, run_splink
from accuracy.tables import QUICK_RECORDS, Table, all_tables
from kolchin.evaluation import encode

USUAL_DATA = Path("../shared/data")
QUICK_SECONDS = 20


def measure(
    table: Table, python: str | None, with_kolchin: bool, largest: int | None, seed: int
) -> dict[str, Any] | None:
    """Run both tools on a table, or return nothing where it is too large."""
    records = table.make()
    if largest is not None and records.height > largest:
        return None
    limits = {} if largest is None else {"time_limit": QUICK_SECONDS}
    truth: Ints = encode(records["ent_id"].to_list())
    result: dict[str, Any] = {
        "records": records.height,
        "entities": int(truth.max()) + 1,
        "simulated": table.simulated,
        "kolchin": run_kolchin(records, truth, seed, limits) if with_kolchin else {},
        "splink": {},
    }
    if python is not None:
        result["splink"] = run_splink(python, table.description, _as_text(records), truth, seed)
    return result


def _as_text(records: pl.DataFrame) -> pl.DataFrame:
    return records.with_columns(pl.all().cast(pl.String))


def _tell(name: str, row: dict[str, Any]) -> None:
    ours = row["kolchin"]
    words = [f"kolchin {ours['f1']:.3f}" if "f1" in ours else ours.get("error", "")]
    for at in ("default", "best"):
        best = best_of(row["splink"], at)
        if best is not None:
            words.append(f"Splink at {at} {best[1][at]['f1']:.3f} ({best[0]})")
    words += [f"{each}: {run['error']}" for each, run in row["splink"].items() if "error" in run]
    print(f"{name}: {', '.join(word for word in words if word)}", file=sys.stderr, flush=True)


def _arguments(given: list[str] | None) -> argparse.Namespace:
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    usual = USUAL_DATA if USUAL_DATA.is_dir() else None
    parser.add_argument("--data", type=Path, default=usual, help="folder of development data")
    parser.add_argument("--tables", nargs="*", help="only tables whose names contain one of these")
    parser.add_argument("--records", type=int, default=10_000, help="size of simulated tables")
    parser.add_argument(
        "--quick", action="store_true", help="up to 1,000 records, 20 s of sampling"
    )
    parser.add_argument("--splink", metavar="PYTHON", help="a Python that has Splink 5")
    parser.add_argument(
        "--only", choices=["kolchin", "splink"], help="one of the two, for development"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="folder for accuracy.md and its figures")
    parser.add_argument("--json", type=Path, help="file for all numbers")
    return parser.parse_args(given)


def main(arguments: list[str] | None = None) -> None:
    """Run all tables and write the page."""
    given = _arguments(arguments)
    largest = QUICK_RECORDS if given.quick else None
    python = None if given.only == "kolchin" else environment(given.splink)
    if given.only != "splink":
        warm_up()
    results = {}
    for table in all_tables(given.data, min(given.records, largest or given.records), given.seed):
        if given.tables and not any(part in table.name for part in given.tables):
            continue
        row = measure(table, python, given.only != "splink", largest, given.seed)
        if row is None:
            continue
        results[table.name] = row
        _tell(table.name, row)
        if given.json is not None:
            given.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    print("\n".join(links_table(results)))
    if given.out is not None:
        command = shlex.join(["python", "benchmarks/accuracy", *(arguments or sys.argv[1:])])
        print(f"Written to {write_page(results, command, given.out)}", file=sys.stderr)


if __name__ == "__main__":
    main()

"""The files of golden records in the directory of a run."""

from pathlib import Path

import polars as pl
from polars import selectors

from kolchin.records.faults_and_notes import list_some
from kolchin.resolution.golden.golden_rules import KEPT_RULES, GoldenRules
from kolchin.resolution.results.result import Result
from kolchin.resolution.running.directory import RunDirectory

RECORDS, VALUES = "golden.csv", "golden_values.csv"


def write_golden(path: Path, rules: Path | None = None) -> list[str]:
    """Write golden records and the values that lost; return what to tell.

    Rules are kept in the directory, so that they hold the next time, too.
    """
    result = Result.load(path)
    directory = RunDirectory(path)
    kept = path / KEPT_RULES
    used = rules if rules is not None else kept if kept.exists() else None
    made = result._golden(used)
    chances = selectors.float().round(6)
    directory.write_table(RECORDS, made.records.with_columns(chances))
    directory.write_table(VALUES, made.values.with_columns(pl.col("probability").round(6)))
    told = [f"Wrote {path / RECORDS}: {made.records.height:,} entities."]
    told.append(f"Wrote {path / VALUES}: all values where an entity has several.")
    if rules is not None:
        directory.write_text(KEPT_RULES, rules.read_text(encoding="utf-8-sig"))
        told.append(f"The rules are kept in {kept}, and hold until others are given.")
    elif used is not None:
        told.append(f"By the rules in {kept}.")
        gone = GoldenRules.read(used, result._given, kept=True).gone
        if gone:
            told.append(f"Overrides of records that are gone were left out: {list_some(gone)}.")
    return told

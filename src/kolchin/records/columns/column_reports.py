"""What was found about columns: as a table, and as notes."""

from collections.abc import Iterable
from typing import Any

import polars as pl

from kolchin.options import option
from kolchin.records.columns.inference import ColumnReport
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some

MOST_LINES = 20


def note_markers(reports: Iterable[ColumnReport], findings: FaultsAndNotes) -> None:
    """Say which values were taken for gaps, since to some people they are names."""
    marked = [(one.column, text) for one in reports if (text := one.describe_markers())]
    for column, text in marked[:MOST_LINES]:
        findings.note(f"{column!r} has values that count as missing: {text}.")
    if len(marked) > MOST_LINES:
        findings.note(
            f"{len(marked) - MOST_LINES:,} more columns have values that count as missing."
        )


def note_names(reports: Iterable[ColumnReport], findings: FaultsAndNotes) -> None:
    """Say which values were taken for names, though elsewhere they are gaps."""
    for one in reports:
        if one.spared:
            findings.note(
                f"{one.column!r} has {list_some(one.spared)}: taken for names, "
                "since the column has "
                f"names written like that ({option('missing')} says which values are gaps)."
            )


def column_table(reports: Iterable[ColumnReport]) -> pl.DataFrame:
    """Return what was found about each column as a table, one row a column."""
    rows = [
        {**_list_shown_facts(one), "kind": str(one.kind), "markers": one.describe_markers()}
        for one in reports
    ]
    schema = {
        "column": pl.String,
        "kind": pl.String,
        "used": pl.Boolean,
        "why": pl.String,
        "distinct": pl.Int64,
        "missing": pl.Float64,
        "bits": pl.Float64,
        "markers": pl.String,
    }
    return pl.DataFrame(rows, schema=schema)


def _list_shown_facts(one: ColumnReport) -> dict[str, Any]:
    return {name: value for name, value in vars(one).items() if name not in ("cuts", "spared")}

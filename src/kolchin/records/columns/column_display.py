"""What was found about columns, for people at a terminal."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from kolchin.records.columns.inference import ColumnReport
from kolchin.terminal import join_lines, write_table

MOST_ROWS = 100
WIDEST_NAME = 30
HEAD = ("column", "kind", "used", "distinct", "missing", "bits")


def write_columns(columns: Iterable[Mapping[str, Any]], width: int | None = None) -> str:
    """Write a table of columns: kind, whether it is used, distinct values, missing, bits."""
    rows = [
        (
            join_lines(one["column"], WIDEST_NAME),
            str(one["kind"]),
            "yes" if one["used"] else "no",
            f"{one['distinct']:,}",
            f"{one['missing']:.1%}",
            f"{one['bits']:.1f}",
        )
        for one in columns
    ]
    lines = [write_table([HEAD, *rows[:MOST_ROWS]], width, right=(3, 4, 5))]
    if len(rows) > MOST_ROWS:
        lines.append(f"{len(rows) - MOST_ROWS:,} more columns are not shown.")
    return "\n".join(lines)


def show_columns(reports: Iterable[ColumnReport], file: TextIO | None = None) -> None:
    """Print a table of columns and why some are left out, to standard error by default."""
    reports = list(reports)
    lines = [write_columns(map(vars, reports))]
    lines += [
        f"{join_lines(one.column, WIDEST_NAME)} is left out: {one.why}."
        for one in reports[:MOST_ROWS]
        if not one.used
    ]
    (file or sys.stderr).write("\n".join(lines) + "\n")

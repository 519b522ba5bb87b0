"""What was found about columns, for people at a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kolchin.records.inference import ColumnReport

MOST_ROWS = 100
WIDEST_NAME = 30


def show_columns(reports: Sequence[ColumnReport], console: Console | None = None) -> None:
    """Print a table of columns and why some are left out, to standard error by default."""
    console = console or Console(stderr=True)
    table = Table("column", "kind", "used", header_style="bold")
    for name in ("distinct", "missing", "bits"):
        table.add_column(name, justify="right")
    for one in reports[:MOST_ROWS]:
        table.add_row(
            escape(_short(one.column)),
            str(one.kind),
            "yes" if one.used else "no",
            f"{one.distinct:,}",
            f"{one.missing:.1%}",
            f"{one.bits:.1f}",
            style=None if one.used else "dim",
        )
    console.print(table)
    for one in reports[:MOST_ROWS]:
        if not one.used:
            console.print(
                f"[dim]{escape(_short(one.column))} is left out: {escape(one.why)}.[/dim]"
            )
    if len(reports) > MOST_ROWS:
        console.print(f"[dim]{len(reports) - MOST_ROWS:,} more columns are not shown.[/dim]")


def _short(name: str) -> str:
    return name if len(name) <= WIDEST_NAME else f"{name[: WIDEST_NAME - 1]}…"

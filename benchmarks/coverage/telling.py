"""Numbers as they are shown: a line a table, tables by kind, and the page."""

import datetime
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from summing import LEVEL, Row, group_by_kind, middle_error_within_kinds, summarise

HEADS = ("covered", "K low, high", "F1", "mean \\|z\\|", "middle error", "converged")
ROW_HEADS = ("K, 90% interval", "z", "F1", "middle", "R-hat", "s")
MOST_ERROR = 60


def tell_row(row: Row) -> str:
    """Write a table's numbers in a line."""
    place = row["name"] if row["checkout"] == "here" else f"{row['name']} ({row['checkout']})"
    if "error" in row:
        return f"{place}: {row['error']}"
    low, high = row["q05"], row["q95"]
    sign = "" if row["covered"] else " MISSED"
    said = [
        f"K {row['mean']:.1f} +- {row['sd']:.1f} ({low:.0f} to {high:.0f}) of "
        f"{row['n_entities']}{sign}",
        f"F1 {_short(row['f1'])}",
        f"mid {_short(row['middle_error'], 2)} of {row['middle_pairs']}",
        f"R-hat {_rhat(row)}",
        f"{row['seconds']:.0f} s",
    ]
    return f"{place}: {' | '.join(said)}"


def tell_summary(rows: Sequence[Row], checkouts: Sequence[str]) -> Iterator[str]:
    """Write coverage, calibration and F1 over all tables, a line a checkout."""
    for name in checkouts:
        own = [row for row in rows if row["checkout"] == name]
        whole = summarise(own)
        failed = f", {whole['failed']} failed" if whole["failed"] else ""
        yield (
            f"{name}: {whole['covered']} of {whole['done']} intervals hold the truth "
            f"({_percent(whole)}; {LEVEL:.0%} should; K too low {whole['too_low']}, too high "
            f"{whole['too_high']}{failed}), middle error {_number(whole['middle_error'])} of "
            f"{whole['middle_pairs']:,} pairs ({_number(middle_error_within_kinds(own))} within "
            f"kinds), mean F1 {_number(whole['f1'])}, "
            f"{whole['converged']} converged, {whole['seconds']:.0f} s"
        )


def write_kinds(rows: Sequence[Row], checkouts: Sequence[str]) -> Iterator[str]:
    """Write the table by kind, and all kinds together."""
    yield from _heading(["kind", "tables"], HEADS, checkouts)
    for kind, own in {**group_by_kind(rows), "**all**": list(rows)}.items():
        parts = [summarise([row for row in own if row["checkout"] == c]) for c in checkouts]
        cells = [cell for part in parts for cell in _kind_cells(part)]
        yield _line([kind, str(max(part["tables"] for part in parts)), *cells])


def write_rows(rows: Sequence[Row], checkouts: Sequence[str]) -> Iterator[str]:
    """Write a row a table."""
    yield from _heading(["table", "records", "entities"], ROW_HEADS, checkouts)
    tables: dict[str, dict[str, Row]] = {}
    for row in rows:
        tables.setdefault(row["name"], {})[row["checkout"]] = row
    for name, runs in tables.items():
        any_run = next(iter(runs.values()))
        cells = [cell for each in checkouts for cell in _row_cells(runs.get(each))]
        about = [name, f"{any_run['n_records']:,}", f"{any_run['n_entities']:,}"]
        yield _line([*about, *cells])


def write_page(rows: Sequence[Row], checkouts: Sequence[str], command: str, out: Path) -> Path:
    """Write coverage.md into a folder of documentation."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "coverage.md"
    file.write_text("\n".join(_lines(rows, checkouts, command)) + "\n", encoding="utf-8")
    return file


def _lines(rows: Sequence[Row], checkouts: Sequence[str], command: str) -> Iterator[str]:
    yield from ("# Coverage", "", "```sh", command, "```", "")
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    yield from ("<!-- measured: coverage -->", "")
    at = f"at {_commits(rows, checkouts)}; at most {_limits(rows)} s of sampling a table."
    yield from (f"Measured {today} {at}", "", "<!-- end of coverage -->")
    yield ""
    yield (
        "Does the 90% interval of the number of entities K hold the truth? Simulated tables of "
        f"{len(group_by_kind(rows))} kinds that differ in how records and errors come about "
        "(`benchmarks/coverage/kinds.py` lists them); only those called own model are "
        "drawn from kolchin's. Each is resolved on one core with defaults alone, but that "
        "insurance numbers are named as fields (they would be left out as nearly keys), and that "
        "two tables have their sources told."
    )
    yield ""
    yield from (f"- {line}" for line in tell_summary(rows, checkouts))
    yield from ("", "## By kind", "", *write_kinds(rows, checkouts), "", *_meaning(), "")
    yield from ("## By table", "", *write_rows(rows, checkouts), "")
    yield "A star: not converged. In bold: the interval does not hold the truth."


def _meaning() -> list[str]:
    return [
        "K low, high: tables whose whole interval is below or above the truth. z is the distance",
        "of the posterior mean from the truth in posterior standard deviations (0.5 at least).",
        "Middle error: links with a probability from 0.1 to 0.9 in bins of 0.1, all tables pooled;",
        "the mean distance of probability and share of true links, weighted by pairs. Pooled over",
        "all kinds, one that says too much makes up for one that says too little; within kinds, it",
        "does not. A run has converged if R-hat is below 1.01 and the effective sample size above",
        "400.",
    ]


def _commits(rows: Sequence[Row], checkouts: Sequence[str]) -> str:
    said = []
    for name in checkouts:
        commits = sorted({row["commit"] for row in rows if row["checkout"] == name})
        place = "" if name == "here" else f"{name} "
        said.append(f"{place}commit {' and '.join(commits)}")
    return ", ".join(said)


def _limits(rows: Sequence[Row]) -> str:
    return " or ".join(f"{limit:g}" for limit in sorted({row["limit"] for row in rows}))


def _heading(about: list[str], heads: Sequence[str], checkouts: Sequence[str]) -> Iterator[str]:
    several = len(checkouts) > 1
    named = [f"{name}: {head}" if several else head for name in checkouts for head in heads]
    yield _line([*about, *named])
    yield "|---|" + "---:|" * (len(about) + len(named) - 1)


def _kind_cells(part: dict[str, Any]) -> list[str]:
    failed = f" ({part['failed']} failed)" if part["failed"] else ""
    return [
        f"{part['covered']} of {part['done']}{failed}",
        f"{part['too_low']}, {part['too_high']}",
        _number(part["f1"]),
        _number(part["abs_z"], 1),
        _middle(part),
        f"{part['converged']} of {part['done']}",
    ]


def _row_cells(row: Row | None) -> list[str]:
    if row is None or "error" in row:
        return [row["error"][:MOST_ERROR] if row else "-", *["-"] * (len(ROW_HEADS) - 1)]
    found = f"{row['mean']:,.1f} ({row['q05']:,.0f} to {row['q95']:,.0f})"
    return [
        found if row["covered"] else f"**{found}**",
        f"{row['z']:+.1f}",
        f"{row['f1']:.3f}",
        _middle(row),
        f"{_rhat(row)}{'' if row['converged'] else ' *'}",
        f"{row['seconds']:.0f}",
    ]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _percent(part: dict[str, Any]) -> str:
    return f"{part['covered'] / part['done']:.0%}" if part["done"] else "-"


def _number(number: float | None, digits: int = 3) -> str:
    return "-" if number is None else f"{number:.{digits}f}"


def _middle(part: dict[str, Any]) -> str:
    pairs = part["middle_pairs"]
    return f"{_number(part['middle_error'])} of {pairs:,}" if pairs else "-"


def _short(number: float | None, digits: int = 3) -> str:
    return _number(number, digits).removeprefix("0")


def _rhat(row: Row) -> str:
    return _number(row["rhat"])

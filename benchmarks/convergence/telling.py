"""Numbers as they are shown: a line a table, and the page."""

import datetime
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]

FIRST_DRAW, CONVERGED = 20.0, 120.0
"""Seconds that are aimed at: to the first draw, and to R-hat 1.01 from the beginning."""

LARGEST_AIMED = 50_000
MOST_ERROR = 60
HEADS = ("first draw", "R-hat 1.05", "1.01", "whole", "R-hat", "worst quantity", "ESS a CPU s")
OLD_HEADS = ("first draw", "R-hat 1.01", "R-hat", "ESS a CPU s")


def tell_row(row: Row) -> str:
    """Write a table's numbers in a line."""
    place = row["name"] if row["checkout"] == "here" else f"{row['name']} ({row['checkout']})"
    if "error" in row:
        return f"{place}: {row['error']}"
    said = [
        f"K {row['mean']:.1f} ({row['q05']:.0f} to {row['q95']:.0f}) of {row['n_entities']}",
        f"first draw {_seconds(row['first_draw'])}, R-hat 1.05 {_seconds(row['below']['1.05'])}, "
        f"1.01 {_seconds(row['below']['1.01'])} of {row['whole_seconds']:.0f} s",
        f"CPU {', '.join(_seconds(seconds) for seconds in row['cpu'].values())}",
        f"R-hat {_rhat(row['rhat'])}, worst {_worst(row)}",
        f"ESS/CPU s {_number(row['ess_a_cpu_second'], 1)}",
        _time_by_size(row),
        _verdict(row),
    ]
    return f"{place}: {' | '.join(said)}"


def tell_summary(rows: Sequence[Row], checkouts: Sequence[str]) -> Iterator[str]:
    """Say how many tables come up to what is aimed at, a line a checkout."""
    for name in checkouts:
        own = [row for row in rows if row["checkout"] == name]
        aimed = [row for row in own if row["n_records"] <= LARGEST_AIMED]
        done = [row for row in own if "error" not in row]
        early = sum(_within(row["first_draw"], FIRST_DRAW) for row in done)
        fast = sum(
            _within(row["below"]["1.01"], CONVERGED)
            for row in done
            if row["n_records"] <= LARGEST_AIMED
        )
        yield (
            f"{name}: first draw within {FIRST_DRAW:g} s on {early} of {len(own)} tables; R-hat "
            f"below 1.01 within {CONVERGED:g} s on {fast} of {len(aimed)} of up to "
            f"{LARGEST_AIMED:,} records"
        )


def write_page(rows: Sequence[Row], checkouts: Sequence[str], command: str, out: Path) -> Path:
    """Write convergence.md into a folder of documentation."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / "convergence.md"
    file.write_text("\n".join(_lines(rows, checkouts, command)) + "\n", encoding="utf-8")
    return file


def _lines(rows: Sequence[Row], checkouts: Sequence[str], command: str) -> Iterator[str]:
    yield from ("# Convergence", "", "```sh", command, "```", "")
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    limits = " or ".join(f"{limit:g}" for limit in sorted({row["limit"] for row in rows}))
    cores = " or ".join(str(cores) for cores in sorted({row["cores"] for row in rows}))
    yield f"{today}, {_commits(rows, checkouts)}; {cores} cores, at most {limits} s of sampling."
    yield ""
    yield (
        "How long does a table take until what is read off it is known? Each table is resolved "
        "with defaults in a process of its own with compiled code; seconds count from the call, "
        "with reading, comparing and learning dependence. Draws are judged afterwards: the first "
        "moment from which R-hat of the numbers of entities and of singletons stays below a bound."
    )
    yield ""
    yield from (f"- {line}" for line in tell_summary(rows, checkouts))
    here = [row for row in rows if row["checkout"] == checkouts[0]]
    yield from ("", "## Seconds", "", *_seconds_table(rows, checkouts), "", *_about_seconds(), "")
    yield from ("## Model or mixing", "", *_verdict_table(here), "", *_about_verdicts(), "")
    yield from ("## What moves cost", "", *_cost_table(here), "", *_about_costs())


def _seconds_table(rows: Sequence[Row], checkouts: Sequence[str]) -> Iterator[str]:
    beside = [f"{name}: {head}" for name in checkouts[1:] for head in OLD_HEADS]
    yield _line(["table", "records", "entities", *HEADS, *beside])
    yield "|---|" + "---:|" * (2 + len(HEADS) + len(beside))
    others = {(row["name"], row["checkout"]): row for row in rows}
    for row in rows:
        if row["checkout"] != checkouts[0]:
            continue
        cells = [row["name"], f"{row['n_records']:,}", f"{row['n_entities']:,}", *_cells(row)]
        for name in checkouts[1:]:
            cells += _old_cells(others.get((row["name"], name)))
        yield _line(cells)


def _cells(row: Row) -> list[str]:
    if "error" in row:
        return [row["error"][:MOST_ERROR].replace("|", "/"), *["-"] * (len(HEADS) - 1)]
    return [
        _seconds(row["first_draw"]),
        _seconds(row["below"]["1.05"]),
        _seconds(row["below"]["1.01"]),
        _seconds(row["whole_seconds"]),
        f"{_rhat(row['rhat'])}{'' if row['converged'] else ' *'}",
        _worst(row),
        _number(row["ess_a_cpu_second"], 1),
    ]


def _old_cells(row: Row | None) -> list[str]:
    if row is None or "error" in row:
        return [row["error"][:MOST_ERROR] if row else "-", *["-"] * (len(OLD_HEADS) - 1)]
    cells = _cells(row)
    return [cells[0], cells[2], cells[4], cells[6]]


def _about_seconds() -> list[str]:
    return [
        "Whole: with results. R-hat is the larger one of both numbers at the end; a star: not",
        "converged (R-hat below 1.01 and an effective sample of 400). Worst quantity: the largest",
        "R-hat among all that is sampled, which is reported and not waited for. The last column",
        "is the effective sample of K over all CPU seconds of sampling, warm-up included.",
    ]


def _verdict_table(rows: Sequence[Row]) -> Iterator[str]:
    heads = ("K, 90% interval", "log joint of chains", "of the truth", "of chains from it")
    yield _line(["table", "entities", *heads, "their K", "R-hat with them", "verdict"])
    yield "|---|" + "---:|" * 7 + "---|"
    for row in rows:
        found = row.get("verdict") or {}
        if "chains" not in found:
            continue
        base = found["chains"]["log_joint"]
        cells = [
            row["name"],
            f"{row['n_entities']:,}",
            f"{row['mean']:,.1f} ({row['q05']:,.0f} to {row['q95']:,.0f})",
            f"{base:,.0f}",
            f"{found['truth']['log_joint'] - base:+,.0f}",
            f"{found['from_truth']['log_joint'] - base:+,.0f}",
            f"{found['from_truth']['n_clusters']:,.1f}",
            _rhat(found["rhat_with_truth"]),
            found["words"],
        ]
        yield _line(cells)


def _about_verdicts() -> list[str]:
    return [
        "Log joint densities are medians. That of the truth is of its partition with parameters",
        "that follow it; both differences are from where the usual chains are. A chain from the",
        "truth goes on for some seconds; its second half counts. Chains from the truth that stay",
        "where the others never come, at a higher log joint: the others do not mix. Where all",
        "agree on another number of entities, the model prefers it, and no sampler would help.",
        "The truth may be lower and all be well: a typical partition has its share of mistakes.",
    ]


def _cost_table(rows: Sequence[Row]) -> Iterator[str]:
    names = ("2", "3 to 4", "5 to 8", "9 to 16", "17 to 32", "33 to 64", "65 to 128", "to 256")
    yield _line(["table", *names, "more"])
    yield "|---|" + "---:|" * (1 + len(names))
    for row in rows:
        if not isinstance(row.get("costs"), list) or not row["costs"]:
            continue
        by_size = {cost["most"]: cost for cost in row["costs"]}
        order = (2, 4, 8, 16, 32, 64, 128, 256, 0)
        yield _line([row["name"], *(_cost(by_size.get(most)) for most in order)])


def _cost(cost: dict[str, float] | None) -> str:
    if cost is None:
        return "-"
    return f"{cost['moves']:.0%}, {cost['time']:.0%} ({_short_time(cost['seconds'])})"


def _about_costs() -> list[str]:
    return [
        "By how many records the two clusters of a proposed pair have: the share of moves and of",
        "their time, and the time of one move, at the end of the run, by one chain on one core.",
    ]


def _commits(rows: Sequence[Row], checkouts: Sequence[str]) -> str:
    said = []
    for name in checkouts:
        commits = sorted({row["commit"] for row in rows if row["checkout"] == name})
        place = "" if name == "here" else f"{name} "
        said.append(f"{place}commit {' and '.join(commits)}")
    return ", ".join(said)


def _within(seconds: float | None, most: float) -> bool:
    return seconds is not None and seconds <= most


def _time_by_size(row: Row) -> str:
    costs = row.get("costs")
    if not isinstance(costs, list):
        return f"|S| {costs['error']}" if costs else "|S| -"
    parts = [f"{c['most'] or 'more'}: {c['moves']:.0%}, {c['time']:.0%}" for c in costs]
    return f"|S| {'; '.join(parts)}"


def _verdict(row: Row) -> str:
    found = row.get("verdict") or {}
    if "chains" not in found:
        return str(found.get("words", found.get("error", "not diagnosed")))
    base = found["chains"]["log_joint"]
    return (
        f"{found['words']} (truth {found['truth']['log_joint'] - base:+.0f}, from it "
        f"{found['from_truth']['log_joint'] - base:+.0f}, K "
        f"{found['from_truth']['n_clusters']:.1f}, R-hat {found['rhat_with_truth']:.2f})"
    )


def _worst(row: Row) -> str:
    return f"{row['worst']['name']} {_rhat(row['worst']['rhat'])}"


def _rhat(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(number: float | None, digits: int) -> str:
    return "-" if number is None else f"{number:,.{digits}f}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _short_time(seconds: float) -> str:
    return f"{1e6 * seconds:.1f} us" if seconds < 1e-3 else f"{1e3 * seconds:.1f} ms"

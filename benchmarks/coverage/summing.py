"""Summaries of rows: how often intervals hold the truth, and how far probabilities are off."""

from collections.abc import Iterable, Sequence
from typing import Any

from accuracy.measures import added, calibration_error

Row = dict[str, Any]

MIDDLE = range(1, 9)
LEVEL = 0.9


def summarise(rows: Sequence[Row]) -> Row:
    """Return numbers of several tables; those that failed count as tables, and in nothing else."""
    done = [row for row in rows if "error" not in row]
    bins = pool_middle(done)
    return {
        "tables": len(rows),
        "failed": len(rows) - len(done),
        "done": len(done),
        "covered": sum(row["covered"] for row in done),
        "too_low": sum(row["q95"] < row["n_entities"] for row in done),
        "too_high": sum(row["q05"] > row["n_entities"] for row in done),
        "f1": mean(row["f1"] for row in done),
        "abs_z": mean(abs(row["z"]) for row in done),
        "middle_pairs": sum(row["pairs"] for row in bins),
        "middle_error": calibration_error(bins),
        "converged": sum(row["converged"] for row in done),
        "seconds": sum(row["seconds"] for row in done),
    }


def pool_middle(rows: Iterable[Row]) -> list[dict[str, float]]:
    """Put the bins of probabilities from 0.1 to 0.9 of all tables together."""
    pooled = added([row["reliability"] for row in rows])
    return [row for row in pooled if row["bin"] in MIDDLE]


def middle_error_within_kinds(rows: Sequence[Row]) -> float | None:
    """Return the middle errors of kinds, weighted by pairs: kinds do not make up for each other."""
    parts = [summarise(own) for own in group_by_kind(rows).values()]
    pairs = sum(part["middle_pairs"] for part in parts)
    gaps = sum(part["middle_pairs"] * (part["middle_error"] or 0.0) for part in parts)
    return gaps / pairs if pairs else None


def group_by_kind(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each kind."""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault(row["kind"], []).append(row)
    return kinds


def mean(numbers: Iterable[float]) -> float | None:
    """Return the mean; None of nothing."""
    every = list(numbers)
    return sum(every) / len(every) if every else None

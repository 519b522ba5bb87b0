"""How sure: the records by the confidence of their group."""

from typing import Any, NamedTuple

import polars as pl

from kolchin.report.content import Content
from kolchin.report.words import count, percent


class Level(NamedTuple):
    """A range of confidence, from its lower bound to the level above, and what it is called."""

    least: float
    name: str


LEVELS = (
    Level(0.99, "over 99%"),
    Level(0.95, "95 to 99%"),
    Level(0.80, "80 to 95%"),
    Level(0.50, "50 to 80%"),
    Level(0.0, "under 50%"),
)
KINDS = ("in a group", "on their own")


def confidence_rows(content: Content) -> list[dict[str, Any]]:
    """Return the share of records by level and by whether they have company, surest first."""
    table = content.entities.select(
        level=pl.sum_horizontal(
            (pl.col("confidence") < level.least).cast(pl.Int64) for level in LEVELS
        ),
        kind=pl.when(pl.col("entity_size") > 1).then(pl.lit(KINDS[0])).otherwise(pl.lit(KINDS[1])),
    )
    counts = {(k, kind): n for k, kind, n in table.group_by("level", "kind").len().iter_rows()}
    whole = max(table.height, 1)
    rows = []
    for k, level in enumerate(LEVELS):
        together = sum(counts.get((k, kind), 0) for kind in KINDS)
        rows += [
            {
                "label": level.name,
                "kind": kind,
                "share": round(counts.get((k, kind), 0) / whole, 5),
                "total": round(together / whole, 5),
                "text": f"{percent(together / whole)}  ({count(together)})",
            }
            for kind in KINDS
        ]
    return rows

"""How sure: the records by the confidence of their group."""

from typing import Any, NamedTuple

import numpy as np

from kolchin.report.report_content import ReportContent
from kolchin.report.wording import write_count, write_percent


class ConfidenceLevel(NamedTuple):
    """A range of confidence, from its lower bound to the level above, and what it is called."""

    least: float
    name: str


LEVELS = (
    ConfidenceLevel(0.99, "over 99%"),
    ConfidenceLevel(0.95, "95 to 99%"),
    ConfidenceLevel(0.80, "80 to 95%"),
    ConfidenceLevel(0.50, "50 to 80%"),
    ConfidenceLevel(0.0, "under 50%"),
)
KINDS = ("in a group", "on their own")


def make_confidence_rows(content: ReportContent) -> list[dict[str, Any]]:
    """Return the share of records by level and by whether they have company, surest first."""
    sure = content.entities["confidence"].to_numpy()
    place = np.zeros(sure.size, dtype=np.int8)
    for level in LEVELS:
        place += 2 * (sure < level.least)
    place += (content.entities["entity_size"] <= 1).to_numpy()
    counts = np.bincount(place, minlength=len(KINDS) * len(LEVELS)).tolist()
    whole = max(content.n_records, 1)
    rows = []
    for k, level in enumerate(LEVELS):
        own = counts[2 * k : 2 * k + 2]
        together = sum(own)
        rows += [
            {
                "label": level.name,
                "kind": kind,
                "share": round(number / whole, 5),
                "total": round(together / whole, 5),
                "text": f"{write_percent(together / whole)}  ({write_count(together)})",
            }
            for kind, number in zip(KINDS, own, strict=True)
        ]
    return rows

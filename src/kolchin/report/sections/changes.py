"""What became of entities when records were added."""

from typing import Any, NamedTuple

import polars as pl

from kolchin.report.report_content import ReportContent
from kolchin.report.wording import write_count, write_percent

WORDS = {
    "unchanged": "have the same records",
    "created": "have none but new records",
    "grew": "have new records beside the old ones",
    "merged": "have records of several earlier entities",
    "split": "are parts of one earlier entity",
    "shrank": "lost records that are no longer in the table",
    "removed": "have no record left in the table",
}
TELLING = ("merged", "split", "grew", "created")
"""Events worth a look, if they are not sure; of as sure ones these first."""

MOST_EVENTS = 20


class EventRow(NamedTuple):
    """How many entities an event has, and what it is."""

    event: str
    number: str
    meaning: str


class DoubtfulRow(NamedTuple):
    """An event that may not be so."""

    event: str
    entity: str
    earlier: str
    records: str
    probability: str


class ChangeSection(NamedTuple):
    """What the page says about changes."""

    rows: list[EventRow]
    doubtful: list[DoubtfulRow]


def make_changes(content: ReportContent) -> ChangeSection | None:
    """Return what changed; None for a table to which nothing was added."""
    if content.events is None:
        return None
    found = dict(content.events["event"].value_counts().iter_rows())
    rows = [
        EventRow(event, write_count(found[event]), words)
        for event, words in WORDS.items()
        if event in found
    ]
    return ChangeSection(rows, [_make_row(one) for one in _find_least_sure(content.events)])


def _find_least_sure(events: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the events that are least sure, what came together or apart first."""
    rank = pl.col("event").replace_strict(
        {event: k for k, event in enumerate(TELLING)}, default=None, return_dtype=pl.Int64
    )
    known = events.with_columns(rank.alias("rank")).filter(
        pl.col("rank").is_not_null() & (pl.col("probability") < 1)
    )
    return known.sort("probability", "rank", "entity").head(MOST_EVENTS).to_dicts()


def _make_row(event: dict[str, Any]) -> DoubtfulRow:
    earlier = ", ".join(map(str, event["from_entities"]))
    return DoubtfulRow(
        event["event"],
        str(event["entity"]),
        earlier or "–",
        write_count(event["n_records"]),
        write_percent(event["probability"]),
    )

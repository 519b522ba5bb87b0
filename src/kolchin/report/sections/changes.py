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


class CountChange(NamedTuple):
    """Why there are more entities than before, or fewer: how many came and went, and by what."""

    created: int
    removed: int
    split: int
    merged: int

    @property
    def total(self) -> int:
        """How many more there are."""
        return self.created - self.removed + self.split - self.merged

    def words(self) -> str:
        """Say it in one sentence.

        >>> CountChange(created=87, removed=1, split=2, merged=0).words()
        '88 more entities than before: 87 created, 2 more by splits, 1 removed.'
        >>> CountChange(0, 0, 0, 0).words()
        'As many entities as before.'
        """
        told = [
            f"{n:,} {words}"
            for n, words in (
                (self.created, "created"),
                (self.split, "more by splits"),
                (self.removed, "removed"),
                (self.merged, "fewer by mergers"),
            )
            if n
        ]
        many = "entity" if abs(self.total) == 1 else "entities"
        how = f"{abs(self.total):,} {'more' if self.total > 0 else 'fewer'} {many} than before"
        if not self.total:
            how = "As many entities as before"
        return f"{how}: {', '.join(told)}." if told else f"{how}."


class ChangeSection(NamedTuple):
    """What the page says about changes."""

    balance: str
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
    balance = explain_count(content.events).words()
    return ChangeSection(
        balance, rows, [_make_row(one) for one in _find_least_sure(content.events)]
    )


def explain_count(events: pl.DataFrame) -> CountChange:
    """Return why the number of entities has changed; the terms add up to the difference.

    An earlier entity that is in p later ones is p - 1 more by a split, a later one with records of
    q earlier ones is q - 1 fewer by a merger.
    """
    found = dict(events["event"].value_counts().iter_rows())
    known = events.filter(~pl.col("event").is_in(["created", "removed"]))["from_entities"]
    n_parts, n_earlier = int(known.list.len().sum()), known.explode().n_unique()
    return CountChange(
        found.get("created", 0), found.get("removed", 0), n_parts - n_earlier, n_parts - known.len()
    )


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

"""What changed between two results, matched by the ids of their records."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from kolchin.errors import DataError
from kolchin.files import replace_whole
from kolchin.report.sections.changes import WORDS, explain_count
from kolchin.resolution.results.events import (
    Groupings,
    find_moved_records,
    list_events,
    weigh_events,
)
from kolchin.resolution.results.explanation import Explanation
from kolchin.resolution.results.result import Result
from kolchin.resolution.tables.entity_numbers import EarlierEntities
from kolchin.terminal import write_table

MOST_SURPRISING = 10


class SurprisingPair(NamedTuple):
    """Two records that came together or apart, and how probable their link was and is."""

    before: float
    after: float
    explanation: Explanation

    def __str__(self) -> str:
        one, two = self.explanation.record_a, self.explanation.record_b
        how = "together" if self.explanation.same_entity else "apart"
        return (
            f"{one} and {two} are now {how}: the probability of one entity went from "
            f"{self.before:.4f} to {self.after:.4f}."
        )


@dataclass(frozen=True)
class Changes:
    """What changed between two results; print it.

    Attributes
    ----------
    events : one row an entity: event, entity (its number afterwards; of removed ones, before),
        from_entities (the numbers before of those that it has records of), n_records, n_new and
        probability, which is that of the event in the later posterior.
    moved : one row a record that left most of its entity, or whose entity was joined to one with
        more records: record, from_entity, to_entity.
    surprising : the pairs whose probability changed most among those that came together or apart,
        one an entity, with the evidence for and against.
    n_entities : how many entities there were and are.
    n_records : how many records there were and are.
    """

    events: pl.DataFrame
    moved: pl.DataFrame
    surprising: tuple[SurprisingPair, ...]
    n_entities: tuple[int, int]
    n_records: tuple[int, int]

    def counts(self) -> dict[str, int]:
        """Return how many entities each event has."""
        return _count_events(self.events)

    def write(self, path: str | Path) -> Path:
        """Write the events as CSV; numbers of earlier entities have spaces between them."""
        path = Path(path)
        with replace_whole(path) as part:
            list_events(self.events).write_csv(part)
        return path

    def __str__(self) -> str:
        (were, are), (had, have) = self.n_entities, self.n_records
        lines = [f"{were:,} entities of {had:,} records became {are:,} of {have:,}."]
        lines += describe_change(self.events).split("\n")
        lines += ["", f"{self.moved.height:,} records moved to another entity."]
        if self.surprising:
            lines += ["", "The most surprising changes:"]
        for surprise in self.surprising:
            lines += ["", str(surprise), *_write_evidence(surprise.explanation)]
        return "\n".join(lines)


def _count_events(events: pl.DataFrame) -> dict[str, int]:
    found = dict(events["event"].value_counts().iter_rows())
    return {event: int(found.get(event, 0)) for event in WORDS}


def describe_change(events: pl.DataFrame) -> str:
    """Say why there are more entities or fewer, and how many each event has, a line each."""
    rows = [(event, f"{n:,}", WORDS[event]) for event, n in _count_events(events).items() if n]
    return f"{explain_count(events).words()}\n\n{write_table(rows, right=[1])}"


def _write_evidence(explanation: Explanation) -> list[str]:
    """Write the evidence of a pair, a field a line."""
    rows = [
        (
            f"  {row['field']}",
            _write_cell(row["value_a"]),
            _write_cell(row["value_b"]),
            f"{row['bits']:+.1f}",
        )
        for row in explanation.fields.iter_rows(named=True)
    ]
    return write_table(rows, right=[3]).split("\n")


def _write_cell(value: Any) -> str:
    return "(missing)" if value is None else str(value)


def diff(before: Result | str | Path, after: Result | str | Path) -> Changes:
    """Say what changed between two results: unchanged, created, grew, merged, split, moved.

    Parameters
    ----------
    before, after
        Results, or the directories of runs. Records are matched by their ids.

    Examples
    --------
    >>> import kolchin as kp
    >>> people = {"id": list("abcdefghijkl"), "name": ["ann", "ann", "bob", "eve"] * 3}
    >>> people["year"] = [1, 1, 2, 3] * 3
    >>> before = kp.resolve(people, id="id", chains=2, draws=20, seed=1, progress=False)
    >>> diff(before, before).counts()["merged"]
    0
    """
    old, new = _load_result(before), _load_result(after)
    ids = [_read_ids(result) for result in (old, new)]
    if not ids[0].is_in(ids[1].implode()).any():
        raise DataError(
            "The two results have no record in common: records are matched by their ids "
            "(column 'record' of the entities). Name the same id column in both."
        )
    groupings = _match_records(old, new, *ids)
    sure = new.entities["confidence"].to_numpy()
    events = weigh_events(groupings, new.posterior, sure)
    moved = find_moved_records(groupings, events)
    named = new.entities["record"].gather(moved["row"]).alias("record")
    return Changes(
        events,
        moved.select(named, "from_entity", "to_entity"),
        _find_surprising(old, new),
        (old.entities["entity"].n_unique(), new.entities["entity"].n_unique()),
        (old.entities.height, new.entities.height),
    )


def _load_result(given: Result | str | Path) -> Result:
    if isinstance(given, Result):
        return given
    if not isinstance(given, str | os.PathLike):
        raise DataError(
            f"Results are compared, or the directories of runs. Got {type(given).__name__} instead."
        )
    return Result.load(Path(given))


def _read_ids(result: Result) -> pl.Series:
    """Return the records' ids as text, so that a number in a file is one in a data frame."""
    return result.entities["record"].cast(pl.String)


def _match_records(old: Result, new: Result, old_ids: pl.Series, new_ids: pl.Series) -> Groupings:
    before = EarlierEntities.of(old_ids, old.entities["entity"].to_numpy(), 0)
    after = new.entities["entity"].to_numpy().astype(np.int64)
    return Groupings(before.entity_of(new_ids), after, before.find_lost(new_ids))


def _find_surprising(old: Result, new: Result) -> tuple[SurprisingPair, ...]:
    """Return the pairs that came together or apart whose probability changed most, an entity each.

    Records must be in both results.
    """
    both = _list_changed_pairs(old, new)
    entity = dict(zip(_read_ids(new).to_list(), new.entities["entity"].to_list(), strict=True))
    told: set[int] = set()
    found = []
    for row in both.iter_rows(named=True):
        concerned = {entity[row["record_a"]], entity[row["record_b"]]}
        if concerned & told:
            continue
        told |= concerned
        explanation = new.explain(row["record_a"], row["record_b"])
        found.append(SurprisingPair(row["before"], row["after"], explanation))
        if len(found) == MOST_SURPRISING:
            break
    return tuple(found)


def _list_changed_pairs(old: Result, new: Result) -> pl.DataFrame:
    """Return the listed pairs of records that only one result has in one entity, by change."""
    keys = ["record_a", "record_b"]
    listed = []
    for result in (old, new):
        pairs = result.links.select(pl.col(keys).cast(pl.String), "probability", "same_entity")
        ordered = pl.concat_list(keys).list.sort()
        listed.append(
            pairs.with_columns(
                ordered.list.get(0).alias("record_a"), ordered.list.get(1).alias("record_b")
            )
        )
    known = _read_ids(old).filter(_read_ids(old).is_in(_read_ids(new).implode())).implode()
    return (
        listed[0]
        .join(listed[1], on=keys, how="full", coalesce=True)
        .filter(pl.col("record_a").is_in(known) & pl.col("record_b").is_in(known))
        .select(
            *keys,
            pl.col("probability").fill_null(0.0).alias("before"),
            pl.col("probability_right").fill_null(0.0).alias("after"),
            pl.col("same_entity").fill_null(False),
            pl.col("same_entity_right").fill_null(False),
        )
        .filter(pl.col("same_entity") != pl.col("same_entity_right"))
        .sort((pl.col("after") - pl.col("before")).abs(), *keys, descending=[True, False, False])
    )

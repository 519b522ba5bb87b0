"""What became of entities between two groupings of records: created, grew, merged, split, ..."""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.parameters import IntArray
from kolchin.posterior import Posterior
from kolchin.resolution.tables.entity_numbers import UNKNOWN, find_keepers

SETTLED = ("unchanged", "shrank")
"""Events that are as sure as the entity is."""

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "event": pl.String,
    "entity": pl.Int64,
    "from_entities": pl.List(pl.Int64),
    "n_records": pl.Int64,
    "n_new": pl.Int64,
}


class Groupings(NamedTuple):
    """The same records grouped twice: the earlier entity of each (-1: it is new) and the later one.

    ``lost`` has the earlier entity of each record that is no longer there.
    """

    before: IntArray
    after: IntArray
    lost: IntArray


def find_events(groupings: Groupings) -> pl.DataFrame:
    """Return one row a later entity, and one an earlier entity of which no record is left.

    Columns are event, entity, from_entities, n_records and n_new (records that were not there).
    An entity that has records of several earlier ones merged, though some of them may be a part
    only; one that has a part of a single one split off, or is what is left after a split.
    """
    records = pl.DataFrame({"old": groupings.before, "entity": groupings.after})
    known = records.filter(pl.col("old") != UNKNOWN)
    n_parts = known.group_by("old").agg(pl.col("entity").n_unique().alias("n_parts"))
    n_lost = pl.Series("old", groupings.lost, dtype=pl.Int64).value_counts(name="n_lost")
    parts = (
        known.group_by("entity", "old")
        .len()
        .join(n_parts, on="old")
        .join(n_lost, on="old", how="left")
        .group_by("entity")
        .agg(
            pl.col("old").sort().alias("from_entities"),
            pl.col("n_parts").max(),
            pl.col("n_lost").sum(),
        )
    )
    n_known = pl.col("from_entities").list.len()
    event = (
        pl.when(pl.col("from_entities").is_null())
        .then(pl.lit("created"))
        .when(n_known > 1)
        .then(pl.lit("merged"))
        .when(pl.col("n_parts") > 1)
        .then(pl.lit("split"))
        .when(pl.col("n_new") > 0)
        .then(pl.lit("grew"))
        .when(pl.col("n_lost") > 0)
        .then(pl.lit("shrank"))
        .otherwise(pl.lit("unchanged"))
    )
    sizes = records.group_by("entity").agg(
        pl.len().cast(pl.Int64).alias("n_records"),
        (pl.col("old") == UNKNOWN).sum().cast(pl.Int64).alias("n_new"),
    )
    found = (
        sizes.join(parts, on="entity", how="left")
        .with_columns(event.alias("event"))
        .with_columns(pl.col("from_entities").fill_null(pl.lit([], dtype=pl.List(pl.Int64))))
        .select(list(SCHEMA))
    )
    return pl.concat([found, _find_removed(groupings)]).sort("entity")


def _find_removed(groupings: Groupings) -> pl.DataFrame:
    """Return the earlier entities of which no record is left."""
    gone = np.setdiff1d(groupings.lost, groupings.before).tolist()
    rows = [("removed", entity, [entity], 0, 0) for entity in gone]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def find_moved_records(groupings: Groupings, events: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of records that left most of their earlier entity or joined a larger one.

    Columns are row, from_entity and to_entity. An entity stays with the earlier one that has the
    most records in it; of two with as many, with the smaller number.
    """
    changed = events.filter(pl.col("event").is_in(["merged", "split"]))["entity"]
    records = (
        pl.DataFrame({"from_entity": groupings.before, "to_entity": groupings.after})
        .with_row_index("row")
        .filter((pl.col("from_entity") != UNKNOWN) & pl.col("to_entity").is_in(changed.implode()))
    )
    kept = find_keepers(records["from_entity"].to_numpy(), records["to_entity"].to_numpy())
    stays = kept.rename({"old": "from_entity", "label": "to_entity"})
    return records.join(stays, on=["from_entity", "to_entity"], how="anti").sort("row")


def list_events(events: pl.DataFrame) -> pl.DataFrame:
    """Return events as a CSV file holds them."""
    earlier = pl.col("from_entities").cast(pl.List(pl.String)).list.join(" ")
    return events.with_columns(earlier, pl.col("probability").round(6))


def weigh_events(
    groupings: Groupings, posterior: Posterior, confidence: NDArray[np.float64]
) -> pl.DataFrame:
    """Return the events with their probabilities."""
    events = find_events(groupings)
    chances = estimate_probabilities(events, groupings, posterior, confidence)
    return events.with_columns(pl.Series("probability", chances))


def estimate_probabilities(
    events: pl.DataFrame,
    groupings: Groupings,
    posterior: Posterior,
    confidence: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the posterior probability of each event, of the later entities.

    Created: none of its records is with one that was there before. Grew: a new record is with one
    of the earlier entity. Merged: one cluster has records of all earlier entities. Split: the
    records of the earlier entity are not all in one cluster. Unchanged and shrank: the cluster of
    these records is exactly the entity.
    """
    sure = np.ones(events.height)
    of_entity = dict(zip(groupings.after.tolist(), confidence.tolist(), strict=True))
    rows = list(events.iter_rows(named=True))
    asked = {}
    for k, row in enumerate(rows):
        if row["event"] in SETTLED:
            sure[k] = of_entity[row["entity"]]
        elif row["event"] != "removed":
            asked[k] = row
    seen = _find_draws_with(asked, groupings, posterior)
    for k, row in asked.items():
        share = float(seen[k].mean()) if k in seen else 0.0
        sure[k] = share if row["event"] in ("grew", "merged") else 1 - share
    return sure


def _find_draws_with(
    asked: dict[int, dict[str, Any]], groupings: Groupings, posterior: Posterior
) -> dict[int, NDArray[np.bool_]]:
    """Return, by event, the draws (chain, draw) that have a cluster which speaks of it.

    That is one which makes it grow or merge, keeps together what split, or ties what was created to
    something that was there.
    """
    before, after, _ = groupings
    by_old, by_new = defaultdict(list), defaultdict(list)
    for k, row in asked.items():
        by_new[row["entity"]].append(k)
        for old in row["from_entities"]:
            by_old[old].append(k)
    n_old = np.bincount(before[before >= 0], minlength=1)
    in_play = np.isin(after, list(by_new)) | np.isin(before, list(by_old))
    seen: dict[int, NDArray[np.bool_]] = {}
    shape = posterior.n_chains, posterior.n_draws
    for c, chain in enumerate(posterior.chains):
        ends = np.cumsum(chain.sizes)
        begins = ends - chain.sizes
        touched = np.logical_or.reduceat(in_play[chain.members], begins) if begins.size else begins
        for i in np.flatnonzero(touched):
            members = chain.members[begins[i] : ends[i]]
            old, new = before[members], after[members]
            for k in _list_concerned(old, new, by_old, by_new):
                if _is_concerned(asked[k], old, new, n_old):
                    marks = seen.setdefault(k, np.zeros(shape, dtype=bool))
                    marks[c, chain.born[i] : chain.died[i]] = True
    return seen


def _list_concerned(
    old: IntArray, new: IntArray, by_old: dict[int, list[int]], by_new: dict[int, list[int]]
) -> set[int]:
    """Return the events that a cluster may speak of."""
    from_old = {k for one in set(old.tolist()) for k in by_old.get(one, ())}
    return from_old | {k for one in set(new.tolist()) for k in by_new.get(one, ())}


def _is_concerned(event: dict[str, Any], old: IntArray, new: IntArray, n_old: IntArray) -> bool:
    """Tell whether a cluster, by the earlier and the later entities of its records, does."""
    own = new == event["entity"]
    if event["event"] == "created":
        return bool(own.any() and (old != UNKNOWN).any())
    earlier = event["from_entities"]
    if event["event"] == "merged":
        return set(earlier) <= set(old.tolist())
    if event["event"] == "split":
        return int((old == earlier[0]).sum()) == int(n_old[earlier[0]])
    return bool((own & (old == UNKNOWN)).any() and (old == earlier[0]).any())

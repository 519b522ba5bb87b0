"""What changed between two results."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import kolchin as kp
from kolchin.cli import app
from kolchin.errors import DataError
from kolchin.posterior import Posterior
from kolchin.posterior.draws import Draw
from kolchin.report.sections.changes import explain_count
from kolchin.resolution.results.events import (
    Groupings,
    estimate_probabilities,
    find_events,
    find_moved_records,
)
from kolchin.resolution.results.result_differences import describe_change


def grouped(before, after, lost=()):
    return Groupings(*(np.array(one, dtype=np.int64) for one in (before, after, lost)))


def events(*groupings):
    return {row[1]: (row[0], row[2]) for row in find_events(grouped(*groupings)).iter_rows()}


@pytest.mark.parametrize(
    ("before", "after", "lost", "expected"),
    [
        ([0, 0, 1], [5, 5, 6], [], {5: ("unchanged", [0]), 6: ("unchanged", [1])}),
        ([0, 0, -1], [5, 5, 6], [], {5: ("unchanged", [0]), 6: ("created", [])}),
        ([0, 0, -1], [5, 5, 5], [], {5: ("grew", [0])}),
        ([0, 1, -1], [5, 5, 5], [], {5: ("merged", [0, 1])}),
        ([0, 0, 0], [5, 5, 6], [], {5: ("split", [0]), 6: ("split", [0])}),
        ([0, 0], [5, 5], [0], {5: ("shrank", [0])}),
        ([0, 0], [5, 5], [1], {5: ("unchanged", [0]), 1: ("removed", [1])}),
        ([0, 0, 1], [5, 6, 6], [], {5: ("split", [0]), 6: ("merged", [0, 1])}),
    ],
)
def test_an_entity_has_the_event_that_its_records_tell(before, after, lost, expected):
    assert events(before, after, lost) == expected


def test_records_that_stay_with_most_of_their_entity_do_not_move():
    both = grouped([0, 0, 0, 1, 2, 2], [7, 7, 8, 7, 9, 9])
    moved = find_moved_records(both, find_events(both))
    assert moved.rows() == [(2, 0, 8), (3, 1, 7)]


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_events_account_for_all_records(rows):
    before, after = zip(*rows, strict=True)
    found = find_events(grouped(before, after))
    assert found["entity"].to_list() == sorted(set(after))
    assert found["n_records"].sum() == len(rows)
    assert found["n_new"].sum() == before.count(-1)
    named = {old for earlier in found["from_entities"] for old in earlier}
    assert named == set(before) - {-1}


@given(
    st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 4)), min_size=1, max_size=12),
    st.lists(st.integers(0, 6), max_size=4),
)
def test_why_the_count_has_changed_adds_up(rows, lost):
    before, after = zip(*rows, strict=True)
    why = explain_count(find_events(grouped(before, after, lost)))
    were = {*before, *lost} - {-1}
    assert why.total == len(set(after)) - len(were)
    assert min(why) >= 0
    assert why.words().startswith(
        "As many" if len(set(after)) == len(were) else f"{abs(why.total)}"
    )


def test_why_the_count_has_changed_is_said():
    # Two become one, one becomes two, one has gone, one has come.
    found = find_events(grouped([0, 1, 2, 2, -1], [0, 0, 2, 3, 4], [5]))
    assert explain_count(found).words() == (
        "As many entities as before: 1 created, 1 more by splits, 1 removed, 1 fewer by mergers."
    )
    assert "As many entities as before: 1 created" in describe_change(found)


def drawn(n_records, *partitions):
    """Two chains that both have these partitions, given as lists of clusters."""
    draws = [
        Draw(
            np.array([n for c in one for n in c], dtype=np.int32),
            np.array([len(c) for c in one], dtype=np.int32),
            {},
            0.0,
        )
        for one in partitions
    ]
    return Posterior.from_draws(n_records, [draws, draws])


def chance(before, after, *partitions):
    both = grouped(before, after)
    found = find_events(both)
    posterior = drawn(len(before), *partitions)
    sure = posterior.confidence(after)
    values = estimate_probabilities(found, both, posterior, sure)
    return dict(zip(found["entity"].to_list(), values.tolist(), strict=True))


def test_what_is_no_result_is_told():
    with pytest.raises(DataError, match=r"or the directories of runs\. Got int instead"):
        kp.diff(3, 4)


def test_events_are_as_probable_as_the_draws_have_them():
    merged = chance([0, 1, 2], [0, 0, 1], [[0, 1]], [[0, 1]], [[0, 1, 2]], [])
    assert merged == {0: 0.75, 1: 0.75}
    split = chance([0, 0, 0], [0, 0, 1], [[0, 1]], [[0, 1, 2]], [[0, 1]], [[1, 2]])
    assert split == {0: 0.75, 1: 0.75}
    grew = chance([0, 0, -1], [0, 0, 0], [[0, 1, 2]], [[0, 1]], [[1, 2]], [[0, 2]])
    assert grew == {0: 0.75}
    created = chance(
        [0, 0, -1, -1], [0, 0, 1, 1], [[0, 1], [2, 3]], [[0, 1, 2]], [[2, 3]], [[0, 1]]
    )
    assert created == {0: 0.5, 1: 0.75}


def test_two_clusters_that_both_merge_count_once():
    assert chance([0, 0, 1, 1], [0, 0, 0, 0], [[0, 2], [1, 3]], []) == {0: 0.5}


def test_a_result_has_not_changed_against_itself(finished):
    result, out = finished
    changes = kp.diff(result, out)
    assert set(changes.events["event"]) == {"unchanged"}
    assert (
        changes.events["from_entities"].list.first().to_list() == changes.events["entity"].to_list()
    )
    assert changes.moved.height == 0
    assert changes.surprising == ()


def test_what_changed_is_told_with_its_evidence(finished, people, columns, tmp_path):
    result, out = finished
    sizes = result.entities.filter(pl.col("entity_size") > 1)
    left, changed = sizes["record"][0], sizes["record"][-1]
    rows = people.with_columns(pl.col("rec_id").cast(pl.String)).filter(pl.col("rec_id") != left)
    fields = [name for name in rows.columns if name.startswith("field")]
    other = rows.filter(pl.col("rec_id") != changed).row(0, named=True)
    hit = pl.col("rec_id") == changed
    rows = rows.with_columns(
        pl.when(hit).then(pl.lit(other[name])).otherwise(pl.col(name)).alias(name)
        for name in fields
    )
    later = kp.resolve(rows, **columns, chains=2, draws=30, seed=3, out=tmp_path / "later")
    changes = kp.diff(result, later)
    counts = changes.counts()
    assert counts["shrank"] + counts["split"] + counts["merged"] >= 1
    assert changes.n_records == (60, 59)
    assert changed in changes.moved["record"].to_list()
    told = {
        one for s in changes.surprising for one in (s.explanation.record_a, s.explanation.record_b)
    }
    assert changed in told
    ran = CliRunner().invoke(
        app, ["diff", str(out), str(tmp_path / "later"), "--out", str(tmp_path / "events.csv")]
    )
    assert ran.exit_code == 0
    assert "records moved" in ran.stdout
    assert " than before: " in ran.stdout or "As many" in ran.stdout
    written = pl.read_csv(tmp_path / "events.csv")
    assert written.columns == [
        "event",
        "entity",
        "from_entities",
        "n_records",
        "n_new",
        "probability",
    ]
    assert written.height == changes.events.height


def test_results_without_a_common_record_are_refused(finished, people):
    result, _ = finished
    others = people.with_columns(pl.col("rec_id").cast(pl.String) + "x")
    later = kp.resolve(others, id="rec_id", truth="ent_id", chains=2, draws=30, seed=3)
    with pytest.raises(DataError, match="no record in common"):
        kp.diff(result, later)

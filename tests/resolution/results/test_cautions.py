"""What a reader should know first is said first, and only where it holds."""

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.resolution.results import cautions
from kolchin.resolution.results.cautions import (
    OpenQuestion,
    _describe_collapse,
    _describe_equal_apart,
    _describe_nothing_found,
    _describe_two_answers,
    find_families,
)
from kolchin.resolution.results.summary import write_headline


class Drawn:
    """Traces of chains."""

    def __init__(self, n_clusters, log_joint=None):
        drawn = np.array(n_clusters, dtype=float)
        self.statistics = {"n_clusters": drawn}
        self.log_joint = np.zeros(drawn.shape) if log_joint is None else np.array(log_joint)


def test_two_answers_are_told_with_the_better_one():
    low, high = [100.0, 101, 100, 101], [160.0, 161, 159, 160]
    drawn = Drawn([low, low, high], [[0.0] * 4, [0.0] * 4, [-50.0] * 4])
    (sentence,) = _describe_two_answers(drawn)
    assert "about 100 (2 chains) and about 160 (one chain)" in sentence
    assert "prefers about 100 (2 chains), by 50 in log density" in sentence
    assert _describe_two_answers(Drawn([low, low, [101.0, 102, 101, 100]])) == []


def test_nothing_found_is_said():
    records = kp.Records.from_codes([[k % 5, k % 3] for k in range(50)])
    (said,) = _describe_nothing_found(records, np.arange(50))
    assert said.startswith("No two records were linked.")
    assert "recur" not in said
    assert _describe_nothing_found(records, np.minimum(np.arange(50), 48)) == []


@pytest.mark.parametrize(
    ("days", "amounts", "told"),
    [(50, 5, "Values of day hardly ever recur"), (5, 5, ""), (50, 50, "")],
)
def test_what_never_recurs_may_hide_links(days, amounts, told):
    table = {"day": [f"d{k % days}" for k in range(50)], "sum": [k % amounts for k in range(50)]}
    records = kp.Records.from_table(table, fields=["day", "sum"])
    (said,) = _describe_nothing_found(records, np.arange(50))
    assert ("recur" in said) == bool(told)
    assert told in said


def test_equal_records_apart_are_counted_by_group():
    records = kp.Records.from_codes([[0, 1], [0, 1], [1, 1], [1, 1], [2, 0]])
    assert _describe_equal_apart(records, np.array([0, 0, 1, 1, 2])) == []
    (sentence,) = _describe_equal_apart(records, np.array([0, 3, 1, 1, 2]))
    assert sentence.startswith("1 group of records that are equal in every field is listed")


def test_a_field_that_tells_little_is_not_said_to_tell_much():
    class Alike:
        fields = (kp.Text("name"),)
        u = (np.array([0.9, 0.1]),)
        agrees = (np.array([True, False]),)

    differ = {"m[name: different]": {"mean": 0.9}}
    found = {"n_records": 50, "n_entities": {"mean": 1.0}, "parameters": differ}
    assert find_families(found, Alike()) == []


class Telling:
    """Two fields: unrelated records hardly ever agree on the first, mostly on the second."""

    fields = (kp.Text("title"), kp.Text("colour"), kp.Text("shop"))
    u = (np.array([0.001, 0.999]), np.array([0.2, 0.8]), np.array([0.9, 0.1]))
    agrees = (np.array([True, False]),) * 3


@pytest.mark.parametrize(
    ("title", "shop", "is_said"), [(0.4, 0.0, True), (0.1, 0.0, False), (0.1, 0.9, False)]
)
def test_groups_that_differ_in_what_tells_most_may_be_families(title, shop, is_said):
    differ = {"m[title: different]": {"mean": title}, "m[shop: different]": {"mean": shop}}
    found = {"n_records": 50, "n_entities": {"mean": 30.0}, "parameters": differ}
    said = find_families(found, Telling())
    assert bool(said) == is_said
    assert find_families({**found, "n_entities": {"mean": 50.0}}, Telling()) == []
    assert find_families(found, None) == []
    if is_said:
        assert "one_per_source=True" in said[0]
        assert "one_per_source" not in find_families(found, Telling(), one_per_source=True)[0]
    if is_said:
        assert "differ altogether in title 40 times of 100" in said[0]


def test_a_doubt_is_a_question():
    asked = OpenQuestion(["first_name"], 214, 34.0).sentence()
    assert asked.startswith("214 pairs agree on everything but first_name: the same or not?")
    assert "by up to 180" in asked


@pytest.fixture(scope="module")
def result():
    """A table in which nothing repeats."""
    rng = np.random.default_rng(1)
    letters = list("abcdefghijklmnop")
    names = ["".join(rng.choice(letters, 9)) for _ in range(120)]
    table = pl.DataFrame({"name": names, "year": rng.integers(1900, 2000, 120)})
    return kp.resolve(table, fields=["name", "year"], chains=2, draws=40, seed=1, progress=False)


def test_a_run_that_found_nothing_says_so_first(result):
    summary = result.summary()
    first = 0 if summary["diagnostics"]["converged"] else 1
    assert summary["cautions"][first].startswith("No two records were linked.")
    lines = write_headline(summary)
    assert lines[: first + 1] == summary["cautions"][: first + 1]


def test_a_run_that_has_not_converged_says_so_first(result):
    unsettled = {"ended": "draws", "diagnostics": {"converged": False}}
    (said,) = cautions._describe_unsettled(unsettled)
    assert said.startswith("It has not converged")
    assert cautions._describe_unsettled({**unsettled, "diagnostics": {"converged": True}}) == []


def test_open_pairs_are_grouped_by_what_differs(result):
    pairs = pl.DataFrame(
        {"record_a": [0, 1, 2, 3, 4, 5], "record_b": [6, 7, 8, 9, 10, 11], "probability": 0.5}
    )
    (doubt,) = cautions.find_doubts(pairs, result._model.comparisons)
    assert doubt.pairs <= 6
    assert doubt.expected == pytest.approx(doubt.pairs / 2)
    sure = pairs.with_columns(probability=pl.lit(0.99))
    assert cautions.find_doubts(sure, result._model.comparisons) == []
    assert cautions.find_doubts(pairs, None) == []


def test_one_entity_with_a_large_part_of_all_records_is_told():
    labels = np.concatenate([np.zeros(30, dtype=np.int64), np.arange(1, 71)])
    (told,) = _describe_collapse({"n_records": 100}, labels)
    assert told.startswith("One entity has 30 of the 100 records.")
    assert _describe_collapse({"n_records": 100}, np.arange(100)) == []
    assert _describe_collapse({"n_records": 4}, np.zeros(4, dtype=np.int64)) == []


def test_where_columns_are_too_weak_no_links_are_told_with_that(result):
    what = {**result.summary(), "ended": "draws"}, result.posterior, result._given.records
    said = cautions.list_cautions(*what, result.labels, weak=["Too weak."])
    assert said.count("No two records were linked. Too weak.") == 1
    assert "could tell a link" not in " ".join(said)
    assert "could tell a link" in " ".join(cautions.list_cautions(*what, result.labels))

"""Entities to look at."""

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.resolution.results.entity_views import (
    find_others_near,
    find_usual_value,
    find_weakest_link,
    list_least_sure,
)


def links(*rows):
    return pl.DataFrame(rows, schema=["record_a", "record_b", "probability"], orient="row")


def test_the_weakest_link_is_the_weakest_of_the_strongest_tree():
    pairs = links((0, 1, 0.9), (1, 2, 0.7), (0, 2, 0.4), (2, 3, 0.8))
    assert find_weakest_link(np.arange(4), pairs) == (1, 2, 0.7)
    assert find_weakest_link(np.array([5]), links()) is None


def test_records_that_no_link_ties_are_the_weakest():
    assert find_weakest_link(np.array([0, 1, 4]), links((0, 1, 0.9))) == (0, 4, 0.0)


def test_others_come_with_their_best_link():
    inside = np.array([True, True, False, False])
    pairs = links((0, 2, 0.1), (1, 2, 0.3), (1, 3, 0.2))
    assert find_others_near(inside, pairs, np.array([0, 0, 1, 2])) == [
        (2, 1, 1, 0.3),
        (3, 2, 1, 0.2),
    ]


def test_a_pair_between_two_entities_is_told_once():
    labels = np.array([0, 1, 2, 2])
    entities = pl.DataFrame(
        {
            "record": ["a", "b", "c", "d"],
            "entity": labels,
            "entity_size": [1, 1, 2, 2],
            "confidence": [0.6, 0.6, 0.9, 0.9],
        }
    )
    pairs = links((0, 1, 0.4), (2, 3, 0.9))
    found = list_least_sure(entities, pairs, labels, 10)
    assert found["entity"].to_list() == [0, 2]
    assert found.row(0)[3:] == ("a", "b", 0.4, False)
    assert found.row(1)[3:] == ("c", "d", 0.9, True)
    assert list_least_sure(entities, pairs, labels, 1).height == 1


def test_the_usual_value_is_the_most_frequent():
    assert find_usual_value([None, None]) is None
    assert find_usual_value(["b", "a", "a"]) == "a"


def test_an_entity_has_its_records_and_its_confidence(finished, people):
    result, _ = finished
    number = int(np.argmax(np.bincount(result.labels)))
    entity = result.entity(number)
    members = np.flatnonzero(result.labels == number)
    assert entity.records["record"].to_list() == [str(people["rec_id"][int(n)]) for n in members]
    assert entity.records["field_1"].to_list() == [
        None if people["field_1"][int(n)] is None else str(people["field_1"][int(n)])
        for n in members
    ]
    assert "rec_id" not in entity.records.columns
    assert entity.confidence == pytest.approx(result.entities["confidence"][int(members[0])])
    inside = result.links.filter("same_entity")["probability"]
    assert inside.min() <= entity.weakest.probability <= 1
    assert f"Entity {number}: {members.size} records" in str(entity)
    assert "Weakest link" in str(entity)


def test_who_else_could_belong_is_told_of_a_record_on_its_own(finished):
    result, _ = finished
    across = result.links.filter(~pl.col("same_entity")).sort("probability", descending=True)
    record, other, probability = across.row(0)[:3]
    number = result.entities.filter(pl.col("record") == record)["entity"][0]
    entity = result.entity(str(number))
    told = entity.others.filter(pl.col("record") == other)
    assert told["probability"][0] >= probability
    assert f"{other} (entity" in str(entity)


@pytest.mark.parametrize("wrong", ["no", -1, 10_000, None])
def test_an_entity_that_is_not_there_is_refused(finished, wrong):
    result, _ = finished
    with pytest.raises(kp.DataError, match="There is no entity"):
        result.entity(wrong)


def test_doubtful_entities_come_least_sure_first(finished):
    result, _ = finished
    found = result.doubtful(5)
    assert found.height == 5
    assert found["confidence"].is_sorted()
    assert found["confidence"][0] == result.entities["confidence"].min()


def test_an_entity_fits_eighty_columns(finished, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result, _ = finished
    for number in range(int(result.labels.max()) + 1):
        records = str(result.entity(number)).split("\n\n", 1)[1]
        assert max(map(len, records.split("\n"))) <= 80


def test_a_notebook_shows_the_headline_the_doubts_and_the_report(finished):
    result, out = finished
    html = result._repr_html_()
    assert "among 60 records" in html
    assert "Least sure" in html
    assert f"Entity {result.doubtful(1)['entity'][0]}" in html
    assert str(out / "report.html") in html
    loaded = kp.Result.load(out)
    assert loaded.directory == out


def test_a_notebook_shows_values_as_they_are():
    table = {
        "name": ["<script>", "<script>", "b"] * 4,
        "year": [1, 2, 3] * 4,
        "&": list("abcd") * 3,
    }
    result = kp.resolve(table, chains=1, draws=10, seed=1, progress=False)
    html = "".join(result.entity(k)._repr_html_() for k in set(result.labels.tolist()))
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "writes it" in result._repr_html_()

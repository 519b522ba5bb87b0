"""What an explanation says beside its numbers."""

import polars as pl
import pytest

from kolchin.resolution.results.explanation import Explanation

FIELDS = pl.DataFrame(
    {
        "field": ["name", "a very long name of a column, longer than most"],
        "value_a": ["Ann" * 20, None],
        "value_b": ["Anne" * 20, "x"],
        "compared": ["mistyped", "missing"],
        "bits": [3.5, 0.0],
    }
)


def explained(probability: float, same_entity: bool, fields: pl.DataFrame = FIELDS) -> str:
    what = {"record_a": "r1", "record_b": "r2", "fields": fields, "evidence": 3.5, "prior": None}
    return str(
        Explanation(
            **what, probability=probability, same_entity=same_entity, naming="by column 'id'"
        )
    )


@pytest.mark.parametrize(
    ("probability", "same_entity", "words"),
    [(0.43, True, "links them through others"), (0.6, False, "keeps them apart though")],
)
def test_a_list_that_goes_against_a_pair_says_why(probability, same_entity, words):
    assert words in explained(probability, same_entity)


@pytest.mark.parametrize(("probability", "same_entity"), [(0.43, False), (0.6, True)])
def test_nothing_is_said_where_the_list_follows_the_pair(probability, same_entity):
    assert "The list" not in explained(probability, same_entity)


def test_it_fits_eighty_columns_and_says_how_records_are_named(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = explained(0.9, True)
    assert text.startswith("Records are named by column 'id'.\n")
    table = text.split("\n\n")[1]
    assert max(map(len, table.split("\n"))) <= 80
    assert "+3.50" in table


def test_shared_words_have_lines_of_their_own(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = ["cdpce375", "player", "changer", "compact", "stereo", "sony", "disc"]
    fields = FIELDS.with_columns(
        compared=pl.Series([f"words 0.8: shares {', '.join(words)}", "missing"])
    )
    text = explained(0.9, True, fields)
    assert max(map(len, text.split("\n"))) <= 80
    assert all(word in text for word in words)
    assert "words 0.8 " in text


@pytest.mark.parametrize(
    ("compared", "bits", "told"),
    [("different", 2.97, True), ("different", -2.97, False), ("mistyped", 2.97, False)],
)
def test_a_field_that_differs_and_speaks_for_a_link_is_explained(compared, bits, told):
    fields = FIELDS.with_columns(
        compared=pl.Series([compared, "missing"]), bits=pl.Series([bits, 0.0])
    )
    assert ("Why name speaks for one entity" in explained(0.9, True, fields)) == told


def test_how_values_compare_is_never_cut(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    how = "words 0.8, other numbers"
    fields = FIELDS.with_columns(compared=pl.Series([how, "missing"]))
    table = explained(0.9, True, fields).split("\n\n")[1]
    assert f" {how} " in table
    assert max(map(len, table.split("\n"))) <= 80

"""A run says when its columns cannot outweigh the odds, and explain names the words."""

import re

import numpy as np
import pytest

import kolchin as kp
from kolchin.resolution.results.outweighed_fields import describe_too_weak, find_most_bits


def test_columns_that_say_too_little_are_told_before_and_after(capsys):
    rng = np.random.default_rng(1)
    table = {
        "sex": rng.choice(["f", "m"], 400).tolist(),
        "hand": rng.choice(["l", "r"], 400).tolist(),
    }
    result = kp.resolve(table, chains=2, draws=20, seed=1, progress=True)
    told = "bits for a pair; one in 400 needs 9."
    assert told in capsys.readouterr().err
    assert any(told in sentence for sentence in result.summary()["cautions"])


def test_nothing_is_told_where_a_pair_can_be_a_link():
    rng = np.random.default_rng(2)
    names = [f"{a}{b}{c}" for a in "bdgklm" for b in "aeiou" for c in ("la", "ne", "ro", "st", "x")]
    table = {
        "first": rng.choice(names, 150).tolist() * 2,
        "last": rng.choice(names, 150).tolist() * 2,
        "town": rng.choice(names, 150).tolist() * 2,
    }
    records = kp.Records.from_table(table, fields=[kp.Text(name) for name in table])
    model = kp.Model(records, likelihood=kp.compare(records))
    assert describe_too_weak(model) == []
    assert find_most_bits(model) > np.log2(300)


def test_columns_of_which_no_values_are_alike_are_not_called_weak():
    rng = np.random.default_rng(4)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    table = {
        name: ["".join(rng.choice(letters, 9)) for _ in range(80)]
        for name in ("first", "last", "town")
    }
    records = kp.Records.from_table(table, fields=[kp.Text(name) for name in table])
    model = kp.Model(records, likelihood=kp.compare(records))
    assert describe_too_weak(model) == []


def test_categories_alone_have_no_bits_to_tell():
    records = kp.Records.from_table({"sex": ["f", "m", "f"]}, fields=["sex"])
    assert find_most_bits(kp.Model(records)) is None


@pytest.fixture(scope="module")
def catalogue():
    rng = np.random.default_rng(3)
    words = [f"{a}{b}{c}" for a in "bdgklm" for b in "aeiou" for c in ("la", "ne", "ro", "st", "x")]
    names = [f"{' '.join(rng.choice(words, 3))} AB-{k}X" for k in range(100, 160)]
    again = [name.replace("-", "").upper() for name in names]
    texts = [f"{name} with {' '.join(rng.choice(words, 4))}" for name in names]
    table = {"name": [*names, *again], "text": texts * 2}
    fields = [kp.Words("name"), kp.Words("text")]
    return kp.resolve(table, fields=fields, chains=2, draws=30, seed=1, progress=False)


def test_explain_names_the_words_that_spoke_once(catalogue):
    words = dict(catalogue.explain(0, 60).fields.select("field", "compared").iter_rows())
    assert "shares ab100x" in words["name"]
    assert "ab100x" not in words["text"]
    assert re.search(r"shares \w+", words["text"])
    assert "shares" not in str(catalogue.explain(0, 61)) or "ab100x" not in str(
        catalogue.explain(0, 61)
    )


def test_a_catalogue_is_resolved(catalogue):
    pairs = {frozenset(p) for p in catalogue.links.select("record_a", "record_b").iter_rows()}
    assert sum(frozenset((k, k + 60)) in pairs for k in range(60)) >= 57

"""Values that people take for the same are the same, and gaps are known as gaps."""

import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kolchin.errors import DataError
from kolchin.records import MISSING_MARKERS, Categorical, load
from kolchin.records.columns.cleaning import AS_IT_IS, clean, normalise_text
from kolchin.records.columns.cleaning import make_cleaning_rules as prepared


@pytest.mark.parametrize(
    "spellings",
    [
        ["Zoë", "ZOË", "zoe", "Zoe\u0308", " zoë\t"],
        ["van Dyk", "VAN  DYK", "van\u00a0dyk", "van\ndyk", "van Dyk"],
        ["Straße", "STRASSE", "strasse"],
        ["İzmir", "izmir", "IZMIR"],
        ["ﬁnch", "Finch"],
        ["\uff21\uff44\uff41", "ada", "A\u200bda", "\ufeffAda"],
        ["Ödön", "ODON"],
    ],
)
def test_spellings_of_one_value(spellings):
    assert len({normalise_text(spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("かき", "がき"), ("мой", "мои"), ("कि", "क"), ("ada", "eda"), ("o'neil", "oneil")],
)
def test_different_values_stay_different(one, other):
    assert normalise_text(one) != normalise_text(other)


@given(st.text())
def test_normalising_twice_changes_nothing(text):
    once = normalise_text(text)
    assert normalise_text(once) == once
    assert normalise_text(unicodedata.normalize("NFD", text)) == normalise_text(
        unicodedata.normalize("NFC", text)
    )


VALUES = [
    "A",
    "a ",
    "NA",
    "n/a",
    "Unknown",
    "",
    None,
    "-",
    "?",
    "b",
    " ",
    "NULL",
    "none",
    "NaN",
    "na",
]


def test_missing_markers_are_counted_as_written():
    result = clean(pl.Series(VALUES), prepared())
    assert result.values.vocabulary.to_list() == ["a", "b"]
    assert result.values.codes.tolist() == [0, 0, *[-1] * 7, 1, *[-1] * 5]
    once = {"NA", "n/a", "Unknown", "-", "?", "NULL", "none", "NaN", "na"}
    assert result.markers == {"": 3, **dict.fromkeys(once, 1)}


def test_markers_of_other_languages_are_gaps_and_initials_are_not():
    markers = clean(pl.Series(["k.A.", "Keine Angabe", "Bonn"]), prepared(True)).markers
    assert markers == {"k.A.": 1, "Keine Angabe": 1}
    names = ["A.B.", "K.A.", "C.D.", "A.B.", "k.A."]
    found = clean(pl.Series("first_name", names), prepared(spare_names=True))
    assert (found.markers, found.spared) == ({"k.A.": 1}, ("K.A.",))


def test_other_markers():
    result = clean(pl.Series(["x", "NA", "999", "", "y"]), prepared(missing=["999"]))
    assert result.values.vocabulary.to_list() == ["na", "x", "y"]
    assert result.markers == {"": 1, "999": 1}


def test_markers_without_normalisation():
    result = clean(pl.Series(["X", "x", "na", "Na", " NA"]), prepared(normalise=False))
    assert result.values.vocabulary.to_list() == [" NA", "X", "x"]


def test_as_it_is():
    result = clean(pl.Series(["X", "", " ", "NA", None]), AS_IT_IS)
    assert result.values.vocabulary.to_list() == [" ", "NA", "X"]
    assert result.markers == {"": 2}


@pytest.mark.parametrize("normalise", [True, False])
def test_many_values_are_cleaned_as_few_are(normalise, monkeypatch):
    values = pl.Series([None, *MISSING_MARKERS, *"AaBb", " a", "a  b", "É", "e", "07", "7", "x\ty"])
    few = clean(values, prepared(normalise))
    monkeypatch.setattr("kolchin.records.columns.cleaning.FEW", 0)
    monkeypatch.setattr("kolchin.records.columns.distinct_values.FEW", 0)
    many = clean(values, prepared(normalise))
    assert many.values.vocabulary.to_list() == few.values.vocabulary.to_list()
    assert many.values.codes.tolist() == few.values.codes.tolist()
    assert many.markers == few.markers


@given(st.lists(st.one_of(st.none(), st.from_regex(r"\A-?[0-9]{1,3}(\.[0-9])?\Z")), min_size=1))
def test_numbers_in_text_have_one_order(column):
    series = pl.Series(column, dtype=pl.String)
    few = clean(series, AS_IT_IS).values
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kolchin.records.columns.distinct_values.FEW", 0)
        many = clean(series, AS_IT_IS).values
    assert few.vocabulary.to_list() == many.vocabulary.to_list()
    assert few.codes.tolist() == many.codes.tolist()
    assert few.vocabulary.cast(pl.Float64).is_sorted()


TABLE = {"sex": ["F", "f ", "M", "NA"], "x": [1, 2, 1, 1]}


def test_normalisation_can_be_switched_off():
    assert load(TABLE, fields="sex").records.vocabularies == (("f", "m"),)
    assert load(TABLE, fields="sex", normalise=False).records.vocabularies == (("F", "M", "f "),)
    assert load(TABLE, fields="sex", missing=[]).records.vocabularies == (("f", "m", "na"),)
    assert load(TABLE, fields="sex", missing="M").records.vocabularies == (("f", "na"),)


def test_markers_are_noted():
    assert "'sex' has values that count as missing: 'NA' (1)." in load(TABLE).notes


def test_frequencies_are_cleaned_as_values_are():
    field = Categorical("sex", {"F": 1, "f": 1, "M": 2})
    records = load(TABLE, fields=[field]).records
    assert records.frequencies[0].tolist() == [0.5, 0.5]
    with pytest.raises(DataError, match="lack values that the column holds: 'f '"):
        load(TABLE, fields=[field], normalise=False)


def test_markers_must_be_text():
    with pytest.raises(DataError, match=r"missing must be a sequence of text. Got \[9\] in it"):
        load(TABLE, missing=["NA", 9])

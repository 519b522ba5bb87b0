"""What columns are is told from their values and names."""

import math
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kolchin.errors import DataError
from kolchin.likelihoods.compared_patterns import MOST_FIELDS
from kolchin.records import (
    Categorical,
    Code,
    Date,
    Email,
    Kind,
    Name,
    Number,
    Phone,
    Records,
    Text,
    inspect,
    load,
)
from kolchin.records.columns.inference import MOST_COMPARED

DATA = Path(__file__).parents[4] / "shared" / "data"
N = 400


def kind(name: str, values) -> tuple[str, bool]:
    beside = draw(NAMES, n=len(values))
    report, _ = inspect({name: values, "first_name_": beside}).columns
    return str(report.kind), report.used


def draw(pool, seed: int = 1, n: int = N) -> list:
    """Draw values with replacement, so that some records share one."""
    return np.random.default_rng(seed).choice(np.array(list(pool), dtype=object), n).tolist()


def write_in_two_ways(k: int) -> str:
    """Write a date as one of two lists does."""
    day = date(2010, 1, 1) + timedelta(37 * k)
    return f"{day:%d-%b-%y}" if k % 2 else f"{day:%B} {day.day}, {day.year}"


NAMES = [f"{a}{b}{c}" for a in "BDKLMR" for b in "aeio" for c in ("nna", "rta", "lf", "mond")]
SSNS = [f"{i * 7919 % 899 + 100}{i * 104729 % 8999 + 1000}" for i in range(250)]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("sex", draw(["f", "m", "x"]), "categorical"),
        ("first_name", draw(NAMES), "text"),
        ("x", draw(NAMES), "text"),
        ("givenName", draw(NAMES[:10]), "text"),
        ("street", draw(f"{i} {name} street" for i, name in enumerate(NAMES)), "text"),
        ("mail", draw(f"{name}@example.org" for name in NAMES), "email"),
        ("contact", draw(f"+41 31 {i:03d} 12 34" for i in range(200)), "phone"),
        ("phone", draw(f"{726000000 + 37 * i}" for i in range(200)), "phone"),
        ("zip", draw(f"{i:05d}" for i in range(30)), "postcode"),
        ("post_code", draw(f"SW{i} 1AA" for i in range(70)), "postcode"),
        ("plate", draw(f"AB{i} XY" for i in range(70)), "code"),
        ("dob", draw(str(date(1960, 1, 1) + timedelta(97 * i)) for i in range(99)), "date"),
        ("dob", draw(f"{i % 28 + 1}/{i % 12 + 1}/19{i:02d}" for i in range(99)), "date"),
        ("dob", draw(f"{i % 28 + 1} Mar 19{i:02d}" for i in range(10, 99)), "date"),
        ("released", draw(write_in_two_ways(i) for i in range(99)), "date"),
        ("road", draw(f"Mill Road {i % 28 + 1}, {i:02d}" for i in range(99)), "words"),
        ("born", draw(date(1960, 1, 1) + timedelta(97 * i) for i in range(99)), "date"),
        ("dob", draw(f"19{i:02d}0{i % 9 + 1}1{i % 9}" for i in range(10, 99)), "date"),
        ("year", draw(map(str, range(1930, 2000))), "number"),
        ("year", draw(range(1930, 2000)), "number"),
        ("month", draw(range(1, 13)), "categorical"),
        ("amount", draw(i / 4 for i in range(70)), "number"),
        ("flag", draw([True, False]), "categorical"),
        ("region_id", draw(range(12)), "categorical"),
        ("store_key", draw(f"S{i}" for i in range(30)), "categorical"),
        ("entity", draw(["LLC", "Inc", "person"]), "categorical"),
        ("cluster", draw(["north", "south"]), "categorical"),
        ("cluster", draw(range(5)), "categorical"),
        ("match", draw([0, 1]), "categorical"),
        ("paid", draw(range(40)), "categorical"),
        ("name", draw(f"{name} {other}" for name in NAMES for other in NAMES[:3]), "name"),
        ("Full Name", draw(f"{name}, Dr. Jo" for name in NAMES), "name"),
        ("name", draw(NAMES), "text"),
        ("name", draw(f"{name} & sons" for name in NAMES), "text"),
        ("name", draw(f"{name} & sons ltd" for name in NAMES), "words"),
        ("company name", draw(f"{name} {name}" for name in NAMES), "text"),
        ("street name", draw(f"{name} {name}" for name in NAMES), "text"),
        ("age", draw(range(80)), "number"),
        ("street_number", [*range(N - 2), 0, 1], "number"),
        ("name", [f"{name}{x}a" for name in NAMES for x in "klmn"] + ["ann", "bob"] * 8, "text"),
        ("name", [f"{name}{x}a" for name in NAMES[:90] for x in "klmn"], "text"),
        ("email", [f"{name}{x}@example.org" for name in NAMES[:90] for x in "klmn"], "email"),
    ],
)
def test_columns_that_are_used(name, values, expected):
    assert kind(name, values) == (expected, True)


@pytest.mark.parametrize(
    ("name", "values", "field"),
    [
        ("first_name", draw(NAMES), Text("first_name")),
        ("name", draw(f"{name} {name}" for name in NAMES), Name("name")),
        ("year", draw(range(1930, 2000)), Number("year")),
        ("dob", draw(str(date(1960, 1, 1) + timedelta(97 * i)) for i in range(99)), Date("dob")),
        ("mail", draw(f"{name}@example.org" for name in NAMES), Email("mail")),
        ("phone", draw(f"{726000000 + 37 * i}" for i in range(200)), Phone("phone")),
        ("zip", draw(f"{i:05d}" for i in range(30)), Code("zip")),
        ("plate", draw(f"AB{i} XY" for i in range(70)), Code("plate")),
        ("sex", draw(["f", "m", "x"]), Categorical("sex")),
    ],
)
def test_columns_become_fields_of_their_kind(name, values, field):
    table = {name: values, "last_name": draw(NAMES, seed=2)}
    assert load(table).records.fields[0] == field
    assert Records.from_table(table).fields[0] == field
    assert load(table, fields=[name]).records.fields == (field,)
    assert load(table, fields=[Categorical(name)]).columns[0].kind is Kind.CATEGORICAL


def test_numbers_in_a_table_of_categories_are_codes():
    table = {"sex": draw("fm"), "born": draw(range(1930, 2000), 2), "pay": draw(range(130), 3)}
    fields = (Categorical("sex"), Categorical("born"))
    assert load(table, fields=["sex", "born"]).records.fields == fields
    assert load(table).records.fields == (*fields, Number("pay"))
    assert [str(one.kind) for one in inspect(table).columns][1] == "categorical"
    assert load({**table, "surname": draw(NAMES)}).records.fields[1] == Number("born")


def test_the_most_telling_are_compared():
    table = {f"name {k}": draw(NAMES[: 10 + k], seed=k) for k in range(MOST_FIELDS + 2)}
    loaded = load(table)
    assert MOST_COMPARED == MOST_FIELDS
    assert loaded.records.names == tuple(table)[2:]
    assert [one.used for one in loaded.columns[:3]] == [False, False, True]
    assert "'name 0' was left out: of 18 columns to be compared the 16 most" in loaded.notes[0]


SENTENCES = [
    f"the {name} came in late and asked about order {i} twice" for i, name in enumerate(NAMES)
]


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("x", range(N), "identifier"),
        ("x", ["", *map(str, range(N - 1))], "identifier"),
        ("rec_id", [*range(N - 2), 0, 1], "identifier"),
        ("recordID", [*range(N - 2), 0, 1], "identifier"),
        ("ent_id", draw(range(100)), "identifier"),
        ("entity_id", draw(f"e{i}" for i in range(100)), "identifier"),
        ("EntityId", draw(range(100)), "identifier"),
        ("cluster", draw(range(100)), "identifier"),
        ("true_id", draw(range(5)), "identifier"),
        ("soc_sec_id", draw(SSNS), "near-key"),
        ("ssn", draw(SSNS), "near-key"),
        ("source", draw(["a", "b"]), "source"),
        ("country", ["CH"] * N, "constant"),
        ("country", ["CH", None] * (N // 2), "constant"),
        ("fax", [None, "NA"] * (N // 2), "empty"),
    ],
)
def test_columns_that_are_left_out(name, values, expected):
    assert kind(name, list(values)) == (expected, False)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("comment", [f"{i}: {SENTENCES[i % 90]}" for i in range(N)], "words"),
        ("note", SENTENCES * 2, "words"),
        ("where", [f"{i} {name} street" for i, name in enumerate(NAMES)] * 2, "words"),
        ("address", [f"{i} {name} street" for i, name in enumerate(NAMES)] * 2, "text"),
        ("address", [f"{i} {name} street, new york" for i, name in enumerate(NAMES)], "words"),
        ("authors", [f"Ann {name}, Bob {name}, C. Doe" for name in NAMES] * 2, "words"),
        ("author", [f"Ann {name}, Bob {name}, C. Doe" for name in NAMES] * 2, "words"),
        ("author", [f"Ann {name}" for name in NAMES] * 2, "name"),
    ],
)
def test_texts_of_many_words_are_used(name, values, expected):
    assert kind(name, values) == (expected, True)


def test_codes_that_hardly_repeat_are_used_unless_they_are_called_identifiers():
    assert kind("number", draw(SSNS)) == ("code", True)
    assert kind("modelno", draw(f"DSC-W{i}" for i in range(250))) == ("code", True)
    assert kind("model_id", draw(f"DSC-W{i}" for i in range(250))) == ("near-key", False)


def test_small_tables_are_not_judged_by_how_many_values_differ():
    table = {"ssn": ["1", "2", "3", "1"], "id": [1, 2, 3, 1], "name": ["a", "b", "c", "a"]}
    assert [report.used for report in inspect(table).columns] == [True, True, True]


def test_truth_by_name_is_left_out_of_small_tables_too():
    (report, _) = inspect({"ent_id": [1, 2, 3, 1], "name": ["a", "b", "c", "a"]}).columns
    assert (report.kind, report.used) == (Kind.IDENTIFIER, False)
    assert "if it is the truth, give it as such" in report.why


def test_bits():
    table = {"coin": ["a", "b"] * 8, "half": ["a", "b", "", ""] * 4, "one": ["a"] * 16}
    coin, half, one = inspect(table).columns
    assert coin.bits == pytest.approx(1)
    # Only a quarter of all pairs have the value in both records.
    assert half.bits == pytest.approx(0.25)
    assert one.bits == 0
    skewed = inspect({"x": ["a"] * 3 + ["b"]}).columns[0]
    assert skewed.bits == pytest.approx(-math.log2((3 / 4) ** 2 + (1 / 4) ** 2))


def test_numbers_of_a_report():
    (report,) = inspect({"x": ["a", "A", "b", "NA", None, "c", "c", "c"]}).columns
    assert (report.distinct, report.missing) == (3, 0.25)
    assert report.markers == {"": 1, "NA": 1}


def test_compound_columns_are_left_out():
    (report, _) = inspect({"tags": [["a"], [], None], "x": [1, 1, 2]}).columns
    assert (report.kind, report.used) == (Kind.COMPOUND, False)


def test_nothing_to_use_is_told_by_inspect_without_a_fault():
    found = inspect({"id": [1, 2], "x": ["a", "a"]})
    assert [report.used for report in found.columns] == [False, False]


LEFT_OUT = {
    "febrl1": {"rec_id", "ent_id", "soc_sec_id"},
    "febrl2": {"rec_id", "ent_id", "soc_sec_id"},
    "italy_friuli": {"rec_id", "ent_id", "source"},
    "multilink_dup_data": {"rec_id", "ent_id", "source"},
    "restaurant": {"rec_id", "ent_id"},
    "rldata500": {"rec_id", "ent_id"},
    "sipp": {"rec_id", "ent_id"},
    "splink_fake1000": {"rec_id", "ent_id"},
}


@pytest.mark.skipif(not DATA.is_dir(), reason="the development tables are not here")
@pytest.mark.parametrize("name", LEFT_OUT)
def test_real_tables(name):
    loaded = load(DATA / f"{name}.csv")
    left_out = {report.column for report in loaded.columns if not report.used}
    assert left_out == LEFT_OUT[name]
    assert loaded.field_table().filter(pl.col("used"))["column"].to_list() == list(
        loaded.records.names
    )


@pytest.mark.parametrize(
    ("name", "is_own"),
    [("member_no", True), ("CustomerNumber", True), ("house_number", False), ("phone_no", False)],
)
def test_numbers_that_records_have_name_them(name, is_own):
    table = {name: [f"M{k}" for k in range(60)], "name": ["Ann", "Bob"] * 30, "x": [1, 2, 3] * 20}
    assert (load(table).id_column == name) == is_own


def test_a_table_whose_records_are_equal_says_that_nothing_tells_them_apart():
    with pytest.raises(DataError, match="none has more than one value"):
        load({"name": ["Ann", "Ann"], "city": ["Bern", "Bern"]})


def test_first_names_are_texts_even_if_they_are_few():
    values = ["Ann", "Bob", "Eve", "Dan"] * 10
    assert [str(one.kind) for one in inspect({"first": values, "first_seen": values}).columns] == [
        "text",
        "categorical",
    ]

"""What a column is: old dates, names that look like gaps, numbers that are dates, ids."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from kolchin.errors import DataError
from kolchin.records import Kind, inspect, load


def kinds(table, **settings) -> dict[str, Kind]:
    return {one.column: one.kind for one in inspect(table, **settings).columns}


def old_dates(first: int) -> list[str]:
    return [f"{first + k}-{k % 12 + 1:02d}-{k % 28 + 1:02d}" for k in range(60)] * 2


@pytest.mark.parametrize("column", ["dob", "baptised", "x"])
@pytest.mark.parametrize("first", [1500, 1690, 1795, 1950])
def test_iso_dates_of_any_century_are_dates(column, first):
    assert kinds({column: old_dates(first)})[column] is Kind.DATE


def test_phones_are_still_phones():
    numbers = [f"555-{k:04d}" for k in range(100)] * 2
    assert kinds({"x": numbers})["x"] is Kind.PHONE


@pytest.mark.parametrize("kind", [float, int, str])
def test_days_written_as_one_number_are_dates(kind):
    days = [kind(f"19{k % 90 + 10}0{k % 9 + 1}1{k % 9}") for k in range(200)]
    if kind is float:
        days[0] = float("nan")
    assert kinds(pd.DataFrame({"day": days}))["day"] is Kind.DATE


NAMES = ["Ann", "Bob", "Eve", "Zoe", "Ida"]


class TestNames:
    def test_nan_is_a_name_in_a_column_of_names(self):
        table = {"first_name": [*NAMES * 4, "Nan", "None", "Null"], "year": [*range(23)]}
        loaded = load(table, fields=["first_name", "year"])
        assert {"nan", "none", "null"} < set(loaded.records.vocabularies[0])
        assert any("taken for names" in note for note in loaded.notes)

    @pytest.mark.parametrize("word", ["nan", "NULL", "N/A", "NaN"])
    def test_what_is_not_written_like_a_name_is_a_gap(self, word):
        table = {"first_name": [*NAMES * 4, word], "year": [*range(21)]}
        loaded = load(table, fields=["first_name", "year"])
        assert loaded.records.codes[-1, 0] == -1

    def test_what_stands_more_often_than_any_name_is_a_gap(self):
        table = {"first_name": [*NAMES * 4, *["None"] * 9], "year": [*range(29)]}
        assert load(table, fields=["first_name", "year"]).records.codes[-1, 0] == -1

    def test_in_other_columns_it_is_a_gap(self):
        table = {"city": [*NAMES * 4, "Nan"], "year": [*range(21)]}
        assert load(table, fields=["city", "year"]).records.codes[-1, 0] == -1

    def test_a_user_has_the_last_word(self):
        table = {"first_name": [*NAMES * 4, "Nan", "Bob", "na"], "year": [*range(23)]}
        loaded = load(table, fields=["first_name", "year"], missing=["nan", "BOB"])
        assert loaded.records.codes[-3:, 0].tolist() == [-1, -1, 3]


RECORDS = {"name": ["a", "a", "b", "c"], "rec_id": ["r3", "r4", "r5", "r6"]}


class TestOwnId:
    def test_a_column_of_identifiers_names_the_records(self):
        loaded = load(RECORDS)
        assert loaded.ids.to_list() == ["r3", "r4", "r5", "r6"]
        assert loaded.id_column == "rec_id"
        assert any("records are named by 'rec_id'" in note for note in loaded.notes)
        assert not any("'rec_id' was left out" in note for note in loaded.notes)
        assert kinds(RECORDS)["rec_id"] is Kind.ID

    @pytest.mark.parametrize(
        "changes",
        [
            {"rec_id": ["r3", "r3", "r5", "r6"]},
            {"rec_id": ["r3", None, "r5", "r6"]},
        ],
    )
    def test_it_must_differ_and_be_complete(self, changes):
        assert load({**RECORDS, **changes}, fields=["name"]).id_column is None

    @pytest.mark.parametrize("column", ["ent_id", "cluster_id", "soc_sec_id", "number"])
    def test_other_columns_do_not(self, column):
        table = {"name": RECORDS["name"], column: RECORDS["rec_id"]}
        assert load(table, fields=["name"]).id_column is None

    def test_what_is_wanted_as_a_field_is_none(self):
        assert load(RECORDS, fields=["rec_id", "name"]).id_column is None

    def test_an_id_of_records_comes_before_others(self):
        table = {"customer_id": ["x1", "x2", "x3", "x4"], **RECORDS}
        assert load(table).id_column == "rec_id"


def content() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    n = 300
    day = [datetime.date(1950, 1, 1) + datetime.timedelta(int(k)) for k in rng.integers(0, 9000, n)]
    return pl.DataFrame(
        {
            "name": rng.choice(["Ann", "Bob", "Eve", "Zoe", "Ida", "Max"], n),
            "born": day,
            "height": rng.integers(150, 200, n),
            "income": rng.choice([1000.5, 2000.25, 1500.75], n),
            "member": rng.choice([True, False], n),
            "seen": [None if k % 7 == 0 else int(d.strftime("%Y%m%d")) for k, d in enumerate(day)],
        }
    )


def test_equal_content_is_equal_whatever_it_comes_in(tmp_path):
    import duckdb

    table = content()
    table.write_csv(tmp_path / "t.csv")
    table.write_parquet(tmp_path / "t.parquet")
    table.write_excel(tmp_path / "t.xlsx")
    frame = table.to_pandas()
    assert frame["seen"].dtype == float
    forms = {
        "csv": tmp_path / "t.csv",
        "parquet": tmp_path / "t.parquet",
        "excel": tmp_path / "t.xlsx",
        "polars": table,
        "pandas": frame,
        "duckdb": duckdb.sql("select * from frame"),
        "rows": table.to_dicts(),
    }
    loaded = {name: load(form) for name, form in forms.items()}
    first = loaded["polars"]
    assert {one.column: one.kind for one in first.columns}["seen"] is Kind.DATE
    for name, other in loaded.items():
        assert [type(f) for f in other.records.fields] == [type(f) for f in first.records.fields], (
            name
        )
        assert np.array_equal(other.records.codes, first.records.codes), name
        same = zip(other.records.frequencies, first.records.frequencies, strict=True)
        assert all(np.array_equal(a, b) for a, b in same), name


def test_a_table_of_ids_alone_is_refused_in_words():
    with pytest.raises(DataError, match="no column is left to be a field"):
        load({"rec_id": ["r1", "r2", "r3"]})

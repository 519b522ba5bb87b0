"""What is wrong with a table is said in one message."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from kolchin.errors import DataError
from kolchin.records import Categorical, DataWarning, Field, Records
from kolchin.records.fields import encoding

GOOD = {"sex": ["f", "m", "f", "f"], "year": [1970, 1981, 1970, 1981]}


def faults(table, fields=None) -> list[str]:
    """Return the bulleted lines of the error that a table raises."""
    with pytest.raises(DataError) as caught:
        Records.from_table(table, fields)
    title, *lines = str(caught.value).split("\n")
    assert title == "These records cannot be used:"
    assert all(line.startswith("- ") for line in lines)
    return [line.removeprefix("- ") for line in lines]


@pytest.mark.parametrize("n_records", [0, 1])
def test_too_few_records(n_records):
    table = {name: values[:n_records] for name, values in GOOD.items()}
    expected = [f"at least two records are needed. Got {n_records} instead."]
    for source in (table, pl.DataFrame(table), pd.DataFrame(table)):
        assert faults(source) == expected


def test_unknown_columns_get_suggestions():
    assert faults(GOOD, ["SEX", "yaer", "colour"]) == [
        "the table has no column 'SEX'. Did you mean 'sex'?",
        "the table has no column 'yaer'. Did you mean 'year'?",
        "the table has no column 'colour'.",
    ]


def test_repeated_names(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("a,b,a\n1,2,3\n1,3,3\n2,2,4\n")
    frame = pd.DataFrame([[1, 2, 3], [1, 3, 3], [2, 2, 4]], columns=["a", "b", "a"])
    columns = [pa.array(frame.iloc[:, i]) for i in range(3)]
    for table in (path, frame, pa.table(columns, names=["a", "b", "a"])):
        assert faults(table) == ["2 columns are named 'a'; rename or drop the others."]


@pytest.mark.parametrize("fields", [["sex", "sex"], [Categorical("sex"), "sex"]])
def test_a_field_declared_twice(fields):
    assert faults(GOOD, fields) == ["column 'sex' is declared twice in fields; keep one."]


def test_no_fields():
    (fault,) = faults(GOOD, [])
    assert fault == "fields must name at least one column. Got an empty sequence instead."


@pytest.mark.parametrize(
    "wrong", [3, None, Field("sex"), Categorical(3), Categorical("sex", [0.5, 0.5])]
)
def test_fields_of_another_kind(wrong):
    (fault,) = faults(GOOD, ["sex", wrong])
    assert fault.startswith("fields[1] must be a column name, or a Categorical")
    assert fault.endswith(f"Got {wrong!r} instead.")


def test_fields_that_are_no_sequence():
    (fault,) = faults(GOOD, 3)
    assert fault.startswith("fields[0] must be a column name, or a Categorical")


@pytest.mark.parametrize("fields", [None, ["sex", "tags"]])
def test_nested_columns(fields):
    table = {**GOOD, "tags": [["a"], ["b"], [], None]}
    for source in (table, pl.DataFrame(table), pd.DataFrame(table), pa.table(table)):
        (fault,) = faults(source, fields)
        assert fault.startswith("column 'tags' holds lists or other compound values,")


def test_structs_and_matrices():
    struct, array = faults({**GOOD, "who": [{"a": 1}] * 4, "matrix": np.ones((4, 2))})
    assert struct.startswith("column 'who' holds lists or other")
    assert array.startswith("column 'matrix' holds lists or other")


def test_empty_column_that_was_asked_for():
    for empty in ([None] * 4, [""] * 4, [float("nan")] * 4):
        assert faults({**GOOD, "x": empty}, ["sex", "x"]) == [
            "column 'x' has no values: all are missing."
        ]


def test_no_usable_column_says_why():
    assert faults({"id": [1, 2, 3], "x": ["", None, ""], "y": [1, 1, None]}) == [
        "'id' was left out: all its 3 values differ, as an identifier's do.",
        "'x' was left out: every value is missing.",
        "'y' was left out: its only value is 1.",
        "no column is left to be a field; name in fields those to use all the same.",
    ]


@pytest.mark.parametrize("table", [3, None, np.ones(3)])
def test_something_that_is_no_table(table):
    (fault,) = faults(table)
    assert fault.startswith("table must be a pandas, Polars or Arrow table,")
    assert fault.endswith(f"Got {type(table).__name__} instead.")


def test_a_table_without_columns():
    for table in ({}, pl.DataFrame(), pd.DataFrame()):
        assert faults(table) == ["the table has no columns."]


def test_ill_made_dictionaries():
    assert faults({"a": "text", "b": 3, "c": [1, 2], "d": [1, 2, 3]}) == [
        "column 'a' must be a sequence of values. Got 'text' instead.",
        "column 'b' must be a sequence of values. Got 3 instead.",
        "columns must be of one length. Got {'c': 2, 'd': 3} instead.",
    ]


class TestFiles:
    def test_missing(self, tmp_path):
        (tmp_path / "people.csv").write_text("a\n")
        path = tmp_path / "peopel.csv"
        assert faults(path) == [f"file {str(path)!r} does not exist. Did you mean 'people.csv'?"]
        nowhere = tmp_path / "nowhere" / "people.csv"
        assert faults(nowhere) == [f"file {str(nowhere)!r} does not exist."]

    def test_folder_without_parquet_files(self, tmp_path):
        (tmp_path / "people.doc").write_text("a\n")
        (tmp_path / "_metadata.parquet").touch()
        assert faults(tmp_path) == [
            f"{str(tmp_path)!r} is a folder without tables; name a file in it, or a folder of "
            "Parquet, CSV or JSON files that have the same columns."
        ]

    def test_folder_of_different_files(self, tmp_path):
        good = pl.DataFrame(GOOD)
        good.write_parquet(tmp_path / "0.parquet")
        good.rename({"year": "yaer"}).write_parquet(tmp_path / "1.parquet")
        good.cast(pl.String).write_parquet(tmp_path / "2.parquet")
        (fault,) = faults(tmp_path)
        assert fault == (
            f"file {str(tmp_path / '1.parquet')!r} has other columns than '0.parquet': it lacks "
            "'year'; it has 'yaer' besides. The files of a folder must have the same columns, of "
            "the same types. Others that differ: 1."
        )
        (tmp_path / "1.parquet").unlink()
        (fault,) = faults(tmp_path)
        assert (
            "2.parquet' has other columns than '0.parquet': 'year' is String, not Int64." in fault
        )

    def test_folder_with_a_damaged_file(self, tmp_path):
        pl.DataFrame(GOOD).write_parquet(tmp_path / "0.parquet")
        (tmp_path / "1.parquet").write_bytes(b"no such thing")
        (fault,) = faults(tmp_path)
        assert fault.startswith(f"file {str(tmp_path / '1.parquet')!r} cannot be read: ")

    def test_unknown_suffix(self, tmp_path):
        path = tmp_path / "people.docx"
        path.write_bytes(b"x")
        (fault,) = faults(path)
        assert "is of no known kind. Save the table as CSV, or read it as a data frame" in fault

    @pytest.mark.parametrize("suffix", ["csv", "tsv"])
    def test_empty(self, suffix, tmp_path):
        path = tmp_path / f"people.{suffix}"
        path.touch()
        assert faults(path) == [f"file {str(path)!r} is empty."]

    def test_header_alone(self, tmp_path):
        path = tmp_path / "people.csv"
        path.write_text("sex,year\n")
        assert faults(path) == ["at least two records are needed. Got 0 instead."]

    def test_ragged_rows(self, tmp_path):
        path = tmp_path / "people.csv"
        path.write_text("name,year\nAda,1\nDoe, Jane,1\nZoë\n")
        assert faults(path) == [
            f"file {str(path)!r} has rows that do not fit the 2 names of its header in "
            "line 1, 'name,year': line 3 has 3 values, 'Doe, Jane,1'; line 4 has 1 value, 'Zoë'. "
            "Put quotes around values that hold ',', fill up short rows, and take out lines above "
            "the header."
        ]

    def test_broken_parquet(self, tmp_path):
        for content in (b"", b"not a parquet file at all"):
            path = tmp_path / "people.parquet"
            path.write_bytes(content)
            (fault,) = faults(path)
            assert fault.startswith(f"file {str(path)!r} cannot be read: ")

    def test_the_fields_are_checked_too(self, tmp_path):
        assert len(faults(tmp_path / "people.csv", ["a", "a", 1])) == 3


class TestFrequencies:
    def test_are_scaled_and_span_the_vocabulary(self):
        field = Categorical("sex", {"m": 1, "x": 2, "f": 5})
        records = Records.from_table(GOOD, [field])
        assert records.vocabularies == (("f", "m", "x"),)
        np.testing.assert_allclose(records.frequencies[0], [5 / 8, 1 / 8, 2 / 8])
        assert records.codes[:, 0].tolist() == [0, 1, 0, 0]
        assert records.fields == (field,)

    def test_of_numbers(self):
        table = {"x": pd.Series([1, None, 2])}
        given = {np.int64(1): 1, 2.0: 1, 1.5: 2}
        records = Records.from_table(table, [Categorical("x", given)])
        assert records.vocabularies == ((1, 1.5, 2),)
        assert records.codes[:, 0].tolist() == [0, -1, 2]
        np.testing.assert_allclose(records.frequencies[0], [0.25, 0.5, 0.25])

    def test_of_missing_values_are_passed_over(self):
        given = {"f": 1, "m": 1, "": 3, None: 3}
        records = Records.from_table(GOOD, [Categorical("sex", given)])
        np.testing.assert_allclose(records.frequencies[0], [0.5, 0.5])

    def test_every_fault_is_listed(self):
        fields = [
            Categorical("sex", {"f": 0, "m": float("nan"), "x": "many"}),
            Categorical("year", {1970: 1}),
        ]
        assert faults(GOOD, fields) == [
            "the frequencies of 'sex' must be positive and finite. "
            "Got {'f': 0, 'm': nan, 'x': 'many'} instead.",
            "the frequencies of 'year' lack values that the column holds: 1981.",
        ]

    def test_long_lists_are_cut(self):
        (fault,) = faults({"x": list(range(1000)) * 2}, [Categorical("x", {0: 1})])
        assert fault.endswith("lack values that the column holds: 1, 2, 3, 4, 5 and 994 more.")

    def test_of_several_types(self):
        (fault,) = faults(GOOD, [Categorical("sex", {"f": 1, "m": 1, 3: 1})])
        assert fault == (
            "the frequencies of 'sex' must be of values of one type, String as in the column."
        )


def test_all_faults_come_together():
    table = {**GOOD, "tags": [["a"]] * 4, "empty": [None] * 4}
    fields = ["tags", "empty", "Year", Categorical("sex", {"f": 1}), "sex", 7]
    assert len(faults(table, fields)) == 6


def test_left_out_columns_are_named_in_one_warning():
    table = {"id": [7, 8, 9, 10], **GOOD, "country": ["x", "x", "", "x"], "note": [None] * 4}
    with pytest.warns(DataWarning) as caught:
        records = Records.from_table(table)
    assert records.names == ("sex", "year")
    (warning,) = caught
    assert str(warning.message).split("\n") == [
        "What was done with some columns:",
        "- 'id' was left out: all its 4 values differ, as an identifier's do.",
        "- 'country' was left out: its only value is 'x'.",
        "- 'note' was left out: every value is missing.",
    ]
    assert warning.filename == __file__


def test_columns_that_were_asked_for_stay():
    table = {"id": [7, 8, 9, 10], "country": ["x"] * 4}
    records = Records.from_table(table, fields=["id", "country"])
    assert records.names == ("id", "country")
    assert records.frequencies[1].tolist() == [1.0]


def test_very_many_values_get_a_warning(monkeypatch):
    monkeypatch.setattr(encoding, "MANY_VALUES", 3)
    with pytest.warns(DataWarning, match="'x' has 4 different values in 6 records .* kept as cat"):
        Records.from_table({"x": [1, 2, 3, 4, 4, 4, None], "y": [1, 2, 3, 4, 4, 4, 4]}, ["x"])
    # Half or fewer of the values being distinct is no reason for one.
    Records.from_table({"x": [1, 2, 3, 4] * 2}, ["x"])


def test_nothing_to_say_is_no_warning(recwarn):
    Records.from_table(GOOD)
    assert not recwarn.list

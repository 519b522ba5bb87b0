"""A table is loaded with its ids, sources and truth, from one file or several."""

import polars as pl
import pytest
from numpy.testing import assert_array_equal

from kolchin.errors import DataError
from kolchin.records import Categorical, Kind, Records, load

TABLE = {
    "key": ["a", "b", "c", "d", "e"],
    "name": ["Ada", "ADA", "Zoë", "zoe", None],
    "born": [1970, 1970, 1981, 1981, 1970],
    "who": ["1", "1", "2", "NA", None],
    "file": ["x", "x", "y", "y", "y"],
}


def faults(table, **options) -> list[str]:
    with pytest.raises(DataError) as caught:
        load(table, **options)
    return [line.removeprefix("- ") for line in str(caught.value).split("\n")[1:]]


def test_parts_are_taken_out_of_the_fields():
    loaded = load(TABLE, id="key", truth="who", source="file")
    assert loaded.records.names == ("name", "born")
    assert loaded.ids.equals(pl.Series("record", TABLE["key"]))
    assert loaded.id_column == "key"
    assert loaded.truth.equals(pl.Series("truth", ["1", "1", "2", None, None]), null_equal=True)
    assert loaded.source.equals(pl.Series("source", TABLE["file"]))
    assert [report.kind for report in loaded.columns] == [
        *(Kind.ID, Kind.TEXT, Kind.CATEGORICAL, Kind.TRUTH, Kind.SOURCE)
    ]
    assert [report.used for report in loaded.columns] == [False, True, True, False, False]


def test_values_are_text_as_the_table_has_it():
    values = load(TABLE, id="key").values
    assert values.columns == list(TABLE)
    assert set(values.dtypes) == {pl.String}
    assert values["name"].to_list() == TABLE["name"]
    assert values["born"].to_list() == ["1970", "1970", "1981", "1981", "1970"]


def test_without_an_id_records_are_numbered():
    loaded = load({name: values for name, values in TABLE.items() if name != "key"})
    assert loaded.ids.equals(pl.Series("record", range(5), dtype=pl.Int64))
    assert (loaded.id_column, loaded.truth, loaded.source) == (None, None, None)


def test_ids_of_numbers_stay_numbers():
    ids = load({"n": [7.0, 9.0, 8.0], "x": [1, 1, 2]}, id="n").ids
    assert ids.to_list() == [7, 9, 8]
    assert ids.dtype.is_integer()


def test_named_fields():
    loaded = load(TABLE, fields=["born", Categorical("key")], truth="who")
    assert loaded.records.names == ("born", "key")
    whys = {report.column: report.why for report in loaded.columns}
    assert whys["born"] == "named in fields"
    assert whys["name"] == "not named in fields"
    assert loaded.notes == ("'who' has values that count as missing: 'NA' (1).",)


def test_records_of_a_clean_table_are_those_of_from_table():
    table = {"a": ["x", "y", "x", None], "b": [1, 2, 2, 1]}
    loaded, plain = load(table).records, Records.from_table(table)
    assert loaded.vocabularies == plain.vocabularies
    assert_array_equal(loaded.codes, plain.codes)


def test_field_table():
    table = load(TABLE, id="key").field_table()
    assert table.columns[:7] == ["column", "kind", "used", "why", "distinct", "missing", "bits"]
    row = table.row(1, named=True)
    assert (row["column"], row["used"], row["distinct"], row["missing"]) == ("name", True, 2, 0.2)


class TestFingerprint:
    def test_is_the_same_for_the_same_content(self, tmp_path):
        text = {name: [None if v is None else str(v) for v in TABLE[name]] for name in TABLE}
        path = tmp_path / "people.csv"
        pl.DataFrame(text).write_csv(path)
        assert load(path).fingerprint == load(text).fingerprint == load(path).fingerprint

    @pytest.mark.parametrize(
        "changes",
        [
            {"table": {**TABLE, "name": ["Ada", "ADA", "Zoë", "zoë", None]}},
            {"table": {**TABLE, "other": [1] * 5}},
            {"table": {name: values[::-1] for name, values in TABLE.items()}},
            {"table": {n if n != "who" else "whom": values for n, values in TABLE.items()}},
            {"id": "born", "table": {**TABLE, "born": [1, 2, 3, 4, 5]}, "fields": ["name"]},
            {"fields": ["born", "name"]},
            {"fields": ["name", Categorical("born", {1970: 1, 1981: 2})]},
            {"normalise": False},
        ],
    )
    def test_changes_with_what_matters(self, changes):
        settings = {"table": TABLE, "fields": ["name", "born"]}
        assert load(**{**settings, **changes}).fingerprint != load(**settings).fingerprint


class TestFaults:
    def test_unknown_parts(self):
        assert faults(TABLE, id="kye", truth="truth", source="File") == [
            "the table has no column 'kye' to be the id. Did you mean 'key'?",
            "the table has no column 'File' to be the source. Did you mean 'file'?",
            "the table has no column 'truth' to be the truth.",
        ]

    def test_one_column_for_two_parts(self):
        assert faults(TABLE, id="key", truth="key") == [
            "column 'key' cannot be both the id and the truth."
        ]

    def test_parts_are_no_fields(self):
        (fault,) = faults(TABLE, truth="who", fields=["name", "who"])
        assert fault == (
            "column 'who' cannot be a field: it is the truth, which never informs the model; "
            "take it out of fields."
        )

    def test_repeated_ids(self):
        ids = ["a", "b", "a", "c", "c", "c", "c", "c", "d", "d", "e", "e"]
        (fault,) = faults({"key": ids, "x": [1, 2] * 6}, id="key")
        assert fault == (
            "column 'key', the id, must differ in every row (the first has number 0): "
            "'a' in rows 0, 2; 'c' in rows 3, 4, 5 and 2 more; 'd' in rows 8, 9 and 1 more. "
            "If it numbers entities, give it as the truth."
        )

    def test_missing_ids(self):
        (fault,) = faults({"key": ["a", None, "b", " ", ""], "x": [1, 2, 1, 2, 1]}, id="key")
        assert fault == (
            "column 'key', the id, has no value in 3 rows (the first has number 0): 1, 3, 4. "
            "Fill them, or leave the id out."
        )

    def test_truth_without_values(self):
        table = {**TABLE, "who": [None, "NA", "", None, None]}
        assert faults(table, truth="who") == [
            "column 'who', the truth, has no values: all are missing."
        ]

    def test_all_come_together(self):
        table = {**TABLE, "key": ["a"] * 5, "tags": [[1]] * 5}
        assert len(faults(table, id="key", fields=["nmae", "key", "tags", "name", "name"])) == 5

    def test_unreadable_compound_parts(self):
        (fault,) = faults({**TABLE, "tags": [[1]] * 5}, id="tags")
        assert fault == "column 'tags' holds compound values and cannot be the id."

    def test_one_column_all_missing_all_identical_all_distinct(self):
        assert load({"x": ["a", "b", "a"]}).records.n_fields == 1
        no_telling = ": none has more than one value, so that nothing tells entities apart. Add "
        no_telling += "columns that differ."
        named = "; name in fields those to use all the same."
        for values, why, advice in (
            (["", "NA", None], "every value is missing", no_telling),
            (["a", "A ", "a"], "its only value is 'a'", no_telling),
            (["a", "b", "c"], "all its 3 values differ, as an identifier's do", named),
        ):
            assert faults({"x": values}) == [
                f"'x' was left out: {why}.",
                f"no column is left to be a field{advice}",
            ]


class TestSeveralFiles:
    @pytest.fixture
    def paths(self, tmp_path):
        (tmp_path / "north.csv").write_text("id,name,born\n1,Ada,1970\n2,Zoë,1981\n")
        pl.DataFrame(
            {
                "born": [1970, 1990, 1981],
                "id": [1, 2, 3],
                "name": ["ada", "Bo", "bo"],
                "x": [1, 1, 2],
            }
        ).write_parquet(tmp_path / "south.parquet")
        return [tmp_path / "north.csv", tmp_path / "south.parquet"]

    def test_columns_are_matched_by_name(self, paths):
        loaded = load(paths)
        assert loaded.values.columns == ["id", "name", "born", "x"]
        assert loaded.values["born"].to_list() == ["1970", "1981", "1970", "1990", "1981"]
        assert loaded.values["x"].to_list() == [None, None, "1", "1", "2"]
        assert loaded.source.to_list() == ["north"] * 2 + ["south"] * 3
        assert loaded.ids.to_list() == [0, 1, 2, 3, 4]
        assert loaded.records.decode()["name"].to_list() == ["ada", "zoe", "ada", "bo", "bo"]
        assert "'x' is not in 'north', where it counts as missing." in loaded.notes
        assert any("in this order: 'north' 2, 'south' 3" in note for note in loaded.notes)

    def test_ids_that_recur_are_told_apart_by_source(self, paths):
        loaded = load([str(path) for path in paths], id="id")
        assert loaded.ids.to_list() == ["north:1", "north:2", "south:1", "south:2", "south:3"]
        assert any("recur in several sources" in note for note in loaded.notes)

    def test_a_source_column_goes_before_file_names(self, paths):
        for path, label in zip(paths, ("a", "b"), strict=True):
            frame = pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)
            frame = frame.with_columns(origin=pl.lit(label))
            frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
        assert load(paths, source="origin").source.to_list() == ["a", "a", "b", "b", "b"]

    def test_one_path_in_a_list_is_a_path(self, paths):
        assert load(paths[1:]).source is None

    def test_names_that_nearly_match_are_asked_about(self, paths):
        paths[0].write_text("id,Name,born\n1,Ada,1970\n2,Zoë,1981\n")
        notes = load(paths).notes
        assert "'Name' is not in 'south', where it counts as missing. Did you mean 'name'?" in notes

    def test_files_of_one_name(self, tmp_path):
        paths = []
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir()
            paths.append(tmp_path / folder / "people.csv")
            paths[-1].write_text("x,y\n1,2\n1,3\n")
        assert load(paths).source.unique(maintain_order=True).to_list() == list(map(str, paths))

    def test_nothing_in_common(self, paths):
        paths[0].write_text("a,b\n1,2\n3,4\n")
        (fault,) = faults(paths)
        assert fault.startswith("the files have no column in common: 'north' has 'a', 'b'; 'south'")

    def test_faults_of_all_files_come_together(self, paths, tmp_path):
        paths[0].write_text("a,b\n1,2,3\n")
        assert len(faults([*paths, tmp_path / "none.csv", paths[1]])) == 3


@pytest.mark.parametrize("table", [[], [3, "a.csv"], 7])
def test_no_table(table):
    (fault,) = faults(table)
    assert fault.startswith("table must be a pandas, Polars or Arrow table,")

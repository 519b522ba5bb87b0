"""The choice of fields goes to a file, is edited, and comes back."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kolchin.errors import DataError
from kolchin.records import Kind, Text, choices_text, inspect, load, write_choices

TABLE = {
    "rec": [1, 2, 3, 4],
    "first name": ["Ada", "ADA", "Zoë", "NA"],
    "born": [1970, 1970, 1981, 1981],
    "country": ["CH"] * 4,
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "FIELDS.toml"


def faults(path, text: str, table=TABLE, **options) -> list[str]:
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        load(table, fields=path, **options)
    lines = str(caught.value).split("\n")[1:]
    return [line.removeprefix("- ").replace(str(path), "FIELDS.toml") for line in lines]


def test_round_trip(path):
    inferred = load(TABLE)
    write_choices(inferred, path)
    for given_as in (path, str(path)):
        again = load(TABLE, fields=given_as)
        assert again.records.names == inferred.records.names == ("first name", "born")
        assert again.fingerprint == inferred.fingerprint
        assert [(r.column, r.kind, r.used) for r in again.columns] == [
            (r.column, r.kind, r.used) for r in inferred.columns
        ]


def test_what_is_written(path):
    write_choices(inspect(TABLE).columns, path)
    text = path.read_text()
    content = tomllib.loads(text)
    assert content == {
        "fields": {
            "rec": {"use": False, "kind": "identifier"},
            "first name": {"use": True, "kind": "text"},
            "born": {"use": True, "kind": "categorical"},
            "country": {"use": False, "kind": "constant"},
        }
    }
    assert (
        '[fields."first name"]\nuse = true\nkind = "text"\n# cuts = [0.88, 0.75]\n# 2 dist' in text
    )
    assert "25.0% missing, among them 'NA' (1); " in text
    assert "Left out: its only value is 'ch'." in text


def test_edits_are_followed(path):
    path.write_text(
        '[fields.rec]\n[fields.born]\nuse = false\n[fields.country]\nuse = true\nkind = "code"\n'
    )
    loaded = load(TABLE, fields=path)
    assert loaded.records.names == ("rec", "country")
    by_name = {report.column: report for report in loaded.columns}
    assert by_name["country"].kind is Kind.CODE
    assert by_name["born"].why == "the file of fields says use = false"
    assert by_name["first name"].why == "the file of fields does not name it"


names = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=6), st.sampled_from(["xy", "xx"]), min_size=1
)


@given(names)
def test_any_name_and_value_can_be_written(columns):
    table = {name: [letters[0] + '"\n#\x00', letters[1]] for name, letters in columns.items()}
    content = tomllib.loads(choices_text(inspect(table)))
    assert list(content["fields"]) == list(table)


def test_a_file_that_is_there_stays(path):
    path.write_text("edited")
    with pytest.raises(DataError, match="is there already"):
        write_choices(inspect(TABLE), path)
    assert path.read_text() == "edited"
    write_choices(inspect(TABLE), path, overwrite=True)
    assert "[fields.rec]" in path.read_text()


def test_the_name_must_tell(tmp_path):
    with pytest.raises(DataError, match=r"must end in \.toml"):
        write_choices(inspect(TABLE), tmp_path / "FIELDS.txt")


def test_all_faults_come_together(path):
    text = """
        [fields."frist name"]
        [fields.born]
        use = "yes"
        kind = "dat"
        [fields.rec]
        us = true
        [fields]
        country = 3
        [other]
    """
    kinds = ", ".join(f"'{kind}'" for kind in Kind if kind.is_field)
    assert faults(path, text) == [
        "'FIELDS.toml' has 'other' outside of [fields.COLUMN].",
        "in 'FIELDS.toml', [fields.born], use must be true or false. Got 'yes' instead.",
        f"in 'FIELDS.toml', [fields.born], kind must be one of {kinds}. Got 'dat' instead. "
        "Did you mean 'date'?",
        "in 'FIELDS.toml', [fields.rec] may have use, kind and cuts. Got 'us' instead. "
        "Did you mean 'use' or 'cuts'?",
        "in 'FIELDS.toml', [fields.country] must be a table with use and kind. Got 3 instead.",
        "the table has no column 'frist name'. Did you mean 'first name'?",
    ]


def test_cuts_are_followed_and_written_again(path):
    path.write_text('[fields."first name"]\nkind = "text"\ncuts = [0.9, 0.8, 0.6]\n')
    loaded = load(TABLE, fields=path)
    assert loaded.records.fields == (Text("first name", cuts=(0.9, 0.8, 0.6)),)
    assert loaded.fingerprint != load(TABLE, fields=[Text("first name")]).fingerprint
    write_choices(loaded, path, overwrite=True)
    assert '\nkind = "text"\ncuts = [0.9, 0.8, 0.6]\n' in path.read_text()
    assert load(TABLE, fields=path).fingerprint == loaded.fingerprint


def test_faults_of_cuts_come_together(path):
    text = """
        [fields."first name"]
        kind = "text"
        cuts = [0.9, "much"]
        [fields.born]
        kind = "number"
        cuts = [0.1, 0.5, 0.3]
        [fields.country]
        cuts = [0.1]
    """
    told = faults(path, text)
    assert len(told) == 3
    assert told[0].startswith("""in 'FIELDS.toml', [fields."first name"], cuts of Text(""")
    assert told[0].endswith("must be a tuple of numbers. Got (0.9, 'much') instead.")
    assert told[1].endswith("must be in order. Got (0.1, 0.5, 0.3) instead.")
    assert told[2].startswith("in 'FIELDS.toml', [fields.country], cuts need a kind: one of 'text'")


def test_bad_toml_is_told_by_its_line(path):
    (fault,) = faults(path, "[fields.born]\nuse = true\nkind = text\n")
    assert fault.startswith("the file of fields 'FIELDS.toml' is not TOML: ")
    assert "line 3" in fault


@pytest.mark.parametrize("text", ["", "fields = 3\n", "[fields]\n"])
def test_no_tables(path, text):
    assert faults(path, text) == ["'FIELDS.toml' has no table such as [fields.COLUMN]."]


def test_nothing_to_use(path):
    assert faults(path, "[fields.born]\nuse = false\n") == [
        "'FIELDS.toml' has no column with use = true."
    ]


def test_no_file_and_no_text(path):
    with pytest.raises(DataError, match="cannot be read: it does not exist"):
        load(TABLE, fields=path)
    path.write_bytes(b"\xff\xff")
    with pytest.raises(DataError, match="is not TOML"):
        load(TABLE, fields=path)


def test_parts_and_compound_columns_are_no_fields(path):
    table = {**TABLE, "tags": [[1]] * 4}
    told = faults(path, "[fields.rec]\n[fields.tags]\n[fields.born]\n", table, id="rec")
    assert [line.split(":")[0] for line in told] == [
        "column 'rec' cannot be a field",
        "column 'tags' cannot be a field",
    ]

"""Files that people have: spreadsheets, JSON, archives, folders, and columns of other names."""

import bz2
import datetime
import gzip
import json
import lzma
import sys
import zipfile

import polars as pl
import pytest

from kolchin.errors import DataError, MissingExtraError
from kolchin.records import load
from kolchin.records.files.column_renames import read_renames

ROWS = [
    {"who": "Ada Rossi", "zip": "00123", "born": "1970-01-02"},
    {"who": "Ada Rossi", "zip": "00123", "born": "1970-01-02"},
    {"who": "Zoe Conti", "zip": "20121", "born": None},
    {"who": "Bob Greco", "zip": "80100", "born": "1981-05-06"},
]
CSV = pl.DataFrame(ROWS).write_csv().encode()
EXPECTED = [tuple(row.values()) for row in ROWS]


def read(path, **settings):
    return load(path, **settings).values.rows()


def fault(path, **settings) -> str:
    with pytest.raises(DataError) as caught:
        load(path, **settings)
    return str(caught.value)


def test_a_spreadsheet_is_read_as_a_csv_file_is(tmp_path):
    table = pl.DataFrame(ROWS).with_columns(
        pl.col("born").str.to_date(), number=pl.Series([1, 2, 3, 4])
    )
    table.write_excel(tmp_path / "people.xlsx")
    loaded = load(tmp_path / "people.xlsx")
    assert loaded.values.select("who", "zip", "born").rows() == EXPECTED
    assert loaded.values["number"].to_list() == ["1", "2", "3", "4"]


def test_of_several_sheets_the_first_is_read_and_told(tmp_path):
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "people.xlsx") as book:
        book.add_worksheet("empty")
        pl.DataFrame(ROWS).write_excel(book, worksheet="people")
        pl.DataFrame({"x": [1]}).write_excel(book, worksheet="more")
    loaded = load(tmp_path / "people.xlsx")
    assert loaded.values.rows() == EXPECTED
    assert any("'people' was read" in note for note in loaded.notes)


def test_without_the_extra_it_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    pl.DataFrame(ROWS).write_excel(tmp_path / "people.xlsx")
    with pytest.raises(MissingExtraError, match=r"pip install 'kolchin\[excel\]'"):
        load(tmp_path / "people.xlsx")


def test_what_is_no_spreadsheet_is_refused(tmp_path):
    (tmp_path / "people.xlsx").write_bytes(b"PK\x03\x04 no")
    assert "it is no spreadsheet" in fault(tmp_path / "people.xlsx")
    pl.DataFrame({"a": []}).write_excel(tmp_path / "empty.xlsx")
    assert "is empty" in fault(tmp_path / "empty.xlsx")
    pl.DataFrame(ROWS).write_excel(tmp_path / "sheet.xlsx")
    (tmp_path / "sheet.csv").write_bytes((tmp_path / "sheet.xlsx").read_bytes())
    assert "let its name end in '.xlsx'" in fault(tmp_path / "sheet.csv")


@pytest.mark.parametrize("name", ["people.json", "people.jsonl"])
@pytest.mark.parametrize("form", ["array", "lines"])
def test_json_is_an_array_or_lines(tmp_path, name, form):
    text = json.dumps(ROWS, indent=1) if form == "array" else "\n".join(map(json.dumps, ROWS))
    (tmp_path / name).write_text(text)
    assert read(tmp_path / name) == EXPECTED


@pytest.mark.parametrize(
    ("text", "words"),
    [("[1, 2]", "array of JSON objects. Got 1"), ("[]", "Got nothing"), ("[{", "but is none")],
)
def test_json_of_another_form_is_refused(tmp_path, text, words):
    (tmp_path / "people.json").write_text(text)
    assert words in fault(tmp_path / "people.json")


@pytest.mark.parametrize(
    ("end", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_compressed_files(tmp_path, end, pack):
    path = tmp_path / f"people.csv.{end}"
    path.write_bytes(pack(CSV))
    assert read(path) == EXPECTED
    path.write_bytes(pack(CSV)[:-12])
    assert "compressed content is damaged" in fault(path)


def test_an_archive_of_one_file(tmp_path):
    path = tmp_path / "people.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("people.csv", CSV)
    assert read(path) == EXPECTED
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more.csv", CSV)
    assert "an archive of 2 files; unpack it" in fault(path)


def test_a_folder_of_csv_files_is_one_table(tmp_path):
    (tmp_path / "a.csv").write_text("who,zip\nAda,1\nAda,1\n")
    (tmp_path / "b.csv").write_text("zip,who\n2,Bob\n")
    (tmp_path / "_SUCCESS").touch()
    loaded = load(tmp_path)
    assert loaded.values.rows() == [("Ada", "1"), ("Ada", "1"), ("Bob", "2")]
    assert any("folder of 2 files" in note for note in loaded.notes)
    (tmp_path / "c.csv").write_text("who,age\nEve,3\n")
    assert "has other columns than 'a.csv'" in fault(tmp_path)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("https://example.org/people.csv", "is a web address"),
        ("s3://bucket/people.parquet", "is an address (s3)"),
    ],
)
def test_an_address_is_told_as_one(address, words):
    assert words in fault(address)
    from pathlib import Path

    assert words in fault(Path(address))


def test_lists_of_dictionaries():
    assert read(ROWS) == EXPECTED
    assert read([*ROWS, {"who": "Eve"}])[-1] == ("Eve", None, None)


class TestRenames:
    @pytest.fixture
    def paths(self, tmp_path):
        (tmp_path / "a.csv").write_text("who,zip\nAda,1\nAda,1\n")
        (tmp_path / "b.csv").write_text("Name,PLZ\nAda,1\nBob,2\n")
        return [tmp_path / "a.csv", tmp_path / "b.csv"]

    def test_columns_become_one(self, paths):
        renames = read_renames(["b.csv:Name=who", "b.csv:PLZ=zip"])
        loaded = load(paths, rename=renames)
        assert loaded.values.rows() == [("Ada", "1"), ("Ada", "1"), ("Ada", "1"), ("Bob", "2")]
        assert "(rename=)" in fault(paths)

    def test_a_toml_file_says_the_same(self, paths, tmp_path):
        (tmp_path / "names.toml").write_text('["b.csv"]\nName = "who"\nPLZ = "zip"\n')
        renames = read_renames([str(tmp_path / "names.toml")])
        assert load(paths, rename=renames).values.columns == ["who", "zip"]

    def test_faults(self, paths, tmp_path):
        assert "none of the files" in fault(paths, rename={"c.csv": {"a": "b"}})
        assert "no column 'Nam' to rename. Did you mean 'Name'?" in fault(
            paths, rename={"b.csv": {"Nam": "who", "PLZ": "zip"}}
        )
        assert "columns of the same name: 'PLZ'" in fault(paths, rename={"b.csv": {"Name": "PLZ"}})
        assert "where files are given" in fault(ROWS, rename={"b.csv": {"Name": "PLZ"}})
        for text in ("b.csv:Name", "Name=who", "b.csv:=x"):
            with pytest.raises(DataError, match="FILE:COLUMN=NAME"):
                read_renames([text])
        (tmp_path / "names.toml").write_text("x = 1\n")
        with pytest.raises(DataError, match="COLUMN ="):
            read_renames([str(tmp_path / "names.toml")])


def test_dates_of_a_spreadsheet_with_times_stay(tmp_path):
    when = [datetime.datetime(2020, 1, 1, 12, 30), datetime.datetime(2020, 1, 2)]
    pl.DataFrame({"who": ["a", "b"], "when": when}).write_excel(tmp_path / "t.xlsx")
    assert load(tmp_path / "t.xlsx").values["when"].to_list() == [
        "2020-01-01 12:30:00",
        "2020-01-02 00:00:00",
    ]


@pytest.mark.parametrize("scheme", ["postgresql", "https"])
@pytest.mark.parametrize("password", ["secret", "se/cret", "se@cret"])
def test_a_password_in_an_address_is_not_told(scheme, password):
    told = fault(f"{scheme}://ann:{password}@host/crm")
    assert "cret" not in told
    assert "***@host/crm" in told


@pytest.mark.parametrize("setting", ["password=secret", "PWD = 'se cret'", "sslpassword=secret;"])
def test_a_password_among_settings_is_not_told(setting):
    told = fault(f"host=db user=ann {setting} dbname=crm")
    assert "cret" not in told
    assert "host=db user=ann" in told


def packed(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_an_archive_may_have_another_name_than_its_table(tmp_path):
    found = load(packed(tmp_path / "export.zip", {"people.csv": CSV, "__MACOSX/x": "?"}))
    assert found.values.rows() == EXPECTED


def test_archives_that_are_no_table_are_told_with_what_to_do(tmp_path):
    two = fault(packed(tmp_path / "two.zip", {"a.csv": CSV, "b.csv": CSV}))
    assert "archive of 2 files" in two
    assert "unpack it" in two
    assert "has 'a.pdf' in it" in fault(packed(tmp_path / "pdf.zip", {"a.pdf": "%PDF"}))
    (tmp_path / "no.zip").write_bytes(b"PK")
    assert "of no known kind" in fault(tmp_path / "no.zip")


def test_what_cannot_be_read_is_told_with_what_to_do(tmp_path):
    (tmp_path / "a.dta").write_bytes(b"x")
    said = fault(tmp_path / "a.dta")
    assert "Save the table as CSV, or read it as a data frame" in said
    assert "'https://host/a.csv' is a web address" in fault("https://host/a.csv")
    assert "'www.host.org/a.csv' is a web address" in fault("www.host.org/a.csv")


def test_records_under_a_name_of_a_json_object_are_read(tmp_path):
    rows = [{"name": name, "born": 1970} for name in ("Ann", "Bob", "Ann")]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"made": "today", "people": rows}, indent=1))
    found = load(path)
    assert found.values["name"].to_list() == ["Ann", "Bob", "Ann"]
    assert any("the records under 'people' are read" in note for note in found.notes)
    path.write_text(json.dumps({"people": rows, "firms": rows}))
    assert "records under 'people'" in fault(path)
    path.write_text(json.dumps(rows[0]))  # one line is one record
    assert "at least two records" in fault(path)


def test_renames_by_path_and_by_name_go_together(tmp_path):
    for name, head in (("a.csv", "who,zip"), ("b.csv", "Name,PLZ")):
        (tmp_path / name).write_text(f"{head}\nAnn,1\nBob,2\nAnn,1\n")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    renames = read_renames([f"{paths[1]}:Name=who", "b.csv:PLZ=zip"])
    assert load(paths, rename=renames).values.columns == ["who", "zip"]

"""Files of every kind and dialect are read alike, and what is wrong with one is told by line."""

import gzip
import json
import sys
import time

import polars as pl
import pytest

from kolchin.errors import DataError
from kolchin.records import LoadedTable, load

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ROWS = [
    ("code", "name", "place"),
    ("007", "Zoë", "Bern, Altstadt"),
    ("7", "Ada", 'the "Hof"'),
    ("007", "Zoë", "two\nlines"),
    ("7", "", "x;y|z\tw"),
]
VALUES = {
    "code": ["007", "7", "007", "7"],
    "name": ["Zoë", "Ada", "Zoë", None],
    "place": ["Bern, Altstadt", 'the "Hof"', "two\nlines", "x;y|z\tw"],
}


def written(separator: str = ",", end: str = "\n", quote_all: bool = False) -> str:
    def cell(value: str) -> str:
        special = any(c in value for c in ',;\t|"\n')
        return '"' + value.replace('"', '""') + '"' if special or quote_all else value

    return "".join(separator.join(map(cell, row)) + end for row in ROWS)


def content(path, **options) -> dict[str, list[str | None]]:
    """Return a file's values with '' as missing, as different files write a gap differently."""
    values = load(path, fields=["code", "name"], **options).values
    return {c: [v or None for v in values[c].to_list()] for c in values.columns}


def fault(path, data: bytes | str, **options) -> str:
    """Return the only fault of a file."""
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(DataError) as caught:
        load(path, **options)
    _, *lines = str(caught.value).split("\n")
    (line,) = lines
    return line.removeprefix("- ").removeprefix(f"file {str(path)!r} ")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "people.csv"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quote_all", [False, True])
def test_dialects(path, separator, end, quote_all):
    path.write_bytes(written(separator, end, quote_all).encode())
    assert content(path) == VALUES


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_with_a_mark_and_utf8(path, encoding):
    path.write_bytes(written().encode(encoding))
    assert content(path) == VALUES
    assert not any("read as" in note for note in load(path).notes)


@pytest.mark.parametrize("mark", [b"\xfe\xff", b""])
def test_big_endian(path, mark):
    path.write_bytes(mark + written().encode("utf-16-be"))
    assert content(path) == VALUES


def test_utf16_without_its_mark_is_read_with_a_note(path):
    path.write_bytes(written().encode("utf-16-le"))
    assert content(path) == VALUES
    assert any("does not say its encoding: read as UTF-16-LE" in note for note in load(path).notes)


def test_western_text_is_read_with_a_note(path):
    path.write_bytes(written().encode("cp1252"))
    assert content(path) == VALUES
    (note,) = [note for note in load(path).notes if "Windows-1252" in note]
    assert "is not UTF-8 (line 2 is the first to show it)" in note
    assert "'007,Zoë," in note


def test_bytes_that_windows_lacks_are_latin(path):
    path.write_bytes(b"a,b\nx\x81,1\ny,2\nx\x81,2\n")
    assert load(path).values["a"][0] == "x\x81"


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [(".gz", gzip.compress), (".zst", zstd.compress), ("", gzip.compress), ("", zstd.compress)],
)
def test_compressed_whatever_the_name(tmp_path, suffix, pack):
    path = tmp_path / f"people.csv{suffix}"
    path.write_bytes(pack(written().encode()))
    assert content(path) == VALUES


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".jsonl.gz"])
def test_json_lines(tmp_path, suffix):
    header, *rows = ROWS
    lines = "\n".join(json.dumps(dict(zip(header, row, strict=True))) for row in rows)
    path = tmp_path / f"people{suffix}"
    data = f"\n{lines}\n\n".encode()
    path.write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    assert content(path) == VALUES


def test_json_lines_of_mixed_types_and_keys(tmp_path):
    path = tmp_path / "people.jsonl"
    path.write_text('{"a": 1, "b": "x"}\n{"a": "1", "c": true}\n{"b": "x", "a": null}\n')
    values = load(path, fields=["a", "b"]).values
    assert values.columns == ["a", "b", "c"]
    assert values["a"].to_list() == ["1", "1", None]


@pytest.mark.parametrize("suffix", [".arrow", ".feather", ".ipc"])
@pytest.mark.parametrize("stream", [False, True])
def test_arrow(tmp_path, suffix, stream):
    path = tmp_path / f"people{suffix}"
    frame = pl.DataFrame(VALUES)
    frame.write_ipc_stream(path) if stream else frame.write_ipc(path)
    assert content(path) == VALUES


def test_stray_quotes_are_part_of_the_value(path):
    path.write_text('code,name\n1,5" pipe\n1,"a, b"\n2,the "Hof"\n')
    assert load(path, fields="code").values["name"].to_list() == ['5" pipe', "a, b", 'the "Hof"']


def test_single_quotes(path):
    path.write_text("'code','name'\n'1','a, b'\n'1','it''s'\n'2',c\n")
    loaded = load(path)
    assert loaded.values["name"].to_list() == ["a, b", "it's", "c"]


def test_apostrophes_are_no_quotes(path):
    path.write_text("name,x\n't Hooft,1\nO'Neil,1\n't Hooft,2\n")
    assert load(path).values["name"].to_list() == ["'t Hooft", "O'Neil", "'t Hooft"]
    path.write_text("'t,x\n't Hooft,1\nO'Neil,1\n't Hooft,2\n")
    assert load(path).values["'t"].to_list() == ["'t Hooft", "O'Neil", "'t Hooft"]


def test_names_of_a_megabyte_and_of_several_lines(path):
    long = "x" * 1_000_000
    path.write_text(f'{long},"two\nlines"\n1,2\n1,3\n2,3\n')
    assert load(path).values.columns == [long, "two\nlines"]


def test_quotes_after_a_space(path):
    path.write_text('code, name\n1, "a, b"\n1, c\n2, c\n')
    assert load(path).values["name"].to_list() == ["a, b", "c", "c"]


def test_quotes_that_are_no_quotes(path):
    path.write_text('code,name\n1,"The Rock\n1,x\n2,y\n')
    loaded = load(path)
    assert loaded.values["name"].to_list() == ['"The Rock', "x", "y"]
    assert any("quotes that do not come in pairs" in note for note in loaded.notes)


def test_blank_lines_are_passed_over_where_there_are_several_columns(path):
    path.write_text('\n\na,b\n\n1,"x\n\ny"\n\n\n2,z\n1,z\n\n')
    loaded = load(path)
    assert loaded.values.rows() == [("1", "x\n\ny"), ("2", "z"), ("1", "z")]


def test_names_lose_the_spaces_around_them(path):
    path.write_text("a, b \n1,x\n2,x\n1,y\n")
    assert load(path).values.columns == ["a", "b"]


def test_values_that_span_blocks(path, monkeypatch):
    from kolchin.records.files import delimited

    monkeypatch.setattr(delimited, "BLOCK", 7)
    path.write_text(written())
    assert content(path) == VALUES


class TestFaults:
    def test_empty(self, path):
        for data in ("", "\n\n", " \n", b"\xef\xbb\xbf"):
            assert fault(path, data) == "is empty."

    def test_header_only(self, path):
        for data in ("a,b\n", "a,b", "a,b\n\n\n"):
            assert fault(path, data) == "at least two records are needed. Got 0 instead."

    def test_one_record(self, path):
        assert fault(path, "a,b\n1,2\n") == "at least two records are needed. Got 1 instead."

    def test_ragged_rows_are_counted_and_the_first_shown(self, path):
        rows = "".join("1,2\n" if i % 2 else "1,2,3\n" for i in range(20))
        assert fault(path, f'a,b\n"x\ny",2\n{rows}') == (
            "has rows that do not fit the 2 names of its header in line 1, 'a,b': line 4 has 3 "
            "values, '1,2,3'; line 6 has 3 values, '1,2,3'; line 8 has 3 values, '1,2,3' and 7 "
            "more. "
            "Put quotes around values that hold ',', fill up short rows, and take out lines above "
            "the header."
        )

    def test_ragged_rows_beside_stray_quotes(self, path):
        told = fault(path, 'a,b\n1,5" x\n"1,2",3\n1,2,3\n')
        assert "line 4 has 3 values, '1,2,3'. Put" in told

    def test_nul_bytes(self, path):
        assert fault(path, "a,b\n1,2\n3,x\0y\n\0,1\n") == (
            r"holds 2 NUL bytes, the first in line 3, value 2: 'x\x00y'; remove them, or save "
            "the file as UTF-8 if it is text of another encoding."
        )

    def test_unclosed_quote(self, path):
        assert fault(path, 'a,b\n1,"x, y"\n1,"x, z\n2,3\n') == (
            "has a quote in line 3 that is never closed: '1,\"x, z'; "
            "close it, or double it if it is part of the value."
        )

    def test_broken_utf8(self, path):
        data = "a,b\nZoë,é\nEmmää,ü\n".encode() + b"Bj\xf6rn,x\n"
        told = fault(path, data)
        assert told == "is not UTF-8 text: see line 4, near 'Bj\ufffdrn,x'; save it as UTF-8."

    def test_broken_utf16(self, path):
        assert "begins as UTF-16 but does not go on" in fault(
            path, b"\xff\xfea\0,\0b\0\n\0\x00\xd8"
        )

    def test_bytes_that_are_no_text(self, path):
        assert "is not UTF-8 text" in fault(path, b"a,b\n\x01\x02\xff\xfe,1\n")

    @pytest.mark.parametrize(
        ("data", "what"),
        [
            (b"\xd0\xcf\x11\xe0...", "an old spreadsheet"),
            (b"PAR1...", "Parquet"),
            (b"ARROW1..", "Arrow"),
        ],
    )
    def test_files_of_other_kinds(self, path, data, what):
        assert fault(path, data).startswith(f"is not text but {what}")

    @pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
    def test_damaged_compression(self, path, pack):
        told = fault(path, pack(written().encode())[:-9])
        assert told.startswith("cannot be read: its compressed content is damaged")

    def test_repeated_names(self, path):
        assert fault(path, "a,b,a\n1,2,3\n1,3,3\n") == (
            "2 columns are named 'a'; rename or drop the others."
        )

    def test_json_lines(self, tmp_path):
        path = tmp_path / "people.jsonl"
        told = fault(path, '{"a": 1}\n\n{"a": 2\n')
        assert told.startswith("must have one JSON object a line; line 3 has '{\"a\": 2' (")
        assert fault(path, '{"a": 1}\n[1]\n').endswith("line 2 has '[1]' (Got list instead).")

    def test_damaged_parquet_that_opens(self, tmp_path):
        path = tmp_path / "people.parquet"
        pl.DataFrame(VALUES).write_parquet(path)
        data = bytearray(path.read_bytes())
        data[4:40] = b"\xff" * 36
        assert fault(path, bytes(data)).startswith("cannot be read: ")

    def test_unreadable_lazy_tables(self, tmp_path):
        lazy = pl.LazyFrame({"a": ["x", "y"]}).with_columns(b=pl.col("a").cast(pl.Int64))
        with pytest.raises(DataError, match="the table cannot be read: "):
            load(lazy)


class TestSoon:
    """Large and odd tables are answered within seconds."""

    SECONDS = 180  # ten thousand columns take 40 on an idle machine: too long

    @pytest.fixture(autouse=True)
    def watch(self):
        start = time.monotonic()
        yield
        assert time.monotonic() - start < self.SECONDS

    def test_ten_thousand_columns(self, path):
        names = ",".join(f"c{i}" for i in range(10_000))
        rows = [",".join(str(i * j % 3) for j in range(10_000)) for i in range(5)]
        path.write_text("\n".join([names, *rows]))
        loaded = load(path)
        assert len(loaded.columns) == 10_000
        assert len(loaded.notes) < 40
        assert all(len(note) < 500 for note in loaded.notes)

    @pytest.mark.parametrize("quote", ["", '"'])
    def test_values_of_a_megabyte(self, path, quote):
        long = "Ünïcode " * 125_000
        rows = [f"{quote}{long}{i % 2}{quote},{i % 3}" for i in range(6)]
        path.write_text("\n".join(["a,b", *rows]))
        loaded = load(path)
        assert isinstance(loaded, LoadedTable)
        assert loaded.columns[0].distinct == 2

    @pytest.mark.parametrize("data", ["a,b\n{long},1\n{long},2\n", "a,b\n{long},1,2\n1,2\n"])
    def test_values_of_a_megabyte_in_messages(self, path, data):
        path.write_text(data.format(long="x" * 1_000_000))
        with pytest.raises(DataError) as caught:
            load(path)
        assert len(str(caught.value)) < 1_000

    def test_a_million_quotes(self, path):
        assert "never closed" in fault(path, "a,b\n" + '1,x"y"\n' * 100_000 + '"1,2\n3,4,5\n')

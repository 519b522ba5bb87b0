"""Whatever a file holds, the answer is records or a fault told in words, and it comes soon."""

import gzip
import io
import time

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kolchin.errors import DataError
from kolchin.records import LoadedTable, load

SECONDS = 5
LINES_OF_A_SCREEN = 40

VALID = (
    "id,name,born,city,note\n"
    '1,Ada,1970-01-02,"Bern, Switzerland",NA\n'
    '2,ada,1970-01-02,"Bern, Switzerland","says ""hi"""\n'
    '3,Zoë,1981-05-06,Genève,"two\nlines"\n'
    "4,Zoe,1981-05-06,Geneve,-\n"
).encode()
JSON = b'{"a": "x", "b": 1}\n{"a": "y", "b": 2.5}\n{"a": "x", "c": [1]}\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


def settle(folder, suffix: str, data: bytes, **options: object) -> None:
    """Load a file, and check that it is either loaded whole or refused in words."""
    path = folder / f"table{suffix}"
    path.write_bytes(data)
    start = time.monotonic()
    try:
        loaded = load(path, **options)
    except DataError as error:
        lines = str(error).split("\n")
        assert lines[0] == "These records cannot be used:"
        assert 1 < len(lines) < LINES_OF_A_SCREEN
    else:
        assert isinstance(loaded, LoadedTable)
        n_records = loaded.records.n_records
        assert loaded.values.height == loaded.ids.len() == n_records >= 2
        assert loaded.ids.n_unique() == n_records
        assert loaded.values.columns == [report.column for report in loaded.columns]
        assert all(0 <= report.missing <= 1 and report.bits >= 0 for report in loaded.columns)
        assert loaded.field_table().height == len(loaded.columns)
    assert time.monotonic() - start < SECONDS


text_suffixes = st.sampled_from([".csv", ".tsv", ".txt", ".csv.gz", ".jsonl"])
all_suffixes = st.sampled_from([".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".csv.zst"])
# Characters that mean something to a parser come as often as all others together.
table_like = st.text(
    st.one_of(st.sampled_from(",;\t|\"\n\r 'a1\x00é"), st.characters(codec="utf-8")), max_size=200
)
BEGINNING = "name,born\nAda,1970\nZoe,1970\nADA,1981\n"
texts = st.one_of(table_like, table_like.map(lambda text: BEGINNING + text))
encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])


@settings(max_examples=400)
@given(all_suffixes, st.binary(max_size=300))
def test_arbitrary_bytes(folder, suffix, data):
    settle(folder, suffix, data)


@settings(max_examples=400)
@given(text_suffixes, texts, encodings, st.booleans())
def test_arbitrary_text(folder, suffix, text, encoding, normalise):
    settle(folder, suffix, text.encode(encoding, errors="replace"), normalise=normalise)


cells = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)


@settings(max_examples=200)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1)
    ),
    st.sampled_from(",;\t|"),
)
def test_tables_of_arbitrary_values(folder, rows, separator):
    names = [f"c{i}" for i in range(len(rows[0]))]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    text = frame.write_csv(separator=separator, quote_style="necessary")
    settle(folder, ".csv", text.encode())


@st.composite
def mutated(draw, valid: bytes) -> bytes:
    """Damage a valid file in a few places."""
    data = bytearray(valid)
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        stop = min(start + draw(st.integers(0, 6)), len(data))
        data[start:stop] = draw(st.one_of(st.binary(max_size=3), st.sampled_from(DAMAGE)))
    return bytes(data)


DAMAGE = [b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"\n\n", b'""', b";;;;"]


def as_file(write: str) -> bytes:
    buffer = io.BytesIO()
    getattr(pl.read_csv(VALID), write)(buffer)
    return buffer.getvalue()


FORMATS = {
    ".csv": VALID,
    ".csv.gz": gzip.compress(VALID, mtime=0),
    ".jsonl": JSON,
    ".parquet": as_file("write_parquet"),
    ".arrow": as_file("write_ipc"),
}


@settings(max_examples=400)
@given(mutated(VALID))
def test_damaged_text(folder, data):
    settle(folder, ".csv", data, id="id")


@settings(max_examples=60)
@pytest.mark.parametrize("suffix", [suffix for suffix in FORMATS if suffix != ".csv"])
@given(data=st.data())
def test_damaged_files_of_other_kinds(folder, suffix, data):
    settle(folder, suffix, data.draw(mutated(FORMATS[suffix])))


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_undamaged_files_are_loaded(folder, suffix):
    path = folder / f"whole{suffix}"
    path.write_bytes(FORMATS[suffix])
    assert load(path).records.n_records >= 3

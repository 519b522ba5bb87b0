"""Tasks that look at one column each find what one process does that has the whole table."""

import datetime
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from inline import Inline

from kolchin.errors import DataError
from kolchin.records import Categorical, load
from kolchin.records.columns import column_texts
from kolchin.records.columns.column_texts import Texts
from kolchin.records.files.parquet import ParquetParts
from kolchin.simulation.people import simulate_people
from kolchin.store import DirectoryStore
from kolchin.workplace import Workplace, work_here

N = 57
BORN = datetime.datetime(1970, 1, 1)
DAY = datetime.timedelta(days=1)


def everything() -> pl.DataFrame:
    """Return columns of every type that a Parquet file may have."""
    k = np.arange(N)
    gaps = pl.Series(k % 5 == 0)
    days = pl.Series([BORN + (n % 20) * DAY for n in range(N)])
    columns = {
        "key": k * 7,
        "weight": k * 1.0,
        "who": [f"e{n // 2}" if n % 9 else "?" for n in range(N)],
        "file": [("a", " b", "N/A")[n % 3] for n in range(N)],
        "name": [
            ("Ann Lee", " ann  LEE", "Zoë", "unknown", "", None, "Bo")[n % 7] for n in range(N)
        ],
        "number": pl.Series(k % 11).cast(pl.Int16).set(gaps, None),
        "whole": pl.Series(k % 13 * 1.0).set(gaps, None),
        "half": pl.Series(k % 13 / 2).set(gaps, float("nan")),
        "late": pl.Series([1.0] * 30 + [2.0] * 26 + [0.1]),  # whole, but for the last
        "price": [Decimal(n % 6) / 4 for n in range(N)],
        "born": days.cast(pl.Date),
        "midnight": days.cast(pl.Datetime("ns")),
        "moment": days + datetime.timedelta(microseconds=1500),
        "zoned": days.dt.replace_time_zone("Europe/Berlin"),
        "time": [datetime.time(n % 24) for n in range(N)],
        "lasting": [n % 4 * DAY for n in range(N)],
        "flag": [(True, False, None)[n % 3] for n in range(N)],
        "kind": pl.Series([("x", "NA", "y")[n % 3] for n in range(N)], dtype=pl.Categorical),
        "tags": [[n, None] if n % 4 else None for n in range(N)],
        "pair": [{"a": n % 3, "b": "x"} for n in range(N)],
        "bytes": [(b"x", b"\xff", None)[n % 3] for n in range(N)],
        "nothing": pl.Series([None] * N),
        "constant": ["same"] * N,
        "*": [f"{n % 8}" for n in range(N)],
        "^.*$": k % 6,
    }
    return pl.DataFrame(columns)


@pytest.fixture
def work(tmp_path):
    (tmp_path / "store").mkdir()
    return Workplace(Inline(), DirectoryStore(tmp_path / "store"))


@pytest.fixture
def path(tmp_path):
    everything().write_parquet(tmp_path / "all.parquet", row_group_size=17)
    return tmp_path / "all.parquet"


def assert_same(one, other):
    assert one.fingerprint == other.fingerprint
    assert one.columns == other.columns
    assert one.notes == other.notes
    assert one.id_column == other.id_column
    for name in ("ids", "truth", "source"):
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None)
        assert first is None or first.equals(second, check_dtypes=True, check_names=True)
    assert one.records.fields == other.records.fields
    assert one.records.codes.dtype == other.records.codes.dtype
    assert np.array_equal(one.records.codes, other.records.codes)
    assert one.records.vocabularies == other.records.vocabularies
    assert repr(one.records.vocabularies) == repr(other.records.vocabularies)
    assert all(map(np.array_equal, one.records.frequencies, other.records.frequencies))
    assert one.texts.height == other.texts.height
    assert one.values.equals(other.values)
    assert one.values.schema == other.values.schema


CHOICES = {
    "found": {},
    "parts": {"id": "key", "truth": "who", "source": "file"},
    "as it is": {"id": "key", "normalise": False, "missing": ["y"]},
    "an id that is whole": {"id": "weight", "fields": ["name", "whole", "half", "late", "born"]},
    "named": {"fields": ["^.*$", "*", Categorical("key"), "lasting", "bytes", "midnight"]},
    "weights": {"fields": [Categorical("file", {"A": 1.0, "b": 2.0, "c": 1.0}), "flag"]},
}


@pytest.mark.parametrize("name", CHOICES)
def test_tasks_find_what_one_process_does(name, path, work, monkeypatch):
    choices = CHOICES[name]
    expected = load(path, **choices)
    monkeypatch.setattr(column_texts, "BATCH", 7)
    found = load(path, **choices, work=work)
    assert work.engine.tasks == ["_look"] * everything().width
    assert expected.texts.is_held
    assert not found.texts.is_held
    assert_same(found, expected)
    # Codes are in the store, and not in memory as well.
    assert [path.name for path in work.store.path.iterdir()] == ["codes"]
    assert not found.records.codes.flags.owndata


@pytest.mark.parametrize("as_given", [str, lambda path: path, lambda path: [path]])
def test_a_folder_is_one_table(as_given, work, tmp_path):
    people = simulate_people(2_500, seed=4)
    folder = tmp_path / "people"
    folder.mkdir()
    people[:1_000].write_parquet(folder / "part-0.parquet")
    people[1_000:].write_parquet(folder / "part-1.parquet")
    choices = {"id": "rec_id", "truth": "ent_id"}
    found = load(as_given(folder), **choices, work=work)
    assert "_look" in work.engine.tasks
    assert_same(found, load(folder, **choices))
    assert_same(found, load(people, **choices))


def test_tables_elsewhere_are_read_here(path, work, tmp_path):
    everything().select("key", "name", "number").write_csv(tmp_path / "some.csv")
    some = [tmp_path / "some.csv", path]
    assert_same(load(some, work=work), load(some))
    assert_same(load(some[0], work=work), load(some[0]))
    assert_same(load(everything(), work=work), load(everything()))
    assert load(path, work=work_here()).texts.is_held
    assert work.engine.tasks == []


FAULTS = {
    "parts": {"id": "kye", "truth": "tags", "source": "file"},
    "twice": {"truth": "file", "source": "file"},
    "repeated ids": {"id": "name"},
    "fields": {"fields": ["nmae", "tags", "nothing", "key"], "id": "key"},
    "no truth": {"truth": "nothing"},
    "markers": {"missing": [3], "id": "kye"},
    "weights": {"fields": [Categorical("flag", {True: 1.0}), Categorical("file", {"a": -1.0})]},
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_the_same(name, path, work):
    with pytest.raises(DataError) as expected:
        load(path, **FAULTS[name])
    with pytest.raises(DataError) as found:
        load(path, **FAULTS[name], work=work)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("rows", [0, 1])
def test_too_few_rows(rows, work, tmp_path):
    everything()[:rows].write_parquet(tmp_path / "few.parquet")
    with pytest.raises(DataError, match=f"at least two records are needed. Got {rows} instead."):
        load(tmp_path / "few.parquet", work=work)


def test_files_that_cannot_be_read(path, work, tmp_path):
    content = path.read_bytes()
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(content[:4] + bytes(2_000) + content[2_004:])
    for wrong in (damaged, tmp_path / "al.parquet", tmp_path / "store"):
        with pytest.raises(DataError) as expected:
            load(wrong)
        with pytest.raises(DataError) as found:
            load(wrong, work=work)
        assert str(found.value).split(": ")[:2] == str(expected.value).split(": ")[:2]


class Elsewhere(Inline):
    """Workers on another machine, where the file is not there, or is another one."""

    def __init__(self, path, there):
        super().__init__()
        self.path, self.there = path, there

    def run(self, task, items):
        aside = self.path.rename(self.path.with_name("aside"))
        if self.there is not None:
            self.there.write_parquet(self.path)
        results = super().run(task, items)
        aside.rename(self.path)
        return results


@pytest.mark.parametrize("there", [None, everything().reverse()])
def test_what_workers_do_not_see_is_looked_at_here(there, path, work):
    found = load(path, id="key", work=Workplace(Elsewhere(path, there), work.store))
    assert not found.texts.is_held
    assert_same(found, load(path, id="key"))


def test_a_column_that_a_task_cannot_read(path, work, monkeypatch):
    def fails(parts, place):
        raise pl.exceptions.ComputeError("a page is damaged\nand more")

    monkeypatch.setattr("kolchin.records.columns.open_tables._read", fails)
    with pytest.raises(
        DataError, match=r"file '.*all.parquet' cannot be read: a page is damaged.$"
    ):
        load(path, work=work)


class TestTexts:
    @pytest.fixture(params=["held", "files"])
    def both(self, request, path, work):
        """Texts and what they should be."""
        expected = load(path).values
        return (load(path, work=work if request.param == "files" else None).texts, expected)

    def test_rows_columns_and_batches(self, both, monkeypatch):
        found, expected = both
        assert found.columns == expected.columns
        assert found.height == N
        for row in (0, 16, 17, N - 1):
            assert found.row(row) == expected.row(row, named=True)
        for name in found.columns:
            assert found[name].equals(expected[name], check_names=True, check_dtypes=True)
        monkeypatch.setattr(column_texts, "BATCH", 25)
        batches = list(found.batches())
        assert [batch.height for batch in batches] == [25, 25, 7]
        assert pl.concat(batches).equals(expected)

    def test_what_is_written_is_read_again(self, both, tmp_path):
        found, expected = both
        found.write_parquet(tmp_path / "texts.parquet")
        again = Texts.over(ParquetParts.of(tmp_path / "texts.parquet"))
        assert not again.is_held
        assert again.frame().equals(expected)
        assert again.row(17) == expected.row(17, named=True)

    def test_files_that_changed_are_refused(self, path, work):
        found = load(path, work=work).texts
        everything().reverse().write_parquet(path)
        for look in (lambda: found.row(3), found.frame, lambda: found["name"]):
            with pytest.raises(DataError, match=r"all.parquet has changed since it was first read"):
                look()
        path.unlink()
        with pytest.raises(DataError, match="gone"):
            found.write_parquet(path)

"""A Parquet table is read by the workers of an engine, and what comes out is the same."""

import pickle

import polars as pl
import pytest

import kolchin as kp
from kolchin.resolution.running.directory import RunDirectory

SHORT = {"chains": 2, "draws": 30, "seed": 3}


class Inline:
    """An engine of this process; all that goes in and out is pickled, as on its way elsewhere."""

    n_workers = 3

    def __init__(self, watch=lambda task: None):
        self.tasks = []
        self.watch = watch

    def run(self, task, items):
        self.tasks.append(task.__name__)
        self.watch(task.__name__)
        return [pickle.loads(pickle.dumps(task(pickle.loads(pickle.dumps(i))))) for i in items]

    def close(self):
        pass


@pytest.fixture
def folder(people, tmp_path):
    """The table as a folder of Parquet files."""
    path = tmp_path / "people"
    path.mkdir()
    people[:25].write_parquet(path / "part-0.parquet")
    people[25:].write_parquet(path / "part-1.parquet")
    return path


@pytest.fixture
def expected(people, columns):
    return kp.resolve(people, **columns, **SHORT)


def number_anew(table):
    """Number entities in the order of the list: those of one shown before keep their numbers."""
    first = table["entity"].unique(maintain_order=True)
    return table.with_columns(pl.col("entity").replace_strict(first, range(first.len())))


def assert_same(result, expected, shown_before=False):
    seen = number_anew if shown_before else lambda table: table
    assert seen(result.entities).equals(seen(expected.entities))
    assert result.links.equals(expected.links)
    assert seen(result.merged()).equals(seen(expected.merged()))
    assert result.explain(1, 30).fields.equals(expected.explain(1, 30).fields)
    assert result.evaluate() == expected.evaluate()


def test_the_result_is_that_of_a_table_in_memory(folder, columns, expected):
    engine = Inline()
    result = kp.resolve(folder, engine=engine, **columns, **SHORT)
    assert engine.tasks[0] == "_look"
    assert_same(result, expected)


def test_a_directory_keeps_the_texts(folder, columns, expected, tmp_path):
    out = tmp_path / "run"
    result = kp.resolve(folder, engine=Inline(), out=out, merged=True, **columns, **SHORT)
    for part in folder.iterdir():
        part.unlink()
    assert_same(result, expected)
    assert_same(kp.Result.load(out), expected)
    assert (out / "merged.csv").read_text() == expected.merged().write_csv()
    assert [path.name for path in (out / "posterior").glob("store-*")] == []


def test_the_directory_is_locked_before_the_table_is_read(folder, columns, tmp_path):
    refused = []

    def watch(task):
        if task == "_look":
            with pytest.raises(kp.DataError, match="Another process"), directory.lock():
                pass
            refused.append(task)

    directory = RunDirectory(tmp_path / "run")
    engine = Inline(watch)
    kp.resolve(folder, engine=engine, out=tmp_path / "run", **columns, **SHORT)
    kp.resume(tmp_path / "run", engine=engine)
    assert refused == ["_look"] * 2


def test_a_table_that_is_refused_leaves_an_older_run_as_it_was(folder, columns, tmp_path):
    out, new = tmp_path / "run", tmp_path / "new"
    kp.resolve(folder, out=out, **columns, **SHORT)
    files = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for engine in (None, Inline()):
        with pytest.raises(kp.DataError, match="no column 'nobody'"):
            kp.resolve(folder, out=out, engine=engine, overwrite=True, truth="nobody", **SHORT)
        assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == files
    with pytest.raises(kp.DataError, match="no column 'nobody'"):
        kp.resolve(folder, out=new, truth="nobody", **SHORT)
    assert not new.exists()


def test_resumed_on_an_engine_the_table_is_looked_at_again(folder, columns, expected, tmp_path):
    out, engine = tmp_path / "run", Inline()
    kp.resolve(folder, out=out, time_limit=1e-9, **columns, **SHORT)
    (folder / "part-1.parquet").rename(folder / "a.parquet")
    with pytest.raises(kp.DataError, match=r"^people has changed since the run began"):
        kp.resume(out, engine=engine)
    (folder / "a.parquet").rename(folder / "part-1.parquet")
    assert_same(kp.resume(out, engine=engine), expected, shown_before=True)
    assert engine.tasks.count("_look") == 2

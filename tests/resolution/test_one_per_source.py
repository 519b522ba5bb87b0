"""Files without duplicates: from the option to the draws, the entities shown and resumed runs."""

import json

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.partitions import has_clash
from kolchin.records import DataWarning

SHORT = {"chains": 2, "draws": 30, "seed": 3}


@pytest.fixture(scope="module")
def filed(people):
    """The people in two files, and some in none: duplicates within files are common."""
    files = np.array(["a", "b", None, "a"])[np.arange(people.height) % 4]
    return people.with_columns(pl.Series("file", files, dtype=pl.String))


def numbers(filed):
    return filed["file"].replace_strict({"a": 0, "b": 1}, default=-1).to_numpy().astype(np.int32)


def has_any_clash(result, filed):
    labels = result.posterior.labels.reshape(-1, filed.height)
    return any(has_clash(row, numbers(filed)) for row in labels)


def test_no_draw_and_no_entity_has_two_records_of_a_file(filed, columns):
    free = kp.resolve(filed, **columns, **SHORT, source="file")
    assert has_any_clash(free, filed)
    assert free.summary()["settings"]["one_per_source"] is False
    result = kp.resolve(filed, **columns, **SHORT, source="file", one_per_source=True)
    assert not has_any_clash(result, filed)
    assert not has_clash(result.labels, numbers(filed))
    assert result.labels.max() + 1 < filed.height
    assert result.summary()["settings"]["one_per_source"] is True
    linked = free.links.filter("same_entity").select("record_a", "record_b").rows()
    file_of = dict(zip(filed["rec_id"].cast(pl.String), filed["file"], strict=True))
    one, other = next(
        pair for pair in linked if file_of[str(pair[0])] == file_of[str(pair[1])] is not None
    )
    told = str(result.explain(one, other))
    assert "The two are of one source" in told
    assert "Probability of one entity: 0.0000" in told
    assert "one source" not in str(free.explain(one, other))


def test_a_resumed_run_keeps_to_it(filed, columns, tmp_path):
    path, out = tmp_path / "people.csv", tmp_path / "run"
    filed.write_csv(path)
    choice = {**columns, "source": "file", "one_per_source": True, "out": out}
    kp.resolve(path, **choice, **SHORT)
    asked = json.loads((out / "posterior" / "run.json").read_text())
    assert asked["settings"]["one_per_source"] is True
    more = kp.resume(out, draws=60)
    assert more.posterior.n_draws == 60
    assert not has_any_clash(more, filed)
    assert kp.Result.load(out).summary()["settings"]["one_per_source"] is True
    whole = kp.resolve(path, **{**choice, **SHORT, "draws": 60, "out": None})
    assert np.array_equal(whole.posterior.labels[:, :30], more.posterior.labels[:, :30])


def test_files_are_sources(people, tmp_path):
    for name, part in (("a", people[:30]), ("b", people[30:])):
        part.write_csv(tmp_path / f"{name}.csv")
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    with pytest.warns(DataWarning):
        result = kp.resolve(paths, id="rec_id", truth="ent_id", **SHORT, one_per_source=True)
    sources = np.repeat([0, 1], 30).astype(np.int32)
    labels = result.posterior.labels.reshape(-1, 60)
    assert not any(has_clash(row, sources) for row in labels)


def test_without_a_source_nothing_is_begun(people, columns, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(kp.ModelError, match="needs the source of each record"):
        kp.resolve(people, **columns, **SHORT, one_per_source=True, out=out)
    same = people.with_columns(file=pl.lit("a"))
    with pytest.raises(kp.ModelError, match="all of them are of 'a'"):
        kp.resolve(same, **columns, **SHORT, source="file", one_per_source=True, out=out)
    assert not out.exists()

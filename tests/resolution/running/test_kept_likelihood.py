"""What comparing gave is kept with a run, and the model made of it is the same to the bit."""

import shutil

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.resolution.running.kept_likelihood import FILE, read_likelihood
from kolchin.simulation.people import simulate_people

HOW = {"chains": 2, "seed": 1, "progress": False}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "people"
    table = simulate_people(1200, 3).drop("ent_id")  # more than are all compared
    kp.resolve(table, id="rec_id", out=out, draws=20, **HOW)
    return out


def same(one, other):
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def test_the_model_is_the_same_without_comparing_again(run, monkeypatch):
    path = run / "posterior" / FILE
    kept = path.read_bytes()
    path.unlink()
    anew = kp.Result.load(run)._model
    path.write_bytes(kept)
    for home in ("running.settings.compare", "resolving.compare_records"):
        monkeypatch.setattr(f"kolchin.resolution.{home}", None)
    again = kp.Result.load(run)._model
    assert again.records.fields == anew.records.fields
    one, other = anew.likelihood, again.likelihood
    for name, value in vars(one).items():
        if name not in ("dependence", "unrelated", "parts", "comparisons", "_found_factors"):
            assert same(value, getattr(other, name)), name
    assert same(tuple(one.dependence), tuple(other.dependence))
    values = one.start()
    assert same(tuple(one.compute_ratios(values)), tuple(other.compute_ratios(values)))
    for name, value in vars(anew.comparisons).items():
        if name != "parts":
            assert same(value, getattr(again.comparisons, name)), name
    assert same(anew.comparisons.pairs, again.comparisons.pairs)
    assert same(anew.comparisons.parts.which, again.comparisons.parts.which)


def test_what_is_damaged_or_of_another_version_is_made_again(run, monkeypatch):
    path = run / "posterior" / FILE
    kept, shown = path.read_bytes(), kp.Result.load(run).links
    path.write_bytes(kept[: len(kept) // 2])
    assert kp.Result.load(run).links.equals(shown)
    path.write_bytes(kept)
    monkeypatch.setattr("kolchin.resolution.running.kept_likelihood._version", lambda: "another")
    records = kp.Result.load(run)._given.records
    assert read_likelihood(path.parent, records) is None
    assert kp.Result.load(run).links.equals(shown)


def test_a_run_that_goes_on_gives_the_same_and_an_added_one_keeps_what_it_learnt(
    run, tmp_path, monkeypatch
):
    table = simulate_people(1200, 3).drop("ent_id")
    shutil.copytree(run, tmp_path / "other")
    (tmp_path / "other" / "posterior" / FILE).unlink()
    whole = kp.resume(tmp_path / "other", draws=30, progress=False)
    assert (tmp_path / "other" / "posterior" / FILE).exists()
    new = table[:20].with_columns(pl.Series("rec_id", range(5000, 5020)))
    kp.Result.load(run).update(new, out=tmp_path / "added")
    for home in ("running.settings.compare", "resolving.compare_records"):
        monkeypatch.setattr(f"kolchin.resolution.{home}", None)
    more = kp.resume(run, draws=30, progress=False)
    assert more.links.equals(whole.links)
    added = kp.Result.load(tmp_path / "added")
    assert added._base_model.n_records == 1200
    assert added.explain(5003, table["rec_id"][3]).probability > 0.5

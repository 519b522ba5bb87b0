"""Small tables and short runs."""

import numpy as np
import pytest

import kolchin as kp

SHORT = {"chains": 2, "draws": 30, "seed": 3}


def hurry(monkeypatch):
    """Look often, and warm up briefly: these tests are about what surrounds the chains."""
    from kolchin.sampling.run import chain, run_settings

    monkeypatch.setattr(run_settings, "FEWEST_WARMUP_STEPS", 60)
    monkeypatch.setattr(chain, "SECONDS_BETWEEN_LOOKS", 0.02)
    monkeypatch.setattr("kolchin.report.render", lambda content: f"<html>{content.title}</html>")


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    hurry(monkeypatch)


@pytest.fixture(scope="session")
def people():
    """60 records of 47 entities: rec_id, ent_id and five fields."""
    fields = {f"field_{k}": 1 / np.arange(1, n + 1) ** 0.5 for k, n in enumerate((6, 10, 12, 20))}
    return kp.simulate(fields, sizes={1: 37, 2: 7, 3: 3}, delta=0.05, missing=0.05, seed=3)


@pytest.fixture
def table(people, tmp_path):
    """The same as a CSV file."""
    path = tmp_path / "people.csv"
    people.write_csv(path)
    return path


@pytest.fixture(scope="session")
def columns():
    return {"id": "rec_id", "truth": "ent_id"}


@pytest.fixture(scope="session")
def finished(people, columns, tmp_path_factory):
    """A finished run: its result and its directory; not to be changed."""
    folder = tmp_path_factory.mktemp("finished")
    people.write_csv(folder / "people.csv")
    out = folder / "run"
    with pytest.MonkeyPatch.context() as monkeypatch:
        hurry(monkeypatch)
        result = kp.resolve(folder / "people.csv", **columns, **SHORT, out=out, merged=True)
    return result, out

"""Shards and the serial sampler have the same posterior, on thousands of compared records."""

import numpy as np
import pytest

import kolchin as kp
from kolchin.records import load
from kolchin.sampling import layout
from kolchin.simulation.people import simulate_people

N_RECORDS = 5000


@pytest.fixture(scope="module")
def model():
    table = simulate_people(N_RECORDS, seed=3)
    records = load(table, id="rec_id", truth="ent_id").records
    return kp.Model(records, likelihood=kp.compare(records))


def n_clusters(model, seed):
    posterior = kp.sample(model, chains=2, draws=250, thin=1, seed=seed, progress=False)
    rows = {row["quantity"]: row for row in posterior.diagnostics().iter_rows(named=True)}
    k = rows["n_clusters"]
    return k["mean"], k["sd"] / k["ess_bulk"] ** 0.5, k["sd"]


def test_the_number_of_entities(model, monkeypatch):
    mean, error, sd = n_clusters(model, 1)
    monkeypatch.setattr(layout, "SMALLEST_SHARDED", N_RECORDS)
    monkeypatch.setattr(layout, "RECORDS_A_BLOCK", N_RECORDS // 6)
    sharded_mean, sharded_error, sharded_sd = n_clusters(model, 2)
    assert abs(mean - sharded_mean) < 4 * np.hypot(error, sharded_error)
    assert 0.7 < sharded_sd / sd < 1.4
    assert max(error, sharded_error) < 1.0

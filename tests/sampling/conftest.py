"""Simulated tables to sample from."""

import numpy as np
import pytest

import kolchin as kp


def simulated(n_records: int, seed: int = 3, n_values=(6, 10, 12, 20, 30), missing=0.05):
    """Return records and their true entities: 60% singletons, the others in twos and threes."""
    fields = {f"field_{k}": 1 / np.arange(1, n + 1) ** 0.5 for k, n in enumerate(n_values)}
    threes, twos = n_records // 25, n_records * 7 // 50
    sizes = {1: n_records - 2 * twos - 3 * threes, 2: twos, 3: threes}
    table = kp.simulate(fields, sizes=sizes, delta=0.05, missing=missing, seed=seed)
    return kp.Records.from_table(table, list(fields)), table["ent_id"].to_numpy()


@pytest.fixture(scope="session")
def simulate_records():
    return simulated


@pytest.fixture(scope="session")
def small_model():
    """60 records under the default model, whose mu is split as clusters grow."""
    return kp.Model(simulated(60)[0])


@pytest.fixture(scope="session")
def medium_model():
    """300 records under the default model."""
    return kp.Model(simulated(300)[0])

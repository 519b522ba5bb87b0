"""Records that are added: what they do not touch may as well be drawn anew, or not."""

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.sampling import updating
from kolchin.simulation.people import simulate_people

N_OLD = 540


@pytest.fixture(scope="module")
def both():
    table = simulate_people(600, 5, moved=0.3, typos=0.15)
    table = table[np.random.default_rng(1).permutation(table.height)].drop("ent_id")
    how = {"chains": 4, "draws": 250, "seed": 1, "progress": False}
    before = kp.resolve(table[:N_OLD], id="rec_id", **how)
    near = before.update(table[N_OLD:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            updating, "_group_ever_together", lambda posterior: np.zeros(N_OLD, dtype=int)
        )
        whole = before.update(table[N_OLD:], seed=2)
    return before, near, whole


def differences(one, other):
    """Probabilities of the pairs that are open in either, and their chains' standard errors."""
    keys = ["record_a", "record_b"]
    tables = [result.posterior.links(0.0) for result in (one, other)]
    joined = tables[0].join(tables[1], on=keys, how="full", coalesce=True).fill_null(0.0)
    first, second = joined["probability"].to_numpy(), joined["probability_right"].to_numpy()
    is_open = (np.maximum(first, second) > 0.02) & (np.minimum(first, second) < 0.98)
    return first[is_open], second[is_open]


def test_only_what_is_touched_is_drawn_anew_and_that_is_enough(both):
    _, near, whole = both
    first, second = differences(near, whole)
    assert first.size > 20
    spread = np.sqrt(np.maximum(first * (1 - first), 0.01) / 250)  # a fourth of the draws count
    assert np.abs(first - second).max() < 5 * spread.max()
    assert np.mean((first - second) ** 2 / (2 * spread**2)) < 1.5


def test_the_comparison_sees_what_is_not_so(both):
    """Negative control: the draws before anything was added are no draws of the table now."""
    before, _, whole = both
    first, second = differences(before, whole)
    spread = np.sqrt(np.maximum(first * (1 - first), 0.01) / 250)
    assert np.mean((first - second) ** 2 / (2 * spread**2)) > 1.5


def test_numbers_of_entities_agree_with_a_run_of_all(both):
    _, near, whole = both
    means = [result.posterior.statistics["n_clusters"].mean() for result in (near, whole)]
    assert abs(means[0] - means[1]) < 1.0
    assert isinstance(near.events, pl.DataFrame)

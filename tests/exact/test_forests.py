"""Delta and links drawn at once keep the joint posterior."""

from itertools import combinations

import invariance
import numpy as np
import pytest
from driving import Driver
from invariance import SAMPLED, SMALLEST_P, fixed_joint
from problems import FIXED

from kolchin.sampling import forests
from kolchin.sampling.layout import Layout
from kolchin.sampling.loose import loose_pairs
from kolchin.sampling.proposals import LOOSE_ODDS
from kolchin.sampling.weights import can_be_sharded


@pytest.fixture
def forested(monkeypatch):
    """Let drivers draw delta and links at once, of half of all pairs, with very unequal odds."""

    def use(edges=0.75):
        monkeypatch.setattr(forests, "EDGES_A_RECORD", edges)
        monkeypatch.setattr(forests, "UNIFORM_EDGES", edges / 2)

        def make(model, pairs, seed):
            driver = Driver(model, pairs, seed)
            listed = np.array(list(combinations(range(model.n_records), 2))[::2], dtype=np.int32)
            unequal = np.random.default_rng(3).exponential(scale=2.0, size=len(listed))
            log_odds = np.log(LOOSE_ODDS) - 0.01 - unequal
            loose = loose_pairs(Layout.single(model.n_records), listed, log_odds)
            driver.chain.loose, driver.chain.n_rounds = loose, 3
            monkeypatch.setattr(driver.chain, "_attach", lambda: None)
            return driver

        monkeypatch.setattr(invariance, "Driver", make)

    return use


def independent(name):
    """Tell whether clusters are independent given t, as forests need it."""
    return can_be_sharded(fixed_joint(name, False).model)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", list(filter(independent, FIXED)))
def test_partition_and_delta(name, missing, forested):
    forested()
    p_values = fixed_joint(name, missing).run(n_draws=2500, rounds=2, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("edges", [0.2, 3.0])
def test_any_number_of_edges_is_right(edges, forested):
    forested(edges)
    p_values = fixed_joint("NBNB", False).run(n_draws=4000, rounds=3, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("name", SAMPLED)
def test_with_moves_and_all_parameters(name, forested):
    forested()
    p_values = SAMPLED[name]().run(rounds=1)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("wrong", ["rate", "size"])
def test_a_wrong_weight_is_seen(wrong, forested, monkeypatch):
    """Links that do not count more for edges that are rare, or for records that were taken out."""
    forested()
    grow = forests.kernels.grow_forest

    def changed(*given):
        forest = list(grow(*given))
        place = forests.kernels.Forest._fields.index(wrong)
        forest[place] = np.full_like(forest[place], 2 if wrong == "size" else 50.0)
        return tuple(forest)

    monkeypatch.setattr(forests.kernels, "grow_forest", changed)
    p_values = fixed_joint("DirichletProcess", False).run(n_draws=4000, rounds=3, moves=0)
    assert min(p_values.values()) < 1e-6, p_values

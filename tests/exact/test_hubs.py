"""Delta drawn together with loose links keeps the joint posterior, and would not without care."""

from itertools import combinations

import invariance
import numpy as np
import pytest
from driving import Driver
from invariance import SAMPLED, SMALLEST_P, fixed_joint
from problems import FIXED

from kolchin import kernels
from kolchin.sampling.hubs import neighbours_of

TIED = [name for name in FIXED if name != "KolchinPartition"]
"""A table of kappa cannot be decoupled: such priors update delta given all links."""


@pytest.fixture
def with_neighbours(monkeypatch):
    """Let all records point at each other, but for one pair, with very unequal weights."""

    def make(model, pairs, seed):
        driver = Driver(model, pairs, seed)
        listed = np.array(list(combinations(range(model.n_records), 2))[1:], dtype=np.int32)
        log_odds = np.random.default_rng(3).normal(scale=2.0, size=len(listed))
        driver.chain.neighbours = neighbours_of(model.n_records, listed, log_odds)
        return driver

    monkeypatch.setattr(invariance, "Driver", make)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", TIED)
def test_partition_and_delta(name, missing, with_neighbours):
    p_values = fixed_joint(name, missing).run(n_draws=2500, rounds=2, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("name", SAMPLED)
def test_with_moves_and_all_parameters(name, with_neighbours):
    p_values = SAMPLED[name]().run(rounds=1)
    assert min(p_values.values()) > SMALLEST_P, p_values


def test_without_the_chance_of_pointers_it_would_be_wrong(with_neighbours, monkeypatch):
    point = kernels.point_hubs
    monkeypatch.setattr(kernels, "point_hubs", lambda *rest: np.ones_like(point(*rest)))
    p_values = fixed_joint("DirichletProcess", False).run(n_draws=4000, rounds=2, moves=0)
    assert p_values["partition"] < 1e-6

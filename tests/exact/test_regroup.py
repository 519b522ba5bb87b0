"""Equal records that leave clusters and join others together keep the joint posterior."""

from functools import partial

import numpy as np
import pytest
from forced import let_equals_regroup
from invariance import SMALLEST_P, fixed_joint
from problems import FIXED
from test_sources import SOURCES, of_sources

from kolchin import kernels


@pytest.fixture
def regrouping(monkeypatch):
    """Let drivers regroup equal records."""
    return partial(let_equals_regroup, monkeypatch)


@pytest.mark.parametrize("name", FIXED)
def test_partition_and_delta(name, regrouping):
    regrouping()
    p_values = fixed_joint(name, False).run(n_draws=2500, rounds=2, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("sources", SOURCES.values(), ids=SOURCES)
def test_records_of_one_source_do_not_meet(sources, regrouping):
    regrouping()
    p_values = of_sources(fixed_joint("PitmanYor", False), sources).run(rounds=2, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


def test_each_record_may_have_its_own_weights(regrouping):
    """The one that joins is the one that leaves: only its own list matters."""

    def scrambled(proposals):
        weight = np.random.default_rng(5).exponential(size=proposals.neighbours.size) ** 2
        reach = [np.cumsum(own) for own in np.split(weight, proposals.starts[1:-1])]
        return proposals._replace(reach=np.concatenate(reach))

    regrouping(scrambled)
    p_values = fixed_joint("DirichletProcess", False).run(n_draws=2500, rounds=2, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


def test_chances_to_pick_matter(regrouping, monkeypatch):
    """A record that picked others with other chances than it reckons with would be wrong."""
    right = kernels.regroup_records

    def regroup(rng, proposals, *others):
        lists = [np.roll(own, 1) for own in np.split(proposals.neighbours, proposals.starts[1:-1])]
        right(rng, proposals._replace(neighbours=np.concatenate(lists)), *others)

    monkeypatch.setattr(kernels, "regroup_records", regroup)
    regrouping()
    p_values = fixed_joint("DirichletProcess", False).run(n_draws=4000, rounds=3, moves=0)
    assert p_values["partition"] < 1e-6, p_values

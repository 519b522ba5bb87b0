"""Partition and parameters together: the joint posterior is kept by moves and updates."""

import pytest
from driving import PAIRS
from invariance import SAMPLED, SMALLEST_P, fixed_joint
from problems import FIXED


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", FIXED)
def test_partition_and_delta(name, missing, pairs):
    p_values = fixed_joint(name, missing).run(n_draws=2000, pairs=pairs, rounds=1)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("name", SAMPLED)
def test_partition_and_all_parameters(name):
    p_values = SAMPLED[name]().run()
    assert min(p_values.values()) > SMALLEST_P, p_values

"""Records that attach to others and leave them keep the joint posterior."""

from itertools import combinations

import invariance
import numpy as np
import pytest
from driving import Driver
from invariance import SAMPLED, SMALLEST_P, fixed_joint
from problems import FIXED

from kolchin.sampling.loose import loose_pairs
from kolchin.sampling.proposals import LOOSE_ODDS


@pytest.fixture
def listing(monkeypatch):
    """Let drivers list all pairs of records but one, with very unequal odds."""

    def use(change=lambda loose: loose):
        def make(model, pairs, seed):
            driver = Driver(model, pairs, seed)
            listed = np.array(list(combinations(range(model.n_records), 2))[1:], dtype=np.int32)
            unequal = np.random.default_rng(3).exponential(scale=2.0, size=len(listed))
            loose = loose_pairs(model.n_records, listed, np.log(LOOSE_ODDS) - 0.01 - unequal)
            driver.chain.loose = change(loose._replace(n_moves=40, joining=0.4))
            return driver

        monkeypatch.setattr(invariance, "Driver", make)

    return use


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", FIXED)
def test_partition_and_delta(name, missing, listing):
    listing()
    p_values = fixed_joint(name, missing).run(n_draws=2500, rounds=2, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("name", SAMPLED)
def test_with_moves_and_all_parameters(name, listing):
    listing()
    p_values = SAMPLED[name]().run(rounds=1)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("field", ["odds", "table"])
def test_odds_that_are_not_those_of_the_table_would_be_wrong(field, listing):
    def scrambled(loose):
        return loose._replace(**{field: np.roll(getattr(loose, field), 3, axis=0)})

    # A table keeps its meaning when its rows change places; the odds of neighbours do not.
    listing(scrambled)
    p_values = fixed_joint("DirichletProcess", False).run(n_draws=4000, rounds=3, moves=0)
    assert (p_values["partition"] < 1e-6) == (field == "odds"), p_values


def test_pairs_are_listed_with_both_records_and_their_odds():
    pairs = np.array([(0, 2), (1, 2), (0, 1), (2, 3)], dtype=np.int32)
    loose = loose_pairs(5, pairs, np.log([0.02, 0.05, 0.5, 1e-6]))
    neighbours = np.split(loose.neighbours, loose.starts[1:-1])
    assert [list(n) for n in neighbours] == [[1, 2], [0, 2], [0, 1], [], []]
    # Odds are cut: pairs that are almost certain are left to chaperones moves.
    np.testing.assert_allclose(loose.odds, [0.1, 0.02, 0.1, 0.05, 0.02, 0.05])
    assert loose.joining == pytest.approx(0.34 / 5.34)


def test_no_pair_no_list():
    assert loose_pairs(3, np.zeros((0, 2), dtype=np.int32), np.zeros(0)) is None

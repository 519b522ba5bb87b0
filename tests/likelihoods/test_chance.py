"""Chance is of entities: a record is no coincidence with itself, nor with one of its own entity."""

import numpy as np
import pytest

import kolchin as kp
from kolchin.comparison import compare
from kolchin.likelihoods import Exemplar
from kolchin.likelihoods.chance import UNSEEN_PAIRS, Coincidences


def coincidences(values, kind=kp.Categorical):
    fields = [kind("name"), kind("other")]
    records = kp.Records.from_table({"name": values, "other": values}, fields=fields)
    comparisons = compare(records.as_compared())
    likelihood = Exemplar(*_outcomes(comparisons))
    return Coincidences.of(comparisons, likelihood.bands), likelihood


def _outcomes(comparisons):
    from kolchin.likelihoods.outcomes import describe_outcomes

    return describe_outcomes(comparisons), ["name", "other"]


def test_a_record_is_no_coincidence_with_itself():
    found, _ = coincidences([f"name {k}" for k in range(40)])
    assert found.agreeing[0].sum() == pytest.approx(0, abs=1e-9)
    u, _ = found.estimate_chances([np.zeros(1), np.zeros(1)], np.zeros(2), unseen=False)
    assert u[0][0] == pytest.approx(UNSEEN_PAIRS / (40 * 39 / 2))


def test_links_are_taken_out():
    """Of 20 names that stand twice, all are coincidences or none."""
    found, _ = coincidences([f"name {k // 2}" for k in range(40)])
    assert found.agreeing[0].sum() == pytest.approx(20)
    none, _ = found.estimate_chances([np.array([0.0])] * 2, np.zeros(2), unseen=False)
    all_of_them, _ = found.estimate_chances([np.array([20.0])] * 2, np.full(2, 20.0), unseen=False)
    assert none[0][0] > 20 * all_of_them[0][0]
    for u in (*none, *all_of_them):
        assert u.sum() == pytest.approx(1)


def test_agreement_on_a_value_has_the_chance_of_its_band():
    found, likelihood = coincidences(["often"] * 20 + [f"name {k // 2}" for k in range(20)])
    taken, _ = found.count_by_band(likelihood.patterns, np.zeros(likelihood.n_patterns))
    _, of_value = found.estimate_chances(taken, np.zeros(2), unseen=False)
    exactly = of_value[0][0]
    assert exactly[0] < exactly[-1]
    gain = np.empty(likelihood.patterns.levels.shape)
    found.write_gains(likelihood.patterns.levels, of_value, gain)
    exact = likelihood.patterns.levels[:, 0] == 0
    chances = np.exp(-gain[exact, 0])
    assert set(chances.round(12)) <= set(exactly.round(12))


def test_near_values_have_the_chance_of_the_more_frequent_one():
    """A slip in a frequent name makes a name that is near to many, one in a rare name does not."""
    often, seldom = ["Katharina"] * 30, [f"{letter * 6}son" for letter in "bcdfghklmnpqrst"]
    slips = ["Katharin", seldom[0][:-1]]
    found, likelihood = coincidences([*often, *seldom, *slips], kp.Name)
    taken, _ = found.count_by_band(likelihood.patterns, np.zeros(likelihood.n_patterns))
    u, of_value = found.estimate_chances(taken, np.zeros(2), unseen=False)
    mistyped = of_value[0][1 + u[0][1:-1].argmax()]
    assert mistyped[-1] > mistyped[0]
    shares = found.share[0]
    # Over all values, weighed by how often records have them, levels keep their chances.
    assert mistyped @ shares == pytest.approx(u[0][1:-1].max())
    assert (of_value[0][-1] == u[0][-1]).all()


@pytest.mark.parametrize("copies", [1, 2])
def test_a_column_that_identifies_can_say_so(copies):
    """Every value stands exactly twice: all are found; where none does, nothing is."""
    values = [f"{k:05d}" for k in range(300)]
    table = {"code": values * copies if copies == 2 else values}
    fields = [kp.Code("code")]
    result = kp.resolve(table, fields=fields, chains=2, draws=40, seed=1, progress=False)
    assert result.summary()["n_entities"]["mean"] == pytest.approx(300, abs=2)


def test_pairs_are_counted_and_gains_looked_up_as_numpy_does():
    rng = np.random.default_rng(1)
    found, likelihood = coincidences(["often"] * 20 + [f"name {k // 2}" for k in range(40)])
    patterns = likelihood.patterns
    pairs = rng.random(likelihood.n_patterns) * (rng.random(likelihood.n_patterns) < 0.7)
    by_band, of_all = found.count_by_band(patterns, pairs)
    for f, counts in enumerate(by_band):
        rows = patterns.levels[:, f] == 0
        assert counts == pytest.approx(np.bincount(found.band[rows, f], pairs[rows], counts.size))
    assert of_all == pytest.approx(pairs @ (patterns.levels >= 0))
    _, of_value = found.estimate_chances(by_band, of_all, unseen=False)
    rows = np.arange(0, likelihood.n_patterns, 2)
    gain = np.full(patterns.levels.shape, 7.0)
    found.write_gains(patterns.levels, of_value, gain, rows)
    assert (gain[1::2] == 7).all()
    for row in rows:
        for f, level in enumerate(patterns.levels[row]):
            expected = 0.0 if level < 0 else -np.log(of_value[f][level, found.band[row, f]])
            assert gain[row, f] == pytest.approx(expected)

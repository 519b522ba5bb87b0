import numpy as np
import pytest

from kolchin.likelihoods.dependence import Dependence
from kolchin.likelihoods.exemplar import Exemplar
from kolchin.likelihoods.outcomes import Outcomes


def many_patterns(n_records=400, seed=1):
    """Pairs whose levels are few and whose values have many different frequencies."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n_records, 1)
    some = np.sort(rng.choice(i.size, 5_000, replace=False))
    pairs = np.column_stack([i[some], j[some]]).astype(np.int32)
    levels = rng.integers(-1, 3, (len(pairs), 3)).astype(np.int8)
    chance = np.where(levels == 0, 4.0 ** -rng.integers(1, 6, levels.shape), 0.3)
    shows = np.ones((n_records, 3), dtype=bool)
    outcomes = Outcomes(pairs, levels, chance, (3, 3, 3), np.full(3, 0.7), shows)
    return Exemplar(outcomes, ["a", "b", "c"])


def evidence(likelihood):
    return np.log(likelihood.compute_ratios(likelihood.start())[0])[
        likelihood.find_patterns(likelihood.parts.pairs)
    ]


def levels_of(likelihood):
    return likelihood.place[likelihood.find_patterns(likelihood.parts.pairs)]


def test_patterns_that_become_one_have_the_same_levels_and_nearly_the_same_evidence():
    likelihood, merged = many_patterns(), many_patterns()
    merged._merge_alike(step=0.5, margin=100.0)
    assert merged.n_patterns < 0.6 * likelihood.n_patterns
    assert np.array_equal(levels_of(likelihood), levels_of(merged))
    assert np.abs(evidence(likelihood) - evidence(merged)).max() <= 0.5
    assert merged._number.sum() == likelihood._number.sum()
    assert merged.place.shape[0] == merged.n_patterns + 8


@pytest.mark.parametrize("threshold", [1.0, 3.0])
def test_evidence_far_from_even_odds_stays_on_its_side(threshold):
    likelihood, merged = many_patterns(), many_patterns()
    merged._merge_alike(step=0.25, margin=threshold)
    before, after = (evidence(one) - np.log(400) for one in (likelihood, merged))
    near = np.abs(before) < threshold - 0.25
    assert np.abs(after - before)[near].max() <= 0.25
    beyond = np.abs(before) > threshold + 0.25
    assert np.array_equal(np.sign(before[beyond]), np.sign(after[beyond]))


def test_where_all_patterns_differ_in_levels_nothing_changes():
    likelihood = many_patterns()
    likelihood._merge_alike(step=0.25, margin=1e-9)
    ratios, n_patterns = likelihood.compute_ratios(likelihood.start()), likelihood.n_patterns
    likelihood._merge_alike(step=0.25, margin=1e-9)
    assert likelihood.n_patterns == n_patterns
    np.testing.assert_array_equal(likelihood.compute_ratios(likelihood.start())[0], ratios[0])


def with_nothing_shared(likelihood):
    """Let it have a dependence in which no fields move together."""
    n_levels, nothing = int(likelihood.offsets[-1]), np.zeros((0, 3))
    m = likelihood.start()["m"]
    dependence = Dependence(
        shared=nothing.astype(bool), n_shared=np.empty(0), n_pairs=79_800.0,
        typed=np.full(n_levels, 0.3), replaced=np.zeros((1, 3), dtype=bool), rho=np.ones(1),
        rho_weights=np.ones(1), m=m, m_weights=m, leak=nothing,
        loose=np.zeros((0, n_levels + 1)), sampled=np.empty(0, dtype=bool),
    )  # fmt: skip
    likelihood._take_dependence(dependence)
    return likelihood


def test_pairs_without_hope_differ_in_all_fields_but_not_for_who_asks():
    margin = 3.0
    likelihood, merged = (with_nothing_shared(many_patterns()) for _ in range(2))
    merged._merge_alike(step=1e-9, margin=margin)
    before, after = (evidence(one) - np.log(400) for one in (likelihood, merged))
    hopeless = before < -margin
    assert 0.2 < hopeless.mean() < 0.95
    near = np.abs(before) < margin
    np.testing.assert_allclose(after[near], before[near], atol=1e-6)
    assert after[hopeless].max() < -margin
    last, missing = merged.offsets[1:] - 1, merged.offsets[-1]
    places = levels_of(merged)[hopeless]
    assert np.all((places == last) | (places == missing))
    told = [one.weigh_pairs(one.parts.pairs, {}) for one in (likelihood, merged)]
    np.testing.assert_allclose(told[1], told[0], atol=1e-5)

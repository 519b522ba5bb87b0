"""Families of alike records: nearer records are of one entity."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kolchin.likelihoods.chance import Coincidences
from kolchin.likelihoods.families import fit_family_levels, guess_family_levels
from kolchin.likelihoods.fitting import Fit
from kolchin.likelihoods.sharing import FieldSets, Patterns, UnrelatedChances


@pytest.mark.parametrize("seed", range(5))
def test_levels_are_the_most_likely_of_those_that_rise(seed):
    rng = np.random.default_rng(seed)
    counts, m = rng.gamma(1, 10, 5), rng.dirichlet(np.ones(5))
    found = fit_family_levels(counts, m, np.array([0, 5]))
    assert (np.diff(found / m) > -1e-9).all()
    steps = [{"type": "ineq", "fun": lambda p, k=k: p[k + 1] / m[k + 1] - p[k] / m[k]}
             for k in range(4)]  # fmt: skip
    best = minimize(
        lambda p: -counts @ np.log(np.maximum(p, 1e-12)), m, method="SLSQP", bounds=[(1e-9, 1)] * 5,
        constraints=[{"type": "eq", "fun": lambda p: p.sum() - 1}, *steps],
    )  # fmt: skip
    assert best.success
    np.testing.assert_allclose(found, best.x, atol=2e-3)


def test_counts_that_do_not_rise_over_those_of_entities_are_not_kept():
    counts, m = np.array([90.0, 5.0, 5.0]), np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(fit_family_levels(counts, m, np.array([0, 3])), m)


def test_a_start_has_chances_and_no_text_is_exact():
    u = [np.array([0.0, 0.1, 0.1, 0.1, 0.1, 0.6]), np.array([0.1, 0.9])]
    levels = guess_family_levels(u, [0])
    assert levels[:6].sum() == pytest.approx(1)
    assert levels[6:].sum() == pytest.approx(1)
    assert levels[0] == 0
    assert np.all(np.diff(levels[1:5]) > 0)


U = (
    np.array([1e-5, 1e-5, 1e-4, 5e-4, 2e-3, 1 - 2.61e-3]),
    np.array([0.04, 0.96]),
    np.array([0.01, 0.02, 0.08, 0.89]),
)
OF_LINKS = (
    np.array([0.4, 0.4, 0.08, 0.04, 0.02, 0.06]), np.array([0.99, 0.01]),
    np.array([0.1, 0.2, 0.6, 0.1]),
)  # fmt: skip
OF_FAMILIES = (
    np.array([0.0, 0.03, 0.05, 0.15, 0.25, 0.52]), np.array([0.97, 0.03]),
    np.array([0.05, 0.2, 0.6, 0.15]),
)  # fmt: skip
N_RECORDS, N_LINKS, N_ALIKE = 1_000, 400, 1_500


def drawn_pairs(seed):
    """Count the patterns of pairs by chance, of families, of entities; return them with chance."""
    rng = np.random.default_rng(seed)
    levels = np.array(list(np.ndindex(6, 2, 4)), dtype=np.int8)
    expected = np.zeros(len(levels))
    n_pairs = N_RECORDS * (N_RECORDS - 1) / 2
    for total, chances in ((n_pairs, U), (N_ALIKE, OF_FAMILIES), (N_LINKS, OF_LINKS)):
        expected += total * np.prod([of[levels[:, f]] for f, of in enumerate(chances)], axis=0)
    number = rng.poisson(expected).astype(float)
    gain = -np.log(np.column_stack([u[levels[:, f]] for f, u in enumerate(U)]))
    agrees = (np.arange(6) < 3, np.arange(2) < 1, np.arange(4) < 2)
    chances = UnrelatedChances(N_RECORDS, U, agrees, np.ones(8), np.zeros((3, 3)))
    exact = [float(number[levels[:, f] == 0].sum()) for f in range(3)]
    known = Coincidences(
        agreeing=tuple(np.array([pairs]) for pairs in exact), share=(np.ones(1),) * 3,
        n_shown=np.full(3, float(N_RECORDS)), band=np.zeros(levels.shape, dtype=np.int8),
        near=tuple(u[1:] / u[1:].sum() for u in U), in_band=tuple(np.zeros((u.size, 1)) for u in U),
        possible=np.ones(3), texts=(0,),
    )  # fmt: skip
    kept = number > 0
    known = known._replace(band=known.band[kept])
    return Patterns(levels[kept], gain[kept], number[kept]), chances, known


def fitted(seed, family):
    patterns, chances, known = drawn_pairs(seed)
    fit = Fit(patterns, chances, FieldSets({}, {}, [], family=family), known)
    fit.run()
    return fit


@pytest.mark.parametrize("seed", range(3))
def test_pairs_of_families_are_told_from_links(seed):
    fit = fitted(seed, family=True)
    assert fit.n_linked == pytest.approx(N_LINKS, rel=0.3)
    assert fit.n_shared[-1] == pytest.approx(N_ALIKE, rel=0.3)
    assert fit.m[0] == pytest.approx(OF_LINKS[0][0], abs=0.1)


def test_without_a_family_its_pairs_pass_for_links():
    assert fitted(0, family=False).n_linked > 2 * N_LINKS

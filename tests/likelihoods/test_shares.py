import numpy as np
import pytest

from kolchin.likelihoods import shares
from kolchin.likelihoods.dependence import log_parts
from kolchin.likelihoods.error_counts import compute_tilts
from kolchin.likelihoods.fitting import Fit
from kolchin.likelihoods.sharing import FieldSets, Patterns, UnrelatedChances


def a_fit(n_fields, n_patterns=3_000, seed=1, family=False):
    """Patterns at random, and sets of which some were counted among all pairs."""
    rng = np.random.default_rng(seed)
    u = tuple(rng.dirichlet(np.arange(1, 5)) for _ in range(n_fields))
    levels = rng.integers(-1, 4, (n_patterns, n_fields)).astype(np.int8)
    shown = levels >= 0
    chance = np.column_stack([u[f][levels[:, f]] for f in range(n_fields)])
    gain = np.where(shown, -np.log(chance), 0.0)
    number = rng.integers(1, 50, n_patterns).astype(float)
    agrees = tuple(np.arange(4) < 2 for _ in range(n_fields))
    together = np.ones((n_fields, n_fields))
    chances = UnrelatedChances(5_000, u, agrees, np.ones(1 << n_fields), together)
    sets = FieldSets(
        {0b11: 3_000.0, 0b110: 40.0, 0b101: 7.0}, {0b11: 4_000.0}, [0b11, 0b1], family=family
    )
    return Fit(Patterns(levels, gain, number), chances, sets)


def slow_shares(fit):
    """Divide pairs among classes, all at once."""
    gain = fit.patterns.log_gain
    log_typed = np.append(np.log(fit.typed), 0.0)[fit.place] + gain
    log_m = np.append(np.log(fit.m), 0.0)[fit.place] + gain
    beside = np.zeros((len(gain), len(fit.sets)))
    shown = fit.place < fit.offsets[-1]
    for s, inside in enumerate(fit.shared):
        ratio = (1 - fit.leak[s]) * np.exp(fit.loose[s][fit.place]) + fit.leak[s] * np.exp(
            log_typed
        )
        beside[:, s] = np.where(inside | ~shown, 0.0, np.log(ratio)).sum(axis=1)
    wrong = shown & (fit.place != fit.offsets[:-1])
    bits = 1 << np.arange(gain.shape[1])
    table = compute_tilts(fit.wrong, fit.tau)
    tilt = [table[(shown & kept) @ bits, (wrong & kept).sum(axis=1)] for kept in ~fit.replaced]
    sharing = log_parts(log_typed, fit.shared, fit.n_shared) + beside
    if fit.family is not None:
        log_family = np.append(np.log(fit.family), 0.0)[fit.place] + gain
        sharing[:, -1] = log_family.sum(axis=1) + np.log(fit.n_shared[-1])
    parts = np.column_stack(
        [
            np.full(len(gain), np.log(fit.chances.n_pairs)),
            sharing,
            log_parts(log_m, ~fit.replaced, fit.n_linked * fit.rho) + np.log(tilt).T,
        ]
    )
    shares = np.exp(parts - parts.max(axis=1, keepdims=True))
    shares *= (fit.patterns.number / shares.sum(axis=1))[:, None]
    first = 1 + len(fit.sets)
    by_set, by_entity = shares[:, 1:first], shares[:, first:]
    n_places = int(fit.offsets[-1])

    def levels(pairs):
        return np.bincount(fit.place.ravel(), pairs.ravel(), n_places + 1)[:n_places]

    counted = np.array([one in fit.known for one in fit.sets])
    sharp = ~counted & (fit.kinds == 0)
    typed = levels(by_set[:, sharp] @ fit.shared[sharp].astype(float))
    totals = by_set.sum(axis=0), by_entity.sum(axis=0), typed, levels(by_entity @ ~fit.replaced)
    return *totals, by_entity.sum(axis=1), by_set[:, ~counted].sum(axis=1)


@pytest.mark.parametrize(("n_fields", "family"), [(3, False), (4, False), (7, False), (4, True)])
def test_shares_are_those_of_the_readable_sum(n_fields, family):
    fit = a_fit(n_fields, family=family)
    for _ in range(3):
        shares = fit._divide_pairs()
        for fast, slow in zip(shares, slow_shares(fit), strict=False):
            np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9)
        assert shares.wrong.sum() == pytest.approx(shares.by_entity.sum())
        assert np.all(shares.leaked[0] <= shares.leaked[1])
        if family:
            n_shown = (fit.place < fit.offsets[-1]).sum(axis=1)
            assert 0 < shares.family.sum() <= shares.by_set[-1] * n_shown.max()
        fit._maximise(shares)


def test_patterns_that_are_not_looked_at_have_no_shares():
    fit = a_fit(4)
    every = fit._divide_pairs()
    fit.rows = np.arange(0, fit.patterns.number.size, 3)
    some = fit._divide_pairs()
    np.testing.assert_array_equal(some.linked[::3], every.linked[::3])
    assert not some.linked[1::3].any()
    others = np.setdiff1d(np.arange(fit.patterns.number.size), fit.rows)
    missed = every.linked[others].sum()
    assert some.by_entity.sum() == pytest.approx(every.by_entity.sum() - missed)


def test_shares_are_the_same_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(shares, "RANGE", 700)
    fit = a_fit(5)
    first, *others = (fit._divide_pairs(threads) for threads in (1, 2, 3))
    for other in others:
        for one, two in zip(first, other, strict=True):
            np.testing.assert_array_equal(one, two)

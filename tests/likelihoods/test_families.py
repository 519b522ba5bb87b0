"""Families of alike records: nearer records are of one entity, and similar texts may be chance."""

import numpy as np
import pytest
from scipy.optimize import minimize

import kolchin as kp
from kolchin.likelihoods.chance import FALL_DOUBT, FEWEST_SIMILAR, learnt_fall
from kolchin.likelihoods.families import farther, first_levels


@pytest.mark.parametrize("seed", range(5))
def test_levels_are_the_most_likely_of_those_that_rise(seed):
    rng = np.random.default_rng(seed)
    counts, m = rng.gamma(1, 10, 5), rng.dirichlet(np.ones(5))
    found = farther(counts, m, np.array([0, 5]))
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
    np.testing.assert_allclose(farther(counts, m, np.array([0, 3])), m)


def test_a_start_has_chances_and_no_text_is_exact():
    u = [np.array([0.0, 0.1, 0.1, 0.1, 0.7]), np.array([0.1, 0.9])]
    levels = first_levels(u, [0])
    assert levels[:5].sum() == pytest.approx(1)
    assert levels[5:].sum() == pytest.approx(1)
    assert levels[0] == 0
    assert np.all(np.diff(levels[1:4]) > 0)


def test_similar_texts_by_chance_are_the_mode_of_what_is_known():
    """The density of the log of the expected number is written out, and looked through."""
    similar, near, n_pairs = np.array([30.0, 2.0, 0.0]), np.array([1e-7, 1e-5, 1e-4, 0.9]), 1e5
    found = learnt_fall(similar, near, n_pairs)
    assert found.sum() == pytest.approx(1)
    x = np.linspace(-25, 8, 200_001)
    for number, expected, rate in zip(similar, near * n_pairs, found * n_pairs, strict=False):
        before = np.log(max(expected, FEWEST_SIMILAR))
        density = number * x - np.exp(x) - ((x - before) / FALL_DOUBT) ** 2 / 2
        assert np.log(rate) == pytest.approx(x[density.argmax()], abs=1e-3)


def products(n_lines=60, seed=3):
    """Lines of three models that share maker and words, each model in two shops."""
    rng = np.random.default_rng(seed)
    words = [f"{a}{b}{c}{d}" for a in "bdgklmprst" for b in "aeiou" for c in "lnrx" for d in "aeo"]
    rows = []
    for line in range(n_lines):
        own, maker = rng.choice(words, 4, replace=False), f"maker {line % 12}"
        price = np.exp(rng.normal(4, 1))
        for model in range(3):
            code = f"{own[0][:2]}{rng.integers(100, 999)}"
            for _ in range(2):
                kept = [word for word in own if rng.random() < 0.8]
                shown = f"{price * rng.uniform(0.9, 1.1):.2f}"
                rows.append((" ".join([*kept, code]), maker, shown, 3 * line + model))
    return {
        name: [row[k] for row in rows] for k, name in enumerate(["name", "maker", "price", "is"])
    }


def test_models_of_a_line_are_not_one_product():
    table = products()
    fields = [kp.Words("name"), kp.Text("maker"), kp.Number("price")]
    result = kp.resolve(
        table, fields=fields, truth="is", chains=2, draws=200, seed=1, progress=False
    )
    found = result.summary()["n_entities"]
    assert found["q05"] <= 180 <= found["q95"] + 2
    assert result.evaluate()["pairs"]["f1"] > 0.9

"""A posterior against truth."""

import json

import numpy as np
import pytest

from kolchin.evaluation import evaluate
from kolchin.posterior.scores import pairwise_draws

TRUTH = ["a", "a", "b", None, "b", "c", "d", "d", "d", None]


def test_rates_of_every_draw(posterior):
    rates = pairwise_draws(posterior, TRUTH)
    for name, values in rates.items():
        for c in range(2):
            for t in range(6):
                expected = evaluate(posterior.partition(c, t), TRUTH).as_dict()[name]
                assert values[c, t] == pytest.approx(expected)


def test_evaluate_has_estimates_and_posterior_means(posterior):
    result = posterior.evaluate(TRUTH)
    assert result["point_estimate"] == evaluate(posterior.point_estimate(), TRUTH).as_dict()
    assert result["paper_rule"] == evaluate(posterior.point_estimate("paper"), TRUTH).as_dict()
    rates = pairwise_draws(posterior, TRUTH)
    for name in ("precision", "recall", "f1", "fnr", "fdr"):
        summary = result["posterior"][name]
        assert summary["mean"] == pytest.approx(rates[name].mean())
        assert summary["sd"] == pytest.approx(rates[name].std(ddof=1))
        assert summary["q05"] == pytest.approx(np.quantile(rates[name], 0.05))
        assert summary["q05"] <= summary["q50"] <= summary["q95"]
    assert json.loads(json.dumps(result)) == result


def test_a_single_draw(posterior_of):
    result = posterior_of([[[0, 0, 1]]]).evaluate([0, 0, 0])
    assert result["posterior"]["precision"] == {
        "mean": 1.0,
        "sd": 0.0,
        "q05": 1.0,
        "q50": 1.0,
        "q95": 1.0,
    }

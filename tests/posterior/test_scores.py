"""A posterior against truth."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

from kolchin.evaluation import evaluate
from kolchin.posterior.scores import (
    evaluate_posterior,
    score_clusters_by_draw,
    score_pairs_by_draw,
    tabulate_calibration,
)

TRUTH = ["a", "a", "b", None, "b", "c", "d", "d", "d", None]


def test_rates_of_every_draw(posterior):
    rates = score_pairs_by_draw(posterior, TRUTH) | score_clusters_by_draw(posterior, TRUTH)
    assert len(rates) == 11
    for name, values in rates.items():
        for c in range(2):
            for t in range(6):
                expected = evaluate(posterior.partition(c, t), TRUTH).as_dict()[name]
                assert values[c, t] == pytest.approx(expected)


def test_evaluate_has_estimates_and_posterior_means(posterior):
    result = posterior.evaluate(TRUTH)
    assert result["point_estimate"] == evaluate(posterior.point_estimate(), TRUTH).as_dict()
    assert result["paper_rule"] == evaluate(posterior.point_estimate("paper"), TRUTH).as_dict()
    rates = score_pairs_by_draw(posterior, TRUTH)
    for name in ("precision", "recall", "f1", "fnr", "fdr"):
        summary = result["posterior"][name]
        assert summary["mean"] == pytest.approx(rates[name].mean())
        assert summary["sd"] == pytest.approx(rates[name].std(ddof=1))
        assert summary["q05"] == pytest.approx(np.quantile(rates[name], 0.05))
        assert summary["q05"] <= summary["q50"] <= summary["q95"]
    assert json.loads(json.dumps(result)) == result


def test_estimates_that_are_known_are_not_made_again(posterior):
    known = posterior.point_estimate(), posterior.point_estimate("paper")
    expected = posterior.evaluate(TRUTH)
    other = replace(posterior)
    assert evaluate_posterior(other, TRUTH, *known) == expected
    assert "distinct" not in vars(other)  # which may be large


def test_a_single_draw(posterior_of):
    result = posterior_of([[[0, 0, 1]]]).evaluate([0, 0, 0])
    assert result["posterior"]["precision"] == {
        "mean": 1.0,
        "sd": 0.0,
        "q05": 1.0,
        "q50": 1.0,
        "q95": 1.0,
    }


def test_calibration_compares_probabilities_with_truth():
    pairs = {"record_a": [0, 0, 1, 4, 6], "record_b": [1, 2, 3, 5, 7]}
    links = pl.DataFrame({**pairs, "probability": [0.9, 0.02, 1.0, 0.4, 1.0]})
    table = tabulate_calibration(links, TRUTH, edges=(0.0, 0.5, 1.0))
    assert table["bin"].to_list() == ["0–0.5", "0.5–1"]
    assert table["n_pairs"].to_list() == [2, 2]
    assert table["share_true"].to_list() == [0.0, 1.0]
    assert table["mean_probability"].to_list() == pytest.approx([0.21, 0.95])
    assert (table["low"] >= 0).all()
    assert (table["high"] <= 1).all()
    # Nothing is certain after two pairs: the interval of none in two reaches beyond a half.
    assert table["high"][0] == pytest.approx(stats.beta(0.5, 2.5).ppf(0.95))


def test_an_empty_bin_has_no_share():
    empty = pl.DataFrame(schema={"record_a": pl.Int64, "record_b": pl.Int64, "probability": float})
    table = tabulate_calibration(empty, TRUTH, edges=(0.0, 1.0))
    assert table.row(0) == ("0–1", 0, None, None, None, None)

"""A posterior against known entities."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from kolchin.evaluation import compute_pairwise_rates, encode, evaluate, write_as_numbers

if TYPE_CHECKING:
    from kolchin.posterior.draws import Posterior


CALIBRATION_BINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
CALIBRATION_COLUMNS = {
    "bin": pl.String,
    "n_pairs": pl.Int64,
    "mean_probability": pl.Float64,
    "share_true": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
}


def evaluate_posterior(
    posterior: "Posterior",
    truth: ArrayLike | Sequence[Any],
    labels: ArrayLike | None = None,
    linked: ArrayLike | None = None,
) -> dict[str, Any]:
    """Return the measures of both point estimates, and the posterior of the rates.

    The keys are ``point_estimate`` (``labels``, or least expected variation of information),
    ``paper_rule`` (``linked``, or what the rule gives) and ``posterior``, which has mean, sd, q05,
    q50 and q95 over the draws for each pairwise, B-cubed and cluster rate.
    """
    truth = write_as_numbers(truth)
    estimate = evaluate(posterior.point_estimate("vi") if labels is None else labels, truth)
    paper = evaluate(posterior.point_estimate("paper") if linked is None else linked, truth)
    rates = score_pairs_by_draw(posterior, truth) | score_clusters_by_draw(posterior, truth)
    return {
        "point_estimate": estimate.as_dict(),
        "paper_rule": paper.as_dict(),
        "posterior": {name: summarise_spread(values) for name, values in rates.items()},
    }


def score_pairs_by_draw(
    posterior: "Posterior", truth: ArrayLike | Sequence[Any]
) -> dict[str, NDArray[np.float64]]:
    """Return precision, recall, f1, fnr and fdr of every draw, each (chain, draw)."""
    true_sizes, (linked, correct, *_) = _collect_changes(posterior, truth)
    n_true = int(true_sizes @ (true_sizes - 1)) // 2
    precision, recall, f1 = compute_pairwise_rates(linked, n_true, correct)
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "fnr": 1 - recall,
        "fdr": 1 - precision,
    }


def score_clusters_by_draw(
    posterior: "Posterior", truth: ArrayLike | Sequence[Any]
) -> dict[str, NDArray[np.float64]]:
    """Return B-cubed and cluster rates of every draw, each (chain, draw)."""
    true_sizes, (_, _, clusters, exact, precise, recalled) = _collect_changes(posterior, truth)
    n_known, n_true = int(true_sizes.sum()), int(np.count_nonzero(true_sizes))
    n_clusters = n_known + clusters
    n_exact = int(np.sum(true_sizes == 1)) + exact
    precision, recall = (n_known + precise) / n_known, (n_true + recalled) / n_known
    return {
        "bcubed_precision": precision,
        "bcubed_recall": recall,
        "bcubed_f1": 2 * precision * recall / (precision + recall),
        "cluster_precision": n_exact / n_clusters,
        "cluster_recall": n_exact / n_true,
        "cluster_f1": 2 * n_exact / (n_clusters + n_true),
    }


def _collect_changes(
    posterior: "Posterior", truth: ArrayLike | Sequence[Any]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the sizes of the true entities, and what drawn clusters change: (what, chain, draw).

    All begins with every record alone; see ``kernels.score_sets``. Clusters are looked at as they
    are drawn, one after the other, so that nothing is held of them.
    """
    from kolchin.posterior.summary_kernels.truth_scores import score_sets

    codes = encode(truth)
    true_sizes = np.bincount(codes[codes >= 0])
    changes = [
        score_sets(*chain[:4], codes, true_sizes, chain.n_draws) for chain in posterior.chains
    ]
    return true_sizes, np.stack(changes, axis=1)


def tabulate_calibration(
    links: pl.DataFrame, truth: ArrayLike | Sequence[Any], edges: Sequence[float] = CALIBRATION_BINS
) -> pl.DataFrame:
    """Compare the probabilities of pairs (record_a, record_b by number) with their truth.

    Return bin, n_pairs, mean_probability, share_true, and low and high: the 90% interval of the
    share (Jeffreys). Pairs of which a record's truth is unknown are left out.
    """
    from scipy.special import betaincinv

    codes = encode(truth)
    first, second = codes[links["record_a"].to_numpy()], codes[links["record_b"].to_numpy()]
    known = (first >= 0) & (second >= 0)
    probability, same = links["probability"].to_numpy()[known], (first == second)[known]
    place = np.clip(np.searchsorted(edges, probability, side="right") - 1, 0, len(edges) - 2)
    rows = []
    for k in range(len(edges) - 1):
        inside = place == k
        n, true = int(inside.sum()), int(same[inside].sum())
        rows.append(
            {
                "bin": f"{edges[k]:g}–{edges[k + 1]:g}",
                "n_pairs": n,
                "mean_probability": float(probability[inside].mean()) if n else None,
                "share_true": true / n if n else None,
                "low": float(betaincinv(true + 0.5, n - true + 0.5, 0.05)) if n else None,
                "high": float(betaincinv(true + 0.5, n - true + 0.5, 0.95)) if n else None,
            }
        )
    return pl.DataFrame(rows, schema=CALIBRATION_COLUMNS)


def summarise_spread(values: NDArray[np.float64]) -> dict[str, float]:
    """Return mean, sd, q05, q50 and q95 of a quantity over all draws."""
    q05, q50, q95 = np.quantile(values, [0.05, 0.5, 0.95])
    return {
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)) if values.size > 1 else 0.0,
        "q05": float(q05),
        "q50": float(q50),
        "q95": float(q95),
    }

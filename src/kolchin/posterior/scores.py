"""A posterior against known entities."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kolchin.evaluation import encode, evaluate, pairwise_rates

if TYPE_CHECKING:
    from kolchin.posterior.draws import Posterior


def evaluate_posterior(posterior: "Posterior", truth: ArrayLike | Sequence[Any]) -> dict[str, Any]:
    """Return the measures of both point estimates, and the pairwise ones' posterior.

    The keys are ``point_estimate`` (least expected variation of information), ``paper_rule`` and
    ``posterior``, which has mean, sd, q05, q50 and q95 over the draws for each pairwise measure.
    """
    estimate = evaluate(posterior.point_estimate("vi"), truth)
    paper = evaluate(posterior.point_estimate("paper"), truth)
    rates = pairwise_draws(posterior, truth)
    return {
        "point_estimate": estimate.as_dict(),
        "paper_rule": paper.as_dict(),
        "posterior": {name: _summary(values) for name, values in rates.items()},
    }


def pairwise_draws(
    posterior: "Posterior", truth: ArrayLike | Sequence[Any]
) -> dict[str, NDArray[np.float64]]:
    """Return precision, recall, f1, fnr and fdr of every draw, each (chain, draw)."""
    from kolchin.posterior.kernels import pairs_in_sets

    codes = encode(truth)
    sizes = np.bincount(codes[codes >= 0])
    drawn = posterior.distinct
    linked, correct = pairs_in_sets(drawn.members, drawn.offsets, codes, sizes.size)
    precision, recall, f1 = pairwise_rates(
        _sums(posterior, linked), int(sizes @ (sizes - 1)) // 2, _sums(posterior, correct)
    )
    return {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "fnr": 1 - recall,
        "fdr": 1 - precision,
    }


def _sums(posterior: "Posterior", values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add up a value of distinct clusters over the clusters of each draw."""
    rows = []
    for chain, ids in zip(posterior.chains, posterior.distinct.ids, strict=True):
        reached = np.concatenate(([0], np.cumsum(values[ids])))
        rows.append(np.diff(reached[chain.cluster_offsets]))
    return np.array(rows)


def _summary(values: NDArray[np.float64]) -> dict[str, float]:
    q05, q50, q95 = np.quantile(values, [0.05, 0.5, 0.95])
    return {
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)) if values.size > 1 else 0.0,
        "q05": float(q05),
        "q50": float(q50),
        "q95": float(q95),
    }

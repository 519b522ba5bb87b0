"""What was compared, and which fields move together: parts of summary.json."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison import Comparisons
from kolchin.likelihoods import Exemplar
from kolchin.model import Model
from kolchin.posterior import Posterior


def summarise_candidates(model: Model) -> dict[str, Any] | None:
    """Return how many pairs were compared, by which keys, and what these may have missed."""
    if model.comparisons is None:
        return None
    report = model.comparisons.report
    return {
        "n_pairs": report.n_pairs,
        "pairs_a_record": round(report.pairs_a_record, 2),
        "n_likely": report.n_likely,
        "missed": report.missed,
        "keys": report.table().to_dicts(),
    }


def count_compared_links(comparisons: Comparisons, truth: NDArray[np.int64]) -> int:
    """Count the pairs of one true entity that were compared; -1 is an entity that is not known."""
    return sum(
        int(np.count_nonzero((truth[first] == truth[second]) & (truth[first] >= 0)))
        for first, second in (part.pairs.T for part in comparisons.parts)
    )


def summarise_dependence(model: Model, posterior: Posterior) -> dict[str, Any]:
    """Return which fields unrelated records share, and which change at once in an entity's."""
    compared = model.likelihood
    if not isinstance(compared, Exemplar) or compared.dependence is None:
        return {"shared": [], "replaced": []}
    found = compared.dependence
    drawn = posterior.parameters.get("rho", np.ones((1, 1, 1)))
    shares = drawn.reshape(-1, drawn.shape[-1]).mean(axis=0)
    n_shared = found.n_shared.copy()
    if compared.has_doubts:
        sampled = posterior.parameters["shared"]
        n_shared[found.sampled] = sampled.reshape(-1, sampled.shape[-1]).mean(axis=0)
    return {
        "shared": [
            {"fields": compared.list_names(fields), "pairs": round(float(pairs))}
            for fields, pairs in zip(found.shared, n_shared, strict=True)
            if pairs >= 0.5
        ],
        "replaced": [
            {"fields": compared.list_names(fields), "share": float(share)}
            for fields, share in zip(found.replaced[1:], shares[1:], strict=True)
        ],
    }

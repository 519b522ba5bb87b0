"""The prior as the kernels see it: tables of weights."""

import numpy as np

from kolchin import kernels
from kolchin.model import Model
from kolchin.parameters import FloatArray
from kolchin.priors.base import SizeCounts, Tables

LARGEST_ENUMERATED = kernels.LARGEST_ENUMERATED
"""Up to this many records in two clusters, all ways to divide them are weighed at once."""

LARGEST_LOG = 600.0
"""Products of factors whose logs add up to less cannot leave the range of doubles."""

LARGEST_BESIDE = LARGEST_LOG - float(np.log(kernels.LARGEST_FACTOR))
"""What is left of it beside the evidence of compared fields, which the kernel looks after."""


def build_kernel_weights(
    model: Model, tables: Tables, evidence: kernels.Evidence
) -> kernels.Weights:
    """Put the prior's tables into the form that the kernels read."""
    log_h, opening, shapes = tables
    log_size = np.append(0.0, log_h - log_h[0])
    small = log_size[: kernels.LARGEST_ENUMERATED + 1]
    safe_pairs, safe_products = _find_safe_ranges(model, log_size, evidence)
    return kernels.Weights(
        log_size,
        np.exp(np.minimum(small, 700.0)),
        kernels.Opening(
            float(opening.log_scale),
            float(opening.slope),
            float(opening.intercept),
            float(opening.alpha),
        ),
        opening.log_table,
        np.append(0.0, shapes) if shapes.size else shapes,
        LARGEST_ENUMERATED,
        safe_pairs=safe_pairs,
        safe_products=safe_products,
    )


def _find_safe_ranges(
    model: Model, log_size: FloatArray, evidence: kernels.Evidence
) -> tuple[bool, bool]:
    """Tell whether products of the evidence of pairs, and of more records, stay in range."""
    reach = model.likelihood.log_reach(evidence)
    largest = LARGEST_BESIDE if evidence.uncompared.size else LARGEST_LOG
    safe_products = (kernels.LARGEST_ENUMERATED - 1) * reach <= largest
    for ratio in (evidence.ratio, evidence.uncompared):
        if ratio.size:
            reach += max(np.log(ratio.max()), -np.log(max(ratio.min(), 1e-300)), 0.0)
    safe_pairs = reach <= LARGEST_LOG and np.abs(log_size[2]) <= LARGEST_LOG
    return bool(safe_pairs), bool(safe_pairs and safe_products)


def can_be_sharded(model: Model) -> bool:
    """Tell whether a variable t can make the clusters independent (model section 5)."""
    prior, n_records = model.prior, model.n_records
    counts = SizeCounts.of(np.array([0, n_records]))
    opening = prior.weigh_opening(n_records, prior.start(np.random.default_rng(0), counts))
    return opening.log_table.size == 0

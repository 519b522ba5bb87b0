"""Whom units may be linked with: each picks one other, and only what was picked is looked at.

A record picks one of its list, in proportion to how likely a link the two are, and now and then
any record at all. All candidates are listed: pairs that are hopeless one by one are so many that
some are always linked, and if these were picked at random alone, they would never part.
"""

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.parameters import FloatArray

UNIFORM = 0.02
"""How often a record picks any other."""

LARGEST_LOG_ODDS = 250.0
"""Prior odds beyond this say no more: weights stay in the range of doubles."""


def list_link_proposals(n_records: int, pairs: NDArray[np.int32]) -> kernels.LinkProposals:
    """List pairs of records, each for both; all weigh the same."""
    record = np.concatenate([pairs[:, 0], pairs[:, 1]])
    other = np.concatenate([pairs[:, 1], pairs[:, 0]])
    neighbours = other[np.lexsort([other, record])].astype(np.int32)
    numbers = np.bincount(record, minlength=n_records)
    starts = np.concatenate([[0], np.cumsum(numbers)])
    reach = np.arange(1.0, neighbours.size + 1) - np.repeat(starts[:-1], numbers)
    return kernels.LinkProposals(starts, neighbours, reach, UNIFORM)


def weigh_proposals(
    proposals: kernels.LinkProposals, data: kernels.Data, delta: FloatArray, log_prior_odds: float
) -> kernels.LinkProposals:
    """Weigh each pair by the chance that it is a link."""
    reach = np.empty(proposals.neighbours.size)
    odds = float(np.exp(np.clip(log_prior_odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)))
    kernels.weigh_proposals(proposals, data, delta, odds, reach)
    return proposals._replace(reach=reach)

"""Whom records may be linked with: each picks one other, and only what was picked is looked at.

A record picks one of its list, in proportion to how likely a link the two are, and now and then
any record at all. All candidates are listed: pairs that are hopeless one by one are so many that
some are always linked, and if these were picked at random alone, they would never part.
"""

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.comparison.pairs_by_record import list_numbered_pairs
from kolchin.parameters import FloatArray

UNIFORM = 0.02
"""How often a record picks any other."""

LARGEST_LOG_ODDS = 250.0
"""Prior odds beyond this say no more: weights stay in the range of doubles."""


def list_link_proposals(n_records: int, pairs: NDArray[np.int32]) -> kernels.LinkProposals:
    """List each candidate pair for both of its records; all weigh the same at first."""
    starts, neighbours, _ = list_numbered_pairs(pairs, n_records)
    reach = np.arange(1.0, neighbours.size + 1) - np.repeat(starts[:-1], np.diff(starts))
    return kernels.LinkProposals(starts, neighbours, reach, UNIFORM)


def weigh_proposals(
    proposals: kernels.LinkProposals, data: kernels.Data, delta: FloatArray, log_prior_odds: float
) -> kernels.LinkProposals:
    """Weigh each pair by the chance that it is a link."""
    reach = np.empty(proposals.neighbours.size)
    odds = float(np.exp(np.clip(log_prior_odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)))
    kernels.weigh_proposals(proposals, data, delta, odds, reach)
    return proposals._replace(reach=reach)

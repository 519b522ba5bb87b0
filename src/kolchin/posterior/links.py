"""How probable each pair is, and each cluster exactly as shown."""

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from kolchin.errors import DataError
from kolchin.partitions import Labels, make_canonical

if TYPE_CHECKING:
    from kolchin.posterior.draws import Posterior


PAIRS_BUDGET, PAIRS_A_RECORD = 200_000_000, 50
"""Pairs that may be looked at, as a sum of squared sizes; beyond, large clusters are left out."""


def tabulate_links(posterior: "Posterior", min_probability: float = 0.01) -> pl.DataFrame:
    """Return the pairs with at least this probability, ordered by record_a and record_b.

    Only pairs that met in some draw can be listed; 0 lists them all. Where clusters are so large
    that their pairs are hundreds of millions, the largest are left out (``find_largest_listed``).
    """
    if not 0 <= min_probability <= 1:
        raise DataError(
            f"The 'min_probability' parameter must be from 0 to 1. Got {min_probability} instead."
        )
    n_draws = len(posterior)
    # Rounding in the product must not shut out a pair that lies exactly on the bound.
    least = max(1, math.ceil(min_probability * n_draws * (1 - 1e-12)))
    pairs, times = count_linked_pairs(posterior, least, find_largest_listed(posterior))
    return pl.DataFrame(
        {
            "record_a": pairs[:, 0].astype(np.int64),
            "record_b": pairs[:, 1].astype(np.int64),
            "probability": times / max(n_draws, 1),
        }
    )


def find_largest_listed(posterior: "Posterior") -> int | None:
    """Return the size of the largest clusters whose pairs are listed; None for all."""
    sizes = np.sort(posterior.distinct.sizes)
    reached = np.cumsum(sizes**2)
    budget = max(PAIRS_BUDGET, PAIRS_A_RECORD * posterior.n_records)
    within = np.searchsorted(reached, budget, side="right")
    return None if within == sizes.size else int(sizes[within]) - 1


def count_linked_pairs(
    posterior: "Posterior", least: int, largest: int | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the pairs linked in ``least`` or more draws, and in how many.

    With ``largest``, only clusters of at most so many records are looked at.
    """
    from kolchin.posterior.summary_kernels.pair_counts import count_pairs
    from kolchin.posterior.summary_kernels.sorted_sets import transpose

    drawn = posterior.distinct
    members, offsets, counts = drawn.members, drawn.offsets, drawn.counts
    sets, starts = drawn.sets, drawn.starts
    if largest is not None:
        small = drawn.sizes <= largest
        members, counts = members[np.repeat(small, drawn.sizes)], counts[small]
        offsets = np.concatenate(([0], np.cumsum(drawn.sizes[small])))
        sets, starts = transpose(members, offsets, posterior.n_records)
    pairs, times = count_pairs(members, offsets, counts, sets, starts, least)
    return pairs, times


def measure_confidence(posterior: "Posterior", labels: ArrayLike) -> NDArray[np.float64]:
    """Return, for each record, the share of draws in which its cluster is exactly the one given."""
    from kolchin.posterior.summary_kernels.pair_counts import count_exact

    given = check_labels(posterior, labels)
    drawn = posterior.distinct
    sizes = np.bincount(given)
    together, accompanied = count_exact(drawn.members, drawn.offsets, drawn.counts, given, sizes)
    times = np.where(sizes[given] == 1, len(posterior) - accompanied, together[given])
    share: NDArray[np.float64] = times / max(len(posterior), 1)
    return share


def check_labels(posterior: "Posterior", labels: ArrayLike) -> Labels:
    """Return canonical labels, one a record."""
    given = make_canonical(labels)
    if given.size != posterior.n_records:
        raise DataError(
            f"labels must have one entry for each of the {posterior.n_records} records. "
            f"Got {given.size} entries instead."
        )
    return given

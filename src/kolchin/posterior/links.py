"""How probable each pair is, and each cluster exactly as shown."""

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from kolchin.errors import DataError
from kolchin.partitions import Labels, canonical

if TYPE_CHECKING:
    from kolchin.posterior.draws import Posterior


def links(posterior: "Posterior", min_probability: float = 0.01) -> pl.DataFrame:
    """Return the pairs with at least this probability, ordered by record_a and record_b.

    Only pairs that met in some draw can be listed; 0 lists them all.
    """
    if not 0 <= min_probability <= 1:
        raise DataError(
            f"The 'min_probability' parameter must be from 0 to 1. Got {min_probability} instead."
        )
    n_draws = len(posterior)
    # Rounding in the product must not shut out a pair that lies exactly on the bound.
    least = max(1, math.ceil(min_probability * n_draws * (1 - 1e-12)))
    pairs, times = linked_pairs(posterior, least)
    return pl.DataFrame(
        {
            "record_a": pairs[:, 0].astype(np.int64),
            "record_b": pairs[:, 1].astype(np.int64),
            "probability": times / max(n_draws, 1),
        }
    )


def linked_pairs(posterior: "Posterior", least: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the pairs linked in ``least`` or more draws, and in how many."""
    from kolchin.posterior.kernels import count_pairs

    drawn = posterior.distinct
    pairs, times = count_pairs(
        drawn.members, drawn.offsets, drawn.counts, drawn.sets, drawn.starts, least
    )
    return pairs, times


def confidence(posterior: "Posterior", labels: ArrayLike) -> NDArray[np.float64]:
    """Return, for each record, the share of draws in which its cluster is exactly the one given."""
    from kolchin.posterior.kernels import exact_counts

    given = checked_labels(posterior, labels)
    drawn = posterior.distinct
    sizes = np.bincount(given)
    together, accompanied = exact_counts(drawn.members, drawn.offsets, drawn.counts, given, sizes)
    times = np.where(sizes[given] == 1, len(posterior) - accompanied, together[given])
    share: NDArray[np.float64] = times / max(len(posterior), 1)
    return share


def checked_labels(posterior: "Posterior", labels: ArrayLike) -> Labels:
    """Return canonical labels, one a record."""
    given = canonical(labels)
    if given.size != posterior.n_records:
        raise DataError(
            f"labels must have one entry for each of the {posterior.n_records} records. "
            f"Got {given.size} entries instead."
        )
    return given

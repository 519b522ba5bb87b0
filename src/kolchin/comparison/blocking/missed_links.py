"""How many true links the keys may miss, told from how often they find the same ones."""

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.kinds.base import Floats, Levels, make_falling_weights
from kolchin.comparison.pair_kernels.bands import add_evidence
from kolchin.threads import call_over_ranges


def guess_m(n_levels: int) -> Floats:
    """Return the chances of levels between records of one entity, before any data is seen.

    >>> guess_m(3).round(3).tolist()
    [0.842, 0.105, 0.053]
    """
    weights = make_falling_weights(n_levels)
    result: Floats = weights / weights.sum()
    return result


def find_likely_links(
    levels: Levels,
    bands: Levels,
    u: tuple[Floats, ...],
    band_u: tuple[Floats, ...],
    band_m: tuple[Floats, ...],
    n_records: int,
) -> NDArray[np.bool_]:
    """Tell the pairs whose evidence outweighs the odds of one to N that a pair starts with."""
    by_field = []
    for f, chances in enumerate(u):
        m = guess_m(chances.size)
        agreement = np.log2(np.maximum(band_m[f], 1e-300) / np.maximum(band_u[f], 1e-300))
        by_field.append((np.log2(m / chances), np.log2(m[0]) + agreement))

    def likely(first: int, last: int) -> NDArray[np.bool_]:
        bits = np.zeros(last - first)
        for f, of_field in enumerate(by_field):
            add_evidence(levels[first:last, f], bands[first:last, f], *of_field, bits)
        result: NDArray[np.bool_] = bits > np.log2(n_records)
        return result

    return np.concatenate([np.empty(0, dtype=bool), *call_over_ranges(likely, len(levels))])


def estimate_missed_share(n_links: int, once: int, twice: int, n_keys: int) -> float:
    """Estimate the share of links that no key finds, from how many keys find each likely one.

    Chao's estimate for captures: with f1 links found by one key alone and f2 by exactly two, about
    f1 (f1 - 1) / (2 (f2 + 1)) escape. Keys that share fields find the same links more
    often than independent ones would, and links differ in how hard they are to find: it is a
    lower bound rather than the truth.

    >>> estimate_missed_share(4, once=2, twice=1, n_keys=4)
    0.085...
    """
    if n_keys < 2 or not n_links:
        return 0.0
    missed = (n_keys - 1) / n_keys * max(once * (once - 1), 0) / (2 * (twice + 1))
    return float(missed / (missed + n_links))

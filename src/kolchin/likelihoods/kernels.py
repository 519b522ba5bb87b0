"""Compiled code of the likelihoods room: arrays in, arrays out, nothing else."""

from typing import Any

import numpy as np
from numba import njit

compiled = njit(cache=True, nogil=True)

NEGLIGIBLE = 45.0
"""Parts that are so much smaller than the largest, by their logs, vanish in rounding."""


@compiled
def _sums(of_field: Any, first: int, last: int, out: Any) -> None:
    """Write the sum over each set of some fields, by the bits of its number."""
    out[0] = 0.0
    for f in range(first, last):
        size = 1 << (f - first)
        for one in range(size):
            out[size + one] = out[one] + of_field[f]


@compiled
def share_out(
    place: Any,
    gain: Any,
    number: Any,
    log_levels: Any,
    log_rest: float,
    sets: Any,
    log_sets: Any,
    n_shared: int,
    counts: Any,
    first: int,
    last: int,
    totals: Any,
    found: Any,
) -> None:
    """Divide the pairs of patterns ``first`` to ``last`` among classes, and add up what they show.

    Of the sets of fields (by bits), the first ``n_shared`` take their chances from
    ``log_levels[0]``, the others from ``log_levels[1]``; pairs of neither are the rest.
    ``totals`` has the pairs by set, ``found`` the levels in their fields, for sets that ``counts``.
    """
    n_fields = place.shape[1]
    half = n_fields // 2
    low_bits = (1 << half) - 1
    low = np.empty((2, 1 << half))
    high = np.empty((2, 1 << (n_fields - half)))
    of_field = np.empty(n_fields)
    weight = np.empty((2, n_fields))
    parts = np.empty(sets.size)
    for p in range(first, last):
        for kind in range(2):
            for f in range(n_fields):
                of_field[f] = log_levels[kind, place[p, f]] + gain[p, f]
            _sums(of_field, 0, half, low[kind])
            _sums(of_field, half, n_fields, high[kind])
        top = log_rest
        for k in range(sets.size):
            kind = 0 if k < n_shared else 1
            parts[k] = log_sets[k] + low[kind, sets[k] & low_bits] + high[kind, sets[k] >> half]
            top = max(top, parts[k])
        whole = np.exp(log_rest - top)
        for k in range(sets.size):
            parts[k] = np.exp(parts[k] - top) if parts[k] > top - NEGLIGIBLE else 0.0
            whole += parts[k]
        weight[:] = 0.0
        for k in range(sets.size):
            if parts[k] > 0.0:
                pairs = parts[k] * number[p] / whole
                totals[k] += pairs
                if counts[k]:
                    for f in range(n_fields):
                        if sets[k] >> f & 1:
                            weight[0 if k < n_shared else 1, f] += pairs
        for f in range(n_fields):
            found[0, place[p, f]] += weight[0, f]
            found[1, place[p, f]] += weight[1, f]

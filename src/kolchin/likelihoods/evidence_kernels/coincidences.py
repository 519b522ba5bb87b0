"""What patterns of pairs say of chance: how many agree exactly, and what each level is worth."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled


@compiled
def count_agreeing(levels: Any, band: Any, number: Any, n_bands: int) -> Any:
    """Add up pairs by field and band of exact agreement; in a last column, all that show the field.

    ``number`` is how many pairs each pattern has; a level below 0 is of a missing value.
    """
    n_fields = levels.shape[1]
    counts = np.zeros((n_fields, n_bands + 1))
    for p in range(levels.shape[0]):
        if number[p] == 0.0:
            continue
        for f in range(n_fields):
            if levels[p, f] >= 0:
                counts[f, n_bands] += number[p]
                if levels[p, f] == 0:
                    counts[f, band[p, f]] += number[p]
    return counts


@compiled
def write_gains(levels: Any, band: Any, rows: Any, gains: Any, out: Any) -> None:
    """Write what each level of some patterns is worth, ``gains[field, level, band]``, or 0."""
    for row in rows:
        for f in range(levels.shape[1]):
            level = levels[row, f]
            out[row, f] = gains[f, level, band[row, f]] if level >= 0 else 0.0

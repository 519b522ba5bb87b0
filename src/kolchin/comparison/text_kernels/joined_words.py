"""Neighbouring words that are one word, written apart."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled


@compiled
def choose_joined(lengths: Any) -> Any:
    """Tell which places begin a word, where ``lengths[k]`` neighbours from k on may be one.

    Where they overlap the first has it; the length of others becomes 1.
    """
    kept = np.ones(lengths.size, dtype=np.bool_)
    free = 0
    for k in range(lengths.size):
        if k < free:
            kept[k] = False
            lengths[k] = 1
        elif lengths[k] > 1:
            free = k + lengths[k]
    return kept

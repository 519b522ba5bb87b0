"""The least hashes of texts' q-grams: similar texts have some of them in common."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled
from kolchin.kernels.hashing import GOLDEN, STIRRING


@compiled
def write_least_hashes(
    letters: Any, starts: Any, q: int, seeds: Any, begin: int, end: int, out: Any
) -> None:
    """Write the least hash of each text's q-grams under each seed (MinHash).

    Of texts ``begin`` to ``end``. A text shorter than q is one gram. Empty texts keep the
    largest value.
    """
    for k in range(begin, end):
        first, last = starts[k], starts[k + 1]
        for i in range(first, max(last - q + 1, min(first + 1, last))):
            gram = np.uint64(14695981039346656037)
            for j in range(i, min(i + q, last)):
                gram = (gram ^ np.uint64(letters[j])) * np.uint64(1099511628211)
            for h in range(seeds.size):
                mixed = (gram ^ seeds[h]) * GOLDEN
                mixed = (mixed ^ (mixed >> np.uint64(29))) * STIRRING
                value = np.uint32(mixed >> np.uint64(32))
                out[k, h] = min(out[k, h], value)


@compiled
def lower_hashes(of_form: Any, codes: Any, first: int, last: int, out: Any) -> None:
    """Lower the hashes of records ``first`` to ``last`` to those of their forms."""
    for n in range(first, last):
        if codes[n] >= 0:
            for h in range(out.shape[1]):
                out[n, h] = min(out[n, h], of_form[codes[n], h])

"""Values that agree across two columns."""

from typing import Any

from kolchin.kernels.compiling import compiled

CROSSED = 3


@compiled
def find_crossed(
    pairs: Any, first: Any, second: Any, levels: Any, other_levels: Any, near: int, out: Any
) -> None:
    """Say which values agree across two columns: 1 first with second, 2 second with first, 3 both.

    Nothing is said of pairs with a value that is missing or near in its own column.
    """
    for k in range(len(pairs)):
        if levels[k] > near and other_levels[k] > near:
            i, j = pairs[k, 0], pairs[k, 1]
            out[k] = (first[i] == second[j]) + 2 * (second[i] == first[j])

"""Families: unrelated records that are alike, as products of one maker or hotels of one chain are.

Their pairs are neither chance nor of one entity. They have chances of levels of their own in every
field; how many there are is sampled, as it is for shared sets (`unlinked`). What tells a family
from an entity is that records of one entity are nearer: a level's chance in a family, over that in
an entity, rises from exact to different.
"""

from collections.abc import Sequence

import numpy as np

from kolchin.parameters import FloatArray, IntArray

RISE = 2.0
"""At the start, each level of a text is so many times more frequent than the one that is nearer."""


def first_levels(u: Sequence[FloatArray], texts: Sequence[int]) -> FloatArray:
    """Return chances of levels in a family before it is fitted, all fields after each other.

    Half of the pairs of alike records agree on other fields, a quarter have texts a little alike.

    >>> u = [np.array([0.0, 0.1, 0.1, 0.8]), np.array([0.1, 0.9])]
    >>> first_levels(u, texts=[0]).round(3).tolist()
    [0.0, 0.133, 0.217, 0.65, 0.55, 0.45]
    """
    result = []
    for f, by_chance in enumerate(u):
        alike = np.zeros(by_chance.size)
        if f in texts:
            near = RISE ** np.arange(by_chance.size - 2)
            alike[1:-1] = near / near.sum() / 2
            alike[-1] = 0.5
        else:
            alike[0] = 1.0
        result.append((alike + by_chance) / 2)
    return np.concatenate(result)


def farther(counts: FloatArray, m: FloatArray, offsets: IntArray) -> FloatArray:
    """Return the chances of levels that are most likely, given counts, of those that rise over m.

    >>> m, offsets = np.array([0.5, 0.3, 0.2]), np.array([0, 3])
    >>> farther(np.array([10.0, 2.0, 8.0]), m, offsets).round(3).tolist()
    [0.375, 0.225, 0.4]
    """
    result = np.empty(counts.size)
    for a, b in zip(offsets[:-1], offsets[1:], strict=True):
        base = np.maximum(m[a:b], 1e-12)
        chances = base * _rising(counts[a:b] / base, base)
        result[a:b] = chances / chances.sum()
    return result


def _rising(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the nearest values that never fall: neighbours that do are pooled."""
    pools: list[tuple[float, float, int]] = []
    for pool in zip(values.tolist(), weights.tolist(), [1] * values.size, strict=True):
        pools.append(pool)
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (v, w, n), (one, more, count) = pools.pop(), pools.pop()
            pools.append(((v * w + one * more) / (w + more), w + more, n + count))
    return np.repeat([v for v, _, _ in pools], [n for _, _, n in pools])

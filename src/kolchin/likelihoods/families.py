"""Families: unrelated records that are alike, as products of one maker or hotels of one chain are.

Their pairs are neither chance nor of one entity. They have chances of levels of their own in every
field; how many there are is sampled, as it is for shared sets (`unrelated_pairs`). What tells a
family from an entity is that records of one entity are nearer: a level's chance in a family, over
that in an entity, rises from exact to different.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kolchin.comparison import Comparisons
from kolchin.comparison.kinds.long_texts import HOW_THEY_DIFFER
from kolchin.parameters import FloatArray, IntArray

FEWEST_UNRELATED, FAMILY_TURNS = 20.0, 40

WAYS = len(HOW_THEY_DIFFER)

RISE = 2.0
"""At the start, each level of a text is so many times more frequent than the one that is nearer."""


class Family(NamedTuple):
    """Chances of levels between alike records, and how many pairs of them there are."""

    levels: FloatArray
    n_pairs: float


def learn_family(comparisons: Comparisons, texts: Sequence[int]) -> Family | None:
    """Learn alike records from pairs that are never of one entity, as those of a source may be.

    They show what alike records have in common without any links among them. Returns what is then
    expected of the pairs that may be of one entity; none where there are no such pairs.
    """
    levels, counts = comparisons.within.levels, comparisons.within.counts.astype(float)
    if not texts or counts.sum() < FEWEST_UNRELATED:
        return None
    n, u = len(comparisons.shows), comparisons.u
    whole, share = n * (n - 1) / 2, comparisons.possible.share(np.ones(n, dtype=np.bool_))
    offsets = np.concatenate([[0], np.cumsum([one.size for one in u])])
    place = np.where(levels >= 0, levels + offsets[:-1], offsets[-1])
    log_chance = _log_chance(np.concatenate(u), place) + np.log((1 - share) * whole)
    family = Family(guess_family_levels(u, texts), counts.sum() / 2)
    weights = family.levels * FEWEST_UNRELATED
    for _ in range(FAMILY_TURNS):
        odds = _log_chance(family.levels, place) + np.log(max(family.n_pairs, 1e-9)) - log_chance
        alike = counts / (1 + np.exp(-np.clip(odds, -500, 500)))
        seen = np.zeros(int(offsets[-1]) + 1)
        np.add.at(seen, place, alike[:, None])
        total = seen[:-1] + weights
        sums = np.add.reduceat(total, offsets[:-1])
        family = Family(total / np.repeat(sums, np.diff(offsets)), float(alike.sum()))
    return family._replace(n_pairs=family.n_pairs * share / (1 - share))


def pool_by_similarity(counts: FloatArray) -> FloatArray:
    """Return numbers of links by level of a text, nowhere more than where texts are more alike.

    What names a thing is mostly alike in two records of it. The level 'different', which is last,
    stays as it is.

    >>> pool_by_similarity(np.array([4.0, 1.0, 1.0, 9.0, 0.0, 0.0, 5.0])).tolist()
    [5.0, 1.25, 1.25, 7.5, 0.0, 0.0, 5.0]
    """
    steps = count_steps_from_exact(counts.size + 1, is_text=True)[1:-1] - 1
    by_step = np.bincount(steps, counts[:-1]).astype(float)
    falling = -_fit_rising(-by_step, np.ones(by_step.size))
    scale = falling / np.maximum(by_step, 1e-300)
    return np.append(counts[:-1] * scale[steps], counts[-1])


def _log_chance(levels: FloatArray, place: IntArray) -> FloatArray:
    """Return the log chance of patterns of independent fields; the last place is of gaps."""
    result: FloatArray = np.append(np.log(np.maximum(levels, 1e-300)), 0.0)[place].sum(axis=1)
    return result


def count_steps_from_exact(n_levels: int, is_text: bool) -> IntArray:
    """Return how far from exact each level is, in steps; those of one similarity are as far.

    >>> count_steps_from_exact(8, is_text=True).tolist()
    [0, 1, 1, 1, 2, 2, 2, 3]
    >>> count_steps_from_exact(4, is_text=False).tolist()
    [0, 1, 2, 3]
    """
    levels = np.arange(n_levels)
    if not is_text or n_levels % WAYS != 2:
        return levels
    return (levels + WAYS - 1) // WAYS


def guess_family_levels(u: Sequence[FloatArray], texts: Sequence[int]) -> FloatArray:
    """Return chances of levels in a family before it is fitted, all fields after each other.

    Half of the pairs of alike records agree on other fields, a quarter have texts a little alike.

    >>> u = [np.array([0.0, 0.1, 0.1, 0.8]), np.array([0.1, 0.9])]
    >>> guess_family_levels(u, texts=[0]).round(3).tolist()
    [0.0, 0.133, 0.217, 0.65, 0.55, 0.45]
    """
    result = []
    for f, by_chance in enumerate(u):
        alike = np.zeros(by_chance.size)
        if f in texts:
            near = RISE ** count_steps_from_exact(by_chance.size, is_text=True)[1:-1].astype(float)
            alike[1:-1] = near / near.sum() / 2
            alike[-1] = 0.5
        else:
            alike[0] = 1.0
        result.append((alike + by_chance) / 2)
    return np.concatenate(result)


def fit_family_levels(
    counts: FloatArray, m: FloatArray, offsets: IntArray, texts: Sequence[int] = ()
) -> FloatArray:
    """Return the chances of levels that are most likely, given counts, of those that rise over m.

    Those of texts rise by `RISE` from similarity to similarity at least; within one, they are as
    they were counted.

    >>> m, offsets = np.array([0.5, 0.3, 0.2]), np.array([0, 3])
    >>> fit_family_levels(np.array([10.0, 2.0, 8.0]), m, offsets).round(3).tolist()
    [0.375, 0.225, 0.4]
    """
    result = np.empty(counts.size)
    for f, (a, b) in enumerate(pairwise(offsets)):
        steps = count_steps_from_exact(int(b - a), f in texts)
        base = np.bincount(steps, np.maximum(m[a:b], 1e-12)).astype(float)
        if f in texts:
            base = base * RISE ** np.arange(base.size)
        by_step = np.bincount(steps, counts[a:b]).astype(float)
        chances = base * _fit_rising(by_step / base, base)
        result[a:b] = (chances / chances.sum())[steps] * counts[a:b] / by_step[steps]
    return result


def _fit_rising(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the nearest values that never fall: neighbours that do are pooled."""
    pools: list[tuple[float, float, int]] = []
    for pool in zip(values.tolist(), weights.tolist(), [1] * values.size, strict=True):
        pools.append(pool)
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (v, w, n), (one, more, count) = pools.pop(), pools.pop()
            pools.append(((v * w + one * more) / (w + more), w + more, n + count))
    return np.repeat([v for v, _, _ in pools], [n for _, _, n in pools])

"""Chances of patterns in mixtures of classes: with each set of fields replaced, or none."""

from typing import Any

import numpy as np

from kolchin.kernels.compiling import compiled

SMALLEST_CHANCE, LARGEST_LOG_GAIN = 1e-15, 35.0
"""A level has at least this chance in an entity, and its evidence is at most so much: 50 bits."""


@compiled
def weigh_classes(vectors: Any, replaced: Any, rho: Any, m: Any, tilt: Any, offsets: Any) -> Any:
    """Return the chance of each vector of levels in each class, but for fields that it replaces.

    ``vectors`` has for each field where its level's chance stands in ``m``. In class c, of chance
    ``rho[c]``, the fields ``replaced[c]`` (by bits) were replaced; ``tilt`` is by the fields that
    are seen and kept, and how many of them are wrong (model section 6).
    """
    n_fields = vectors.shape[1]
    missing = offsets[n_fields]
    result = np.empty((vectors.shape[0], rho.size))
    for k in range(vectors.shape[0]):
        seen = 0
        not_exact = 0
        n_wrong = 0
        whole = 1.0
        for f in range(n_fields):
            if vectors[k, f] < missing:
                seen |= 1 << f
                # Not below a bound, so that what a class replaces can be divided out.
                whole *= max(m[vectors[k, f]], SMALLEST_CHANCE)
                if vectors[k, f] != offsets[f]:
                    not_exact |= 1 << f
                    n_wrong += 1
        for c in range(rho.size):
            weight = rho[c] * whole
            rest = replaced[c] & seen
            kept = seen & ~rest
            n_kept_wrong = n_wrong
            f = 0
            while rest:
                if rest & 1:
                    weight /= max(m[vectors[k, f]], SMALLEST_CHANCE)
                    n_kept_wrong -= not_exact >> f & 1
                rest >>= 1
                f += 1
            result[k, c] = weight * tilt[kept, n_kept_wrong]
    return result


@compiled
def multiply_kept_gains(place: Any, log_gain: Any, replaced: Any, missing: int) -> Any:
    """Return one over the chance, among unrelated records, of the levels that each class keeps."""
    n_fields = place.shape[1]
    result = np.empty((place.shape[0], replaced.size))
    for k in range(place.shape[0]):
        for c in range(replaced.size):
            total = 0.0
            for f in range(n_fields):
                if place[k, f] < missing and not replaced[c] >> f & 1:
                    total += min(log_gain[k, f], LARGEST_LOG_GAIN)
            result[k, c] = np.exp(total)
    return result


@compiled
def mix_ratios(weights: Any, vector: Any, gains: Any, scale: Any) -> Any:
    """Evidence of every pattern: the chance of its levels in an entity over that by chance.

    Both are mixtures (model section 6): ``weights`` are those of its vector of levels by class,
    ``gains`` what each class keeps, ``scale`` one over what unrelated records share.
    """
    result = np.empty(vector.size)
    for k in range(vector.size):
        total = 0.0
        row = vector[k]
        for c in range(weights.shape[1]):
            total += weights[row, c] * gains[k, c]
        result[k] = total * scale[k]
    return result


@compiled
def add_shares(base: Any, parts: Any, number: Any) -> Any:
    """Return base + parts @ number, by rows.

    No library of linear algebra is asked: its threads would be in the way of the chains'.
    """
    result = base.copy()
    for row in range(parts.shape[0]):
        for k in range(number.size):
            result[row] += parts[row, k] * number[k]
    return result

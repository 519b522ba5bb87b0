"""Fields that move together, on both sides of the evidence (model section 6).

   unlinked:  u(levels) = sum over S of pi_S  prod_{f in S} c_f(level) prod_{f not in S} v_Sf(level)
   linked:    m(levels) = sum over R of rho_R prod_{f in R} u_f(level) prod_{f not in R} m_f(level)

with v_Sf(level) = (1 - eps_Sf) r_Sf(level) u_f(level) + eps_Sf c_f(level): who shares S may share
one more field for the same reason, and values that differ may be nearer to each other (r). The
linked side has the number of errors as well (`error_counts`). Which sets there are, and how
frequent each is, is learnt in `fitting`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.parameters import FloatArray

Masks = NDArray[np.bool_]

SHARED_TWICE = np.array([0.9, 0.07, 0.02])
SHARED_APART = 0.002
"""A shared value, typed twice: chances of the first levels and of the last."""


class Dependence(NamedTuple):
    """Fields that move together, and how many err.

    ``shared[s]`` are the fields of set s, shared by ``n_shared[s]`` unrelated pairs, with levels
    as in ``typed`` (all fields after each other); ``replaced[r]`` are the fields of one entity's
    records that change at once, none for the first, with chances about ``rho``. ``m`` is a start
    for the levels, ``tau`` for the numbers of errors, and the weights are those of the Dirichlet
    priors. Beside set s, field f agrees for the same reason with chance ``leak[s, f]``, and levels
    are exp(``loose[s, level]``) times as frequent as elsewhere; a last level stands for no value.
    ``sampled`` are the sets whose number of pairs is sampled, of the others it is fixed. If there
    is a ``family``, it has the chances of levels in the last set, which is of all fields: unrelated
    records that are alike, as products of one maker are.
    """

    shared: Masks
    n_shared: FloatArray
    n_pairs: float
    typed: FloatArray
    replaced: Masks
    rho: FloatArray
    rho_weights: FloatArray
    m: FloatArray
    m_weights: FloatArray
    leak: FloatArray
    loose: FloatArray
    sampled: Masks
    tau: FloatArray | None = None
    family: FloatArray | None = None

    @property
    def unrelated_classes(self) -> tuple[Masks, FloatArray]:
        """The classes of unrelated pairs, the first of which shares nothing, and their chances."""
        share = self.n_shared / max(self.n_pairs, 1.0)
        nothing = np.zeros((1, self.shared.shape[1]), dtype=bool)
        return np.vstack([nothing, self.shared]), np.append(1 - share.sum(), share)

    def log_typed(self, place: NDArray[np.int32], constant: FloatArray) -> FloatArray:
        """Log chance of levels of one value typed twice, over that of unrelated ones."""
        result: FloatArray = np.append(np.log(self.typed), 0.0)[place] + constant
        return result

    def log_shared(self, place: NDArray[np.int32], constant: FloatArray) -> FloatArray:
        """Log chance of patterns in pairs that share each set, over unrelated ones, (row, set)."""
        log_typed = self.log_typed(place, constant)
        ones = np.ones(len(self.shared))
        result = log_parts(log_typed, self.shared, ones) + self.log_beside(log_typed, place)[:, 1:]
        if self.family is not None:
            alike = np.append(np.log(self.family), 0.0)[place] + constant
            result[:, -1] = alike.sum(axis=1)
        return result

    def log_beside(self, log_typed: FloatArray, place: NDArray[np.int32]) -> FloatArray:
        """Log chance of a pattern's fields beside each set, over that of unrelated ones."""
        result = np.zeros((len(place), len(self.shared) + 1))
        seen = place < self.typed.size
        for s, fields in enumerate(self.shared):
            leak, loose = self.leak[s], self.loose[s][place]
            if leak.any() or self.loose[s].any():
                ratio = (1 - leak) * np.exp(loose) + leak * np.exp(log_typed)
                result[:, s + 1] = np.where(fields | ~seen, 0.0, np.log(ratio)).sum(axis=1)
        return result

    def log_unlinked(self, place: NDArray[np.int32], constant: FloatArray) -> FloatArray:
        """Log chance of patterns between unrelated records, over that of independent fields."""
        _, chance = self.unrelated_classes
        shared = self.log_shared(place, constant)
        parts = np.column_stack([np.zeros(len(place)), shared])
        parts += np.log(np.maximum(chance, 1e-300))
        top = parts.max(axis=1)
        result: FloatArray = top + np.log(np.exp(parts - top[:, None]).sum(axis=1))
        return result


def log_parts(log_ratios: FloatArray, fields: Masks, chance: FloatArray) -> FloatArray:
    """Return the log of each class's chance times the ratios of its fields, (pattern, class)."""
    result: FloatArray = log_ratios @ fields.T.astype(float) + np.log(np.maximum(chance, 1e-300))
    return result


def log_mixture(
    log_ratios: FloatArray, fields: Masks, chance: FloatArray, beside: FloatArray | float = 0.0
) -> FloatArray:
    """Return the log of the sum over classes, each times what stands beside it."""
    parts = log_parts(log_ratios, fields, chance) + beside
    top = parts.max(axis=1)
    result: FloatArray = top + np.log(np.exp(parts - top[:, None]).sum(axis=1))
    return result


def make_typed_levels(n_levels: int) -> FloatArray:
    """Return the chances of levels of one value that was typed twice.

    >>> make_typed_levels(2).round(3).tolist()
    [0.998, 0.002]
    """
    rest = np.append(SHARED_TWICE, np.full(n_levels, SHARED_TWICE[-1] / 2))[: n_levels - 1]
    chances = np.append(rest, SHARED_APART)
    result: FloatArray = chances / chances.sum()
    return result

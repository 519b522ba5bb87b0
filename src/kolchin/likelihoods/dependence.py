"""Dependence between compared fields: learnt once, from all candidate pairs (model section 6).

    unlinked:  u(levels) = sum over S of pi_S  prod_{f in S} c_f(level) prod_{f not in S} u_f(level)
    linked:    m(levels) = sum over R of rho_R prod_{f in R} u_f(level) prod_{f not in R} m_f(level)

The counts of patterns are Poisson: of N (N - 1) / 2 pairs nearly all are unrelated and show
pattern p with chance u(p); about N are not. Chance is thus known, and only what exceeds it can be
explained by sharing or by entities. pi stays as learnt here; m and rho are where chains start.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.base import falling_weights
from kolchin.likelihoods.kernels import share_out
from kolchin.likelihoods.sharing import LEAST_PAIRS, LEAST_SHARE, Chances, Patterns, Sets, find_sets
from kolchin.parameters import FloatArray, IntArray
from kolchin.threads import over_ranges

Masks = NDArray[np.bool_]

PSEUDO_PAIRS, FEWEST_PSEUDO = 1 / 20, 10.0
"""Weight of the prior of m and rho, in pairs a record: a field mostly wrong would be no field."""

SHARED_TWICE = np.array([0.9, 0.07, 0.02])
SHARED_APART = 0.002
"""A shared value, typed twice: chances of the first levels and of the last."""

LARGEST_SHARE = 0.5
"""Of all unrelated pairs at most so many share anything: one may be counted for several sets."""

REPLACED = 0.01
STEPS, PRUNED_AT = 60, (10, 20, 30, 45)
RANGE = 1 << 15
"""So many patterns are looked at in one go."""


class Dependence(NamedTuple):
    """Fields that move together.

    ``shared[s]`` are the fields of set s, shared by ``n_shared[s]`` unrelated pairs, with levels
    as in ``typed`` (all fields after each other); ``replaced[r]`` are the fields of one entity's
    records that change at once, none for the first, with chances about ``rho``. ``m`` is a start
    for the levels, and the weights are those of the Dirichlet priors.
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

    @property
    def unlinked(self) -> tuple[Masks, FloatArray]:
        """The classes of unrelated pairs, the first of which shares nothing, and their chances."""
        share = self.n_shared / max(self.n_pairs, 1.0)
        nothing = np.zeros((1, self.shared.shape[1]), dtype=bool)
        return np.vstack([nothing, self.shared]), np.append(1 - share.sum(), share)

    def log_unlinked(self, place: NDArray[np.int32], constant: FloatArray) -> FloatArray:
        """Log chance of patterns between unrelated records, over that of independent fields."""
        log_typed = np.append(np.log(self.typed), 0.0)[place] + constant
        return log_mixture(log_typed, *self.unlinked)


def log_parts(log_ratios: FloatArray, fields: Masks, chance: FloatArray) -> FloatArray:
    """Return the log of each class's chance times the ratios of its fields, (pattern, class)."""
    result: FloatArray = log_ratios @ fields.T.astype(float) + np.log(np.maximum(chance, 1e-300))
    return result


def log_mixture(log_ratios: FloatArray, fields: Masks, chance: FloatArray) -> FloatArray:
    """Return the log of the sum over classes."""
    parts = log_parts(log_ratios, fields, chance)
    top = parts.max(axis=1)
    result: FloatArray = top + np.log(np.exp(parts - top[:, None]).sum(axis=1))
    return result


def typed_twice(n_levels: int) -> FloatArray:
    """Return the chances of levels of one value that was typed twice.

    >>> typed_twice(2).round(3).tolist()
    [0.998, 0.002]
    """
    rest = np.append(SHARED_TWICE, np.full(n_levels, SHARED_TWICE[-1] / 2))[: n_levels - 1]
    chances = np.append(rest, SHARED_APART)
    result: FloatArray = chances / chances.sum()
    return result


def learn_dependence(patterns: Patterns, chances: Chances) -> Dependence:
    """Learn sets of fields that move together, by expectation and maximisation over patterns."""
    return _Fit(patterns, chances, find_sets(patterns, chances)).run()


class Shares(NamedTuple):
    """Pairs by shared set and by set that entities have replaced, and the levels among them."""

    by_set: FloatArray
    by_entity: FloatArray
    typed: FloatArray
    m: FloatArray


class _Fit:
    """Rates of patterns: by chance, by each shared set, by entities with each set replaced."""

    def __init__(self, patterns: Patterns, chances: Chances, sets: Sets) -> None:
        self.patterns, self.chances = patterns, chances
        self.n_records = chances.n_records
        n_levels = [levels.size for levels in chances.u]
        self.offsets = np.concatenate([[0], np.cumsum(n_levels)]).astype(np.int64)
        shown = patterns.levels >= 0
        place = np.where(shown, patterns.levels + self.offsets[:-1], self.offsets[-1])
        self.place = np.ascontiguousarray(place, dtype=np.int16)
        self.gain = np.ascontiguousarray(patterns.log_gain)
        weight = max(PSEUDO_PAIRS * self.n_records, FEWEST_PSEUDO)
        expected = [falling_weights(n) / falling_weights(n).sum() for n in n_levels]
        self.m: FloatArray = np.concatenate(expected)
        self.typed: FloatArray = np.concatenate([typed_twice(n) for n in n_levels])
        self.m_weights, self.typed_weights = weight * self.m, weight * self.typed
        self.sets = list(sets.shared)
        self.known = sets.known
        self.n_shared = np.array(list(sets.shared.values()))
        self.shared = self._masks(self.sets)
        self.replaced = self._masks([0, *sets.replaced])
        self.rho_weights = weight * np.append(1.0, np.full(len(sets.replaced), REPLACED))
        self.rho = self.rho_weights / self.rho_weights.sum()
        self.n_linked = self.n_records / 4

    def _masks(self, sets: list[int]) -> Masks:
        n_fields = len(self.chances.u)
        rows = [[(one >> f) & 1 == 1 for f in range(n_fields)] for one in sets]
        return np.array(rows, dtype=bool).reshape(len(sets), n_fields)

    def run(self) -> Dependence:
        """Alternate between shares of patterns and parameters; drop sets without support."""
        for step in range(STEPS):
            shares = self._shares()
            self._maximise(shares)
            if step in PRUNED_AT:
                self._prune(shares.by_entity)
        most = LARGEST_SHARE * self.chances.n_pairs
        return Dependence(
            self.shared,
            self.n_shared * (most / max(self.n_shared.sum(), most, 1.0)),
            self.chances.n_pairs,
            self.typed,
            self.replaced,
            self.rho,
            self.rho_weights,
            self.m,
            self.m_weights,
        )

    def _shares(self, threads: int | None = None) -> Shares:
        """Divide the pairs of each pattern among shared sets and entities; chance has the rest."""
        n_sets = len(self.sets)
        bits = 1 << np.arange(len(self.chances.u))
        sets: IntArray = np.concatenate([self.shared @ bits, ~self.replaced @ bits]).astype(int)
        chance = np.concatenate([self.n_shared, self.n_linked * self.rho])
        log_sets = np.log(np.maximum(chance, 1e-300))
        log_levels = np.log(np.maximum([np.append(self.typed, 1), np.append(self.m, 1)], 1e-300))
        log_rest = float(np.log(max(self.chances.n_pairs, 1.0)))
        counts = np.concatenate([~self._counted, np.ones(len(self.replaced), dtype=bool)])
        number = self.patterns.number

        def part(first: int, last: int) -> tuple[FloatArray, FloatArray]:
            totals, found = np.zeros(sets.size), np.zeros(log_levels.shape)
            given = self.place, self.gain, number, log_levels, log_rest, sets, log_sets, n_sets
            share_out(*given, counts, first, last, totals, found)
            return totals, found

        parts = over_ranges(part, number.size, RANGE, threads)
        totals = np.sum([np.zeros(sets.size), *(one for one, _ in parts)], axis=0)
        found = np.sum([np.zeros(log_levels.shape), *(one for _, one in parts)], axis=0)
        return Shares(totals[:n_sets], totals[n_sets:], *found[:, :-1])

    @property
    def _counted(self) -> Masks:
        """Which shared sets were counted among all pairs of records."""
        return np.array([one in self.known for one in self.sets], dtype=bool)

    def _maximise(self, shares: Shares) -> None:
        self.n_shared = shares.by_set.copy()
        counted = self._counted
        for k in np.flatnonzero(counted):
            # Pairs that agree on little are seldom candidates: these were counted among all.
            larger = (self.shared & self.shared[k]).sum(axis=1) == self.shared[k].sum()
            alike = self.known[self.sets[k]] - self._alike_entities(self.shared[k])
            exact = float(np.prod(self.typed[self.offsets[:-1][self.shared[k]]]))
            rest = alike / exact - self.n_shared[larger & ~counted].sum()
            self.n_shared[k] = max(rest, 1.0)
        self.n_linked = min(float(shares.by_entity.sum()), float(self.n_records))
        rho = shares.by_entity + self.rho_weights
        self.rho = rho / rho.sum()
        self.m = self._scaled(shares.m + self.m_weights)
        self.typed = self._scaled(shares.typed + self.typed_weights)

    def _alike_entities(self, fields: Masks) -> float:
        """Return how many pairs of one entity agree exactly on some fields, as things stand."""
        first = self.offsets[:-1][fields]
        by_chance = np.array([levels[0] for levels in self.chances.u])[fields]
        exact = np.where(self.replaced[:, fields], by_chance, self.m[first])
        return self.n_linked * float(self.rho @ exact.prod(axis=1))

    def _scaled(self, counts: FloatArray) -> FloatArray:
        """Scale the levels of each field to sum to one."""
        totals = np.add.reduceat(counts, self.offsets[:-1])
        result: FloatArray = counts / np.repeat(totals, np.diff(self.offsets))
        return result

    def _prune(self, by_entity: FloatArray) -> None:
        least = max(LEAST_SHARE * self.n_records, LEAST_PAIRS)
        kept = self.n_shared > least
        self.sets = [one for one, stays in zip(self.sets, kept, strict=True) if stays]
        self.n_shared, self.shared = self.n_shared[kept], self.shared[kept]
        stays = by_entity > least
        stays[0] = True
        self.replaced, self.rho_weights = self.replaced[stays], self.rho_weights[stays]
        self.rho = self.rho[stays] / self.rho[stays].sum()

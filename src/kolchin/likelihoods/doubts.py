"""Sets of fields that explain links better than errors do: shared, or the others replaced.

Links that differ in the same fields more often than errors come together are of another making:
twins share surname, address and birth date, but not the first name; who moves has another street,
city and postcode. Both show as pairs that agree on a set S of fields and agree on the others as
unrelated records do. If nu_S such pairs were added to the rates t(p) of patterns,
the log likelihood of the numbers n(p) of pairs would rise by

    sum over p of n(p) log(1 + nu_S B_S(p) / t(p))  -  nu_S,

with B_S(p) the chance of pattern p in a pair that shares S, over that of unrelated records
(model section 6). The sum is concave in nu_S, so the best number is found by raising it step by
step. Sets are taken one after the other, the best first, each given those before it.
"""

from typing import NamedTuple

import numpy as np

from kolchin.parameters import FloatArray, IntArray

LEAST_GAIN = 5.0
"""A set is asked about if the log likelihood rises by so much more than the logarithm of the number
of sets: the best of a thousand rises by chance, too. What is believed is sampled."""

MOST_SETS, STEPS = 6, 30

MOST_PATTERNS, MOST_WORK, SETS_AT_ONCE = 2000, 1 << 24, 1024
"""Patterns that are looked at, patterns times sets, and the sets that are looked at closely."""


class PatternRates(NamedTuple):
    """Patterns of pairs: how many show each, how many are expected, and what agreement says.

    ``expected`` is over the chance of the pattern if fields are independent; ``log_typed`` has, by
    field, the log chance of a level of one value typed twice, over that of unrelated ones.
    """

    number: FloatArray
    expected: FloatArray
    log_typed: FloatArray

    def keep_most_frequent(self, n_patterns: int) -> "PatternRates":
        """Leave out all but the patterns with most pairs."""
        rows = np.argsort(-self.number, kind="stable")[:n_patterns]
        return PatternRates(*(array[rows] for array in self))


def find_doubts(rates: PatternRates) -> dict[int, float]:
    """Return sets of fields (bits) that would explain pairs better, with the number of pairs."""
    sets = _list_sets(rates.log_typed.shape[1])
    least = LEAST_GAIN + float(np.log(max(sets.size, 1)))
    rates = rates.keep_most_frequent(min(MOST_PATTERNS, MOST_WORK // max(sets.size, 1)))
    found: dict[int, float] = {}
    while len(found) < MOST_SETS:
        # The slope at no pairs tells whether any number of pairs is better than none.
        slopes = _compute_slopes(rates, sets)
        sets = sets[np.argsort(-slopes, kind="stable")][: int((slopes > 1).sum())]
        likely = sets[:SETS_AT_ONCE]
        gains, numbers = _compute_gains(rates, likely)
        best = int(np.argmax(gains)) if gains.size else 0
        if not gains.size or gains[best] < least:
            break
        found[int(likely[best])] = found.get(int(likely[best]), 0.0) + float(numbers[best])
        more = numbers[best] * _compute_shared_chances(rates, likely[best : best + 1])[:, 0]
        rates = rates._replace(expected=rates.expected + more)
    return found


def _list_sets(n_fields: int) -> IntArray:
    """Return all sets of two fields or more, but for that of all fields."""
    sets = np.arange((1 << n_fields) - 1)
    size = ((sets[:, None] >> np.arange(n_fields)) & 1).sum(axis=1)
    result: IntArray = sets[size >= 2]
    return result


def _compute_shared_chances(rates: PatternRates, sets: IntArray) -> FloatArray:
    """Return the chance of each pattern in pairs that share each set, (pattern, set)."""
    n_fields = rates.log_typed.shape[1]
    fields = (sets[:, None] >> np.arange(n_fields)) & 1
    result: FloatArray = np.exp(np.minimum(rates.log_typed @ fields.T, 600.0))
    return result


def _compute_slopes(rates: PatternRates, sets: IntArray) -> FloatArray:
    """Return how fast the log likelihood rises with the first pairs of each set, plus one."""
    result = np.empty(sets.size)
    weight = rates.number / rates.expected
    for first in range(0, sets.size, SETS_AT_ONCE):
        part = slice(first, first + SETS_AT_ONCE)
        result[part] = (weight[:, None] * _compute_shared_chances(rates, sets[part])).sum(axis=0)
    return result


def _compute_gains(rates: PatternRates, sets: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return by how much the log likelihood rises with each set, and its number of pairs."""
    number = rates.number[:, None]
    ratio = _compute_shared_chances(rates, sets) / rates.expected[:, None]
    pairs = np.ones(sets.size)
    for _ in range(STEPS):
        pairs *= (number * ratio / (1 + pairs * ratio)).sum(axis=0)
    gains: FloatArray = (number * np.log1p(pairs * ratio)).sum(axis=0) - pairs
    return gains, pairs

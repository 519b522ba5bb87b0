"""Values in each other's column: first name and surname exchanged, or the lines of an address."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison.kinds.base import MISSING, Codes, Floats, Levels
from kolchin.comparison.kinds.preparing import PreparedField
from kolchin.comparison.kinds.short_texts import MISTYPED, TextComparer
from kolchin.comparison.levels.pair_levels import compare_codes
from kolchin.comparison.pair_kernels.crossed_values import CROSSED, find_crossed
from kolchin.records.columns.distinct_values import encode_column
from kolchin.records.fields.declarations import Text

SHARED = 0.05
"""Columns with this share of their values in common may be swapped."""

FEWEST_EXCHANGED = 3
"""So may columns with fewer, if so many couples of values stand in either order."""

SWAPPED = "swapped"
DRAWS = 20_000
"""So many swapped values are drawn to tell how often they also agree as they stand."""

NO_CUTS = Text(SWAPPED, cuts=())
"""Across columns, only exact and mistyped values count."""


class ColumnCouple(NamedTuple):
    """Two columns of text that have values in common.

    Parameters
    ----------
    fields
        Their places among the fields.
    first, second
        A code a record, the same for the same text in either column, -1 where missing.
    vocabulary
        The texts that the codes stand for.
    n_shared
        How many texts are in both columns.
    """

    fields: tuple[int, int]
    first: Codes
    second: Codes
    vocabulary: pl.Series
    n_shared: int

    def levels(self, left: Codes, right: Codes) -> Levels:
        """Compare texts of either column; only those that are asked for are made ready."""
        asked, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        present = asked[asked >= 0]
        comparing = TextComparer(NO_CUTS, self.vocabulary.gather(present))
        codes = (places.ravel() - (asked.size - present.size)).astype(np.int32)
        return compare_codes(comparing, codes[: left.size], codes[left.size :])


def find_couples(prepared: Sequence[PreparedField]) -> Iterator[ColumnCouple]:
    """Give all couples of text columns that have values in common, such as first and last names."""
    texts = [f for f, one in enumerate(prepared) if type(one.comparing) is TextComparer]
    for f, g in combinations(texts, 2):
        couple = make_couple(prepared, f, g)
        if not couple.n_shared:
            continue
        n_forms = min(prepared[f].forms.len(), prepared[g].forms.len())
        many = couple.n_shared >= SHARED * n_forms
        if many or count_exchanged(couple) >= FEWEST_EXCHANGED:
            yield couple


def make_couple(prepared: Sequence[PreparedField], f: int, g: int) -> ColumnCouple:
    """Return two columns with their texts numbered together."""
    one, other = prepared[f], prepared[g]
    n_forms = one.forms.len()
    both = encode_column(pl.concat([one.forms, other.forms]))
    n_shared = n_forms + other.forms.len() - both.vocabulary.len()
    first = np.append(both.codes[:n_forms], np.int32(MISSING))[one.codes]
    second = np.append(both.codes[n_forms:], np.int32(MISSING))[other.codes]
    return ColumnCouple((f, g), first, second, both.vocabulary, n_shared)


def count_exchanged(couple: ColumnCouple) -> int:
    """Return how many couples of different values stand in one order and in the other."""
    first, second = couple.first.astype(np.int64), couple.second.astype(np.int64)
    differ = (first >= 0) & (second >= 0) & (first != second)
    first, second, n_texts = first[differ], second[differ], couple.vocabulary.len()
    both = np.intersect1d(first * n_texts + second, second * n_texts + first)
    return both.size // 2


def choose_couples(prepared: Sequence[PreparedField]) -> tuple[ColumnCouple, ...]:
    """Choose couples by their number of values in common, no field in two of them."""
    chosen: list[ColumnCouple] = []
    taken: set[int] = set()
    for couple in sorted(find_couples(prepared), key=lambda one: -one.n_shared):
        if couple.n_shared and taken.isdisjoint(couple.fields):
            chosen.append(couple)
            taken.update(couple.fields)
    return tuple(sorted(chosen, key=lambda one: one.fields))


def mark_swapped(
    levels: Levels, couple: ColumnCouple, pairs: NDArray[np.int32], different: int
) -> None:
    """Give swapped pairs the level before 'different' in the first field, none in the second.

    Room is made for it: `different` was the last level of the first field, and is one more now.
    """
    f, g = couple.fields
    swapped = is_swapped(couple, pairs, levels[:, f], levels[:, g])
    levels[levels[:, f] == different, f] += 1
    levels[swapped, f] = different
    levels[swapped, g] = MISSING


def is_swapped(
    couple: ColumnCouple, pairs: NDArray[np.int32], first: Levels, second: Levels
) -> NDArray[np.bool_]:
    """Tell pairs of which each has the other's values in the other column.

    One of the two may be mistyped. Values that agree as they stand are not swapped; `first` and
    `second` are the levels of that.
    """
    crossed = np.zeros(len(pairs), dtype=np.int8)
    find_crossed(pairs, couple.first, couple.second, first, second, MISTYPED, crossed)
    swapped: NDArray[np.bool_] = crossed == CROSSED
    (half,) = np.nonzero((crossed > 0) & ~swapped)
    if half.size:
        i, j = pairs[half].T
        wanting = crossed[half] == 1  # the first's first value is the other's second
        left = np.where(wanting, couple.second[i], couple.first[i])
        right = np.where(wanting, couple.first[j], couple.second[j])
        swapped[half] = couple.levels(left, right) == MISTYPED
    return swapped


def estimate_swapped_chance(
    couple: ColumnCouple, random: NDArray[np.int32], rng: np.random.Generator
) -> float:
    """Return the chance that unrelated records which have the first field seem swapped.

    Two values agree across with chance q, the sum over values of their frequency in the one column
    times that in the other, and are mistyped with a chance t that random pairs tell: both ways
    that is q^2 + 2 q t, less what agrees as it stands. It is never less than one pair of all.
    """
    p_first, p_second = count_couple_frequencies(couple)
    both = p_first * p_second
    q = float(both.sum())
    least = 1.0 / couple.first.size**2
    if q == 0:
        return least
    drawn = rng.choice(both.size, (2, DRAWS), p=both / q).astype(np.int32)
    exact = np.mean(couple.levels(drawn[0], drawn[1]) > MISTYPED)
    left, right = couple.first[random[:, 0]], couple.second[random[:, 1]]
    across = couple.levels(left, right)
    near = across == MISTYPED
    t = near.sum() / max(int((across >= 0).sum()), 1)
    value = rng.choice(both.size, int(near.sum()), p=both / q).astype(np.int32)
    apart = (couple.levels(value, left[near]) > MISTYPED) & (
        couple.levels(value, right[near]) > MISTYPED
    )
    mistyped = float(apart.mean()) if apart.size else 1.0
    present = float(np.mean(couple.second >= 0)) ** 2
    return max(present * float(q * q * exact + 2 * q * t * mistyped), least)


def count_couple_frequencies(couple: ColumnCouple) -> tuple[Floats, Floats]:
    """Return the frequency of each text in the first and in the second column."""
    n_texts = couple.vocabulary.len()
    counts = [
        np.bincount(codes[codes >= 0], minlength=n_texts) for codes in (couple.first, couple.second)
    ]
    first, second = (count / max(int(count.sum()), 1) for count in counts)
    return first, second


def add_swapped_level(u: Floats, chance: float) -> Floats:
    """Put the chance of 'swapped' before that of 'different'; levels that are far give it up.

    >>> add_swapped_level(np.array([0.1, 0.1, 0.2, 0.6]), 0.08).round(3).tolist()
    [0.1, 0.1, 0.18, 0.08, 0.54]
    """
    far = u[MISTYPED + 1 :]
    taken = min(chance, far.sum() / 2)
    left = far * (1 - taken / far.sum())
    return np.concatenate([u[: MISTYPED + 1], left[:-1], [taken], left[-1:]])

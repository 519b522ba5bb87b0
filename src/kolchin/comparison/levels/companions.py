"""Fields beside texts: products of one family have names, makers, prices that are alike.

How often unrelated records agree on a maker or a price depends on whether their names are alike. So
the pairs whose texts are alike have a band of their own in every other field, and each level its
chance there, counted on random pairs whose texts are alike a little: nearly all are unrelated.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.kinds.base import EXACT, Floats, Levels
from kolchin.comparison.kinds.long_texts import WordsComparer
from kolchin.comparison.kinds.preparing import PreparedField
from kolchin.comparison.levels.level_chances import Bands, LevelChances
from kolchin.comparison.levels.pair_levels import compare_codes
from kolchin.comparison.levels.repeated_words import measure_repeated_share

NO_SHARE = 1e-12
"""No value is in the band of a companion; what is divided by its share must not be zero."""

ALIKE_PAIRS = 20.0
"""Before any pair is seen, levels are as likely as elsewhere, worth so many pairs."""

A_LITTLE = 12
"""So many of the last levels before 'different' are of texts a little alike: few are links."""

LEAST_REPEATED = 0.1
"""A text goes with another one if so many of its words stand there as well, record by record."""

Companions = dict[int, int]


def find_companions(used: Sequence[PreparedField]) -> Companions:
    """Return the text that each field goes with: the shortest, or the next for one it repeats."""
    kinds = {f: one.comparing for f, one in enumerate(used)}
    texts = {f: kind for f, kind in kinds.items() if isinstance(kind, WordsComparer)}
    if not texts:
        return {}
    ordered = sorted(texts, key=lambda f: (texts[f].n_words, f))
    first = {f: ordered[0] for f in kinds if f != ordered[0]}
    return first | {
        f: g
        for g, f in pairwise(ordered)
        if measure_repeated_share(used[f], used[g]) >= LEAST_REPEATED
    }


def add_companion_bands(bands: Sequence[Bands], companions: Companions) -> list[Bands]:
    """Add the band of pairs whose other text is alike."""
    return [
        Bands(one.of_form, np.append(one.u, 0.0), np.append(one.m, NO_SHARE))
        if f in companions
        else one
        for f, one in enumerate(bands)
    ]


def mark_companions(
    levels: Levels, bands: Levels, companions: Companions, apart: dict[int, int], last: list[int]
) -> None:
    """Write the bands of pairs whose other text is alike.

    ``apart[g]`` is the last level of field g, ``last[f]`` the last band of field f.
    """
    for f, g in companions.items():
        alike = (levels[:, g] >= 0) & (levels[:, g] < apart[g])
        bands[alike, f] = last[f]


def leave_out_alike(
    bands: Sequence[Bands],
    chances: Sequence[LevelChances],
    companions: Companions,
    outcomes: tuple[Levels, Levels, NDArray[np.int64]],
    shows: Sequence[int],
    possible: Sequence[float],
) -> list[Bands]:
    """Take pairs that agree exactly where texts are alike out of those that bands speak of.

    ``outcomes`` are levels, bands and numbers of pairs, ``shows`` how many records have a field,
    ``possible`` which share of their pairs may be links.
    """
    result = list(bands)
    levels, marks, number = outcomes
    for f in companions:
        one, n = bands[f], float(max(shows[f], 1))
        pairs = possible[f] * np.maximum(one.u * n**2 - one.m * n, 0.0) / 2
        taken = number[(levels[:, f] == EXACT) & (marks[:, f] == one.u.size - 1)].sum()
        kept = 1 - min(float(taken) / max(float(pairs.sum()), 1.0), 1.0)
        elsewhere = (2 * pairs * kept / possible[f] + one.m * n)[:-1] / n**2
        result[f] = one._replace(u=np.append(elsewhere, chances[f].in_band[EXACT, -1]))
    return result


def estimate_chances_beside(
    chances: Sequence[LevelChances],
    used: Sequence[PreparedField],
    bands: Sequence[Bands],
    companions: Companions,
    random: NDArray[np.int32],
) -> list[LevelChances]:
    """Return the chances of levels, in the last band those where other texts are alike."""
    result = list(chances)
    for f, g in companions.items():
        kinds = used[f].comparing, used[g].comparing
        assert kinds[0] is not None
        assert kinds[1] is not None
        other = compare_codes(kinds[1], *used[g].codes[random].T)
        little = (other < kinds[1].different) & (other >= kinds[1].different - A_LITTLE)
        own = compare_codes(kinds[0], *used[f].codes[random[little]].T)
        u = chances[f].of_level
        seen: Floats = np.bincount(own[own >= 0], minlength=u.size) + ALIKE_PAIRS * u
        chance = seen / seen.sum()
        in_band = chances[f].in_band.copy()
        # Levels without bands have the same chance in all of them, those without values too.
        in_band[~in_band.any(axis=1)] = np.maximum(bands[f].m, 1e-300)
        in_band[:, -1] = NO_SHARE * chance / np.maximum(u, 1e-300)
        in_band[EXACT] = 0.0
        in_band[EXACT, -1] = NO_SHARE * chance[EXACT]
        result[f] = LevelChances(u, in_band)
    return result

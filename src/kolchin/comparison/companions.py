"""Texts beside texts: products of one family have names and descriptions that are alike.

How often unrelated descriptions are alike depends on whether the names are. So the pairs of a long
text have two more bands, by what a shorter text of the records says, and each level its chance in
both. A shared value that other texts go along with is no separate coincidence either: in a long
text the same words are the first level of those that are alike.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.base import EXACT, Floats, Levels
from kolchin.comparison.bulk import compare_codes
from kolchin.comparison.chance import Bands, LevelChances
from kolchin.comparison.preparing import Prepared
from kolchin.comparison.telling import repeated_share
from kolchin.comparison.words import WordsComparing

NO_SHARE = 1e-12
"""No value is in the bands of companions; what is divided by their share must not be zero."""

ALIKE_PAIRS = 20.0
"""Before any pair is seen, levels are as likely where other texts are alike, worth so many."""

LEAST_REPEATED = 0.1
"""A text has a companion if so many of its words stand there as well, record by record."""

Companions = dict[int, int]


def companions_of(used: Sequence[Prepared]) -> Companions:
    """Return for each field of texts that repeats words of shorter ones the next shorter one."""
    kinds = {f: one.comparing for f, one in enumerate(used)}
    texts = {f: kind for f, kind in kinds.items() if isinstance(kind, WordsComparing)}
    ordered = sorted(texts, key=lambda f: (texts[f].n_words, f))
    return {
        f: g for g, f in pairwise(ordered) if repeated_share(used[f], used[g]) >= LEAST_REPEATED
    }


def with_companions(bands: Sequence[Bands], companions: Companions) -> list[Bands]:
    """Add the two bands of texts that have a companion: other texts differ, or are alike."""
    return [
        Bands(one.of_form, np.append(one.u, [0.0, 0.0]), np.append(one.m, [NO_SHARE, NO_SHARE]))
        if f in companions
        else one
        for f, one in enumerate(bands)
    ]


def mark_companions(
    levels: Levels, bands: Levels, companions: Companions, apart: dict[int, int], first: list[int]
) -> None:
    """Write the bands of pairs in which a text has a companion; the same words become alike.

    ``apart[g]`` is the last level of field g, ``first[f]`` the first of the two bands.
    """
    for f in companions:
        levels[levels[:, f] == EXACT, f] = EXACT + 1
    for f, g in companions.items():
        bands[:, f] = first[f] + is_alike(levels[:, g], apart[g])


def is_alike(levels: Levels, apart: int) -> NDArray[np.bool_]:
    """Tell pairs whose texts share more than some words."""
    result: NDArray[np.bool_] = (levels >= 0) & (levels < apart)
    return result


def chances_beside(
    chances: Sequence[LevelChances],
    used: Sequence[Prepared],
    companions: Companions,
    random: NDArray[np.int32],
) -> list[LevelChances]:
    """Return the chances of levels, of long texts by whether the shorter ones are alike."""
    result = list(chances)
    for f, g in companions.items():
        kinds = used[f].comparing, used[g].comparing
        assert kinds[0] is not None
        assert kinds[1] is not None
        other = compare_codes(kinds[1], *used[g].codes[random].T)
        near = random[(other > EXACT) & (other < kinds[1].different)]
        own = compare_codes(kinds[0], *used[f].codes[near].T)
        own[own == EXACT] = EXACT + 1
        u = chances[f].of_level
        seen = np.bincount(own[own >= 0], minlength=u.size) + ALIKE_PAIRS * _without_exact(u)
        in_band = chances[f].in_band.copy()
        in_band[1:, -2] = NO_SHARE * _without_exact(u)[1:] / u[1:]
        in_band[1:, -1] = NO_SHARE * seen[1:] / seen.sum() / u[1:]
        result[f] = LevelChances(u, in_band)
    return result


def _without_exact(u: Floats) -> Floats:
    """Count the same words among those that are alike."""
    result: Floats = u.copy()
    result[EXACT + 1] += u[EXACT]
    result[EXACT] = 0.0
    return result

"""What came out of comparing pairs of records, and how often that happens by chance."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison import Comparisons
from kolchin.comparison.compared_pairs import PairParts
from kolchin.likelihoods.chance import tabulate_chances_by_value
from kolchin.parameters import FloatArray


class Outcomes(NamedTuple):
    """Pairs of records (i < j) that were compared, and the level of each field (-1: missing).

    ``chance`` has, for each outcome and field, the chance that an unrelated record would show such
    a level: for an exact agreement, that of a value as frequent (few different numbers, since
    outcomes that differ in them are told apart). ``chance_apart[f]`` is the chance of the last
    level, ``shows[n, f]`` whether record n has a value of field f. There is an outcome for each
    pair, or ``which[k]`` is that of pair k, or the pairs come in parts that say it. ``bands`` are
    those of the values that agree exactly, by frequency, where outcomes are told apart by them.
    ``slips[n, f]`` is whether the value of field f of record n is probably a slip.
    """

    pairs: NDArray[np.int32] | PairParts
    levels: NDArray[np.int8]
    chance: FloatArray
    n_levels: tuple[int, ...]
    chance_apart: FloatArray
    shows: NDArray[np.bool_]
    which: NDArray[np.int32] | None = None
    bands: NDArray[np.int8] | None = None
    slips: NDArray[np.bool_] | None = None


def describe_outcomes(comparisons: Comparisons) -> Outcomes:
    """Say what came out of comparing, and how often that happens by chance.

    For values that agree or are near the chance is that of their frequency: by band, that two
    unrelated records show such a level and band over that a record has a value of the band.
    """
    levels, bands = comparisons.outcomes, comparisons.outcome_bands
    chance = np.ones(levels.shape)
    for f, by_level in enumerate(comparisons.u):
        of_value = tabulate_chances_by_value(
            comparisons.band_u[f], by_level, comparisons.in_band[f], comparisons.band_m[f]
        )
        chance[:, f] = of_value[levels[:, f], bands[:, f]]
    return Outcomes(
        pairs=comparisons.parts,
        levels=levels,
        chance=chance,
        n_levels=tuple(len(names) for names in comparisons.level_names),
        chance_apart=np.array([by_level[-1] for by_level in comparisons.u]),
        shows=comparisons.shows,
        bands=bands,
        slips=comparisons.slips,
    )

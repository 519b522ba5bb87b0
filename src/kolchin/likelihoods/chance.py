"""How often unrelated entities agree by chance, learnt about entities (model section 6).

Frequencies that are counted on records take every entity for as many as it has records, and a
record for a coincidence with itself: a field that identifies could then never say so. Of the pairs
of records that agree exactly, those that are expected to be of one entity are taken out; what is
left are coincidences.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison import Comparisons
from kolchin.likelihoods.evidence_kernels.coincidences import count_agreeing, write_gains
from kolchin.likelihoods.families import Family, learn_family
from kolchin.likelihoods.sharing import Patterns
from kolchin.parameters import FloatArray, IntArray
from kolchin.records.fields.declarations import Words

UNSEEN_PAIRS, UNSEEN_RECORDS = 0.5, 0.0025
"""Coincidences that might have been seen beside those that were: half a pair, and one for so many
records, since values that nobody has yet may coincide too."""

FIRST_SHARE = 2 / 3
"""Before anything is fitted, at most so many of the pairs that agree are of one entity."""

MOST_AGREEMENT = 1 - 1e-6

FALL_DOUBT, FEWEST_SIMILAR = 2.0, 0.5
"""Standard deviation of the log of how many unrelated texts are as similar, around what was counted
or extrapolated before, and the fewest that are expected then."""

BISECTIONS = 50


class Coincidences(NamedTuple):
    """What is known of agreement, by field: all of it, before links are taken out.

    ``agreeing[f][b]`` counts the pairs of records that agree exactly on a value of band b,
    ``share[f][b]`` is the share of records with such a value, ``n_shown[f]`` how many records have
    one at all. ``band[p, f]`` is the band of pattern p where it agrees or is near. ``near[f]``
    divides pairs that differ among the other levels, ``in_band[f]`` those of near levels among
    bands. ``possible[f]`` is the share of pairs that may be of one entity, ``texts`` are the fields
    of which it is learnt how often unrelated texts are similar, ``family`` what alike
    records have in common, where pairs show it that are never of one entity.
    """

    agreeing: tuple[FloatArray, ...]
    share: tuple[FloatArray, ...]
    n_shown: FloatArray
    band: NDArray[np.int8]
    near: tuple[FloatArray, ...]
    in_band: tuple[FloatArray, ...]
    possible: Sequence[float]
    texts: tuple[int, ...] = ()
    family: Family | None = None

    @classmethod
    def of(cls, comparisons: Comparisons, band: NDArray[np.int8]) -> "Coincidences":
        """Count on what was compared; ``band`` is by pattern and field."""
        n_shown = comparisons.shows.sum(axis=0).astype(float)
        shares = comparisons.shares_possible
        agreeing = tuple(
            possible * np.maximum(squares * n**2 - share * n, 0.0) / 2
            for squares, share, n, possible in zip(
                comparisons.band_u, comparisons.band_m, n_shown, shares, strict=True
            )
        )
        near = tuple(u[1:] / max(float(u[1:].sum()), 1e-300) for u in comparisons.u)
        # Of one field alone nothing tells similar texts by chance from those of one entity.
        texts = [f for f, field in enumerate(comparisons.fields) if isinstance(field, Words)]
        several = len(comparisons.fields) > 1
        found = agreeing, comparisons.band_m, n_shown, band, near, comparisons.in_band
        known = tuple(texts) if several else ()
        return cls(*found, shares, known, learn_family(comparisons, known))

    def guess_links(self, n_linked: float, n_records: int, exact: FloatArray) -> list[FloatArray]:
        """Guess how many pairs that agree are of one entity, by field and band."""
        return [
            np.minimum(FIRST_SHARE * agreeing, n_linked * (n / n_records) ** 2 * same * share)
            for agreeing, share, n, same in zip(
                self.agreeing, self.share, self.n_shown, exact, strict=True
            )
        ]

    def count_by_band(
        self, patterns: Patterns, taken: FloatArray
    ) -> tuple[list[FloatArray], FloatArray]:
        """Add up the pairs taken out of each pattern by field and band of exact agreement.

        Returns also how many of them show each field.
        """
        n_bands = max(agreeing.size for agreeing in self.agreeing)
        counts = count_agreeing(patterns.levels, self.band, taken, n_bands)
        by_band = [
            row[: agreeing.size] for row, agreeing in zip(counts, self.agreeing, strict=True)
        ]
        return by_band, counts[:, n_bands]

    def count_similar(self, patterns: Patterns, by_chance: FloatArray) -> dict[int, FloatArray]:
        """Add up pairs that are alike by chance, by text field and level from near to different."""
        result = {}
        for f in self.texts:
            rows = patterns.levels[:, f] > 0
            counts = np.bincount(patterns.levels[rows, f], by_chance[rows], self.near[f].size + 1)
            result[f] = counts[1:-1].astype(float)
        return result

    def estimate_chances(
        self,
        taken: list[FloatArray],
        taken_of_all: FloatArray,
        unseen: bool,
        similar: dict[int, FloatArray] | None = None,
    ) -> tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]:
        """Return by field the chance of each level, and that of levels given a value, by band.

        ``taken`` are the pairs that are no coincidences, by field and band of exact agreement, and
        ``taken_of_all[f]`` all of them in which both records show field f. ``similar`` are the
        pairs that are similar by chance, by text field and level.
        """
        of_level, of_value = [], []
        for f, (agreeing, share) in enumerate(zip(self.agreeing, self.share, strict=True)):
            n = self.n_shown[f]
            rest = max(self.possible[f] * n * (n - 1) / 2 - taken_of_all[f], 1.0)
            more = (UNSEEN_PAIRS + (UNSEEN_RECORDS * n if unseen else 0.0)) * share
            by_band = (np.maximum(agreeing - taken[f], 0.0) + more) / rest
            exact = min(float(by_band.sum()), MOST_AGREEMENT)
            near = self.near[f]
            if similar is not None and f in similar:
                near = estimate_near_levels(similar[f], near, rest)
            of_level.append(np.append(exact, (1 - exact) * near))
            of_value.append(tabulate_chances_by_value(by_band, of_level[f], self.in_band[f], share))
        return tuple(of_level), tuple(of_value)

    def write_gains(
        self,
        levels: NDArray[np.int8],
        of_value: tuple[FloatArray, ...],
        out: FloatArray,
        rows: IntArray | None = None,
    ) -> None:
        """Write minus the log of the chance of each pattern's levels, 0 where one is missing.

        ``rows`` are the patterns that are looked at, if not all.
        """
        sizes = np.array([chance.shape for chance in of_value]).max(axis=0)
        gains = np.zeros((len(of_value), *sizes))
        for f, chance in enumerate(of_value):
            gains[f, : chance.shape[0], : chance.shape[1]] = -np.log(np.maximum(chance, 1e-300))
        every = np.arange(len(levels)) if rows is None else rows
        write_gains(levels, self.band, every, gains, out)


def estimate_near_levels(similar: FloatArray, near: FloatArray, n_pairs: float) -> FloatArray:
    """Return how unrelated texts that differ divide among levels, the last of which is different.

    ``similar`` were counted, of ``n_pairs``; ``near`` is what was expected before. With x the log
    of the expected number and y that before, the density of x is highest where
    similar - exp(x) = (x - y) / FALL_DOUBT^2.

    >>> before = np.array([1e-5, 1e-5, 0.99998])
    >>> estimate_near_levels(np.array([200.0, 0.0]), before, 1e5).round(6).tolist()
    [0.001987, 3e-06, 0.99801]
    """
    before = np.log(np.maximum(near[:-1] * n_pairs, FEWEST_SIMILAR))
    low = np.minimum(before, np.log(np.maximum(similar, 1e-9)))
    high = np.maximum(before, np.log(np.maximum(similar, 1e-9)))
    for _ in range(BISECTIONS):
        x = (low + high) / 2
        rises = similar - np.exp(x) > (x - before) / FALL_DOUBT**2
        low, high = np.where(rises, x, low), np.where(rises, high, x)
    shares = np.exp((low + high) / 2) / n_pairs
    shares *= min(1.0, MOST_AGREEMENT / max(float(shares.sum()), 1e-300))
    return np.append(shares, 1 - shares.sum())


def tabulate_chances_by_value(
    agreeing: FloatArray, of_level: FloatArray, in_band: FloatArray, share: FloatArray
) -> FloatArray:
    """Return the chance of each level given a value, by band, (level, band).

    ``agreeing[b]`` is the chance that unrelated records agree on a value of band b, ``share[b]``
    that of such a value; levels without bands have the same chance in all.
    """
    chance = np.repeat(of_level[:, None], share.size, axis=1)
    # Where texts are alike, that of exact agreement is known as well.
    chance[0] = np.where(in_band[0] > 0, in_band[0], agreeing) / np.maximum(share, 1e-300)
    near = np.append(False, in_band[1:].any(axis=1))
    chance[near] *= in_band[near] / np.maximum(share, 1e-300)
    result: FloatArray = np.minimum(chance, MOST_AGREEMENT)
    return result

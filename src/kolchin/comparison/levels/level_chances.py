"""How often unrelated records show each level: u, and the bands of exact agreement."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.kinds.base import EXACT, Codes, Comparer, Floats, Levels, cut_into_levels
from kolchin.comparison.kinds.long_texts import HOW_THEY_DIFFER, WordsComparer
from kolchin.comparison.kinds.preparing import PreparedField
from kolchin.comparison.levels.pair_levels import compare_codes
from kolchin.comparison.levels.possible_pairs import SAMPLED_PAIRS, Possible
from kolchin.comparison.levels.similarity_tails import LEAST_SHARE, SimilarityTail
from kolchin.comparison.pair_kernels.bands import write_bands

SMOOTHING = 0.5
BAND_PAIRS = 5.0
"""Before any pair is seen, levels divide among bands as records do, with the weight of so many."""

DIFFERENCE_PAIRS = 20.0
"""How texts differ that are more alike is as among those a little less alike, worth so many."""

COUNTED_RECORDS = 100_000
"""Of so many records the pairs that agree on two fields are counted, and scaled up."""

BAND = 4
"""Values of a band differ in frequency by less than this factor."""


class Bands(NamedTuple):
    """The band of each form, and by band the sum of squared frequencies and of frequencies."""

    of_form: NDArray[np.int8]
    u: Floats
    m: Floats


def make_bands(counts: NDArray[np.int64], squares: Floats | None = None) -> Bands:
    """Divide forms by how many records have them: 1 to 3, 4 to 15, 16 to 63, and so on.

    ``squares`` stand for the squared frequencies, where not all pairs are possible.

    >>> make_bands(np.array([1, 3, 4])).of_form.tolist()
    [0, 0, 1]
    """
    frequencies = counts / max(int(counts.sum()), 1)
    squares = frequencies**2 if squares is None else squares
    bands = (np.log2(np.maximum(counts, 1)) / np.log2(BAND)).astype(np.int8)
    n_bands = int(bands.max(initial=0)) + 1
    u, m = np.zeros(n_bands), np.zeros(n_bands)
    np.add.at(u, bands, squares)
    np.add.at(m, bands, frequencies)
    return Bands(bands, u, m)


def bands_among(prepared: PreparedField, possible: Possible) -> Bands:
    """Divide the forms of a field, as `bands_of` does, by how often possible pairs agree on them.

    With all pairs possible, the chance that two records agree on a form is its frequency squared:
    twice the pairs that agree, and each record with itself.
    """
    if possible.is_all:
        return make_bands(prepared.counts)
    n = max(int(prepared.counts.sum()), 1)
    share = possible.share(prepared.codes >= 0)
    agreeing = possible.count_agreeing(prepared.codes, prepared.counts.size)
    return make_bands(prepared.counts, (2 * agreeing / share + prepared.counts) / n**2)


def find_bands_of_pairs(
    bands: Bands, codes: Codes, pairs: Codes, levels: Levels, n_near: int
) -> Levels:
    """Return the band of the more frequent form of each pair, 0 from level ``n_near`` on."""
    result = np.empty(len(pairs), dtype=np.int8)
    write_bands(levels, pairs, codes, bands.of_form, n_near, result)
    return result


class LevelChances(NamedTuple):
    """The chance of each level between unrelated records, and how levels divide among bands.

    ``in_band[level]`` are the shares of a level's pairs by the band of their more frequent form,
    for the levels between exact and different: a slip in a frequent name gives a rare one that
    many records are near to.
    """

    of_level: Floats
    in_band: Floats


def estimate_chances(
    comparing: Comparer,
    prepared: PreparedField,
    bands: Bands,
    pairs: NDArray[np.int32],
    possible: Possible,
) -> LevelChances:
    """Return the chance of each level between unrelated records; ``pairs`` are random ones.

    That of exact agreement is the sum of squared frequencies. The other levels share the rest as
    they do among random pairs that differ, each with half a pair more than was seen.
    """
    n_levels = len(comparing.names)
    exact = min(float(bands.u.sum()), 1 - 1 / SAMPLED_PAIRS)
    if isinstance(comparing, WordsComparer):
        return _estimate_word_chances(comparing, prepared, bands, pairs, possible)
    levels = compare_codes(comparing, prepared.codes[pairs[:, 0]], prepared.codes[pairs[:, 1]])
    seen = np.bincount(levels[levels > EXACT], minlength=n_levels)[1:] + SMOOTHING
    of_level = np.concatenate([[exact], (1 - exact) * seen / seen.sum()])
    near = (levels > EXACT) & (levels < comparing.different)
    band = find_bands_of_pairs(
        bands, prepared.codes, pairs[near], levels[near], comparing.different
    )
    counts = np.zeros((n_levels, bands.m.size))
    np.add.at(counts, (levels[near], band), 1.0)
    in_band = counts + BAND_PAIRS * bands.m
    in_band /= in_band.sum(axis=1, keepdims=True)
    in_band[[EXACT, comparing.different]] = 0.0
    return LevelChances(of_level, in_band)


def _estimate_word_chances(
    comparing: WordsComparer,
    prepared: PreparedField,
    bands: Bands,
    pairs: NDArray[np.int32],
    possible: Possible,
) -> LevelChances:
    """Return the chance of each level of texts, the nearest of which few random pairs show."""
    left, right = prepared.codes[pairs[:, 0]], prepared.codes[pairs[:, 1]]
    differ = (left >= 0) & (right >= 0) & (left != right)
    # Where few pairs are possible, links are as much more frequent among them.
    n_records = int(possible.share(prepared.codes >= 0) * prepared.codes.size)
    similar, how = comparing.similarity(left[differ], right[differ])
    cuts = comparing.field.cuts
    shares = shares_of_differences(cut_into_levels(similar, cuts, first=0), how, len(cuts))
    by_cut = SimilarityTail(similar, n_records).levels(cuts)
    near = np.append((by_cut[:-1, None] * shares).ravel(), by_cut[-1])
    exact = min(max(float(bands.u.sum()), LEAST_SHARE), 1 - 1 / SAMPLED_PAIRS)
    of_level = np.concatenate([[exact], (1 - exact) * near / near.sum()])
    return LevelChances(of_level, np.zeros((of_level.size, bands.m.size)))


def shares_of_differences(cut: Levels, how: NDArray[np.int8], n_cuts: int) -> Floats:
    """Return how pairs of each similarity divide among the ways in which texts differ.

    Few random pairs are very similar, and these may be links: there, the division is that of
    the next similarity but for what many pairs say.

    >>> shares_of_differences(np.array([1, 1]), np.array([1, 1], dtype=np.int8), 2).round(2)
    array([[0.3 , 0.39, 0.3 ],
           [0.3 , 0.39, 0.3 ]])
    """
    counts = np.zeros((n_cuts, len(HOW_THEY_DIFFER)))
    inside = cut < n_cuts
    np.add.at(counts, (cut[inside], how[inside]), 1.0)
    shares = np.empty_like(counts)
    nearby = np.full(len(HOW_THEY_DIFFER), 1 / len(HOW_THEY_DIFFER))
    for k in reversed(range(n_cuts)):
        seen = counts[k] + DIFFERENCE_PAIRS * nearby
        nearby = shares[k] = seen / seen.sum()
    return shares


def count_agreeing_pairs(
    codes: Sequence[Codes], rng: np.random.Generator, possible: Possible | None = None
) -> Floats:
    """Count the pairs of records that agree exactly on every two fields (and, if f = g, on one).

    >>> count_agreeing_pairs([np.array([0, 0, 0]), np.array([1, 1, 2])], np.random.default_rng(1))
    array([[3., 1.],
           [1., 1.]])
    """
    n_records = codes[0].size
    possible = possible or Possible.of(n_records)
    if n_records > COUNTED_RECORDS:
        some = rng.choice(n_records, COUNTED_RECORDS, replace=False)
        codes = [of_field[some] for of_field in codes]
        possible = Possible(
            COUNTED_RECORDS, possible.sources[some] if not possible.is_all else possible.sources
        )
    n_counted = codes[0].size
    scale = n_records * (n_records - 1) / max(n_counted * (n_counted - 1), 1)
    result = np.zeros((len(codes), len(codes)))
    for f, g in [*combinations(range(len(codes)), 2), *((f, f) for f in range(len(codes)))]:
        both = (codes[f] >= 0) & (codes[g] >= 0)
        width = int(codes[g].max(initial=0)) + 1
        couples = np.full(n_counted, -1, dtype=np.int32)
        numbers = codes[f][both].astype(np.int64) * width + codes[g][both]
        kept, couples[both] = np.unique(numbers, return_inverse=True)
        pairs = possible.count_agreeing(couples, kept.size)
        result[f, g] = result[g, f] = scale * float(pairs.sum())
    return result

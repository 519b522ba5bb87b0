"""The likelihood of a table for more records than it was learnt from, and for fewer.

Chances, bands and what moves together stay as they were learnt, so that parameters mean what they
meant. Outcomes of comparing that nobody had before get patterns of their own.
"""

import copy
import dataclasses

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison import Comparisons
from kolchin.comparison.added_records import AddedPairs
from kolchin.comparison.compared_pairs import PairParts
from kolchin.comparison.distinct_rows import find_distinct_rows
from kolchin.likelihoods.chance import tabulate_chances_by_value
from kolchin.likelihoods.compared_patterns import UnmergedPatterns
from kolchin.likelihoods.exemplar import Exemplar
from kolchin.parameters import FloatArray, IntArray


def extend_likelihood(learnt: Exemplar, row_now: IntArray, added: AddedPairs) -> Exemplar:
    """Return that of all records; ``row_now`` is where each known record is now (-1: gone).

    The order of known records stays.
    """
    known = learnt.comparisons
    assert known is not None
    n_known = len(known.outcomes)
    levels = np.concatenate([known.outcomes, added.levels])
    bands = np.concatenate([known.outcome_bands, added.bands])
    rows, which = find_distinct_rows([*levels.T, *bands.T])
    levels, bands = levels[rows], bands[rows]
    parts = _join_parts(known, row_now, added.pairs, which[n_known:])
    gains = _compute_gains(learnt, known, levels[n_known:], bands[n_known:])
    compared = _add_patterns(learnt, levels[n_known:], bands[n_known:], gains)
    compared.parts = parts
    bits = (1 << np.arange(learnt.n_fields)).astype(np.int32)
    compared.shown = (added.shows @ bits).astype(np.int32)
    slips, stays = added.slips.copy(), row_now >= 0
    slips[row_now[stays]] = known.slips[stays]
    compared.slips = (slips @ bits).astype(np.int32)
    counts = np.zeros((len(levels), 3), dtype=np.int64)
    counts[:n_known] = known.found
    report = dataclasses.replace(
        known.report, n_records=len(added.shows), n_pairs=int(parts.counts.sum())
    )
    compared.comparisons = dataclasses.replace(
        known,
        parts=parts,
        outcomes=levels,
        outcome_bands=bands,
        found=counts,
        shows=added.shows,
        slips=slips,
        report=report,
    )
    return compared


def _join_parts(
    known: Comparisons, row_now: IntArray, pairs: NDArray[np.int32], which: NDArray[np.int32]
) -> PairParts:
    """Put the pairs of records that are still there and those of added ones together, sorted."""
    old = row_now[known.parts.pairs].astype(np.int32)
    there = (old >= 0).all(axis=1)
    every = np.concatenate([old[there], pairs])
    outcomes = np.concatenate([known.parts.which[there], which]).astype(np.int32)
    order = np.lexsort([every[:, 1], every[:, 0]])
    return PairParts.of(every[order], outcomes[order])


def _compute_gains(
    learnt: Exemplar, known: Comparisons, levels: NDArray[np.int8], bands: NDArray[np.int8]
) -> FloatArray:
    """Return minus the log of the chance of levels that no pair had before, as it was learnt.

    A level in a band that was never seen has the chance of the nearest band that was, or what the
    frequencies of values say.
    """
    told = _get_unmerged(learnt)
    constant = told.constant[told.pattern]
    gain = np.zeros(levels.shape)
    for f in range(levels.shape[1]):
        share = known.band_m[f]
        of_value = tabulate_chances_by_value(known.band_u[f], known.u[f], known.in_band[f], share)
        table = -np.log(np.maximum(of_value, 1e-300))
        seen = np.zeros(table.shape, dtype=bool)
        own = known.outcomes[:, f] >= 0
        at = known.outcomes[own, f], known.outcome_bands[own, f]
        table[at], seen[at] = constant[own, f], True
        for level in np.flatnonzero(seen.any(axis=1)):
            (bands_seen,) = np.nonzero(seen[level])
            every = np.arange(share.size)
            nearest = np.abs(every[:, None] - bands_seen).argmin(axis=1)
            table[level] = table[level, bands_seen[nearest]]
        shown = levels[:, f] >= 0
        gain[shown, f] = table[levels[shown, f], bands[shown, f]]
    return gain


def _get_unmerged(learnt: Exemplar) -> UnmergedPatterns:
    """Return the patterns as they were before alike ones were made one, if any were."""
    if learnt._unmerged is not None:
        return learnt._unmerged
    return UnmergedPatterns(learnt.place, learnt.constant, learnt._pattern)


def _add_patterns(
    learnt: Exemplar, levels: NDArray[np.int8], bands: NDArray[np.int8], gains: FloatArray
) -> Exemplar:
    """Return a likelihood with a pattern more for each of some outcomes."""
    told, n_masks = _get_unmerged(learnt), 1 << learnt.n_fields
    missing = learnt.offsets[-1]
    place = np.where(levels >= 0, levels + learnt.offsets[:-1], missing).astype(np.int32)
    fresh = np.arange(len(levels), dtype=np.int32)
    more = copy.copy(learnt)
    more.place = _insert_rows(learnt.place, place, n_masks)
    more.constant = _insert_rows(learnt.constant, gains, n_masks)
    more.n_patterns = learnt.n_patterns + len(levels)
    more._pattern = np.append(learnt._pattern, learnt.n_patterns + fresh).astype(np.int32)
    more._number = np.append(learnt._number, np.zeros(len(levels)))
    more.bands = np.concatenate([learnt.bands, bands])
    more._unmerged = UnmergedPatterns(
        _insert_rows(told.place, place, n_masks),
        _insert_rows(told.constant, gains, n_masks),
        np.append(told.pattern, len(told.place) - n_masks + fresh).astype(np.int32),
    )
    more._take_dependence(learnt.dependence)
    return more


def _insert_rows(rows: NDArray[np.generic], more: NDArray[np.generic], n_last: int) -> NDArray:  # type: ignore[type-arg]
    """Put rows before the last ones, which are of pairs that were not compared."""
    split = len(rows) - n_last
    return np.concatenate([rows[:split], more.astype(rows.dtype), rows[split:]])


def restrict_likelihood(compared: Exemplar, rows: IntArray) -> Exemplar:
    """Return the likelihood of some of the records, in ascending order."""
    place = np.full(compared.shown.size, -1, dtype=np.int32)
    place[rows] = np.arange(rows.size, dtype=np.int32)
    found = [(place[part.pairs], part.which) for part in compared.parts]
    inside = [(pairs >= 0).all(axis=1) for pairs, _ in found]
    both = list(zip(found, inside, strict=True))
    pairs = np.concatenate([pairs[kept] for (pairs, _), kept in both])
    outcomes, which = np.unique(
        np.concatenate([which[kept] for (_, which), kept in both]), return_inverse=True
    )
    fewer = _keep_patterns(compared, outcomes)
    fewer.parts = PairParts.of(pairs, which.ravel().astype(np.int32))
    fewer.shown, fewer.slips = compared.shown[rows], compared.slips[rows]
    return fewer


def _keep_patterns(compared: Exemplar, outcomes: IntArray) -> Exemplar:
    """Return a likelihood for some outcomes alone, whose evidence is found sooner."""
    used, pattern = np.unique(compared._pattern[outcomes], return_inverse=True)
    n_patterns = compared.n_patterns
    fewer = copy.copy(compared)
    fewer.place = np.concatenate([compared.place[used], compared.place[n_patterns:]])
    fewer.constant = np.concatenate([compared.constant[used], compared.constant[n_patterns:]])
    fewer.n_patterns = used.size
    fewer._pattern = pattern.ravel().astype(np.int32)
    fewer._number = compared._number[used]
    fewer._unmerged = None
    fewer._take_dependence(compared.dependence)
    return fewer

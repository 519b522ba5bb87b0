"""Pairs worth proposing: all pairs, or those of equal keys, by their evidence."""

import numpy as np
from numpy.typing import NDArray

from kolchin.kernels.arrays import Floats, Int32s, Int64s
from kolchin.kernels.categorical import log_categorical_pair
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.exemplar import place_of
from kolchin.kernels.sources import clash


@compiled
def score_histogram(
    codes: Int32s,
    gain: Floats,
    source: Int32s,
    delta: Floats,
    lowest: float,
    width: float,
    n_bins: int,
) -> Int64s:
    """Count all pairs by their log evidence, from ``lowest`` up in bins of ``width``.

    Pairs of one source are no candidates, here and below.
    """
    counts = np.zeros(n_bins, dtype=np.int64)
    n_records = codes.shape[0]
    for i in range(n_records):
        for j in range(i + 1, n_records):
            if source.size > 0 and clash(source, i, j):
                continue
            score = log_categorical_pair(codes, gain, delta, i, j)
            if score >= lowest:
                counts[min(int((score - lowest) / width), n_bins - 1)] += 1
    return counts


@compiled
def pairs_above(
    codes: Int32s, gain: Floats, source: Int32s, delta: Floats, lowest: float, n_pairs: int
) -> Int32s:
    """List all pairs whose log evidence is at least ``lowest`` (there are ``n_pairs``)."""
    found = np.empty((n_pairs, 2), dtype=np.int32)
    k = 0
    n_records = codes.shape[0]
    for i in range(n_records):
        for j in range(i + 1, n_records):
            if source.size > 0 and clash(source, i, j):
                continue
            if k < n_pairs and log_categorical_pair(codes, gain, delta, i, j) >= lowest:
                found[k, 0] = i
                found[k, 1] = j
                k += 1
    return found[:k]


@compiled
def block_pairs(
    order: Int64s,
    key: NDArray[np.uint64],
    window: int,
    codes: Int32s,
    gain: Floats,
    source: Int32s,
    delta: Floats,
    lowest: float,
) -> Int64s:
    """List pairs i * N + j (i < j) of equal key whose log evidence is at least ``lowest``.

    ``order`` sorts the records by ``key``; in a block, each record meets the ``window`` next.
    """
    n_records = order.size
    found = np.empty(max(1024, n_records), dtype=np.int64)
    n_found = 0
    for a in range(n_records):
        i = order[a]
        for b in range(a + 1, min(a + 1 + window, n_records)):
            j = order[b]
            if key[i] != key[j]:
                break
            if source.size > 0 and clash(source, i, j):
                continue
            if log_categorical_pair(codes, gain, delta, i, j) >= lowest:
                if n_found == found.size:
                    larger = np.empty(2 * found.size, dtype=np.int64)
                    larger[:n_found] = found
                    found = larger
                found[n_found] = min(i, j) * n_records + max(i, j)
                n_found += 1
    return found[:n_found]


@compiled
def pair_scores(
    codes: Int32s,
    gain: Floats,
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    source: Int32s,
    delta: Floats,
    ratio: Floats,
    apart: Floats,
    pairs: Int32s,
) -> Floats:
    """Log evidence of each listed pair."""
    scores = np.empty(pairs.shape[0])
    score_pairs(codes, gain, begins, others, pattern, shown, delta, ratio, apart, pairs, scores)
    return scores


@lean
def score_pairs(
    codes: Int32s,
    gain: Floats,
    begins: Int64s,
    others: Int32s,
    pattern: Int32s,
    shown: Int32s,
    delta: Floats,
    ratio: Floats,
    apart: Floats,
    pairs: Int32s,
    scores: Floats,
) -> None:
    """Do what ``pair_scores`` says; it is quickest if pairs come in order."""
    place = 0
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        scores[k] = log_categorical_pair(codes, gain, delta, i, j)
        if ratio.size > 0:
            # The next pair that was compared often stands beside the last.
            place += 1
            if not (begins[i] <= place < begins[i + 1] and others[place] == j):
                place = place_of(begins, others, i, j)
            scores[k] += np.log(apart[shown[i] & shown[j]] if place < 0 else ratio[pattern[place]])

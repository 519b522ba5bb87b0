"""Pairs worth proposing: all pairs, or those of equal keys, by their evidence."""

import numpy as np
from numpy.typing import NDArray

from kolchin.kernels.arrays import Data, Evidence, Floats, Int32s, Int64s
from kolchin.kernels.categorical import log_categorical_ratio
from kolchin.kernels.compiling import compiled, lean
from kolchin.kernels.exemplar import find_compared_pair
from kolchin.kernels.sources import are_of_one_source


@compiled
def count_pairs_by_score(
    data: Data, evidence: Evidence, lowest: float, width: float, n_bins: int
) -> Int64s:
    """Count all pairs by their log evidence, from ``lowest`` up in bins of ``width``.

    Pairs of one source are no candidates, here and below.
    """
    counts = np.zeros(n_bins, dtype=np.int64)
    count_scores(data, evidence, lowest, width, counts)
    return counts


@lean
def count_scores(
    data: Data, evidence: Evidence, lowest: float, width: float, counts: Int64s
) -> None:
    """Count pairs in the bins that ``count_pairs_by_score`` has made."""
    n_records = data.codes.shape[0]
    for i in range(n_records):
        for j in range(i + 1, n_records):
            if data.source.size > 0 and are_of_one_source(data.source, i, j):
                continue
            score = log_categorical_ratio(data, evidence, i, j)
            if score >= lowest:
                counts[min(int((score - lowest) / width), counts.size - 1)] += 1


@compiled
def list_pairs_above(data: Data, evidence: Evidence, lowest: float, n_pairs: int) -> Int32s:
    """List all pairs whose log evidence is at least ``lowest`` (there are ``n_pairs``)."""
    found = np.empty((n_pairs, 2), dtype=np.int32)
    return found[: write_pairs_above(data, evidence, lowest, found)]


@lean
def write_pairs_above(data: Data, evidence: Evidence, lowest: float, found: Int32s) -> int:
    """Write the pairs that ``list_pairs_above`` returns; return how many there are."""
    k = 0
    n_records = data.codes.shape[0]
    for i in range(n_records):
        for j in range(i + 1, n_records):
            if k < len(found) and is_hopeful(data, evidence, i, j, lowest):
                found[k, 0] = i
                found[k, 1] = j
                k += 1
    return k


@compiled
def list_block_pairs(
    order: Int64s,
    key: NDArray[np.uint64],
    window: int,
    data: Data,
    evidence: Evidence,
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
            if is_hopeful(data, evidence, i, j, lowest):
                if n_found == found.size:
                    larger = np.empty(2 * found.size, dtype=np.int64)
                    larger[:n_found] = found
                    found = larger
                found[n_found] = min(i, j) * n_records + max(i, j)
                n_found += 1
    return found[:n_found]


@lean
def is_hopeful(data: Data, evidence: Evidence, i: int, j: int, lowest: float) -> bool:
    """Tell whether two records, not of one source, have log evidence of at least ``lowest``."""
    if data.source.size > 0 and are_of_one_source(data.source, i, j):
        return False
    return log_categorical_ratio(data, evidence, i, j) >= lowest


@compiled
def compute_pair_scores(data: Data, evidence: Evidence, pairs: Int32s) -> Floats:
    """Log evidence of each listed pair."""
    scores = np.empty(pairs.shape[0])
    write_pair_scores(data, evidence, pairs, scores)
    return scores


@lean
def write_pair_scores(data: Data, evidence: Evidence, pairs: Int32s, scores: Floats) -> None:
    """Write what ``compute_pair_scores`` returns; it is quickest if pairs come in order."""
    place = 0
    for k in range(pairs.shape[0]):
        i, j = pairs[k, 0], pairs[k, 1]
        scores[k] = log_categorical_ratio(data, evidence, i, j)
        if evidence.ratio.size > 0:
            # The next pair that was compared often stands beside the last.
            place += 1
            if not (data.begins[i] <= place < data.begins[i + 1] and data.others[place] == j):
                place = find_compared_pair(data, i, j)
            scores[k] += np.log(
                evidence.uncompared[data.shown[i] & data.shown[j]]
                if place < 0
                else evidence.ratio[data.pattern[place]]
            )

"""Pairs of records with categorical fields worth proposing, found without comparing all pairs.

For a small table all pairs are scored. For a large one, records that agree on one of several
keys (sets of fields) are: keys are chosen so that almost every true match, whichever of its
fields differ, agrees on at least one, while chance agreements stay linear in N.
"""

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.kernels.hashing import GOLDEN
from kolchin.parameters import FloatArray

if TYPE_CHECKING:
    from kolchin.likelihoods.categorical import DirichletCategorical

ALL_PAIRS_UP_TO = 8_000
"""Tables of at most this many records have all their pairs scored."""

PAIRS_PER_RECORD = 20
FEWEST_LISTED = 1_000_000
"""How long the list may grow: in pairs a record, and for small tables, in pairs."""

CHANCE_PAIRS_PER_RECORD = 8
"""How many pairs a key may form by chance, a record."""

WINDOW = 100
"""In a block of equal keys, how many neighbours each record is compared with."""

MISMATCH = 0.1
"""Share of a true match's fields that differ, when keys are chosen."""

MOST_KEYS = 12

IntPairs = NDArray[np.int32]

LOG_ODDS_BELOW_EVEN = 9.0
"""A priori a pair is linked with odds of about 1/N: so far below even odds it may wait for the
uniform part of the proposals."""


def find_lowest_evidence(n_records: int) -> float:
    """Return the log evidence that makes a pair of so many records a candidate."""
    return float(np.log(n_records)) - LOG_ODDS_BELOW_EVEN


def find_by_codes(
    likelihood: "DirichletCategorical", source: NDArray[np.int32]
) -> tuple[IntPairs, FloatArray]:
    """List the pairs that are not hopeless at a generous delta, and the log evidence of each.

    If there are very many, the best are taken.
    """
    delta, data = (
        likelihood.choose_generous_delta(),
        likelihood.make_kernel_data()._replace(source=source),
    )
    n_records = len(data.codes)
    most = max(FEWEST_LISTED, PAIRS_PER_RECORD * n_records)
    lowest = find_lowest_evidence(n_records)
    if n_records <= ALL_PAIRS_UP_TO:
        pairs = _list_from_all_pairs(data, delta, lowest, most)
    else:
        pairs = _list_from_keys(likelihood, data, delta, lowest, most)
    return pairs, kernels.compute_pair_scores(data, kernels.Evidence(delta), pairs)


def _list_from_all_pairs(
    data: kernels.Data, delta: FloatArray, lowest: float, most: int
) -> IntPairs:
    """List the pairs with most evidence, among all there are; at most so many."""
    width = 0.1
    evidence = kernels.Evidence(delta)
    counts = kernels.count_pairs_by_score(data, evidence, lowest, width, 2000)
    at_least = np.cumsum(counts[::-1])[::-1]
    bins = np.flatnonzero(at_least <= most)
    first = int(bins[0]) if bins.size else counts.size - 1
    pairs: IntPairs = kernels.list_pairs_above(
        data, evidence, lowest + first * width, int(at_least[first])
    )
    return pairs


def _list_from_keys(
    likelihood: "DirichletCategorical",
    data: kernels.Data,
    delta: FloatArray,
    lowest: float,
    most: int,
) -> IntPairs:
    """List the pairs with most evidence, among those that agree on a key; at most so many."""
    n_records = data.codes.shape[0]
    found = np.empty(0, dtype=np.int64)
    for fields in choose_keys(likelihood):
        key = hash_fields(data.codes, fields)
        order = np.argsort(key, kind="stable")
        pairs = kernels.list_block_pairs(order, key, WINDOW, data, kernels.Evidence(delta), lowest)
        found = np.union1d(found, pairs)
    listed = np.stack([found // n_records, found % n_records], axis=1).astype(np.int32)
    if len(listed) <= most:
        return listed
    scores = kernels.compute_pair_scores(data, kernels.Evidence(delta), listed)
    return listed[np.argpartition(scores, len(listed) - most)[-most:]]


def hash_fields(codes: NDArray[np.int32], fields: tuple[int, ...]) -> NDArray[np.uint64]:
    """Hash some fields of each record; a record that lacks one gets a key of its own."""
    key = np.zeros(codes.shape[0], dtype=np.uint64)
    for f in fields:
        key = (key ^ (codes[:, f].astype(np.uint64) + np.uint64(1))) * GOLDEN
        key ^= key >> np.uint64(29)
    lacking = (codes[:, list(fields)] < 0).any(axis=1)
    key[lacking] = np.flatnonzero(lacking)
    return key


def choose_keys(likelihood: "DirichletCategorical") -> list[tuple[int, ...]]:
    """Choose sets of fields that together catch matches whichever few of their fields differ.

    Greedy cover of simulated agreement patterns by the shortest sets that keep chance pairs
    linear in N.
    """
    n_records, n_fields = likelihood.codes.shape
    seen = (likelihood.codes >= 0).mean(axis=0)
    parts = np.split(likelihood.frequency, likelihood.offsets[1:-1])
    chance = np.array([part @ part for part in parts]) * seen**2
    most = CHANCE_PAIRS_PER_RECORD / (0.5 * n_records)
    keys = _list_short_sets(chance, most)
    rng = np.random.default_rng(0)
    agree = rng.random((4000, n_fields)) < (1 - MISMATCH) * seen**2
    covers = np.array([agree[:, list(key)].all(axis=1) for key in keys])
    chosen: list[tuple[int, ...]] = []
    while len(chosen) < MOST_KEYS:
        gains = covers.sum(axis=1)
        best = int(gains.argmax())
        if gains[best] <= 4:
            break
        chosen.append(keys[best])
        covers &= ~covers[best]
    return chosen or [tuple(range(n_fields))]


def _list_short_sets(chance: FloatArray, most: float) -> list[tuple[int, ...]]:
    """List the sets of fields that agree by chance rarely enough, and no superset of another."""
    fields = np.argsort(chance)[:16]
    found: list[tuple[int, ...]] = []
    for size in range(1, len(fields) + 1):
        for chosen in combinations(fields.tolist(), size):
            if np.prod(chance[list(chosen)]) <= most and not any(
                set(shorter) <= set(chosen) for shorter in found
            ):
                found.append(chosen)
        if len(found) > 2000:
            break
    return found or [tuple(fields.tolist())]

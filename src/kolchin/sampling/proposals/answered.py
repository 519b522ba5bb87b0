"""Pairs of which people say something, among those that moves are made on."""

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.answers import Answers
from kolchin.parameters import FloatArray, IntArray

Pairs = NDArray[np.int32]

TIED_SCORE = 1e6
"""Records that are certainly the same come before all other candidates."""

OPEN_LOG_ODDS = 2.0
"""Answered pairs are visited as if they had no more than these log odds, either way.

One that is called different is where others are exchanged: each may belong to the one or the other.
"""


def add_tied_pairs(answers: Answers, pairs: Pairs, scores: FloatArray) -> tuple[Pairs, FloatArray]:
    """Return candidates with those that are certainly the same, which come first."""
    tied = answers.tied
    if not len(tied):
        return pairs, scores
    others = ~np.isin(_number(pairs, answers.n_records), _number(tied, answers.n_records))
    known = np.full(len(tied), TIED_SCORE)
    return np.concatenate([pairs[others], tied]), np.append(scores[others], known)


def add_answered_pairs(
    answers: Answers, pairs: Pairs, scores: FloatArray
) -> tuple[Pairs, FloatArray]:
    """Return candidates with all pairs of which something is said."""
    if not answers:
        return pairs, scores
    n_records = answers.n_records
    lacking = ~np.isin(_number(answers.pairs, n_records), _number(pairs, n_records))
    known = np.clip(answers.log_factor[lacking], -TIED_SCORE, TIED_SCORE)
    return np.concatenate([pairs, answers.pairs[lacking]]), np.append(scores, known)


def find_answered(answers: kernels.AnswerLists, pairs: Pairs) -> IntArray:
    """Return which of some pairs something is said of that is not certain to be the same."""
    if not answers.others.size:
        return np.empty(0, dtype=np.int64)
    n_records = answers.starts.size - 1
    at = np.repeat(np.arange(n_records), np.diff(answers.starts))
    said = np.stack([at, answers.others], axis=1)[at < answers.others]
    found: IntArray = np.flatnonzero(np.isin(_number(pairs, n_records), _number(said, n_records)))
    return found


def list_parted_pairs(answers: kernels.AnswerLists) -> set[tuple[int, int]]:
    """Return the pairs that are certainly different, each both ways round."""
    certain = np.flatnonzero(np.isneginf(answers.log_factor))
    at = np.searchsorted(answers.starts, certain, side="right") - 1
    return set(zip(at.tolist(), answers.others[certain].tolist(), strict=True))


def _number(pairs: NDArray[np.integer], n_records: int) -> IntArray:
    """Return a whole number for each pair, by which pairs are compared."""
    wide = np.asarray(pairs, dtype=np.int64)
    keys: IntArray = wide[:, 0] * n_records + wide[:, 1]
    return keys

"""What the pairs of patterns are shared out into: sets, entities, families."""

from typing import NamedTuple

import numpy as np

from kolchin.likelihoods.evidence_kernels.pair_shares import (
    ClassPairs,
    PairClasses,
    PairPatterns,
    PatternPairs,
    divide_pairs,
)
from kolchin.parameters import FloatArray
from kolchin.threads import call_over_ranges

RANGE = 1 << 15
"""So many patterns are looked at in one go."""


class Shares(NamedTuple):
    """Pairs by shared set and by set that entities have replaced, and the levels among them.

    ``linked`` and ``sharing`` are the pairs of each pattern (those that share a set which was
    counted among all records are left out of the latter), ``wrong`` those of entities by what is
    seen and how many of it is wrong. ``beside`` has the levels beside shared sets, ``leaked`` how
    many pairs share one more field for the same reason, and of how many. ``family`` has the levels
    of alike records, where these are a class.
    """

    by_set: FloatArray
    by_entity: FloatArray
    typed: FloatArray
    m: FloatArray
    linked: FloatArray
    sharing: FloatArray
    wrong: FloatArray
    beside: FloatArray
    leaked: FloatArray
    family: FloatArray


def share_pairs(
    patterns: PairPatterns, classes: PairClasses, threads: int | None = None
) -> tuple[ClassPairs, PatternPairs]:
    """Divide the pairs of patterns among classes, and return what those of each show."""
    by_pattern = PatternPairs(*np.zeros((2, patterns.number.size)))

    def divide_range(first: int, last: int) -> ClassPairs:
        by_class = make_class_pairs(classes)
        divide_pairs(patterns, classes, first, last, by_class, by_pattern)
        return by_class

    parts = call_over_ranges(divide_range, patterns.number.size, RANGE, threads)
    both = zip(make_class_pairs(classes), *parts, strict=True)
    return ClassPairs(*(np.sum(arrays, axis=0) for arrays in both)), by_pattern


def make_class_pairs(classes: PairClasses) -> ClassPairs:
    """Return what no pairs show."""
    return ClassPairs(
        total=np.zeros(classes.sets.size),
        levels=np.zeros(classes.log_levels.shape),
        wrong=np.zeros(classes.log_tilt.shape),
        beside=np.zeros(classes.loose.shape),
        leaked=np.zeros((2, *classes.leak.shape)),
    )

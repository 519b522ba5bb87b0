"""Patterns: the different outcomes of comparing, each of which has a number.

Two pairs show the same pattern where all fields agree to the same levels, on values as frequent.
Kernels know pairs by their patterns, and evidence is tabulated by pattern.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.compared_pairs import PairParts
from kolchin.comparison.distinct_rows import find_distinct_rows
from kolchin.comparison.pairs_by_record import RecordLists, list_by_record
from kolchin.errors import ModelError
from kolchin.likelihoods.dependence import Masks
from kolchin.likelihoods.outcomes import Outcomes
from kolchin.likelihoods.sharing import Patterns
from kolchin.parameters import FloatArray, IntArray

MOST_FIELDS = 16
"""The fields that a record shows are the bits of a small number."""


class UnmergedPatterns(NamedTuple):
    """Patterns before some were made one: levels, minus the logs of their chances, by outcome.

    Chains need not tell them apart, but who asks for the evidence of a pair wants its own.
    """

    place: NDArray[np.signedinteger[Any]]
    constant: NDArray[np.floating[Any]]
    pattern: NDArray[np.int32]


class ComparedPatterns:
    """Which pairs of records were compared, and the pattern of each.

    Levels of all fields have one number after each other: ``place[p, f]`` is that of field f in
    pattern p (``offsets[-1]``: missing), ``constant[p, f]`` minus the log of its chance between
    unrelated records. Patterns of pairs that were not compared come last, by what both show.
    """

    def __init__(self, compared: Outcomes, names: Sequence[str]) -> None:
        if len(names) > MOST_FIELDS:
            raise ModelError(
                f"There may be at most {MOST_FIELDS} compared fields. Got {len(names)} instead."
            )
        self.names = tuple(names)
        self.n_patterns = 0
        self._unmerged: UnmergedPatterns | None = None
        self.offsets = np.concatenate([[0], np.cumsum(compared.n_levels)]).astype(np.int64)
        bits = (1 << np.arange(len(names))).astype(np.int32)
        self.shown: NDArray[np.int32] = (compared.shows @ bits).astype(np.int32)
        slips = np.zeros_like(compared.shows) if compared.slips is None else compared.slips
        self.slips: NDArray[np.int32] = (slips @ bits).astype(np.int32)
        self.n_learnt = self.shown.size  # records may be added later
        self.parts = _parts(compared.pairs, compared.which)
        self._pattern = self._number_patterns(compared)
        counts, pattern = self.parts.counts, self._pattern[: self.parts.counts.size]
        self._number: FloatArray = np.bincount(pattern, counts, self.n_patterns).astype(float)

    def _number_patterns(self, compared: Outcomes) -> NDArray[np.int32]:
        """Give each outcome a number, and last those of pairs not compared, by what both show."""
        seen = compared.levels >= 0
        # The place of each level among all; the last place stands for a missing value.
        missing = self.offsets[-1]
        place = np.where(seen, compared.levels + self.offsets[:-1], missing).astype(np.int64)
        constant = -np.log(np.where(seen, compared.chance, 1.0))
        bands = np.zeros_like(compared.levels) if compared.bands is None else compared.bands
        told_apart = [*place.T, *constant.view(np.int64).T, *bands.T]
        first, pattern = find_distinct_rows(told_apart)
        self.bands: NDArray[np.int8] = bands[first]
        masks = np.arange(1 << self.n_fields)
        both = (masks[:, None] >> np.arange(self.n_fields)) & 1 == 1
        apart = np.where(both, self.offsets[1:] - 1, missing)
        self.place: NDArray[np.int32] = np.concatenate([place[first], apart]).astype(np.int32)
        last = np.where(both, -np.log(compared.chance_apart), 0.0)
        self.constant: FloatArray = np.concatenate([constant[first], last])
        self.n_patterns = len(first)
        return pattern

    def _take_chances(self, gain: FloatArray, u: tuple[FloatArray, ...]) -> None:
        """Take other chances of levels, by pattern, and by field for pairs not compared."""
        last = -np.log([chances[-1] for chances in u])
        seen = self.place[self.n_patterns :] < self.offsets[-1]
        self.constant[:] = np.concatenate([gain, np.where(seen, last, 0.0)])

    def mark_near(self) -> NDArray[np.int32]:
        """Tell in which fields (by bits) values are near, by pattern of pairs compared or not."""
        near = (self.place > self.offsets[:-1]) & (self.place < self.offsets[1:] - 1)
        result: NDArray[np.int32] = (near @ (1 << np.arange(self.n_fields))).astype(np.int32)
        return result

    @property
    def n_fields(self) -> int:
        """Number of compared fields."""
        return len(self.names)

    @property
    def patterns(self) -> Patterns:
        """The different outcomes of comparing, and how many pairs show each."""
        place = self.place[: self.n_patterns]
        levels = np.where(place < self.offsets[-1], place - self.offsets[:-1], -1)
        return Patterns(levels.astype(np.int8), self.constant[: self.n_patterns], self._number)

    def write_names(self, fields: Masks) -> str:
        """Write a set of fields."""
        return " + ".join(self.list_names(fields))

    def list_names(self, fields: Masks) -> list[str]:
        """Return the names of a set of fields."""
        return [name for name, inside in zip(self.names, fields, strict=True) if inside]

    def list_compared(self, order: IntArray | None = None) -> RecordLists:
        """List for each record, or each place of an order, those it was compared with.

        Kernels read them: where each list begins, the others, and the pattern of the pair.
        """
        begins, others, marks = list_by_record(list(self.parts), self.shown.size, order)
        np.take(self._pattern, marks, out=marks, mode="clip")
        return RecordLists(begins, others, marks)

    def find_patterns(self, pairs: NDArray[Any]) -> IntArray:
        """Return the pattern of each pair, compared or not."""
        return self._number_pairs(pairs, self._pattern, self.n_patterns)

    def _number_pairs(
        self, pairs: NDArray[Any], pattern: NDArray[np.int32], n_patterns: int
    ) -> IntArray:
        """Return the pattern of each pair, given those of outcomes; others come after these."""
        shown = self.shown[pairs[:, 0]] & self.shown[pairs[:, 1]]
        result: IntArray = n_patterns + shown.astype(np.int64)
        which = self.parts.outcomes_of(pairs)
        found = which >= 0
        result[found] = pattern[which[found]]
        return result

    @property
    def pattern_of_outcome(self) -> NDArray[np.int32]:
        """The pattern of each outcome of the parts."""
        return self._pattern


def _parts(pairs: NDArray[np.int32] | PairParts, which: NDArray[np.int32] | None) -> PairParts:
    """Return pairs in parts, sorted."""
    if isinstance(pairs, PairParts):
        return pairs
    if which is None:
        which = np.arange(len(pairs), dtype=np.int32)
    order = np.lexsort([pairs[:, 1], pairs[:, 0]])
    return PairParts.of(pairs[order], which[order])

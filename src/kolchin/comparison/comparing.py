"""Candidates are put together and compared, the records of one portion after the other's."""

import copy
import itertools
import pickle
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison.blocking.blocked_pairs import CandidatePairs
from kolchin.comparison.blocking.pair_budget import FoundPairs, merge_pairs
from kolchin.comparison.compared_pairs import PairParts, PairPlace
from kolchin.comparison.distinct_rows import find_distinct_rows
from kolchin.comparison.kinds.base import Codes, Comparer, Levels
from kolchin.comparison.kinds.preparing import PreparedField
from kolchin.comparison.levels.companions import Companions, mark_companions
from kolchin.comparison.levels.level_chances import Bands, find_bands_of_pairs
from kolchin.comparison.levels.pair_levels import (
    FrequentForms,
    compare_pairs,
    tabulate_frequent_forms,
)
from kolchin.comparison.levels.possible_pairs import Possible
from kolchin.comparison.levels.swapped_values import ColumnCouple, mark_swapped
from kolchin.errors import ModelError
from kolchin.store import Store
from kolchin.threads import call_over_ranges
from kolchin.workplace import Workplace, fetch_held

RECORDS_A_PORTION = 1 << 17
AT_ONCE = 32
"""The outcomes of so many portions are numbered at the same time."""

TOOLS = "tools"


class ComparisonTools(NamedTuple):
    """All that comparing takes: by field how, the frequent forms and the codes; couples; bands.

    ``companions`` are the texts that other fields go with; pairs that are not ``possible`` are left
    out.
    """

    comparing: list[Comparer]
    frequent: list[FrequentForms]
    codes: list[Codes]
    couples: tuple[ColumnCouple, ...]
    bands: tuple[Bands, ...]
    companions: Companions
    possible: Possible

    def outcomes(self, pairs: NDArray[np.int32]) -> tuple[Levels, Levels]:
        """Return the levels and the bands of pairs, one column a field."""
        levels = compare_pairs(self.comparing, self.codes, pairs, self.frequent)
        for couple in self.couples:
            different = self.comparing[couple.fields[0]].different
            mark_swapped(levels, couple, pairs, different)
        bands = np.empty(levels.shape, dtype=np.int8, order="F")

        def write(first: int, last: int) -> None:
            for f, (codes, of_field) in enumerate(zip(self.codes, self.bands, strict=True)):
                part = pairs[first:last], levels[first:last, f], self.comparing[f].different
                bands[first:last, f] = find_bands_of_pairs(of_field, codes, *part)

        call_over_ranges(write, len(pairs))
        apart = {g: self.comparing[g].different for g in self.companions.values()}
        last = [of_field.u.size - 1 for of_field in self.bands]
        mark_companions(levels, bands, self.companions, apart, last)
        return levels, bands


def prepare_tools(
    used: Sequence[PreparedField],
    couples: tuple[ColumnCouple, ...],
    bands: Sequence[Bands],
    companions: Companions,
    n_pairs: int,
    possible: Possible,
) -> ComparisonTools:
    """Return what it takes to compare about so many pairs."""
    kinds = [one.comparing for one in used if one.comparing is not None]
    codes = [one.codes for one in used]
    frequent = [
        tabulate_frequent_forms(kind, of, n_pairs) for kind, of in zip(kinds, codes, strict=True)
    ]
    light = [_lighten(kind) for kind in kinds]
    return ComparisonTools(light, frequent, codes, couples, tuple(bands), companions, possible)


def _lighten(comparing: Comparer) -> Comparer:
    """Leave the text of forms behind, which only functions of users look at."""
    if comparing.custom:
        return comparing
    light = copy.copy(comparing)
    light.forms = pl.Series([], dtype=pl.String)
    return light


class RecordRange(NamedTuple):
    """Candidates whose smaller record is in a range; without ``found`` these are all pairs."""

    store: Store
    found: tuple[FoundPairs, ...] | None
    n_records: int
    first: int
    last: int
    number: int

    @property
    def place(self) -> PairPlace:
        """Where the portion's pairs and outcomes will be."""
        return PairPlace(self.store, f"pairs-{self.number}", f"which-{self.number}")

    @property
    def within(self) -> str:
        """The name of what came out of the portion's pairs that are not possible."""
        return f"within-{self.number}"

    @property
    def own(self) -> str:
        """The name of the portion's outcomes, each once, and of which of them pairs have."""
        return f"own-{self.number}"

    def pairs(self) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Return the candidates, and how many keys found each."""
        if self.found is not None:
            return merge_pairs(self.store, self.found, self.n_records, self.first, self.last)
        pairs = np.column_stack(np.triu_indices(self.n_records, 1)).astype(np.int32)
        inside = (pairs[:, 0] >= self.first) & (pairs[:, 0] < self.last)
        return pairs[inside], np.ones(np.count_nonzero(inside), dtype=np.uint8)


class Within(NamedTuple):
    """What came out of comparing pairs that are never of one entity, and how many have it.

    There are none where all pairs are possible.
    """

    levels: Levels
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, levels: Levels, counts: NDArray[np.int64]) -> "Within":
        """Put equal levels together."""
        if not len(levels):
            return cls(levels, counts)
        rows, which = find_distinct_rows(list(levels.T))
        return cls(levels[rows], np.bincount(which, counts, rows.size).astype(np.int64))


class ComparisonResult(NamedTuple):
    """What came out of comparing: levels and bands of each outcome, and the pairs that have it.

    ``counts`` are how many pairs have an outcome, and how many of these one or two keys found.
    ``within`` are the pairs that cannot be of one entity.
    """

    parts: PairParts
    levels: Levels
    bands: Levels
    counts: NDArray[np.int64]
    within: Within


class RangeResult(NamedTuple):
    """What came out of comparing the pairs of one portion."""

    which: NDArray[np.int32]
    levels: Levels
    bands: Levels
    counts: NDArray[np.int64]


def compare_candidates(
    work: Workplace, candidates: CandidatePairs, tools: ComparisonTools, first_number: int = 0
) -> ComparisonResult:
    """Compare all candidates; portions are numbered on from ``first_number``."""
    if not work.is_here:
        _check_sendable(tools.comparing)
    n_records = tools.codes[0].size
    bounds = np.append(np.arange(0, n_records, RECORDS_A_PORTION), n_records)
    portions = [
        RecordRange(work.store, candidates.found, n_records, int(first), int(last), number)
        for number, (first, last) in enumerate(itertools.pairwise(bounds), first_number)
    ]
    work.store.put(TOOLS, tools)
    work.run(_compare_range, portions)
    work.store.delete(TOOLS)
    levels, bands, counts, numbers = _number_outcomes(portions)
    work.run(_renumber, list(zip(portions, numbers, strict=True)))
    work.store.delete(*(one.own for one in portions))
    parts = PairParts([one.place for one in portions], bounds, counts[:, 0])
    within = [work.store.get(one.within) for one in portions]
    work.store.delete(*(one.within for one in portions))
    never = Within.of(*(np.concatenate(arrays) for arrays in zip(*within, strict=True)))
    return ComparisonResult(parts, levels, bands, counts, never)


def _check_sendable(comparing: Sequence[Comparer]) -> None:
    """Refuse functions of users that workers could not find."""
    for one in comparing:
        try:
            pickle.dumps(one.field.comparator)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise ModelError(
                f"The comparator of {one.field.column!r} cannot be sent to the workers of an "
                f"engine: {error}. Define it in a module that they can import, or leave the "
                "engine out."
            ) from error


def _compare_range(portion: RecordRange) -> None:
    """Compare the candidates of a portion, and write down what came out."""
    tools: ComparisonTools = fetch_held(portion.store, TOOLS)
    pairs, n_found = portion.pairs()
    kept = tools.possible.keeps(pairs)
    never, _ = tools.outcomes(np.ascontiguousarray(pairs[~kept]))
    within = Within.of(never, np.ones(len(never), dtype=np.int64))
    portion.store.put(portion.within, within)
    pairs, n_found = np.ascontiguousarray(pairs[kept]), n_found[kept]
    levels, bands = tools.outcomes(pairs)
    rows, which = find_distinct_rows([*levels.T, *bands.T])
    counts = [
        np.bincount(which, weights=seen, minlength=rows.size)
        for seen in _mark_shown_levels(n_found)
    ]
    own = RangeResult(which, levels[rows], bands[rows], np.column_stack(counts).astype(np.int64))
    pairs.setflags(write=False)
    portion.store.put(portion.place.pairs, pairs)
    portion.store.put(portion.own, own)


def _mark_shown_levels(n_found: NDArray[np.uint8]) -> list[NDArray[np.bool_]]:
    return [np.ones(n_found.size, dtype=np.bool_), n_found == 1, n_found == 2]


def _number_outcomes(
    portions: Sequence[RecordRange],
) -> tuple[Levels, Levels, NDArray[np.int64], list[NDArray[np.int32]]]:
    """Give outcomes numbers by first appearance; return them, and those of each portion's own.

    That is how one portion alone would number them.
    """
    width = portions[0].store.get(portions[0].own).levels.shape[1]
    levels = bands = np.empty((0, width), dtype=np.int8)
    counts = np.empty((0, 3), dtype=np.int64)
    numbers: list[NDArray[np.int32]] = []
    for first in range(0, len(portions), AT_ONCE):
        some: list[RangeResult] = [
            one.store.get(one.own) for one in portions[first : first + AT_ONCE]
        ]
        every_level = np.concatenate([levels, *(own.levels for own in some)])
        every_band = np.concatenate([bands, *(own.bands for own in some)])
        rows, which = find_distinct_rows([*every_level.T, *every_band.T])
        every_count = np.concatenate([counts, *(own.counts for own in some)])
        counts = np.column_stack(
            [np.bincount(which, column, rows.size) for column in every_count.T]
        )
        ends = np.cumsum([len(levels), *(len(own.levels) for own in some)])
        numbers += [which[a:b] for a, b in itertools.pairwise(ends)]
        levels, bands = every_level[rows], every_band[rows]
    return levels, bands, counts.astype(np.int64), numbers


def _renumber(given: tuple[RecordRange, NDArray[np.int32]]) -> None:
    """Write which outcome each pair has."""
    portion, numbers = given
    own: RangeResult = portion.store.get(portion.own)
    which = numbers[own.which]
    which.setflags(write=False)
    portion.store.put(portion.place.which, which)

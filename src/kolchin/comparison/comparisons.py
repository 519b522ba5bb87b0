"""Comparisons: candidate pairs with the levels of every compared field."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison.base import MISSING, Comparing, Floats, Levels
from kolchin.comparison.bulk import compare_pairs
from kolchin.comparison.candidates import find
from kolchin.comparison.chance import (
    Bands,
    agreeing_pairs,
    bands_of,
    bands_of_pairs,
    chances,
    random_pairs,
)
from kolchin.comparison.gathering import Candidates, Used
from kolchin.comparison.missed import likely_links, missed_share
from kolchin.comparison.numbering import distinct_rows
from kolchin.comparison.pairs import places_of
from kolchin.comparison.preparing import Prepared, prepare_all
from kolchin.comparison.swapping import (
    SWAPPED,
    chance_of_swapped,
    couples_of,
    mark_swapped,
    with_swapped,
)
from kolchin.records import Records
from kolchin.records.fields import Field
from kolchin.threads import over_ranges


@dataclasses.dataclass(frozen=True)
class CandidateReport:
    """How candidates were found.

    Parameters
    ----------
    n_records, n_pairs
        Records, and candidate pairs.
    keys
        Of each key its name, how many pairs it found, and how many blocks (and records in them)
        were so large that records were paired with their neighbours only.
    n_likely
        Candidates whose evidence makes them likely links.
    missed
        An estimate, rather low than high, of the share of such links that no key finds. Links
        with so little evidence that they are not likely even when found do not count.
    """

    n_records: int
    n_pairs: int
    keys: tuple[Used, ...]
    n_likely: int
    missed: float

    @property
    def pairs_a_record(self) -> float:
        """Candidate pairs for each record."""
        return self.n_pairs / self.n_records

    def table(self) -> pl.DataFrame:
        """Return the keys as a table."""
        return pl.DataFrame([used._asdict() for used in self.keys])


@dataclasses.dataclass(frozen=True, eq=False)
class Comparisons:
    """Candidate pairs of records and how each compared field of them compares.

    Parameters
    ----------
    fields
        The compared fields.
    pairs
        Candidates, one a row, i < j, sorted.
    outcomes
        What came out of comparing, each once, a level a field: 0 exact, then from nearer to
        farther, the last different; -1 where either value is missing or another field's level
        speaks for both.
    outcome_bands
        By outcome and field, where the level is 0, the band of the value's frequency (0: the
        rarest), else 0.
    which
        The outcome of each pair.
    level_names
        The levels' names by field.
    agrees
        By field and level, whether values agree but for slips; other levels between exact and
        different say little.
    swappable
        Couples of fields whose values may stand in each other's column. A pair of records in which
        they do has the level 'swapped' in the first of the two, and -1 in the second.
    u
        By field the chance of each level between unrelated records.
    band_u, band_m
        By field and band the sum of squared frequencies and the sum of frequencies of its values.
    together
        By two fields, how many pairs of all records agree exactly on both.
    shows
        Whether each record has a value of each field.
    report
        How the candidates were found.
    """

    fields: tuple[Field, ...]
    pairs: NDArray[np.int32]
    outcomes: Levels
    outcome_bands: Levels
    which: NDArray[np.int32]
    level_names: tuple[tuple[str, ...], ...]
    swappable: tuple[tuple[int, int], ...]
    u: tuple[Floats, ...]
    band_u: tuple[Floats, ...]
    band_m: tuple[Floats, ...]
    together: Floats
    agrees: tuple[NDArray[np.bool_], ...]
    shows: NDArray[np.bool_]
    report: CandidateReport

    @property
    def levels(self) -> Levels:
        """The level of each pair and field, put together when asked for."""
        levels: Levels = self.outcomes[self.which]
        return levels

    @property
    def bands(self) -> Levels:
        """The band of each pair and field, put together when asked for."""
        bands: Levels = self.outcome_bands[self.which]
        return bands

    def levels_of(self, pairs: NDArray[np.integer[Any]]) -> Levels:
        """Return the levels of any pairs; those that are no candidates have the last level.

        A level is -1 where either record has no value.
        """
        last = np.array([len(names) - 1 for names in self.level_names])
        both = self.shows[pairs[:, 0]] & self.shows[pairs[:, 1]]
        levels: Levels = np.where(both, last, MISSING).astype(np.int8)
        places = places_of(self.pairs, pairs)
        found = places >= 0
        levels[found] = self.outcomes[self.which[places[found]]]
        return levels


def compare(
    records: Records,
    fields: Sequence[Field] | None = None,
    *,
    keys: Sequence[Sequence[str]] | None = None,
    seed: int = 0,
    tell: Callable[[str], None] | None = None,
) -> Comparisons:
    """Find the pairs of records that may be of one entity, and compare their fields.

    Parameters
    ----------
    records
        Records, some of whose fields are compared.
    fields
        Fields that stand for those of the same column. By default as in the records.
    keys
        Keys beside those that are found automatically, each a tuple of columns: records that agree
        on all of them are candidates.
    seed
        For the random pairs that tell what unrelated records have in common.
    tell
        Called with a few words on what is going on.

    Examples
    --------
    >>> table = {"name": ["anna", "ana", "berta", None], "sex": ["f", "f", "f", "f"]}
    >>> records = Records.from_table(table, fields=["name", "sex"])
    >>> from kolchin.records import Text
    >>> compared = compare(records, [Text("name")])
    >>> [compared.level_names[0][level] for level in compared.levels[:2, 0]]
    ['mistyped', 'different']
    """
    tell = tell or _silent
    tell("finding candidate pairs")
    prepared = prepare_all(records, fields)
    candidates = find(prepared, keys or ())
    tell(f"comparing {len(candidates.pairs):,} candidate pairs")
    used = [one for one in prepared if one.comparing is not None]
    comparing = [one.comparing for one in used if one.comparing is not None]
    return _assembled(used, comparing, candidates, np.random.default_rng(seed))


def _silent(words: str) -> None:
    """Tell nothing."""


def _assembled(
    used: Sequence[Prepared],
    comparing: Sequence[Comparing],
    candidates: Candidates,
    rng: np.random.Generator,
) -> Comparisons:
    """Compare pairs, and add what chance does, and what the keys may have missed."""
    levels = compare_pairs(comparing, [one.codes for one in used], candidates.pairs)
    couples = couples_of(used)
    for couple in couples:
        mark_swapped(levels, couple, candidates.pairs, comparing[couple.fields[0]].different)
    n_records = used[0].codes.size
    random = random_pairs(n_records, rng)
    u = [chances(kind, one, random) for kind, one in zip(comparing, used, strict=True)]
    names = [kind.names for kind in comparing]
    agrees = [kind.agrees for kind in comparing]
    for couple in couples:
        f = couple.fields[0]
        u[f] = with_swapped(u[f], chance_of_swapped(couple, random, rng))
        names[f] = (*names[f][:-1], SWAPPED, names[f][-1])
        agrees[f] = np.insert(agrees[f], -1, True)
    bands = [bands_of(one.counts) for one in used]
    of_pairs = _bands(used, bands, candidates.pairs, levels)
    rows, which = distinct_rows([*levels.T, *of_pairs.T])
    outcomes, outcome_bands = levels[rows], of_pairs[rows]
    del levels, of_pairs
    band_u, band_m = tuple(one.u for one in bands), tuple(one.m for one in bands)
    evident = likely_links(outcomes, outcome_bands, tuple(u), band_u, band_m, n_records)
    likely = evident[which]
    report = CandidateReport(
        n_records=n_records,
        n_pairs=len(candidates.pairs),
        keys=candidates.keys,
        n_likely=int(likely.sum()),
        missed=missed_share(candidates.n_found[likely], len(candidates.keys)),
    )
    return Comparisons(
        fields=tuple(one.field for one in used),
        pairs=_frozen(candidates.pairs),
        outcomes=_frozen(outcomes),
        outcome_bands=_frozen(outcome_bands),
        which=_frozen(which),
        level_names=tuple(names),
        agrees=tuple(agrees),
        swappable=tuple(couple.fields for couple in couples),
        u=tuple(u),
        band_u=band_u,
        band_m=band_m,
        together=agreeing_pairs([one.codes for one in used], rng),
        shows=_frozen(np.column_stack([one.codes >= 0 for one in used])),
        report=report,
    )


def _bands(
    used: Sequence[Prepared], bands: Sequence[Bands], pairs: NDArray[np.int32], levels: Levels
) -> Levels:
    """Return the band of each pair and field."""
    result = np.empty(levels.shape, dtype=np.int8, order="F")

    def write(first: int, last: int) -> None:
        for f, (one, band) in enumerate(zip(used, bands, strict=True)):
            part = pairs[first:last], levels[first:last, f]
            result[first:last, f] = bands_of_pairs(band, one.codes, *part)

    over_ranges(write, len(pairs))
    return result


Array = TypeVar("Array", bound=NDArray[np.generic])


def _frozen(array: Array) -> Array:
    array.setflags(write=False)
    return array

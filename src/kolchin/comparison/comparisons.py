"""Comparisons: candidate pairs with the levels of every compared field."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison.blocking.blocked_pairs import (
    FEWEST,
    PAIRS_A_RECORD,
    CandidatePairs,
    find_candidates,
)
from kolchin.comparison.blocking.completing_pairs import (
    FOUND_BY,
    find_completing_pairs,
    tell_clear_agreement,
)
from kolchin.comparison.blocking.missed_links import estimate_missed_share, find_likely_links
from kolchin.comparison.blocking.pair_budget import FoundPairs, KeyUse
from kolchin.comparison.compared_pairs import PairParts
from kolchin.comparison.comparing import (
    ComparisonResult,
    ComparisonTools,
    Within,
    compare_candidates,
    prepare_tools,
)
from kolchin.comparison.kinds.base import MISSING, Floats, Levels
from kolchin.comparison.kinds.preparing import PreparedField, prepare_all
from kolchin.comparison.levels.companions import (
    add_companion_bands,
    estimate_chances_beside,
    find_companions,
    leave_out_alike,
)
from kolchin.comparison.levels.level_chances import (
    Bands,
    bands_among,
    count_agreeing_pairs,
    estimate_chances,
)
from kolchin.comparison.levels.possible_pairs import Possible
from kolchin.comparison.levels.repeated_words import mark_repeated_words
from kolchin.comparison.levels.slips import find_slips
from kolchin.comparison.levels.swapped_values import (
    SWAPPED,
    add_swapped_level,
    choose_couples,
    estimate_swapped_chance,
)
from kolchin.records import Records
from kolchin.records.fields.declarations import Field
from kolchin.workplace import Workplace, work_here

COMPLETING = "completing-pairs"
"""The name of pairs that complete groups, in the store."""


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
    keys: tuple[KeyUse, ...]
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
    parts
        Candidates, i < j, sorted, and the outcome of each.
    outcomes
        What came out of comparing, each once, a level a field: 0 exact, then from nearer to
        farther, the last different; -1 where either value is missing or another field's level
        speaks for both.
    outcome_bands
        By outcome and field, the band of the frequency of the value on which records agree, or of
        the more frequent of two that are near (0: the rarest); 0 for the last levels. The
        last band has the pairs whose texts are alike, in fields that go with one (`companions`).
    found
        By outcome, how many pairs have it, and how many of these one key or two keys found.
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
    in_band
        By field, level and band how the pairs of a near level divide among bands; 0 for the others.
    together
        By two fields, how many pairs of all records agree exactly on both.
    shows
        Whether each record has a value of each field.
    slips
        Whether the value of each record and field is probably a slip.
    possible
        Which pairs may be of one entity.
    within
        What came out of comparing candidates that are never of one entity, as those of one source
        may be: what unrelated records have in common that are alike.
    report
        How the candidates were found.
    """

    fields: tuple[Field, ...]
    parts: PairParts
    outcomes: Levels
    outcome_bands: Levels
    found: NDArray[np.int64]
    level_names: tuple[tuple[str, ...], ...]
    swappable: tuple[tuple[int, int], ...]
    u: tuple[Floats, ...]
    band_u: tuple[Floats, ...]
    band_m: tuple[Floats, ...]
    in_band: tuple[Floats, ...]
    together: Floats
    agrees: tuple[NDArray[np.bool_], ...]
    shows: NDArray[np.bool_]
    slips: NDArray[np.bool_]
    possible: Possible
    within: Within
    report: CandidateReport

    @property
    def shares_possible(self) -> list[float]:
        """By field, the share of possible pairs among those of records that show it."""
        return [self.possible.share(shown) for shown in self.shows.T]

    @property
    def pairs(self) -> NDArray[np.int32]:
        """All candidates, one a row, put together when asked for."""
        return self.parts.pairs

    @property
    def levels(self) -> Levels:
        """The level of each pair and field, put together when asked for."""
        levels: Levels = self.outcomes[self.parts.which]
        return levels

    @property
    def bands(self) -> Levels:
        """The band of each pair and field, put together when asked for."""
        bands: Levels = self.outcome_bands[self.parts.which]
        return bands

    def judge_links(self, likely: NDArray[np.bool_]) -> Self:
        """Return the same with a report by which these outcomes are of likely links.

        At first every field counts as if it were independent of the others. Whoever has learnt
        which are not, as a model does, judges better: the unrelated of a household share much.
        """
        n_likely, once, twice = self.found[likely].sum(axis=0).tolist()
        missed = estimate_missed_share(n_likely, once, twice, len(self.report.keys))
        report = dataclasses.replace(self.report, n_likely=n_likely, missed=missed)
        return dataclasses.replace(self, report=report)

    def levels_of(self, pairs: NDArray[np.integer[Any]]) -> Levels:
        """Return the levels of any pairs; those that are no candidates have the last level.

        A level is -1 where either record has no value.
        """
        last = np.array([len(names) - 1 for names in self.level_names])
        both = self.shows[pairs[:, 0]] & self.shows[pairs[:, 1]]
        levels: Levels = np.where(both, last, MISSING).astype(np.int8)
        which = self.parts.outcomes_of(pairs)
        levels[which >= 0] = self.outcomes[which[which >= 0]]
        return levels


def compare(
    records: Records,
    fields: Sequence[Field] | None = None,
    *,
    keys: Sequence[Sequence[str]] | None = None,
    sources: NDArray[np.int32] | None = None,
    seed: int = 0,
    tell: Callable[[str], None] | None = None,
    work: Workplace | None = None,
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
    sources
        The source of each record (-1: none), if records of one source are never of one entity.
    seed
        For the random pairs that tell what unrelated records have in common.
    tell
        Called with a few words on what is going on.
    work
        Where that is done, part by part; by default threads of this process do it.

    Examples
    --------
    >>> table = {"name": ["anna", "ana", "berta", None], "sex": ["f", "f", "f", "f"]}
    >>> records = Records.from_table(table, fields=["name", "sex"])
    >>> from kolchin.records import Text
    >>> compared = compare(records, [Text("name")])
    >>> [compared.level_names[0][level] for level in compared.levels[:2, 0]]
    ['mistyped', 'different']
    """
    tell = tell or _say_nothing
    work = work or work_here()
    tell("finding candidate pairs")
    prepared = mark_repeated_words(prepare_all(records, fields))
    candidates = find_candidates(prepared, keys or (), work)
    about = "" if candidates.found is None else "about "
    tell(f"comparing {about}{candidates.n_pairs:,} candidate pairs")
    used = [one for one in prepared if one.comparing is not None]
    couples = choose_couples(used)
    companions = find_companions(used)
    possible = Possible.of(len(records), sources)
    bands = add_companion_bands([bands_among(one, possible) for one in used], companions)
    tools = prepare_tools(used, couples, bands, companions, candidates.n_pairs, possible)
    found = compare_candidates(work, candidates, tools)
    whole = _assemble(used, candidates, tools, found, np.random.default_rng(seed))
    completed = _complete(work, candidates, whole)
    if completed is not None:
        tell(f"comparing {completed.n_pairs:,} candidate pairs, of large groups all")
        again = compare_candidates(work, completed, tools, first_number=len(found.parts))
        found.parts.delete()
        whole = _assemble(used, completed, tools, again, np.random.default_rng(seed))
        work.store.delete(COMPLETING)
    work.store.delete(*candidates.names)
    return whole


def _complete(
    work: Workplace, candidates: CandidatePairs, whole: Comparisons
) -> CandidatePairs | None:
    """Return the candidates with those that complete large groups, if there are many."""
    if candidates.found is None:
        return None
    n_records, n_pairs = len(whole.shows), whole.report.n_pairs
    bands = whole.band_u, whole.band_m
    likely = find_likely_links(whole.outcomes, whole.outcome_bands, whole.u, *bands, n_records)
    clear = tell_clear_agreement(whole.outcomes, likely, list(whole.agrees))
    budget = max(FEWEST, PAIRS_A_RECORD * n_records)
    more = find_completing_pairs(whole.parts, clear, whole.possible, n_records, budget)
    if not more.size:
        return None
    work.store.put(COMPLETING, more)
    used = KeyUse("of groups that are linked through others", more.size, 0, 0)
    completing = (FoundPairs(used, (COMPLETING,), False),) * FOUND_BY
    return candidates._replace(
        n_pairs=n_pairs + more.size,
        found=(*candidates.found, *completing),
        keys=(*candidates.keys, used),
    )


def _say_nothing(words: str) -> None:
    """Tell nothing."""


def _assemble(
    used: Sequence[PreparedField],
    candidates: CandidatePairs,
    tools: ComparisonTools,
    compared: ComparisonResult,
    rng: np.random.Generator,
) -> Comparisons:
    """Add what chance does, and what the keys may have missed."""
    n_records, possible = used[0].codes.size, tools.possible
    bands: Sequence[Bands] = tools.bands
    couples, companions = tools.couples, tools.companions
    random = possible.random_pairs(rng)
    comparing = [one.comparing for one in used if one.comparing is not None]
    levels = [
        estimate_chances(kind, one, of_field, random, possible)
        for kind, one, of_field in zip(comparing, used, bands, strict=True)
    ]
    levels = estimate_chances_beside(levels, used, bands, companions, random)
    outcomes = compared.levels, compared.bands, compared.counts[:, 0]
    shows = np.column_stack([one.codes >= 0 for one in used])
    shares = [possible.share(shown) for shown in shows.T]
    bands = leave_out_alike(bands, levels, companions, outcomes, shows.sum(axis=0).tolist(), shares)
    u = [of_field.of_level for of_field in levels]
    in_band = [of_field.in_band for of_field in levels]
    names = [kind.names for kind in comparing]
    agrees = [kind.agrees for kind in comparing]
    for couple in couples:
        f = couple.fields[0]
        u[f] = add_swapped_level(u[f], estimate_swapped_chance(couple, random, rng))
        names[f] = (*names[f][:-1], SWAPPED, names[f][-1])
        agrees[f] = np.insert(agrees[f], -1, True)
        in_band[f] = np.insert(in_band[f], -1, 0.0, axis=0)
    band_u, band_m = tuple(one.u for one in bands), tuple(one.m for one in bands)
    n_pairs = int(compared.parts.counts.sum())
    likely = find_likely_links(compared.levels, compared.bands, tuple(u), band_u, band_m, n_records)
    whole = Comparisons(
        fields=tuple(one.field for one in used),
        parts=compared.parts,
        outcomes=compared.levels,
        outcome_bands=compared.bands,
        found=compared.counts,
        level_names=tuple(names),
        agrees=tuple(agrees),
        swappable=tuple(couple.fields for couple in couples),
        u=tuple(u),
        band_u=band_u,
        band_m=band_m,
        in_band=tuple(in_band),
        together=count_agreeing_pairs([one.codes for one in used], rng, possible),
        shows=shows,
        slips=find_slips(used, compared.parts, compared.levels, agrees, likely),
        possible=possible,
        within=compared.within,
        report=CandidateReport(n_records, n_pairs, candidates.keys, 0, 0.0),
    )
    return whole.judge_links(likely)

"""Which fields move together: sets that unrelated records share, sets that change at once.

A household shares surname and address, a postcode implies its city; who moves has a new street,
city and postcode at once. Evidence that takes such fields for independent counts one fact many
times. The same pairs can be read in two ways, though: agreement on A and nothing else is 'A shared
by unrelated records' or 'all but A replaced in one entity's'. What decides is what the table
says about A:

- if most pairs that agree on A agree on the rest as well, A identifies: the rest was replaced;
- fields that each hardly ever differ between records of one entity do not all fail at once, unless
  some of them move together among unrelated records too, as the parts of an address do, and take
  others along;
- agreement that is mostly near, on fields on which records of one entity agree exactly, is not of
  one entity: e-mails are made from names, and those of namesakes are alike;
- one field may well fail, however: it takes two to tell that records with much in common are not of
  one entity, unless chance alone gives about as many of them as there are entities.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.likelihoods.agreement import FEW_VALUES, Agreement
from kolchin.parameters import FloatArray, IntArray

LEAST_SHARE, LEAST_PAIRS = 0.003, 10
"""A set must explain so many pairs, by record and in all."""

JOINT_SHARE, JOINT_PAIRS = 0.01, 20
"""The same for sets that are told by fields that fail at once."""

UNCONFIRMED = 0.5
"""A set identifies if for each pair confirmed by all other fields, fewer than this contradict."""

LIFT = 20.0
"""So many times more often than independent errors would, fields must fail at once."""

MANY = 2.0
"""So many times more pairs than there may be links: fields that agree so move together."""

FEWEST_SHOWN, MORE_LINKS = 3, 1.5
"""Pairs that agree on all of so many fields are links, and there may be so many times more."""

COMMON = 1 / 16
"""Agreement that chance gives to so many pairs a record identifies nobody."""

MANY_VALUES = 0.03
"""Unrelated records agree so seldom on a field of many values."""

FEWEST_FAILURES = 0.01
GUESSED_REPLACED = 0.1
MOST_SHARED, MOST_REPLACED, LARGEST_GROUP = 60, 60, 6


class Patterns(NamedTuple):
    """The outcomes of comparing, each with the number of candidate pairs that show it.

    ``levels`` has -1 where a value is missing; ``log_gain`` is minus the log of the chance of
    each level between unrelated records.
    """

    levels: NDArray[np.int8]
    log_gain: FloatArray
    number: FloatArray


class UnrelatedChances(NamedTuple):
    """What is known of unrelated records.

    ``u[f]`` has the chances of the levels of field f, and ``agrees[f]`` which of them are agreement
    in spirit; ``shows[set]`` is the share of records that have all values of a set of fields (an
    index of bits); ``together[f, g]`` counts the pairs of records, of all, that agree exactly on
    both. ``possible`` is the share of pairs that may be of one entity, and at most ``most_linked``
    can be so at once.
    """

    n_records: int
    u: tuple[FloatArray, ...]
    agrees: tuple[NDArray[np.bool_], ...]
    shows: FloatArray
    together: FloatArray
    possible: float = 1.0
    most_linked: float = np.inf

    @property
    def n_pairs(self) -> float:
        """The number of pairs of records that may be of one entity."""
        return self.possible * self.n_records * (self.n_records - 1) / 2


class FieldSets(NamedTuple):
    """Sets of fields, as bits: shared, with a first guess of the pairs, and replaced at once.

    ``known[set]`` is the number of pairs that share at least the set, where it was counted.
    ``couples`` are those of two fields that may be replaced at once; ``doubted`` are sets that are
    asked about, however few pairs there are. With a ``family``, unrelated records may be alike in
    all fields.
    """

    shared: dict[int, float]
    known: dict[int, float]
    replaced: list[int]
    couples: tuple[int, ...] = ()
    doubted: tuple[int, ...] = ()
    family: bool = False


class AgreementCounts(NamedTuple):
    """For each set of fields (an index of bits), what the pairs that agree on it do otherwise.

    ``alone`` differ in all else (in two or more fields, unless the set is common), ``by_chance``
    are expected to, ``confirmed`` agree on all else; ``joint`` differ in two or more other fields,
    ``failing`` are expected to if fields failed independently.
    """

    alone: FloatArray
    by_chance: FloatArray
    confirmed: FloatArray
    joint: FloatArray
    failing: FloatArray

    @property
    def unconfirmed(self) -> FloatArray:
        """Pairs that contradict a set, for each one that confirms it."""
        result: FloatArray = (self.alone - self.by_chance) / np.maximum(self.confirmed, 1.0)
        return result


def compute_shown_shares(shows: NDArray[np.bool_]) -> FloatArray:
    """Return the share of records that have all values of each set, from ``shows[n, f]``.

    Values are often missing together.

    >>> compute_shown_shares(np.array([[True, True], [False, False]])).tolist()
    [1.0, 0.5, 0.5, 0.5]
    """
    n_records, n_fields = shows.shape
    sets = shows @ (1 << np.arange(n_fields))
    counts = _sum_by_set(sets, np.ones(n_records), 1 << n_fields)
    result: FloatArray = _sum_supersets(counts, n_fields) / max(n_records, 1)
    return result


def find_sets(patterns: Patterns, chances: UnrelatedChances) -> FieldSets:
    """Find sets of fields that may be shared by unrelated records, or replaced at once."""
    n_fields = len(chances.u)
    whole = (1 << n_fields) - 1
    known = _find_couples(chances, bound_links(patterns, chances))
    telling = _leave_out_implied(known, chances)
    groups = _join_overlapping(telling)
    exact = _count_by_set(patterns, chances, known, groups, exactly=True)
    nearly = _count_by_set(patterns, chances, known, groups, exactly=False)
    least = max(LEAST_SHARE * chances.n_records, LEAST_PAIRS)
    joint = max(JOINT_SHARE * chances.n_records, JOINT_PAIRS)
    more = exact.joint - exact.by_chance
    at_once = (more > joint) & (more > LIFT * np.maximum(exact.failing, 1.0))
    identifies = exact.unconfirmed < UNCONFIRMED
    moving = at_once & identifies & _leaves_a_couple(telling, n_fields)
    taken_along = sorted(np.flatnonzero(moving).tolist(), key=lambda one: -more[one])
    candidates = [one for group in groups for one in _list_subsets(group)]
    along = [_find_differing(patterns, chances, one) for one in taken_along]
    # Who changes in most fields at once is somebody else.
    candidates += [one for one in along if one.bit_count() <= (n_fields + 1) // 2]
    replaced = [
        one
        for one in dict.fromkeys(candidates)
        if n_fields - one.bit_count() >= 2 and identifies[whole & ~one]
    ][:MOST_REPLACED]
    shared = dict(known)
    found: dict[int, float] = {}
    for counts, also in ((nearly, np.zeros_like(at_once)), (exact, at_once & ~moving)):
        excess = counts.alone - counts.by_chance
        wanted = (excess > least) & ((counts.unconfirmed > UNCONFIRMED) | also)
        found |= {int(one): float(excess[one]) / 4 for one in np.flatnonzero(wanted)}
    alike = _count_nearly_agreeing(patterns, chances, exact, nearly)
    found |= {int(one): float(alike[one]) / 4 for one in np.flatnonzero(alike > least)}
    unsupported = _find_unsupported(found, known, identifies, exact, chances)
    found = {one: n_pairs for one, n_pairs in found.items() if one not in unsupported}
    rests = [whole & ~one for one in unsupported]
    replaced += [one for one in rests if may_change(one, n_fields) and one not in replaced]
    # Of fields that agree where others were replaced, most agree exactly: the fit can tell.
    moved = {whole & ~one for one in replaced if alike[whole & ~one] <= least}
    ranked = sorted(found, key=lambda one: -found[one])
    shared |= {
        one: found[one] for one in ranked if one.bit_count() >= 2 and one not in {*moved, *known}
    }
    kept = list(shared)[: max(MOST_SHARED, len(known))]
    return FieldSets({one: shared[one] for one in kept}, known, replaced, tuple(telling))


def may_change(fields: int, n_fields: int) -> bool:
    """Tell whether fields may be replaced at once: two at least, and not most of them."""
    return 2 <= fields.bit_count() <= (n_fields + 1) // 2


def describe_agreement(chances: UnrelatedChances, sharing: dict[int, float]) -> Agreement:
    """Return what agreement says, if so many unrelated pairs share some sets."""
    exact = np.array([float(levels[0]) for levels in chances.u])
    shows = chances.shows[1 << np.arange(exact.size)]
    return Agreement.of(exact, shows, chances.n_records, sharing)


def _find_unsupported(
    found: dict[int, float],
    known: dict[int, float],
    identifies: NDArray[np.bool_],
    exact: AgreementCounts,
    chances: UnrelatedChances,
) -> list[int]:
    """Return the sets that identify, but that more pairs would share than may be.

    Agreement on them says more than the other fields do.
    """
    all_fields = (1 << len(chances.u)) - 1
    excess = exact.alone - exact.by_chance
    agreement = describe_agreement(chances, known | {one: float(excess[one]) for one in found})
    return [
        one
        for one in found
        if identifies[one]
        and agreement.says_more(one, all_fields & ~one)
        and not agreement.may_share(one, float(excess[one]))
    ]


def bound_links(patterns: Patterns, chances: UnrelatedChances) -> float:
    """Return how many links there may be: about one a record, or more where entities are large.

    That they are large shows in pairs that agree on all that both show, far more often than chance
    would have it.
    """
    n_fields = len(chances.u)
    agree, apart = split_fields(patterns, chances)
    shown = (patterns.levels >= 0) @ (1 << np.arange(n_fields))
    whole = np.where(~apart.any(axis=1) & agree.any(axis=1), patterns.number, 0.0)
    number = _sum_by_set(shown, whole, 1 << n_fields)
    few = [mask.bit_count() < min(FEWEST_SHOWN, n_fields) for mask in range(1 << n_fields)]
    clear = np.where(few, 0.0, number - LIFT * _expect_by_chance(chances, exactly=False))
    many = max(float(chances.n_records), MORE_LINKS * float(np.maximum(clear, 0.0).sum()))
    return min(many, chances.most_linked)


def _count_nearly_agreeing(
    patterns: Patterns, chances: UnrelatedChances, exact: AgreementCounts, nearly: AgreementCounts
) -> FloatArray:
    """Return how many pairs agree on each set not quite, where entities would mostly do exactly."""
    agree, apart = split_fields(patterns, chances)
    sure = np.where(apart.any(axis=1), 0.0, patterns.number)
    mistyped = np.ones(1)
    for same, alike in zip((patterns.levels == 0).T, agree.T, strict=True):
        odds = sure[alike & ~same].sum() / max(sure[same].sum(), 1.0)
        mistyped = np.concatenate([mistyped, mistyped * (1 + odds)])
    number = nearly.joint - exact.joint - nearly.by_chance
    of_entities = np.maximum(exact.joint, 1.0) * (mistyped - 1)
    result: FloatArray = np.where(number > LIFT * of_entities, number, 0.0)
    return result


def _find_differing(patterns: Patterns, chances: UnrelatedChances, agreed: int) -> int:
    """Return the fields that mostly differ where just those of a set agree."""
    agree, apart = split_fields(patterns, chances)
    rows = (agree @ (1 << np.arange(agree.shape[1])) == agreed) & (apart.sum(axis=1) >= 2)
    differ = patterns.number[rows] @ apart[rows] > 0.5 * patterns.number[rows].sum()
    return int(differ @ (1 << np.arange(differ.size)))


def split_fields(
    patterns: Patterns, chances: UnrelatedChances
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which fields agree in each pattern, and which differ."""
    agree = np.column_stack(
        [good[level] for good, level in zip(chances.agrees, patterns.levels.T, strict=True)]
    )
    shown = patterns.levels >= 0
    return agree & shown, shown & ~agree


def _leaves_a_couple(known: dict[int, float], n_fields: int) -> NDArray[np.bool_]:
    """Tell for each set whether two of the other fields move together."""
    rest: IntArray = (1 << n_fields) - 1 - np.arange(1 << n_fields)
    result = np.zeros(rest.size, dtype=bool)
    for couple in known:
        result |= rest & couple == couple
    return result


def _find_couples(chances: UnrelatedChances, n_links: float) -> dict[int, float]:
    """Return the couples of fields that many more pairs agree on than chance and entities do."""
    result = {}
    for f, g in combinations(range(len(chances.u)), 2):
        shown = float(np.square(chances.shows[1 << f | 1 << g]))
        by_chance = chances.n_pairs * float(chances.u[f][0] * chances.u[g][0]) * shown
        excess = float(chances.together[f, g]) - by_chance
        if excess > MANY * n_links:
            result[1 << f | 1 << g] = excess / shown
    return result


def _leave_out_implied(known: dict[int, float], chances: UnrelatedChances) -> dict[int, float]:
    """Leave out couples in which many values tell few: a first name tells the sex, and stays."""
    exact = [float(u[0]) for u in chances.u]
    result = {}
    for couple, n_pairs in known.items():
        both = [u for f, u in enumerate(exact) if couple >> f & 1]
        if max(both) < FEW_VALUES or min(both) > MANY_VALUES:
            result[couple] = n_pairs
    return result


def _join_overlapping(couples: dict[int, float]) -> list[int]:
    """Join couples that overlap."""
    groups: list[int] = []
    for couple in couples:
        touching = [group for group in groups if group & couple]
        joined = couple
        for group in touching:
            joined |= group
        groups = [group for group in groups if group not in touching] + [joined]
    return groups


def _list_subsets(group: int) -> Iterator[int]:
    """Give the subsets of two or more fields, the whole first; of large groups only that."""
    yield group
    if group.bit_count() > LARGEST_GROUP:
        return
    one = (group - 1) & group
    while one:
        if one.bit_count() >= 2:
            yield one
        one = (one - 1) & group


def _count_by_set(
    patterns: Patterns,
    chances: UnrelatedChances,
    known: dict[int, float],
    groups: list[int],
    exactly: bool,
) -> AgreementCounts:
    """Count what pairs do that agree on each set, exactly or nearly."""
    n_fields = len(chances.u)
    agree, apart = split_fields(patterns, chances)
    same = patterns.levels == 0
    bits = 1 << np.arange(n_fields)
    sets, n_sets = agree @ bits, 1 << n_fields
    clean = (same == agree).all(axis=1) if exactly else np.ones(len(sets), dtype=bool)
    number = np.where(clean & apart.any(axis=1), patterns.number, 0.0)
    alone = _sum_by_set(sets, number, n_sets)
    all_agree = np.where(~apart.any(axis=1), patterns.number, 0.0)
    confirmed = _sum_by_set(sets, all_agree, n_sets)
    confirmed = _sum_supersets(confirmed, n_fields) - confirmed
    several = np.where(apart.sum(axis=1) >= 2, number, 0.0)
    joint = _sum_by_set(sets, several, n_sets)
    chance = _compute_failure_chances(patterns, agree, apart, groups)
    failing = _sum_by_set(sets, several * chance, n_sets) / np.maximum(joint, 1.0)
    by_chance = _expect_by_chance(chances, exactly)
    common = _add_couples(by_chance, chances, known) > COMMON * chances.n_records
    return AgreementCounts(
        np.where(common, alone, joint), by_chance, confirmed, joint, confirmed * failing
    )


def _sum_by_set(sets: IntArray, numbers: FloatArray, n_sets: int) -> FloatArray:
    """Add up numbers by set."""
    return np.bincount(sets, numbers, minlength=n_sets).astype(float)


def _compute_failure_chances(
    patterns: Patterns, agree: NDArray[np.bool_], apart: NDArray[np.bool_], groups: list[int]
) -> FloatArray:
    """Return the chance that a pattern's differing fields all fail, each by itself or by group."""
    n_fields = agree.shape[1]
    n_apart = apart.sum(axis=1)
    enough = (agree | apart).sum(axis=1) > min(3, n_fields - 1)
    log_failure = np.empty(n_fields)
    for f in range(n_fields):
        rest = enough & (n_apart == apart[:, f])
        differ = patterns.number[rest & apart[:, f]].sum()
        same = patterns.number[rest & agree[:, f]].sum()
        log_failure[f] = np.log(max((differ + 0.5) / (differ + same + 50), FEWEST_FAILURES))
    total = apart @ log_failure
    for group in groups:
        inside = np.array([(group >> f) & 1 == 1 for f in range(n_fields)])
        at_once = (apart & inside).sum(axis=1) >= 2
        by_itself = (apart & inside) @ log_failure
        total = np.where(at_once, total - by_itself + np.log(GUESSED_REPLACED), total)
    result: FloatArray = np.exp(total)
    return result


def _expect_by_chance(chances: UnrelatedChances, exactly: bool) -> FloatArray:
    """Return how many pairs agree on each set if fields are independent."""
    result = np.array([chances.n_pairs])
    for f, levels in enumerate(chances.u):
        agreeing = levels[0] if exactly else levels[chances.agrees[f]].sum()
        result = np.concatenate([result, result * agreeing])
    return result * np.square(chances.shows)


def _add_couples(
    by_chance: FloatArray, chances: UnrelatedChances, known: dict[int, float]
) -> FloatArray:
    """Return how many pairs agree on each set, given that some couples of fields move together."""
    sets: IntArray = np.arange(by_chance.size)
    most = np.ones(by_chance.size)
    for couple, sharing in known.items():
        excess = sharing * np.square(chances.shows[couple])
        inside = sets & couple == couple
        most[inside] = np.maximum(most[inside], 1 + excess / max(by_chance[couple], 1.0))
    result: FloatArray = by_chance * most
    return result


def _sum_supersets(counts: FloatArray, n_fields: int) -> FloatArray:
    """Add up, for each set, the counts of all that contain it."""
    total = counts.copy()
    indices: IntArray = np.arange(total.size)
    for f in range(n_fields):
        without = indices[(indices >> f) & 1 == 0]
        total[without] += total[without | (1 << f)]
    return total

"""Divide the pairs of patterns among classes: chance, shared sets and families, entities.

Sets of fields are bits of a number. A class is a set of a kind: what its pairs have in common has
the chances of that kind, and the rest those of unrelated records (model section 6).
"""

from typing import Any, NamedTuple

import numpy as np

from kolchin.kernels.compiling import compiled, lean

NEGLIGIBLE = 45.0
"""Parts that are so much smaller than the largest, by their logs, vanish in rounding."""

HOPELESS = 90.0
"""What is so much smaller than chance, by its log, stays negligible whatever else is known."""

TYPED, ENTITIES, FAMILY = 0, 1, 2
"""Kinds of sets: shared values typed twice, entities, and families of records that are alike."""


class PairPatterns(NamedTuple):
    """Patterns, each with its number of pairs.

    ``place`` says where the level of each field stands in tables of all levels, where those of a
    field begin with ``offsets`` and the last place is of what is missing; ``gain`` is minus the log
    of each level's chance between unrelated records.
    """

    place: Any
    gain: Any
    number: Any
    offsets: Any


class PairClasses(NamedTuple):
    """What pairs may be of, beside the rest: a set of fields each, those of entities last.

    ``log_sets`` and ``log_rest`` are logs of how many pairs are of each, ``log_levels`` those of
    the chances of levels by kind. Where ``counts``, the levels of pairs of a class are added up.
    Beside a shared set, other fields agree for the same reason with chance ``leak``, and their
    levels are ``loose`` times as frequent as elsewhere; ``is_plain`` where there is nothing of
    both. ``log_tilt`` is of entities, by what is seen and how many fields are wrong.
    """

    sets: Any
    kinds: Any
    counts: Any
    log_sets: Any
    log_rest: Any
    log_levels: Any
    leak: Any
    loose: Any
    is_plain: Any
    log_tilt: Any


class ClassPairs(NamedTuple):
    """What the pairs of classes show, added up.

    ``total`` has the pairs by class, ``levels`` the levels by kind, ``wrong`` the linked pairs by
    what is seen and how many fields are wrong, ``beside`` the levels beside each shared set, and
    ``leaked`` how many agree there for the same reason, then how many there are.
    """

    total: Any
    levels: Any
    wrong: Any
    beside: Any
    leaked: Any


class PatternPairs(NamedTuple):
    """The pairs of each pattern that are ``linked``, or share a set that counts."""

    linked: Any
    sharing: Any


class PatternScratch(NamedTuple):
    """What is worked out for one pattern, in arrays that are made once.

    ``of_field`` has the log ratio of each field by kind, ``low`` and ``high`` its sums over the
    sets of the first half of the fields and of the others, ``shared`` the ratio where a value is
    shared. ``part`` is of each class, ``n_wrong`` the fields that are wrong where it is of
    entities, ``weight`` the pairs of a kind that have a field in common.
    """

    of_field: Any
    low: Any
    high: Any
    shared: Any
    part: Any
    n_wrong: Any
    weight: Any


@compiled
def divide_pairs(
    patterns: PairPatterns,
    classes: PairClasses,
    first: int,
    last: int,
    by_class: ClassPairs,
    by_pattern: PatternPairs,
) -> None:
    """Divide the pairs of patterns ``first`` to ``last`` among classes; add up what they show."""
    n_kinds, n_fields = classes.log_levels.shape[0], patterns.place.shape[1]
    n_low = n_fields // 2
    scratch = PatternScratch(
        np.empty((n_kinds, n_fields)),
        np.empty((n_kinds, 1 << n_low)),
        np.empty((n_kinds, 1 << (n_fields - n_low))),
        np.empty(n_fields),
        np.empty(classes.sets.size),
        np.empty(classes.sets.size, dtype=np.int64),
        np.empty((n_kinds, n_fields)),
    )
    _divide_all(patterns, classes, first, last, by_class, by_pattern, scratch)


@lean
def _divide_all(
    patterns: PairPatterns,
    classes: PairClasses,
    first: int,
    last: int,
    by_class: ClassPairs,
    by_pattern: PatternPairs,
    scratch: PatternScratch,
) -> None:
    """Divide the pairs of each pattern in turn."""
    missing = patterns.offsets[patterns.place.shape[1]]
    for p in range(first, last):
        shown = 0
        not_exact = 0
        for f in range(patterns.place.shape[1]):
            if patterns.place[p, f] < missing:
                shown |= 1 << f
                if patterns.place[p, f] != patterns.offsets[f]:
                    not_exact |= 1 << f
        _weigh_fields(patterns, classes, p, scratch)
        whole = _weigh_classes(patterns, classes, p, shown, not_exact, scratch)
        _add_pairs(patterns, classes, p, shown, whole, by_class, by_pattern, scratch)


@lean
def _weigh_fields(
    patterns: PairPatterns, classes: PairClasses, p: int, scratch: PatternScratch
) -> None:
    """Work out what each field says of a pattern, and what sets of fields do, by kind."""
    n_fields = patterns.place.shape[1]
    n_low = n_fields // 2
    for kind in range(classes.log_levels.shape[0]):
        for f in range(n_fields):
            log_level = classes.log_levels[kind, patterns.place[p, f]]
            scratch.of_field[kind, f] = log_level + patterns.gain[p, f]
        _sum_sets(scratch.of_field, kind, 0, n_low, scratch.low)
        _sum_sets(scratch.of_field, kind, n_low, n_fields, scratch.high)
    for f in range(n_fields):
        scratch.shared[f] = np.exp(scratch.of_field[0, f])


@lean
def _sum_sets(of_field: Any, kind: int, first: int, last: int, out: Any) -> None:
    """Write the sum over each set of some fields, by the bits of its number."""
    out[kind, 0] = 0.0
    for f in range(first, last):
        size = 1 << (f - first)
        for one in range(size):
            out[kind, size + one] = out[kind, one] + of_field[kind, f]


@lean
def _weigh_classes(
    patterns: PairPatterns,
    classes: PairClasses,
    p: int,
    shown: int,
    not_exact: int,
    scratch: PatternScratch,
) -> float:
    """Weigh how many pairs of a pattern are of each class; return what all are, on that scale."""
    n_low = patterns.place.shape[1] // 2
    top = classes.log_rest
    for k in range(classes.sets.size):
        one, kind = classes.sets[k], classes.kinds[k]
        log_part = classes.log_sets[k] + scratch.low[kind, one & ((1 << n_low) - 1)]
        scratch.part[k] = log_part + scratch.high[kind, one >> n_low]
        scratch.n_wrong[k] = 0
        if scratch.part[k] < classes.log_rest - HOPELESS:
            continue
        if kind == ENTITIES:
            scratch.n_wrong[k] = count_bits(one & not_exact)
            scratch.part[k] += classes.log_tilt[one & shown, scratch.n_wrong[k]]
        elif not classes.is_plain[k]:
            scratch.part[k] += np.log(_weigh_beside(patterns, classes, p, k, shown & ~one, scratch))
        top = max(top, scratch.part[k])
    whole = np.exp(classes.log_rest - top)
    for k in range(classes.sets.size):
        is_some = scratch.part[k] > top - NEGLIGIBLE
        scratch.part[k] = np.exp(scratch.part[k] - top) if is_some else 0.0
        whole += scratch.part[k]
    return float(whole)


@lean
def _weigh_beside(
    patterns: PairPatterns,
    classes: PairClasses,
    p: int,
    k: int,
    others: int,
    scratch: PatternScratch,
) -> float:
    """Return how much likelier other fields are as they are, beside a shared set."""
    more = 1.0
    for f in range(patterns.place.shape[1]):
        if others & (1 << f):
            apart = (1 - classes.leak[k, f]) * classes.loose[k, patterns.place[p, f]]
            more *= apart + classes.leak[k, f] * scratch.shared[f]
    return more


@lean
def _add_pairs(
    patterns: PairPatterns,
    classes: PairClasses,
    p: int,
    shown: int,
    whole: float,
    by_class: ClassPairs,
    by_pattern: PatternPairs,
    scratch: PatternScratch,
) -> None:
    """Give the pairs of a pattern to its classes, and add up what they show."""
    n_fields = patterns.place.shape[1]
    scratch.weight[:] = 0.0
    for k in range(classes.sets.size):
        if scratch.part[k] == 0.0:
            continue
        one, kind = classes.sets[k], classes.kinds[k]
        pairs = scratch.part[k] * patterns.number[p] / whole
        by_class.total[k] += pairs
        if classes.counts[k]:
            for f in range(n_fields):
                if one >> f & 1:
                    scratch.weight[kind, f] += pairs
        if kind == ENTITIES:
            by_pattern.linked[p] += pairs
            by_class.wrong[one & shown, scratch.n_wrong[k]] += pairs
            continue
        if classes.counts[k]:
            by_pattern.sharing[p] += pairs
        _add_beside(patterns, classes, p, k, shown & ~one, pairs, by_class, scratch)
    for f in range(n_fields):
        for kind in range(classes.log_levels.shape[0]):
            by_class.levels[kind, patterns.place[p, f]] += scratch.weight[kind, f]


@lean
def _add_beside(
    patterns: PairPatterns,
    classes: PairClasses,
    p: int,
    k: int,
    others: int,
    pairs: float,
    by_class: ClassPairs,
    scratch: PatternScratch,
) -> None:
    """Add up what pairs of a shared set show in other fields: for the same reason, or else."""
    for f in range(patterns.place.shape[1]):
        if not others >> f & 1:
            continue
        at = patterns.place[p, f]
        same = 0.0
        if classes.leak[k, f] > 0.0:
            apart = (1 - classes.leak[k, f]) * classes.loose[k, at]
            same = classes.leak[k, f] * scratch.shared[f]
            same /= same + apart
        by_class.leaked[0, k, f] += pairs * same
        by_class.leaked[1, k, f] += pairs
        by_class.beside[k, at] += pairs * (1 - same)


@lean
def count_bits(number: int) -> int:
    """Return how many bits of a number are set."""
    count = 0
    while number:
        number &= number - 1
        count += 1
    return count

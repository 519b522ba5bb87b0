"""What people say of pairs (model section 9): factors on whether two records are together.

Tied records are certainly the same: no partition parts them. What would do so has weight zero, and
moves take them along together.
"""

import numpy as np

from kolchin.kernels.arrays import AnswerLists, Floats, Int32s, Sides
from kolchin.kernels.compiling import hot, lean

LARGEST_ANSWERED = 80.0
"""Factors are multiplied if their logs add up to less than this: products stay in range."""


@hot
def are_tied(answers: AnswerLists, i: int, j: int) -> bool:
    """Tell whether two records are certainly the same."""
    return answers.group[i] >= 0 and answers.group[i] == answers.group[j]


@hot
def is_tied(answers: AnswerLists, record: int) -> bool:
    """Tell whether a record is certainly the same as another."""
    return answers.group.size > 0 and answers.group[record] >= 0


@lean
def log_answer(answers: AnswerLists, i: int, j: int) -> float:
    """Log factor of two records together, over apart."""
    for place in range(answers.starts[i], answers.starts[i + 1]):
        if answers.others[place] == j:
            return answers.log_factor[place]
    return 0.0


@lean
def log_answers(
    answers: AnswerLists, record: int, members: Int32s, side: Sides, wanted: int, n_members: int
) -> float:
    """Log factor of a record with all members of one side."""
    total = 0.0
    for place in range(answers.starts[record], answers.starts[record + 1]):
        other = answers.others[place]
        for k in range(n_members):
            if members[k] == other:
                if side[k] == wanted:
                    total += answers.log_factor[place]
                break
    return total


@lean
def log_answers_with_ring(answers: AnswerLists, following: Int32s, record: int, unit: int) -> float:
    """Log factor of a record with all records of a ring."""
    total = 0.0
    if answers.starts.size > 0 and answers.starts[record] < answers.starts[record + 1]:
        n = np.int64(unit)
        while True:
            total += log_answer(answers, record, n)
            n = np.int64(following[n])
            if n == unit:
                break
    return total


@lean
def log_answers_between(
    answers: AnswerLists, members: Int32s, n_group: int, n_members: int
) -> float:
    """Log factor of the first ones listed with the others; infinite if records are tied."""
    total = 0.0
    for g in range(n_group):
        for k in range(n_group, n_members):
            if are_tied(answers, members[g], members[k]):
                return np.inf
            total += log_answer(answers, members[g], members[k])
    return total


@lean
def weigh_subsets(answers: AnswerLists, members: Int32s, n_members: int, subsets: Floats) -> bool:
    """Multiply the evidence of subsets by the factors of all pairs in them (entry 0: all of S).

    Subsets that have one of two tied records get 0. Returns whether products stay in range.
    """
    total = 0.0
    for k in range(1, n_members):
        for other in range(k):
            both = (1 << k) | (1 << other)
            if are_tied(answers, members[k], members[other]):
                for subset in range(1, 1 << n_members):
                    if subset & both != 0 and subset & both != both:
                        subsets[subset] = 0.0
                continue
            log_factor = log_answer(answers, members[k], members[other])
            if log_factor == 0.0:
                continue
            factor = np.exp(log_factor)
            subsets[0] *= factor
            for subset in range(both, 1 << n_members):
                if subset & both == both:
                    subsets[subset] *= factor
            if log_factor > -np.inf:
                total += abs(log_factor)
    return total < LARGEST_ANSWERED


@lean
def separates_tied(answers: AnswerLists, members: Int32s, side: Sides, n_members: int) -> bool:
    """Tell whether a division of S parts records that are tied."""
    for k in range(1, n_members):
        if answers.group[members[k]] < 0:
            continue
        for other in range(k):
            if side[k] != side[other] and are_tied(answers, members[k], members[other]):
                return True
    return False


@lean
def find_tied_side(
    answers: AnswerLists, record: int, members: Int32s, side: Sides, n_members: int
) -> int:
    """Return the side, 0 or 1, of another record that one is tied to; -1 if none is on either."""
    for k in range(n_members):
        if side[k] <= 1 and members[k] != record and are_tied(answers, record, members[k]):
            return np.int64(side[k])
    return np.int64(-1)


@lean
def is_first_of_group(answers: AnswerLists, members: Int32s, k: int) -> bool:
    """Tell whether no member before one is tied to it."""
    first = True
    for other in range(k):
        first &= not are_tied(answers, members[k], members[other])
    return first


@lean
def count_tied(answers: AnswerLists, following: Int32s, start: int) -> int:
    """Count the records of a ring that are tied to others."""
    count = 0
    n = np.int64(start)
    while True:
        count += is_tied(answers, n)
        n = np.int64(following[n])
        if n == start:
            return count

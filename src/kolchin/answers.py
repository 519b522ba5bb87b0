"""What people say of two records, as factors on whether they are together (model section 9).

An answer errs with a rate e. That two records are the same was said with probability 1 - e if they
are, and e if they are not; that they are different, the other way round. So an answer multiplies
the posterior of a partition by 1 - e or e, whatever the prior and the likelihood, and with e = 0 it
is a constraint. Answers are independent of each other.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kolchin.comparison.pairs_by_record import list_numbered_pairs
from kolchin.errors import ModelError
from kolchin.kernels import AnswerLists
from kolchin.parameters import FloatArray, IntArray
from kolchin.partitions import Labels, Sources, find_clashing

SAME, DIFFERENT = "same", "different"
SMALLEST_ERROR = 1e-6
"""Less is no error rate: 0 says that answers are certain."""

MOST_FAULTS = 20


class KnownAnswer(NamedTuple):
    """What is said of two records, by their numbers, and how often such answers err."""

    one: int
    two: int
    answer: str
    error: float = 0.0


@dataclass(frozen=True)
class Answers:
    """All answers about some records.

    Attributes
    ----------
    n_records : number of records.
    pairs : the pairs of which something is said, each once, the smaller record first.
    log_together, log_apart : log probability of what was said of each, if it is together, or not.
    """

    n_records: int
    pairs: NDArray[np.int32]
    log_together: FloatArray
    log_apart: FloatArray

    @classmethod
    def none(cls, n_records: int) -> "Answers":
        """Nothing is known."""
        return cls(n_records, np.empty((0, 2), np.int32), np.empty(0), np.empty(0))

    @classmethod
    def of(cls, n_records: int, known: Iterable[KnownAnswer]) -> "Answers":
        """Take answers that have been checked."""
        listed = list(known)
        if not listed:
            return cls.none(n_records)
        rows = np.sort(np.array([one[:2] for one in listed], dtype=np.int32), axis=1)
        error = np.array([one.error for one in listed])
        same = np.array([one.answer == SAME for one in listed])
        with np.errstate(divide="ignore"):
            right, wrong = np.log1p(-error), np.log(error)
        pairs, which = np.unique(rows, axis=0, return_inverse=True)
        together, apart = np.zeros((2, len(pairs)))
        np.add.at(together, which.ravel(), np.where(same, right, wrong))
        np.add.at(apart, which.ravel(), np.where(same, wrong, right))
        return cls(n_records, pairs, together, apart)

    def __bool__(self) -> bool:
        return len(self.pairs) > 0

    @cached_property
    def log_factor(self) -> FloatArray:
        """Log weight of each pair together, over apart; infinite where that is certain."""
        with np.errstate(invalid="ignore"):  # where both are impossible
            factor: FloatArray = self.log_together - self.log_apart
        return factor

    @property
    def tied(self) -> NDArray[np.int32]:
        """The pairs that are certainly the same."""
        tied: NDArray[np.int32] = self.pairs[np.isneginf(self.log_apart)]
        return tied

    @property
    def parted(self) -> NDArray[np.int32]:
        """The pairs that are certainly different."""
        parted: NDArray[np.int32] = self.pairs[np.isneginf(self.log_together)]
        return parted

    @cached_property
    def groups(self) -> IntArray:
        """A number for each record, that of the first that is certainly the same."""
        if not len(self.tied):
            return np.arange(self.n_records)
        ones = np.ones(len(self.tied), dtype=np.int8)
        size = (self.n_records, self.n_records)
        _, number = connected_components(coo_array((ones, tuple(self.tied.T)), shape=size))
        _, first = np.unique(number, return_index=True)
        groups: IntArray = first[number]
        return groups

    def log_probability(self, labels: Labels) -> float:
        """Log probability of all that was said, given a partition."""
        together = labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]]
        return float(np.where(together, self.log_together, self.log_apart).sum())

    def lists(self, order: IntArray | None = None) -> AnswerLists:
        """List answers by record; ``order`` has the record at each place, if places count.

        Of records that are tied nothing more need be said: they are together.
        """
        if not self:
            return AnswerLists()
        said = self.groups[self.pairs[:, 0]] != self.groups[self.pairs[:, 1]]
        starts, others, which = list_numbered_pairs(self.pairs[said], self.n_records, order)
        group = np.where(np.bincount(self.groups)[self.groups] > 1, self.groups, -1)
        group = group if order is None else group[order]
        return AnswerLists(starts, others, self.log_factor[said][which], group.astype(np.int32))

    def among(self, rows: IntArray) -> "Answers":
        """Return what is said of some records, ascending, numbered as they stand there."""
        place = np.full(self.n_records, -1, dtype=np.int32)
        place[rows] = np.arange(rows.size, dtype=np.int32)
        pairs = place[self.pairs]
        inside = np.all(pairs >= 0, axis=1)
        said = self.log_together[inside], self.log_apart[inside]
        return Answers(rows.size, pairs[inside], *said)

    def log_factor_of(self, one: int, two: int) -> float:
        """Return the log weight of one pair together, over apart; 0 if nothing is said of it."""
        if self.groups[one] == self.groups[two]:
            return np.inf
        known = (self.pairs == sorted((one, two))).all(axis=1)
        return float(self.log_factor[known].sum())

    @cached_property
    def stamp(self) -> str:
        """A hash of all that was said; nothing where nothing was."""
        if not self:
            return ""
        parts = self.pairs.astype(np.int64), self.log_together, self.log_apart
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:16]


def check_answers(given: Any, n_records: int, sources: Sources) -> Answers:
    """Return answers that were given as (record, record, "same" or "different"[, error rate]).

    All that is wrong with them is told together.
    """
    if isinstance(given, Answers):
        return given
    known: list[KnownAnswer] = []
    faults: list[str] = []
    for one in given or ():
        try:
            known.append(KnownAnswer(*one))
        except TypeError:
            faults.append(f"Got {one!r}, which is not two records, an answer and an error rate.")
    faults += find_wrong_answers(known, n_records)
    if not faults:
        answers = Answers.of(n_records, known)
        faults = find_contradictions(answers, sources)
    if faults:
        raise ModelError("\n".join(["The 'answers' cannot all hold:", *list_faults(faults)]))
    return answers


def list_faults(faults: list[str]) -> list[str]:
    """Return faults as lines, the first of them when there are very many."""
    rest = len(faults) - MOST_FAULTS
    more = [f"- and {rest:,} more of the kind."] if rest > 0 else []
    return [f"- {fault}" for fault in faults[:MOST_FAULTS]] + more


def find_wrong_answers(known: Iterable[KnownAnswer], n_records: int) -> list[str]:
    """Say which answers are none: of no records, of one, in other words, with a wrong rate."""
    faults = []
    for one in known:
        rows = [row for row in one[:2] if not _is_row(row, n_records)]
        if rows:
            faults.append(f"There is no record {rows[0]!r}: they are numbered from 0.")
        elif one.one == one.two:
            faults.append(f"Record {one.one} is named twice in one pair.")
        if one.answer not in (SAME, DIFFERENT):
            faults.append(f"An answer is '{SAME}' or '{DIFFERENT}'. Got {one.answer!r}.")
        if not is_rate(one.error):
            faults.append(describe_rate_fault(one.error))
    return faults


def _is_row(row: Any, n_records: int) -> bool:
    whole = isinstance(row, int | np.integer) and not isinstance(row, bool)
    return whole and 0 <= int(row) < n_records


def is_rate(error: Any) -> bool:
    """Tell whether a number can be the error rate of answers."""
    if isinstance(error, bool) or not isinstance(error, int | float | np.number):
        return False
    return bool(error == 0 or SMALLEST_ERROR <= error < 0.5)


def describe_rate_fault(error: Any) -> str:
    """Say what an error rate must be."""
    return f"An error rate must be 0, or from {SMALLEST_ERROR:f} to below one half. Got {error!r}."


def find_contradictions(
    answers: Answers, sources: Sources, name: Callable[[int], str] = str
) -> list[str]:
    """Name all certain answers that cannot hold together, and those that sources forbid.

    Of very many, some are told in full and all others in one sentence, so that none is lost.
    """
    found = list(_list_contradictions(answers, sources, name))
    if len(found) <= MOST_FAULTS:
        return [fault for _, _, fault in found]
    rest = "; ".join(f"{name(i)} and {name(j)}" for i, j, _ in found[MOST_FAULTS - 1 :])
    said = [fault for _, _, fault in found[: MOST_FAULTS - 1]]
    return [*said, f"In the same way the answers cannot hold about {rest}."]


def _list_contradictions(
    answers: Answers, sources: Sources, name: Callable[[int], str]
) -> Iterator[tuple[int, int, str]]:
    """Yield pairs of which certain answers cannot hold, and why."""
    groups, pairs = answers.groups, answers.pairs
    both = np.isneginf(answers.log_together) & np.isneginf(answers.log_apart)
    for i, j in pairs[both].tolist():
        yield i, j, f"{name(i)} and {name(j)} are said to be the same and to be different."
    apart = pairs[np.isneginf(answers.log_together) & ~both]
    for i, j in apart[groups[apart[:, 0]] == groups[apart[:, 1]]].tolist():
        way = " and ".join(
            f"{name(a)} = {name(b)}" for a, b in _find_way(answers.tied.tolist(), i, j)
        )
        yield i, j, f"{name(i)} and {name(j)} are different, but the same by {way}."
    for i, j in _find_same_source(groups, sources):
        why = "are of one source, which has no two records of one entity, but are said to be"
        yield i, j, f"{name(i)} and {name(j)} {why} the same."


def _find_same_source(groups: IntArray, sources: Sources) -> list[tuple[int, int]]:
    """Return neighbours of a group that are of one source."""
    if not sources.size:
        return []
    order = np.lexsort((sources, groups))
    beside = np.stack([order[:-1], order[1:]], axis=1)
    wrong = find_clashing(sources, beside) & (groups[beside[:, 0]] == groups[beside[:, 1]])
    return [(min(i, j), max(i, j)) for i, j in beside[wrong].tolist()]


def _find_way(tied: list[list[int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return the shortest way from one record to another by pairs that are the same."""
    beside: dict[int, list[int]] = {}
    for i, j in tied:
        beside.setdefault(i, []).append(j)
        beside.setdefault(j, []).append(i)
    before = {start: start}
    waiting = deque([start])
    while waiting and end not in before:
        here = waiting.popleft()
        for there in beside.get(here, ()):
            if there not in before:
                before[there] = here
                waiting.append(there)
    way = []
    while end != start:
        way.append((before[end], end))
        end = before[end]
    return way[::-1]

"""What to ask first: questions in order of what an answer is expected to change in the list.

Draws in which two records are together are the posterior given that they are the same; draws in
which they are apart, given that they are not. So the draws say what the list of the records
concerned would be after either answer, and with what probability it is given. The worth of a
question is the expected number of records whose entity would be another one.
"""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.review.answers_file import UNSURE, Answer, Pair, find_latest
from kolchin.review.review_content import ReviewContent

PAIRS, GROUPS, AUDIT, AGAIN = "pairs", "groups", "audit", "again"
BLIND = (AUDIT, AGAIN)
"""Queues in which only what was answered in themselves counts as answered."""

OPEN = (0.01, 0.99)
"""Pairs between are open; so are entities that are whole with less than the second."""

MOST_DRAWS = 300
MOST_QUESTIONS = 20_000
MOST_LOOKED_AT = 10
"""Draws, questions, and records of a question that its worth is computed from."""

FEWEST_BEFORE, MOST_AGAIN = 10, 20
"""Of so many answered pairs some are asked again, and so many of them at most."""

FIRST_OF_A_KIND = 5
"""Pairs of each open question on which many hang that are asked before all others."""


class Question(NamedTuple):
    """A pair or a group by its rows; what the answer is expected to change, and why it is asked."""

    queue: str
    rows: tuple[int, ...]
    probability: float
    records: float = 0.0
    links: float = 0.0
    why: str = ""


def make_pair_questions(content: ReviewContent) -> list[Question]:
    """Return the pairs that the list has apart and that may be the same, most telling first.

    Of the pairs of the same two entities one is asked. A few pairs of each kind on which many
    others hang come before, whether they are apart in the list or not.
    """
    pairs = content.pairs.with_row_index("place").filter(
        pl.col("probability").is_between(*OPEN, closed="left")
    )
    apart = _keep_one_for_two(pairs, content.labels)
    first = [place for kind in content.kinds for place in kind.pairs.tolist()]
    asked = pl.concat([apart, pairs.filter(pl.col("place").is_in(first))])
    asked = asked.unique("place", maintain_order=True)
    worth = _AnswerWorth(content, asked.select("record_a", "record_b").to_numpy())
    questions = {
        place: Question(PAIRS, (a, b), p, *worth.weigh_pair(a, b, p))
        for place, a, b, p in asked.iter_rows()
    }
    told = _ask_first_of_kinds(content, questions)
    known = {_find_entities(content, one) for one in told}
    rest = (questions[place] for place in apart["place"].to_list())
    others = [one for one in rest if _find_entities(content, one) not in known]
    return [*told, *sorted(others, key=_make_order)]


def _find_entities(content: ReviewContent, question: Question) -> frozenset[int]:
    """Return the entities that the list has a question's records in."""
    return frozenset(content.labels[list(question.rows)].tolist())


def _keep_one_for_two(pairs: pl.DataFrame, labels: NDArray[np.int64]) -> pl.DataFrame:
    """Return the most probable pair of each two entities of the list."""
    a, b = labels[pairs["record_a"].to_numpy()], labels[pairs["record_b"].to_numpy()]
    both = pairs.with_columns(one=pl.Series(np.minimum(a, b)), two=pl.Series(np.maximum(a, b)))
    best = (
        both.filter(pl.col("one") != pl.col("two"))
        .sort("probability", "place", descending=[True, False])
        .unique(["one", "two"], keep="first", maintain_order=True)
    )
    return best.head(MOST_QUESTIONS).select(pairs.columns)


def _ask_first_of_kinds(content: ReviewContent, questions: dict[int, Question]) -> list[Question]:
    """Return some pairs of each kind, those that change most, with the question they stand for.

    No two are of one entity: what is learnt from them is about others, too.
    """
    told: list[Question] = []
    taken: set[int] = set()
    for kind in content.kinds:
        own = sorted((questions[place] for place in kind.pairs.tolist()), key=_make_order)
        last = len(told) + FIRST_OF_A_KIND
        for question in own:
            entities = _find_entities(content, question)
            if len(told) < last and not entities & taken:
                taken |= entities
                told.append(question._replace(why=kind.sentence))
    return told


def make_again_questions(content: ReviewContent, answers: Sequence[Answer]) -> list[Question]:
    """Return pairs that were answered once, in no order that tells anything, to ask them again.

    From two answers about one pair it is learnt how often reviewers err.
    """
    said: dict[Pair, list[Answer]] = {}
    for (pair, _), one in find_latest(answers).items():
        if one.answer != UNSURE and one.of_queue != AUDIT:
            said.setdefault(pair, []).append(one)
    once = [pair for pair, own in said.items() if len(own) == 1 and own[0].of_queue == PAIRS]
    if len(said) < FEWEST_BEFORE:
        return []
    once.sort(key=lambda pair: hashlib.sha256("\0".join(pair).encode()).digest())
    place = {name: row for row, name in enumerate(content.names)}
    known = {(a, b): p for a, b, p in content.pairs.iter_rows()}
    rows = [sorted(place[name] for name in pair) for pair in once if place.keys() >= set(pair)]
    return [Question(AGAIN, (a, b), known.get((a, b), 0.0)) for a, b in rows[:MOST_AGAIN]]


def make_group_questions(content: ReviewContent) -> list[Question]:
    """Return the entities of the list that may be two, those that would change most first."""
    labels = content.labels
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    some = [group for group in groups if group.size > 1]
    doubtful = _find_doubtful(content, some)
    worth = _AnswerWorth(content, doubtful)
    questions = (Question(GROUPS, tuple(g.tolist()), *worth.weigh_group(g)) for g in doubtful)
    asked = [one for one in questions if one.probability < OPEN[1]]
    return sorted(asked, key=_make_order)[:MOST_QUESTIONS]


def _find_doubtful(
    content: ReviewContent, groups: Sequence[NDArray[np.int64]]
) -> list[NDArray[np.int64]]:
    """Return the groups that have a pair which is not sure, or is not even listed."""
    pairs, labels = content.pairs, content.labels
    a, b = pairs["record_a"].to_numpy(), pairs["record_b"].to_numpy()
    sure = (labels[a] == labels[b]) & (pairs["probability"].to_numpy() >= OPEN[1])
    number = np.bincount(labels[a[sure]], minlength=int(labels.max(initial=-1)) + 1)
    return [g for g in groups if number[labels[g[0]]] < g.size * (g.size - 1) // 2]


def _make_order(question: Question) -> tuple[float, float, tuple[int, ...]]:
    return -question.records, abs(question.probability - 0.5), question.rows


class _AnswerWorth:
    """What answers would change, from the draws of the records that are asked about."""

    def __init__(self, content: ReviewContent, asked: Iterable[NDArray[np.int64]]) -> None:
        self.labels = content.labels
        asked = list(asked)
        order = np.argsort(content.labels, kind="stable")
        bounds = np.searchsorted(content.labels[order], np.arange(content.labels.max() + 2))
        self.members = [order[i:j] for i, j in pairwise(bounds)]
        entities = {int(e) for rows in asked for e in content.labels[np.asarray(rows)]}
        rows = [self.members[entity][:MOST_LOOKED_AT] for entity in sorted(entities)]
        named = np.unique(np.concatenate([*rows, *map(np.asarray, asked), np.zeros(0, np.int64)]))
        self.place = dict(zip(named.astype(np.int64).tolist(), range(named.size), strict=True))
        self.drawn = _read_drawn(content, named.astype(np.int64))

    def weigh_pair(self, a: int, b: int, probability: float) -> tuple[float, float]:
        """Return the records, and the links, that the answer is expected to change."""
        rows = self._list_concerned(a, b)
        together = self._count_together(rows)
        before = self.labels[rows][:, None] == self.labels[rows]
        same = together[:, rows.index(a), rows.index(b)]
        expected = np.zeros(2)
        for given, share in ((same, probability), (~same, 1 - probability)):
            after = together[given].mean(axis=0) > 0.5 if given.any() else before
            expected += share * _count_changed(before, after)
        return float(expected[0]), float(expected[1])

    def weigh_group(self, group: NDArray[np.int64]) -> tuple[float, float, float]:
        """Return how probably a group is one, and what a look at it is expected to change."""
        rows = group[:MOST_LOOKED_AT].tolist()
        together = self._count_together(rows)
        whole = float(together[:, 0].all(axis=1).mean())
        largest = together.sum(axis=2).max(axis=1)
        split = np.triu(~together, 1).sum(axis=(1, 2))
        return whole, float((len(rows) - largest).mean()), float(split.mean())

    def _list_concerned(self, a: int, b: int) -> list[int]:
        """Return two records and some of those that the list has with them."""
        with_them = [*self.members[self.labels[a]], *self.members[self.labels[b]]]
        others = [int(row) for row in dict.fromkeys(with_them) if row not in (a, b)]
        return [a, b, *(row for row in others if row in self.place)][:MOST_LOOKED_AT]

    def _count_together(self, rows: Sequence[int]) -> NDArray[np.bool_]:
        drawn = self.drawn[:, [self.place[row] for row in rows]]
        together: NDArray[np.bool_] = drawn[:, :, None] == drawn[:, None, :]
        return together


def _count_changed(before: NDArray[np.bool_], after: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Count the records whose companions change, and the pairs that do."""
    differ = before != after
    return np.array([differ.any(axis=1).sum(), np.triu(differ, 1).sum()], dtype=np.float64)


def _read_drawn(content: ReviewContent, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the labels of some records in some draws, evenly from all chains."""
    posterior = content.posterior
    step = max(1, -(-len(posterior) // MOST_DRAWS))
    thinned = posterior.thin(step) if step > 1 else posterior
    if not rows.size:
        return np.zeros((len(thinned), 0), dtype=np.int32)
    return np.array([labels[rows] for labels in thinned], dtype=np.int32)


def describe_stopping(left: Sequence[Question], next_ones: int = 20) -> str:
    """Say what more answers would change, so that a reader can decide to stop."""
    if not left:
        return "Nothing is left to ask."
    number = min(next_ones, len(left))
    soon = sum(one.links for one in left[:number])
    answers = "The last answer" if len(left) == 1 else f"{number} more answers"
    if soon < 0.5:
        return f"{answers} would probably change no link: you can stop here."
    links = "1 link" if round(soon) == 1 else f"{soon:,.0f} links"
    return f"{answers} would change about {links}."

"""What the page asks and is told: questions in their order, answers, undo, progress."""

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from kolchin.errors import DataError
from kolchin.options import command
from kolchin.review.answers_file import (
    DIFFERENT,
    FILE,
    SAME,
    UNDO,
    UNSURE,
    Answer,
    AnswersFile,
    Pair,
    check_answer,
    find_before,
    find_latest,
    make_pair,
    read_clock,
)
from kolchin.review.counting import AnswerCounting, Queues, Recount
from kolchin.review.queues import AGAIN, AUDIT, BLIND, GROUPS, Question, describe_stopping
from kolchin.review.review_content import ReviewContent

WORDS = {
    AUDIT: "All of them should be answered, in any order.",
    AGAIN: "These were answered before: how often two answers differ says how often people err.",
}
"""What is said of queues in which no answer is worth more than another."""

MOST_AT_ONCE = 50
MOST_SHOWN = 40
"""Questions that are sent at once, and records of a group that are shown."""


class GivenAnswers(NamedTuple):
    """What reviewers say about a question: their answers by name, and who is marked."""

    by: dict[str, str]
    marked: tuple[int, ...]


class ReviewDesk:
    """Questions and answers of one review; many threads may ask.

    Whenever answers have been counted, questions are others: ``round`` says how often.
    """

    def __init__(
        self,
        content: ReviewContent,
        queues: Queues,
        reviewer: str,
        recount: Recount | None = None,
    ) -> None:
        self.content, self.queues, self.reviewer = content, queues, reviewer
        self.counting = None if recount is None else AnswerCounting(recount, self._take)
        self.round = 0
        self.names = content.names
        self.file = AnswersFile(content.directory / FILE)
        self._guard = threading.Lock()
        self._read_lines = -1
        self._standing: dict[tuple[Pair, str], Answer] = {}
        self._by_pair: dict[Pair, dict[str, Answer]] = {}

    def state(self) -> dict[str, Any]:
        """Return how far each queue is, and what more answers would change."""
        with self._guard:
            self._refresh()
            return {
                "title": self.content.title,
                "directory": str(self.content.directory),
                "reviewer": self.reviewer,
                "columns": {"used": self.content.used, "unused": self.content.unused},
                "queues": [self._progress(name) for name in self.queues],
                "round": self.round,
                "counting": self._report_counting(),
            }

    def count(self) -> dict[str, Any]:
        """Let the run be conditioned on all answers so far; that goes on beside questions."""
        if self.counting is None:
            raise DataError(f"These answers cannot be counted from here: use {command('resume')}.")
        self.counting.begin()
        return self.state()

    def _take(self, content: ReviewContent, queues: Queues) -> None:
        """Go on with the run as it is after a count."""
        with self._guard:
            self.content, self.queues = content, queues
            self.names = content.names
            self.round += 1
            vars(self).pop("_of_entities", None)

    def questions(self, queue: str, start: int, count: int) -> dict[str, Any]:
        """Return some questions of a queue, in its order."""
        with self._guard:
            self._refresh()
            asked = self._queue(queue)
            start = max(0, min(start, len(asked)))
            some = asked[start : start + max(1, min(count, MOST_AT_ONCE))]
            return {
                "queue": queue,
                "start": start,
                "total": len(asked),
                "questions": [self._show_question(start + k, one) for k, one in enumerate(some)],
            }

    def answer(
        self,
        queue: str,
        number: int,
        answer: str,
        marked: Sequence[int] = (),
        of_round: int | None = None,
    ) -> dict[str, Any]:
        """Write an answer, which is on the disk when this returns; say what the model believes.

        An answer to a question of an earlier round is not taken: numbers mean others now.
        """
        check_answer(answer)
        with self._guard:
            if of_round not in (None, self.round):
                return {"stale": True}
            question = self._question(queue, number)
            lines = self._lines(question, answer, marked)
            self.file.append(lines)
            self._refresh()
            return {
                "question": self._show_question(number, question),
                "next": self._next(queue, number),
                "progress": self._progress(queue),
                "counting": self._report_counting(),
            }

    def undo(
        self, queue: str | None = None, number: int | None = None, of_round: int | None = None
    ) -> dict[str, Any]:
        """Take back this reviewer's answer to a question, by default the last one of all."""
        with self._guard:
            if of_round not in (None, self.round):
                return {"stale": True}
            self._refresh()
            if queue is None or number is None:
                found = self._last_answered()
                if found is None:
                    return {"question": None}
                queue, number = found
            question = self._question(queue, number)
            self.file.append(self._take_back(question))
            self._refresh()
            return {
                "queue": queue,
                "question": self._show_question(number, question),
                "progress": self._progress(queue),
                "counting": self._report_counting(),
            }

    def _report_counting(self) -> dict[str, Any] | None:
        return None if self.counting is None else self.counting.state(self.file.answers)

    def _refresh(self) -> None:
        """Take in what this and other processes have written."""
        answers = self.file.read()
        if len(answers) == self._read_lines:
            return
        self._read_lines = len(answers)
        self._standing = find_latest(answers)
        self._by_pair = {}
        for (pair, reviewer), one in self._standing.items():
            self._by_pair.setdefault(pair, {})[reviewer] = one

    def _queue(self, name: str) -> list[Question]:
        if name not in self.queues:
            raise DataError(f"There is no queue {name!r}; there are {', '.join(self.queues)}.")
        return self.queues[name]

    def _question(self, queue: str, number: int) -> Question:
        asked = self._queue(queue)
        if not 0 <= number < len(asked):
            raise DataError(f"There is no question {number} in {queue}: it has {len(asked):,}.")
        return asked[number]

    def _pair(self, one: int, two: int) -> Pair:
        return make_pair(self.names[one], self.names[two])

    def _lines(self, question: Question, answer: str, marked: Sequence[int]) -> list[Answer]:
        """Return the lines of an answer; of a group, those that differ from what stands."""
        chosen = [row for row in question.rows if row in set(marked)]
        is_group = question.queue == GROUPS and len(question.rows) > 2
        if is_group and answer == DIFFERENT and not 0 < len(chosen) < len(question.rows):
            raise DataError("Mark the records that do not belong to the group, but not all.")
        pairs = _list_said_pairs(question.rows, answer, chosen)
        spoken = {self._pair(*pair) for pair in pairs}
        earlier = [pair for pair in self._list_own_pairs(question) if pair not in spoken]
        time = read_clock()
        own = (self.reviewer, time, question.queue)
        return [
            *(Answer(*pair, UNSURE, *own) for pair in earlier),
            *(Answer(self.names[a], self.names[b], answer, *own) for a, b in pairs),
        ]

    def _list_own_pairs(self, question: Question) -> list[Pair]:
        """Return the pairs of a question about which this reviewer's answer in its queue stands."""
        rows = question.rows
        found = []
        for k, one in enumerate(rows):
            for two in rows[k + 1 :]:
                said = self._standing.get((self._pair(one, two), self.reviewer))
                if said is not None and said.of_queue == question.queue:
                    found.append(self._pair(one, two))
        return found

    def _take_back(self, question: Question) -> list[Answer]:
        """Return lines that take back the last answer of this reviewer to a question."""
        own = [self._standing[pair, self.reviewer] for pair in self._list_own_pairs(question)]
        if not own:
            return []
        last = max(one.time for one in own)
        lines = []
        for one in own:
            if one.time != last:
                continue
            stood = find_before(self.file.answers, one.pair, self.reviewer)
            answer = UNSURE if stood is None else stood.answer
            lines.append(
                Answer(*one.pair, answer, self.reviewer, read_clock(), question.queue + UNDO)
            )
        return lines

    def _read_said(self, question: Question) -> GivenAnswers:
        """Return what people have said about a question, in whatever queue."""
        rows = question.rows
        if question.queue != GROUPS or len(rows) == 2:
            own = self._by_pair.get(self._pair(rows[0], rows[1]), {})
            queue = question.queue
            counts = [r for r, one in own.items() if queue not in BLIND or one.of_queue == queue]
            by = {reviewer: own[reviewer].answer for reviewer in counts}
            return GivenAnswers(by, ())
        answers: dict[str, Counter[str]] = {}
        marked: Counter[int] = Counter()
        for k, one in enumerate(rows):
            for two in rows[k + 1 :]:
                for reviewer, said in self._by_pair.get(self._pair(one, two), {}).items():
                    if said.of_queue != GROUPS:
                        continue
                    answers.setdefault(reviewer, Counter())[said.answer] += 1
                    if said.answer == DIFFERENT and reviewer == self.reviewer:
                        marked.update((one, two))
        by = {reviewer: _describe_group(counts) for reviewer, counts in answers.items()}
        return GivenAnswers(by, _find_apart(marked, len(rows)))

    def _progress(self, queue: str) -> dict[str, Any]:
        asked = self._queue(queue)
        open_ones = [one for one in asked if not self._read_said(one).by]
        return {
            "name": queue,
            "total": len(asked),
            "answered": len(asked) - len(open_ones),
            "next": self._next(queue, -1),
            "words": WORDS.get(queue) or describe_stopping(open_ones),
        }

    def _next(self, queue: str, number: int) -> int | None:
        """Return the next question without an answer, from a place on and then from the start."""
        asked = self._queue(queue)
        places = [*range(number + 1, len(asked)), *range(min(number + 1, len(asked)))]
        return next((k for k in places if not self._read_said(asked[k]).by), None)

    def _last_answered(self) -> tuple[str, int] | None:
        """Return the question that this reviewer's last standing answer is about."""
        own = [one for (_, by), one in self._standing.items() if by == self.reviewer]
        for one in sorted(own, key=lambda said: said.time, reverse=True):
            for k, question in enumerate(self.queues.get(one.of_queue, ())):
                if one.pair in self._list_own_pairs(question):
                    return one.of_queue, k
        return None

    def _show_question(self, number: int, question: Question) -> dict[str, Any]:
        """Return a question for the page; what the model believes only once it is answered."""
        said = self._read_said(question)
        own = said.by.get(self.reviewer)
        content, rows = self.content, question.rows
        others = [] if question.queue == GROUPS else self._companions(rows)
        shown = [*rows[:MOST_SHOWN], *others]
        values = content.show_values(shown)
        entity = [int(content.labels[row]) for row in shown]
        records = [
            {"row": row, "name": self.names[row], "values": own_values, "group": group}
            for row, own_values, group in zip(shown, values, entity, strict=True)
        ]
        return {
            "number": number,
            "queue": question.queue,
            "records": records[: len(rows[:MOST_SHOWN])],
            "others": records[len(rows[:MOST_SHOWN]) :] if own or question.queue != AUDIT else [],
            "more": max(0, len(rows) - MOST_SHOWN),
            "why": question.why,
            "answer": own,
            "marked": said.marked,
            "reviewers": sorted(name for name in said.by if name != self.reviewer),
            "probability": question.probability if own else None,
        }

    def _companions(self, rows: Iterable[int]) -> list[int]:
        """Return the records that the list has with those of a pair."""
        pair = list(rows)
        entities = {int(self.content.labels[row]) for row in pair}
        found = [row for entity in sorted(entities) for row in self._members().get(entity, ())]
        return [row for row in found if row not in pair][: MOST_SHOWN // 2]

    def _members(self) -> dict[int, list[int]]:
        """Return the records of the entities that pairs are asked about."""
        if not hasattr(self, "_of_entities"):
            of_entities: dict[int, list[int]] = {}
            for row, entity in enumerate(self.content.labels.tolist()):
                of_entities.setdefault(entity, []).append(row)
            self._of_entities = of_entities
        return self._of_entities


def _list_said_pairs(
    rows: Sequence[int], answer: str, marked: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the pairs about which an answer speaks.

    That all are one is said of neighbours, from which the rest follows; that some do not belong,
    of each of them with each of the others.
    """
    if len(rows) > 2 and answer == DIFFERENT:
        stay = [row for row in rows if row not in marked]
        return [(one, two) for one in stay for two in marked]
    return list(pairwise(rows))


def _describe_group(counts: Counter[str]) -> str:
    """Return what was said of a group as a whole."""
    if counts[DIFFERENT]:
        return DIFFERENT
    return SAME if counts[SAME] else UNSURE


def _find_apart(marked: Counter[int], size: int) -> tuple[int, ...]:
    """Return who was marked: the fewer side of the pairs that were called different."""
    if not marked:
        return ()
    most = max(marked.values())
    fewer = [row for row, times in marked.items() if times == most]
    return tuple(sorted(fewer)) if len(fewer) < size else ()

"""A run as a reviewer sees it, its review page, and labels brought in from elsewhere."""

import getpass
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kolchin.errors import DataError
from kolchin.resolution.results.cautions import (
    FEWEST_PAIRS,
    MOST_DOUBTS,
    OPEN,
    OpenQuestion,
    find_differing,
)
from kolchin.review import AnswersFile, ReviewContent
from kolchin.review.answers_file import FILE, Answer
from kolchin.review.counting import Queues
from kolchin.review.other_labels import ImportedLabels, read_labels
from kolchin.review.rates import choose_answers
from kolchin.review.review_content import QuestionKind

if TYPE_CHECKING:
    from kolchin.resolution.results.result import Result
    from kolchin.review.server import ReviewServer

HIDDEN = ("id", "truth")
"""Kinds of columns that are not shown: the one names records, the other would tell."""


def open_review(
    result: "Result", port: int, reviewer: str | None, audit: int | None
) -> "ReviewServer":
    """Serve the review page of a run; the answers go into its directory."""
    from kolchin.review.desk import ReviewDesk
    from kolchin.review.server import ReviewServer

    content = make_content(result)
    # An audit is about the list as it was: its answers count later, by 'kolchin resume'.
    recount = RunRecount(content.directory) if audit is None else None
    desk = ReviewDesk(content, _make_queues(content, audit), reviewer or _read_own_name(), recount)
    return ReviewServer(desk, port)


def _make_queues(content: ReviewContent, audit: int | None) -> Queues:
    from kolchin.review.queues import (
        AGAIN,
        AUDIT,
        GROUPS,
        PAIRS,
        make_again_questions,
        make_group_questions,
        make_pair_questions,
    )

    if audit is None:
        queues = {PAIRS: make_pair_questions(content), GROUPS: make_group_questions(content)}
        again = make_again_questions(content, AnswersFile(content.directory / FILE).read())
        return {**queues, AGAIN: again} if again else queues
    from kolchin.review.audit import make_audit_questions

    return {AUDIT: make_audit_questions(content, audit)}


class RunRecount:
    """A run that can be conditioned on its answers while its page is open."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._reviewed: Counter[tuple[Any, ...]] | None = None
        self._rows: dict[str, int] = {}

    def count_waiting(self, answers: Sequence[Answer]) -> int:
        """Return how many answers the run does not know yet, or that were taken back since."""
        from kolchin.resolution.running.directory import RunDirectory
        from kolchin.resolution.running.settings import Settings
        from kolchin.resolution.tables.input_table import InputTable

        if self._reviewed is None:
            run = RunDirectory(self.directory)
            settings = Settings.from_json(run.read_asked()["settings"])
            self._reviewed = Counter(one[:3] for one in settings.reviewed)
            ids = InputTable.load(run.posterior, hold=False).ids.cast(pl.String).to_list()
            self._rows = {str(name): row for row, name in enumerate(ids)}
        now = Counter(one[:3] for one in choose_answers(answers, self._rows, 0.05))
        return (now - self._reviewed).total() + (self._reviewed - now).total()

    def count(self) -> tuple[ReviewContent, Queues]:
        """Let all answers count, from where the chains are."""
        from kolchin.resolution.resolving import resume
        from kolchin.resolution.results.result import Result

        resume(self.directory, progress=False)
        self._reviewed = None
        content = make_content(Result.load(self.directory))
        return content, _make_queues(content, None)


def make_content(result: "Result") -> ReviewContent:
    """Return what a review needs to know of a run."""
    if result.directory is None:
        raise DataError("Answers are kept in the directory of a run: resolve with 'out'.")
    given = result._given
    shown = given.fields.filter(~pl.col("kind").is_in(HIDDEN))
    used = list(given.records.names)
    others = [name for name in shown["column"].to_list() if name not in used]
    return ReviewContent(
        title=given.title,
        directory=result.directory,
        ids=given.ids,
        values=given.texts,
        used=tuple(used),
        unused=tuple(name for name in others if name in given.texts.columns),
        labels=result.labels.astype(np.int64),
        pairs=result._pairs,
        posterior=result.posterior,
        kinds=_find_kinds(result),
    )


def _find_kinds(result: "Result") -> tuple[QuestionKind, ...]:
    """Return the open questions on which many pairs hang, with the places of their pairs."""
    comparisons, pairs = result._model.comparisons, result._pairs
    if comparisons is None:
        return ()
    is_open = pairs["probability"].is_between(*OPEN)
    places = is_open.arg_true().to_numpy().astype(np.int64)
    if not places.size:
        return ()
    some = pairs.filter(is_open)
    differs, names = find_differing(some.select("record_a", "record_b").to_numpy(), comparisons)
    kinds, which = np.unique(differs, axis=0, return_inverse=True)
    which, probability = which.ravel(), some["probability"].to_numpy()
    number, expected = np.bincount(which), np.bincount(which, probability)
    found = []
    for k in np.argsort(-number, kind="stable")[:MOST_DOUBTS]:
        if number[k] >= FEWEST_PAIRS:
            own = [name for name, differ in zip(names, kinds[k], strict=True) if differ]
            doubt = OpenQuestion(own, int(number[k]), float(expected[k]))
            found.append(QuestionKind(doubt.question(), places[which == k]))
    return tuple(found)


def import_answers(directory: Path, file: Path, reviewer: str | None) -> ImportedLabels:
    """Add labels of another tool to the answers of a run; return them and what to tell."""
    from kolchin.resolution.running.directory import RunDirectory
    from kolchin.resolution.tables.input_table import InputTable

    run = RunDirectory(directory)
    run.read_asked()
    given = InputTable.load(run.posterior)
    found = read_labels(file, given.ids, given.texts, reviewer or _read_own_name())
    if found.answers:
        AnswersFile(directory / FILE).append(found.answers)
    return found


def _read_own_name() -> str:
    """Return the user's name on this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no such user, or none at all
        return "reviewer"

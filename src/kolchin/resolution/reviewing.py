"""A run as a reviewer sees it, its review page, and labels brought in from elsewhere."""

import getpass
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kolchin.errors import DataError
from kolchin.resolution.results.cautions import FEWEST_PAIRS, MOST_DOUBTS, OPEN, Doubt, differing
from kolchin.review import AnswersFile, Content
from kolchin.review.answers_file import FILE, Answer
from kolchin.review.counting import Queues
from kolchin.review.other_labels import Imported, read_labels
from kolchin.review.rates import answers_that_count
from kolchin.review.review_content import Kind

if TYPE_CHECKING:
    from kolchin.resolution.results.result import Result
    from kolchin.review.server import Review

HIDDEN = ("id", "truth")
"""Kinds of columns that are not shown: the one names records, the other would tell."""


def review_of(result: "Result", port: int, reviewer: str | None, audit: int | None) -> "Review":
    """Serve the review page of a run; the answers go into its directory."""
    from kolchin.review.desk import Desk
    from kolchin.review.server import Review

    content = content_of(result)
    # An audit is about the list as it was: its answers count later, by 'kolchin resume'.
    recount = RunRecount(content.directory) if audit is None else None
    desk = Desk(content, _queues(content, audit), reviewer or _own_name(), recount)
    return Review(desk, port)


def _queues(content: Content, audit: int | None) -> Queues:
    from kolchin.review.queues import (
        AGAIN,
        AUDIT,
        GROUPS,
        PAIRS,
        again_questions,
        group_questions,
        pair_questions,
    )

    if audit is None:
        queues = {PAIRS: pair_questions(content), GROUPS: group_questions(content)}
        again = again_questions(content, AnswersFile(content.directory / FILE).read())
        return {**queues, AGAIN: again} if again else queues
    from kolchin.review.audit import audit_questions

    return {AUDIT: audit_questions(content, audit)}


class RunRecount:
    """A run that can be conditioned on its answers while its page is open."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._reviewed: Counter[tuple[Any, ...]] | None = None
        self._rows: dict[str, int] = {}

    def waiting(self, answers: Sequence[Answer]) -> int:
        """Return how many answers the run does not know yet, or that were taken back since."""
        from kolchin.resolution.running.directory import RunDirectory
        from kolchin.resolution.running.settings import Settings
        from kolchin.resolution.tables.input_table import Input

        if self._reviewed is None:
            run = RunDirectory(self.directory)
            settings = Settings.from_json(run.asked()["settings"])
            self._reviewed = Counter(one[:3] for one in settings.reviewed)
            ids = Input.load(run.posterior, hold=False).ids.cast(pl.String).to_list()
            self._rows = {str(name): row for row, name in enumerate(ids)}
        now = Counter(one[:3] for one in answers_that_count(answers, self._rows, 0.05))
        return (now - self._reviewed).total() + (self._reviewed - now).total()

    def count(self) -> tuple[Content, Queues]:
        """Let all answers count, from where the chains are."""
        from kolchin.resolution.resolving import resume
        from kolchin.resolution.results.result import Result

        resume(self.directory, progress=False)
        self._reviewed = None
        content = content_of(Result.load(self.directory))
        return content, _queues(content, None)


def content_of(result: "Result") -> Content:
    """Return what a review needs to know of a run."""
    if result.directory is None:
        raise DataError("Answers are kept in the directory of a run: resolve with 'out'.")
    given = result._given
    shown = given.fields.filter(~pl.col("kind").is_in(HIDDEN))
    used = list(given.records.names)
    others = [name for name in shown["column"].to_list() if name not in used]
    return Content(
        title=given.title,
        directory=result.directory,
        ids=given.ids,
        values=given.texts,
        used=tuple(used),
        unused=tuple(name for name in others if name in given.texts.columns),
        labels=result.labels.astype(np.int64),
        pairs=result._pairs,
        posterior=result.posterior,
        kinds=_kinds(result),
    )


def _kinds(result: "Result") -> tuple[Kind, ...]:
    """Return the open questions on which many pairs hang, with the places of their pairs."""
    comparisons, pairs = result._model.comparisons, result._pairs
    if comparisons is None:
        return ()
    is_open = pairs["probability"].is_between(*OPEN)
    places = is_open.arg_true().to_numpy().astype(np.int64)
    if not places.size:
        return ()
    some = pairs.filter(is_open)
    differs, names = differing(some.select("record_a", "record_b").to_numpy(), comparisons)
    kinds, which = np.unique(differs, axis=0, return_inverse=True)
    which, probability = which.ravel(), some["probability"].to_numpy()
    number, expected = np.bincount(which), np.bincount(which, probability)
    found = []
    for k in np.argsort(-number, kind="stable")[:MOST_DOUBTS]:
        if number[k] >= FEWEST_PAIRS:
            own = [name for name, differ in zip(names, kinds[k], strict=True) if differ]
            doubt = Doubt(own, int(number[k]), float(expected[k]))
            found.append(Kind(doubt.question(), places[which == k]))
    return tuple(found)


def import_answers(directory: Path, file: Path, reviewer: str | None) -> Imported:
    """Add labels of another tool to the answers of a run; return them and what to tell."""
    from kolchin.resolution.running.directory import RunDirectory
    from kolchin.resolution.tables.input_table import Input

    run = RunDirectory(directory)
    run.asked()
    given = Input.load(run.posterior)
    found = read_labels(file, given.ids, given.texts, reviewer or _own_name())
    if found.answers:
        AnswersFile(directory / FILE).append(found.answers)
    return found


def _own_name() -> str:
    """Return the user's name on this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no such user, or none at all
        return "reviewer"

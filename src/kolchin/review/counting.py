"""Answers that count at once: the run is conditioned on them while the page stays open."""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from kolchin.errors import DataError, KolchinError
from kolchin.review.answers_file import Answer
from kolchin.review.queues import Question
from kolchin.review.review_content import ReviewContent

Queues = dict[str, list[Question]]


class Recount(Protocol):
    """What knows the run: how many answers it does not know yet, and how to tell it."""

    def count_waiting(self, answers: Sequence[Answer]) -> int:
        """Return how many answers do not count yet."""

    def count(self) -> tuple[ReviewContent, Queues]:
        """Let all answers count; return the run as it is then, and what is left to ask."""


class AnswerCounting:
    """One count at a time, in a thread of its own; ``take`` is told what came of it."""

    def __init__(self, recount: Recount, take: Callable[[ReviewContent, Queues], None]) -> None:
        self.recount, self._take = recount, take
        self._thread: threading.Thread | None = None
        self._guard = threading.Lock()
        self.fault = ""

    @property
    def works(self) -> bool:
        """Whether answers are being counted now."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self) -> None:
        """Begin to count, unless that goes on already."""
        with self._guard:
            if self.works:
                raise DataError("The answers are being counted already.")
            self.fault = ""
            self._thread = threading.Thread(target=self._count, daemon=True)
            self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the count that goes on has ended."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _count(self) -> None:
        try:
            self._take(*self.recount.count())
        except (KolchinError, OSError) as error:
            self.fault = f"The answers are saved, but could not be counted: {error}"

    def state(self, answers: Sequence[Answer]) -> dict[str, Any]:
        """Return how many answers wait, and whether they are being counted."""
        waiting = 0 if self.works else self.recount.count_waiting(answers)
        return {"waiting": waiting, "works": self.works, "fault": self.fault}

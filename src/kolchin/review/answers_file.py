"""The answers of people: a file that only grows, and is on the disk before anybody is told.

A later line of a reviewer about the same two records takes the place of an earlier one; 'unsure'
says that nobody knows. A line whose queue ends with ':undo' takes back the line before it, and says
what stands again.
"""

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from kolchin.errors import DataError

FILE = "answers.csv"
LOCK = ".answers.lock"
COLUMNS = ("record_a", "record_b", "answer", "reviewer", "time", "queue")
SAME, DIFFERENT, UNSURE = "same", "different", "unsure"
ANSWERS = (SAME, DIFFERENT, UNSURE)
UNDO = ":undo"

Pair = tuple[str, str]


class Answer(NamedTuple):
    """One line: what a person says about two records, which are named by their ids as text."""

    record_a: str
    record_b: str
    answer: str
    reviewer: str
    time: str
    queue: str

    @property
    def pair(self) -> Pair:
        """The two records, whatever their order in the line."""
        return make_pair(self.record_a, self.record_b)

    @property
    def is_undo(self) -> bool:
        """Whether the line takes the one before back."""
        return self.queue.endswith(UNDO)

    @property
    def of_queue(self) -> str:
        """The queue, of a line that takes back the one it was asked in."""
        return self.queue.removesuffix(UNDO)


def make_pair(one: str, two: str) -> Pair:
    """Return two ids in an order that does not depend on how they were given."""
    return (one, two) if one <= two else (two, one)


def read_clock() -> str:
    """Return the time for a line: UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class AnswersFile:
    """The answers of a run; any number of processes may write at once and lose nothing.

    ``read`` looks only at what is new since the last time.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answers: list[Answer] = []
        self._seen = 0

    def append(self, answers: Iterable[Answer]) -> None:
        """Add lines; when this returns, they are on the disk itself."""
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows(answers)
        with FileLock(self.path.with_name(LOCK)), self.path.open("a+b", buffering=0) as file:
            text = _make_opening(file) + buffer.getvalue().encode()
            while text:
                text = text[file.write(text) :]
            os.fsync(file.fileno())

    def read(self) -> list[Answer]:
        """Return all answers so far, in the order in which they were given."""
        try:
            with self.path.open("rb") as file:
                if file.seek(0, os.SEEK_END) < self._seen:  # another file has taken its place
                    self.answers, self._seen = [], 0
                file.seek(self._seen)
                text = file.read()
        except FileNotFoundError:
            self.answers, self._seen = [], 0
            return self.answers
        whole = text[: text.rfind(b"\n") + 1]
        if whole.count(b'"') % 2 == 0:  # a name may hold the end of a line
            self._seen += len(whole)
            self.answers += _parse_lines(whole.decode("utf-8-sig", errors="replace"))
        return self.answers


def find_latest(answers: Sequence[Answer]) -> dict[tuple[Pair, str], Answer]:
    """Return what stands: each reviewer's last line about a pair that was not taken back."""
    stacks: dict[tuple[Pair, str], list[Answer]] = {}
    for one in answers:
        stack = stacks.setdefault((one.pair, one.reviewer), [])
        if not one.is_undo:
            stack.append(one)
        elif stack:
            stack.pop()
    return {key: stack[-1] for key, stack in stacks.items() if stack}


def find_before(answers: Sequence[Answer], pair: Pair, reviewer: str) -> Answer | None:
    """Return what stood before the last answer of a reviewer about a pair, if anything did."""
    stack: list[Answer] = []
    for one in answers:
        if one.pair != pair or one.reviewer != reviewer:
            continue
        if one.is_undo:
            stack = stack[:-1]
        else:
            stack.append(one)
    return stack[-2] if len(stack) > 1 else None


def _parse_lines(text: str) -> Iterator[Answer]:
    """Yield the lines that are answers; the heading and halves of lines are not."""
    for row in csv.reader(io.StringIO(text)):
        if len(row) == len(COLUMNS) and row[2] in ANSWERS:
            yield Answer(*row)


def _make_opening(file: FileIO) -> bytes:
    """Return what must stand before new lines: the heading, or the end of half a line."""
    file.seek(0)
    text = file.readall()
    if not text:
        return (",".join(COLUMNS) + "\n").encode()
    if text.endswith(b"\n") and text.count(b'"') % 2 == 0:
        return b""
    return b'"\n' if text.count(b'"') % 2 else b"\n"


def check_answer(answer: str) -> str:
    """Return an answer, or say which there are."""
    if answer not in ANSWERS:
        raise DataError(f"An answer is one of {', '.join(ANSWERS)}. Got {answer!r} instead.")
    return answer

"""What is found while a table is read: faults that stop, notes that inform."""

import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from kolchin.errors import DataError


class DataWarning(UserWarning):
    """Something about a table that a user should know; the message lists all of it."""


class FaultsAndNotes:
    """A collection of faults and notes, so that each is told once and all are told together."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.notes: list[str] = []

    def fault(self, message: str) -> None:
        """Add something that must be mended before the table can be used."""
        self.faults.append(message)

    def note(self, message: str) -> None:
        """Add something that was done with the table and may surprise."""
        self.notes.append(message)

    def stop_on_faults(self) -> None:
        """Raise one DataError that lists every fault, if there is any."""
        if self.faults:
            raise DataError(_list_lines("These records cannot be used:", self.faults))

    def warn(self, stacklevel: int = 3) -> None:
        """Give one DataWarning that lists every note, if there is any."""
        if self.notes:
            message = _list_lines("What was done with some columns:", self.notes)
            warnings.warn(message, DataWarning, stacklevel=stacklevel)


def _list_lines(title: str, lines: Iterable[str]) -> str:
    return "\n".join([title, *(f"- {line}" for line in lines)])


def list_some(values: Iterable[Any], limit: int = 5) -> str:
    """Write values for a message, the first few of them when there are many.

    >>> list_some(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    listed = list(values)
    rest = len(listed) - limit
    return ", ".join(map(show_value, listed[:limit])) + (f" and {rest:,} more" if rest > 0 else "")


def show_value(value: Any, width: int = 60) -> str:
    """Write one value for a message, cut when it is long.

    >>> show_value("x" * 1000, width=5)
    "'xxxxx'... (1,000 characters)"
    """
    if isinstance(value, str) and len(value) > width:
        return f"{value[:width]!r}... ({len(value):,} characters)"
    return repr(value)


def suggest(name: str, known: Iterable[str]) -> str:
    """Write a question with the known names closest to a wrong one, or nothing.

    >>> suggest("sexx", ["age", "sex"])
    " Did you mean 'sex'?"
    """
    by_lower = {other.lower(): other for other in known}
    close = [by_lower[match] for match in get_close_matches(name.lower(), by_lower)]
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""

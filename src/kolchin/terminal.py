"""Plain tables that fit a terminal."""

import shutil
from collections.abc import Collection, Sequence
from typing import Any

NARROWEST = 6
"""A column is not made narrower than that: what does not fit then goes beyond the edge."""


def find_width() -> int:
    """Return how many characters fit in a line, 80 where nobody knows."""
    return shutil.get_terminal_size((80, 24)).columns


def join_lines(value: Any, longest: int = 60) -> str:
    """Write a value in one line, cut when it is long.

    >>> join_lines("a  b"), join_lines(None), join_lines("x" * 9, longest=4)
    ('a b', '', 'xxx…')
    """
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def write_table(
    rows: Sequence[Sequence[str]],
    width: int | None = None,
    right: Collection[int] = (),
    whole: Collection[int] = (),
) -> str:
    """Write rows below each other; the widest columns are cut until all fit in the width.

    Columns in ``right`` are aligned to the right; they and those in ``whole`` are never cut.

    >>> print(write_table([("field", "bits"), ("a very long name", "1.0")], width=16, right=[1]))
    field       bits
    a very lo…   1.0
    """
    if not rows:
        return ""
    widths = _fit_widths(
        [max(map(len, column)) for column in zip(*rows, strict=True)], width, {*right, *whole}
    )
    lines = []
    for row in rows:
        cells = [join_lines(cell, size) for cell, size in zip(row, widths, strict=True)]
        placed = [
            cell.rjust(size) if k in right else cell.ljust(size)
            for k, (cell, size) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join(placed).rstrip())
    return "\n".join(lines)


def _fit_widths(widths: list[int], width: int | None, whole: Collection[int]) -> list[int]:
    """Take letters off the widest columns until the table fits, if it can."""
    room = (find_width() if width is None else width) - 2 * (len(widths) - 1)
    while sum(widths) > room:
        places = [k for k in range(len(widths)) if k not in whole and widths[k] > NARROWEST]
        if not places:
            break
        widths[max(places, key=lambda k: widths[k])] -= 1
    return widths

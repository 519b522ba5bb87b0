"""Dates in the forms that people write, compared by how they go wrong."""

import datetime
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from kolchin.comparison.kinds.base import Codes, Comparer, Floats, Levels, write_as_text
from kolchin.comparison.kinds.strings import Strings
from kolchin.records.fields.declarations import Compared

COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)")
YEAR_FIRST = re.compile(r"(\d{4})(?:[-/. ](\d{1,2})(?:[-/. ](\d{1,2})(?:[t ].*)?)?)?")
YEAR_LAST = re.compile(r"(\d{1,2}|[a-z]{3,9})[-/. ]+(\d{1,2}|[a-z]{3,9})[-/., ]+(\d{4}|\d\d)")
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
LATEST = 2030
"""Years of two digits are taken for the last ones that end so, up to the latest of the column."""


class DateParts(NamedTuple):
    """Year, month and day as written, 0 where not given; a month may be 13, for people mistype."""

    year: int
    month: int
    day: int


def parse_date(text: str, day_first: bool = True, latest: int = LATEST) -> DateParts | None:
    """Read a date; None if it is none.

    >>> parse_date("3 mar 71"), parse_date("19710324"), parse_date("1971")
    (DateParts(year=1971, month=3, day=3), DateParts(year=1971, month=3, day=24), ...)
    """
    found = COMPACT.fullmatch(text) or YEAR_FIRST.fullmatch(text)
    if found:
        return DateParts(*(int(part or 0) for part in found.groups()))
    found = YEAR_LAST.fullmatch(text)
    if not found:
        return None
    first, second, year = found.groups()
    if first.isdigit() and second.isdigit():
        day, month = (int(first), int(second)) if day_first else (int(second), int(first))
        if month > 12 >= day:
            day, month = month, day
    else:
        word, number = (second, first) if first.isdigit() else (first, second)
        if word[:3] not in MONTHS or not number.isdigit():
            return None
        day, month = int(number), MONTHS.index(word[:3]) + 1
    return DateParts(_complete_year(year, latest), month, day)


def _complete_year(year: str, latest: int) -> int:
    if len(year) == 4:
        return int(year)
    century = latest - latest % 100
    return century + int(year) - (100 if century + int(year) > latest else 0)


def _has_day_first(texts: Iterable[str]) -> bool:
    """Tell whether 3/4/1971 is in April, from those that can be but one."""
    found = [hit for text in texts if (hit := re.fullmatch(r"(\d\d?)[-/.](\d\d?)[-/.]\d+", text))]
    firsts = sum(int(hit[1]) > 12 for hit in found)
    seconds = sum(int(hit[2]) > 12 for hit in found)
    return firsts >= seconds


def _find_latest_year(texts: Iterable[str]) -> int:
    years = [
        int(hit[1]) for text in texts if (hit := re.search(r"(?<!\d)((?:18|19|20)\d\d)", text))
    ]
    return max(years, default=LATEST)


def write_dates_alike(values: Sequence[Any]) -> pl.Series:
    """Write all dates in one form, year first; what is no date stays.

    >>> write_dates_alike(["24/12/1971", "1971-12-24", "1971", "?"]).to_list()
    ['1971-12-24', '1971-12-24', '1971-00-00', '?']
    """
    texts = write_as_text(values).to_list()
    day_first, latest = _has_day_first(texts), _find_latest_year(texts)
    read = [parse_date(text, day_first, latest) for text in texts]
    return pl.Series(
        [
            text if parts is None else "{:04d}-{:02d}-{:02d}".format(*parts)
            for text, parts in zip(texts, read, strict=True)
        ],
        dtype=pl.String,
    )


def _count_days(parts: DateParts) -> float:
    try:
        return datetime.date(*parts).toordinal()
    except ValueError:
        return np.nan


class DateComparer(Comparer):
    """Exact, mistyped, swapped, two parts the same, near in days, different."""

    forms_of = staticmethod(write_dates_alike)

    def __init__(self, field: Compared, forms: pl.Series) -> None:
        super().__init__(field, forms)
        within = (f"within {cut:g} days" for cut in field.cuts)
        self.names = ("exact", "mistyped", "swapped", "two parts", *within, "different")
        self.near = 3
        self.strings = Strings(forms.str.replace_all("-00", "").str.replace_all("-", ""))
        read = [parse_date(text) or DateParts(0, 0, 0) for text in forms.to_list()]
        self.parts = np.array(read, dtype=np.int32).reshape(-1, 3)
        self.days: Floats = np.array([_count_days(parts) for parts in read], dtype=np.float64)

    def levels(self, left: Codes, right: Codes) -> Levels:
        """Compare digits, then parts, then days."""
        a, b = self.parts[left], self.parts[right]
        both = (a > 0) & (b > 0)
        same = (a == b) & both
        gap = np.abs(self.days[left] - self.days[right])
        result = np.full(left.size, self.different, dtype=np.int8)
        for position in reversed(range(len(self.field.cuts))):
            result[gap <= self.field.cuts[position]] = 4 + position
        result[(same.sum(axis=1) >= 2) | (same[:, 0] & (both.sum(axis=1) == 1))] = 3
        crossed = (a[:, 1] == b[:, 2]) & (a[:, 2] == b[:, 1])
        result[same[:, 0] & crossed & both.all(axis=1)] = 2
        result[self.strings.edits(left, right, 1) <= 1] = 1
        return result

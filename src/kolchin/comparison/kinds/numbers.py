"""Numbers: years, amounts, house numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from kolchin.comparison.kinds.base import (
    Codes,
    Comparer,
    Floats,
    Levels,
    cut_into_levels,
    write_as_text,
)
from kolchin.comparison.kinds.strings import Strings
from kolchin.records.columns.amounts import read_amounts
from kolchin.records.fields.declarations import Compared

SHORTEST_MISTYPED = 3


def write_numbers_alike(values: Sequence[Any]) -> pl.Series:
    """Write equal numbers equally; what is no number stays.

    >>> write_numbers_alike(["007", "7.0", "1,5", "7a"]).to_list()
    ['7', '7', '1.5', '7a']
    >>> write_numbers_alike(["$1,299.00", "track 7", "7"]).to_list()
    ['1299', '7', '7']
    """
    texts = write_as_text(values).str.strip_chars()
    read = read_amounts(texts)
    numbers = _read_numbers(texts) if read is None else read.numbers.fill_null(_read_numbers(texts))
    whole = (numbers.round() == numbers) & (numbers.abs() < 2**53)
    integers = numbers.zip_with(whole, pl.Series([None], dtype=pl.Float64)).cast(pl.Int64)
    written = integers.cast(pl.String).fill_null(numbers.cast(pl.String))
    return written.fill_null(texts)


def _read_numbers(texts: pl.Series) -> pl.Series:
    """Read numbers, with a comma or a point before decimals; null where there is none."""
    numbers = texts.str.replace(r"^([+-]?\d*),(\d+)$", "$1.$2").cast(pl.Float64, strict=False)
    return numbers.set(~numbers.is_finite().fill_null(True), None)


class NumberComparer(Comparer):
    """Exact, mistyped, near to some degree, different."""

    forms_of = staticmethod(write_numbers_alike)

    def __init__(self, field: Compared, forms: pl.Series) -> None:
        super().__init__(field, forms)
        within = (f"within {cut:.0%}" for cut in field.cuts)
        self.names = ("exact", "mistyped", *within, "different")
        self.near = 2
        self.strings = Strings(forms)
        numbers = _read_numbers(forms)
        self.numbers: Floats = numbers.fill_null(np.nan).to_numpy()
        low, high = numbers.quantile(0.05), numbers.quantile(0.95)
        self.spread = (high - low) if low is not None and high is not None else 0.0

    def levels(self, left: Codes, right: Codes) -> Levels:
        """Compare digits, then differences relative to the size and the spread."""
        a, b = self.numbers[left], self.numbers[right]
        size = np.maximum(np.abs(a), np.abs(b))
        scale = np.minimum(size, self.spread) if self.spread > 0 else size
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            nearness = -np.nan_to_num(np.abs(a - b) / scale, nan=np.inf)
        result = cut_into_levels(nearness, [-cut for cut in self.field.cuts], first=2)
        lengths = self.strings.lengths
        long = np.maximum(lengths[left], lengths[right]) >= SHORTEST_MISTYPED
        result[long & (self.strings.edits(left, right, 1) <= 1)] = 1
        return result

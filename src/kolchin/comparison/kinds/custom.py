"""Comparators that users give as Python functions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from kolchin.comparison.kinds.base import Codes, Comparer, Levels, cut_into_levels
from kolchin.errors import DataError
from kolchin.records.fields.declarations import Comparator, Compared


class CustomComparer(Comparer):
    """A function's levels, or the levels that cuts make of its similarities."""

    custom = True
    spelled = False

    def __init__(self, field: Compared, values: Sequence[Any], comparator: Comparator) -> None:
        super().__init__(field, self.forms_of(values))
        self.values = tuple(values)
        self.comparator = comparator
        similar = (f"similarity {cut:g}" for cut in field.cuts)
        self.names = field.levels or ("exact", *similar, "different")
        self.near = min(2, self.different)

    @staticmethod
    def forms_of(values: Sequence[Any]) -> pl.Series:
        """Return values as text; they stay apart."""
        return pl.Series([str(value) for value in values], dtype=pl.String)

    def levels(self, left: Codes, right: Codes) -> Levels:
        """Call the function once for each pair, the smaller value first."""
        low, high = np.minimum(left, right).tolist(), np.maximum(left, right).tolist()
        found = [self._result(a, b) for a, b in zip(low, high, strict=True)]
        if self.field.levels is None:
            return cut_into_levels(np.array(found, dtype=np.float64), self.field.cuts)
        return np.array(found, dtype=np.int8)

    def _result(self, a: int, b: int) -> float:
        """Call the function and check what it returns."""
        first, second = self.values[a], self.values[b]
        result = self.comparator(first, second)
        highest = self.different if self.field.levels else np.inf
        lowest = -1 if self.field.levels else -np.inf
        whole = self.field.levels is None or (result == result and int(result) == result)
        if not (result == result and lowest <= result <= highest and whole):
            wanted = f"a level from -1 to {highest}" if self.field.levels else "a similarity"
            raise DataError(
                f"The comparator of {self.field.column!r} must return {wanted}. "
                f"Got {result!r} for {first!r} and {second!r} instead."
            )
        return result

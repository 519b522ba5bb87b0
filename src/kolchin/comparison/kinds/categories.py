"""Categories: values that are the same or different, nothing in between."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from kolchin.comparison.kinds.base import Codes, Comparer, Levels


class CategoryComparer(Comparer):
    """Exact or different: how values are written says nothing."""

    spelled = False
    names = ("exact", "different")
    near = 1

    @staticmethod
    def forms_of(values: Sequence[Any]) -> pl.Series:
        """Return values as text, as they are."""
        return pl.Series([str(value) for value in values], dtype=pl.String)

    def levels(self, left: Codes, right: Codes) -> Levels:
        """Return 'different' for all, since the forms of each pair are."""
        return np.full(left.size, self.different, dtype=np.int8)

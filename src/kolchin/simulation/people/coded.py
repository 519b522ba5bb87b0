"""Columns of text as codes into a list of values, so that a million rows stay cheap."""

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class CodedTexts(NamedTuple):
    """Texts by codes; -1 is missing."""

    values: pl.Series
    codes: Ints

    def texts(self) -> pl.Series:
        """Return the text of each row."""
        with_missing = pl.concat([self.values, pl.Series([None], dtype=pl.String)])
        return with_missing.gather(np.where(self.codes < 0, self.values.len(), self.codes))

    def replace_texts(self, rows: Ints, texts: pl.Series) -> "CodedTexts":
        """Return the column with other texts in some rows."""
        codes = self.codes.copy()
        codes[rows] = self.values.len() + np.arange(rows.size)
        return CodedTexts(pl.concat([self.values, texts]), codes)


def pick(rng: np.random.Generator, cumulative: Floats, n: int) -> Ints:
    """Draw n codes by their cumulative weights."""
    codes = np.searchsorted(cumulative, rng.random(n) * cumulative[-1], side="right")
    result: Ints = np.minimum(codes, cumulative.size - 1).astype(np.int64)
    return result


def pick_other(rng: np.random.Generator, cumulative: Floats, than: Ints) -> Ints:
    """Draw codes by their cumulative weights, each another one than a given code."""
    codes = pick(rng, cumulative, than.size)
    while (same := np.flatnonzero(codes == than)).size:
        codes[same] = pick(rng, cumulative, same.size)
    return codes

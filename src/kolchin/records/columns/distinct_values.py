"""A column becomes its distinct values and, for each record, the place of its value among them."""

import re
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

MISSING = -1
# What a query costs at least, times thousands of columns, is seconds: so few values need none.
FEW = 2_000
NUMERIC = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"


class CodedColumn(NamedTuple):
    """Codes, one a record and -1 where a value is missing, and the values they point at, sorted."""

    codes: NDArray[np.int32]
    vocabulary: pl.Series

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many records have each value."""
        present = self.codes[self.codes != MISSING]
        return np.bincount(present, minlength=self.vocabulary.len())

    def replace_values(self, values: pl.Series) -> "CodedColumn":
        """Return what is left when each value is replaced by another, or by null for missing."""
        vocabulary = sort_vocabulary(values)
        places = np.append(find_positions(values, vocabulary), np.int32(MISSING))
        return CodedColumn(places[self.codes], vocabulary)


def encode_column(values: pl.Series) -> CodedColumn:
    """Replace the values of a column by their rank, whatever the order of its rows."""
    vocabulary = sort_vocabulary(values)
    return CodedColumn(find_positions(values, vocabulary), vocabulary)


def sort_vocabulary(values: pl.Series) -> pl.Series:
    """Sort the distinct values; text that is all numbers goes by number, as numbers do."""
    is_text = values.dtype == pl.String
    if values.len() <= FEW:
        distinct = set(values.to_list()) - {None}
        numeric = is_text and all(re.fullmatch(NUMERIC, value) for value in distinct)
        ordered = sorted(distinct, key=_make_sort_key if numeric else None)
        return pl.Series("value", ordered, dtype=values.dtype)
    seen = values.drop_nulls().unique().to_frame("value")
    if is_text and seen["value"].str.contains(NUMERIC).all():
        return seen.sort(pl.col("value").cast(pl.Float64), "value")["value"]
    return seen["value"].sort()


def _make_sort_key(text: str) -> tuple[float, str]:
    return float(text), text


def find_positions(values: pl.Series, vocabulary: pl.Series) -> NDArray[np.int32]:
    """Return the position of each value in the vocabulary, -1 where it is missing."""
    if values.len() <= FEW:
        place = {value: position for position, value in enumerate(vocabulary.to_list())}
        return np.array([place.get(value, MISSING) for value in values.to_list()], np.int32)
    places = pl.int_range(vocabulary.len(), dtype=pl.Int32, eager=True).alias("code")
    table = pl.DataFrame([vocabulary.alias("value"), places])
    joined = values.to_frame("value").join(table, on="value", how="left", maintain_order="left")
    codes: NDArray[np.int32] = joined["code"].fill_null(MISSING).to_numpy()
    return codes

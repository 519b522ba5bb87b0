"""One column of values: what counts as missing, and which values are the same."""

from collections.abc import Sequence
from decimal import Decimal
from numbers import Number, Real
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.records.findings import Findings

# Whole numbers up to this size are exact as floats.
EXACT = 2**53
COMPOUND = (list, tuple, dict, set, frozenset, np.ndarray)


def from_objects(name: str, values: Sequence[Any], findings: Findings) -> pl.Series:
    """Make a series of Python objects; what is neither of one type nor of numbers becomes text."""
    present = [None if _is_missing(value) else _plain(value) for value in values]
    kinds = {type(value) for value in present if value is not None}
    if any(issubclass(kind, COMPOUND) for kind in kinds):
        return pl.Series(present, dtype=pl.Object)
    series = alike(present)
    if series is not None:
        return series
    if len(kinds) > 1:
        listed = ", ".join(sorted(kind.__name__ for kind in kinds))
        findings.note(f"{name!r} mixes values of several types ({listed}): read as text.")
    return pl.Series([None if value is None else _text(value) for value in present])


def alike(values: Sequence[Any]) -> pl.Series | None:
    """Make a series of values that are of one type, or all numbers; None if they are neither."""
    kinds = {type(value) for value in values if value is not None}
    try:
        if len(kinds) <= 1:
            series = pl.Series(values, strict=True)
            return series if series.dtype != pl.Object else None
        if all(issubclass(kind, Real | Decimal) for kind in kinds):
            return pl.Series([None if value is None else float(value) for value in values])
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        pass  # Polars has no type for them
    return None


def _is_missing(value: Any) -> bool:
    """Tell None, NaN, NaT and pandas.NA from values."""
    # pandas' marks are known by name, since pandas need not be installed.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    # NaN alone differs from itself.
    return isinstance(value, Number) and bool(value != value)


def _plain(value: Any) -> Any:
    """Make a Python value of a NumPy one: Polars would take the type of the first for all."""
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any) -> str:
    """Write a value as text, 12.0 like 12, for pandas makes floats of integers beside gaps."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def take(vocabulary: pl.Series, codes: NDArray[np.integer[Any]]) -> pl.Series:
    """Return the values that codes point at, missing where a code is negative.

    >>> take(pl.Series(["f", "m"]), np.array([1, -1])).to_list()
    ['m', None]
    """
    # Without its name, which Polars would take for a pattern when it is "*" or like "^...$".
    positions = pl.Series(codes)
    return vocabulary.alias("").gather(positions.set(positions < 0, None))


def is_nested(values: pl.Series) -> bool:
    """Tell whether a column holds lists, structs and the like rather than single values."""
    return values.dtype.is_nested() or values.dtype == pl.Object


def tidy(values: pl.Series) -> pl.Series:
    """Bring a column to the form in which equal content is equal, whatever table it came from.

    NaN becomes missing, categories become text, floats that are all whole become
    integers, and times that are all midnight become dates.
    """
    dtype = values.dtype
    if dtype in (pl.Categorical, pl.Enum):
        return tidy(values.cast(pl.String))
    if dtype == pl.String:
        return values
    if dtype.is_float() or dtype.is_decimal():
        return _whole(values.cast(pl.Float64).fill_nan(None))
    if isinstance(dtype, pl.Datetime):
        return _dated(values.dt.convert_time_zone("UTC") if dtype.time_zone else values)
    return values


def _whole(values: pl.Series) -> pl.Series:
    """Make integers of floats that are all whole, such as those of a pandas column with gaps."""
    whole = (values.round() == values) & (values.abs() < EXACT)
    return values.cast(pl.Int64) if whole.all() else values


def _dated(values: pl.Series) -> pl.Series:
    """Make dates of times without a zone that are all midnight, since pandas has no dates."""
    dtype = values.dtype
    midnight = isinstance(dtype, pl.Datetime) and dtype.time_zone is None
    if midnight and (values.dt.truncate("1d") == values).all():
        return values.cast(pl.Date)
    return values.dt.cast_time_unit("us")


def as_text(values: pl.Series) -> pl.Series:
    """Write the values of any column as text, under its name."""
    if is_nested(values):
        written = [None if value is None else str(value) for value in values.to_list()]
        return pl.Series(values.name, written, dtype=pl.String)
    if values.dtype == pl.String:
        return values
    plain = tidy(values.alias("value"))
    try:
        return plain.cast(pl.String).alias(values.name)
    except pl.exceptions.PolarsError:  # bytes that are no text
        written = [None if value is None else str(value) for value in plain.to_list()]
        return pl.Series(values.name, written, dtype=pl.String)

"""One column of values: what counts as missing, and which values are the same."""

from collections.abc import Sequence
from decimal import Decimal
from numbers import Number, Real
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.records.faults_and_notes import FaultsAndNotes

# Whole numbers up to this size are exact as floats.
EXACT = 2**53
COMPOUND = (list, tuple, dict, set, frozenset, np.ndarray)


def make_series(name: str, values: Sequence[Any], findings: FaultsAndNotes) -> pl.Series:
    """Make a series of Python objects; what is neither of one type nor of numbers becomes text."""
    present = [None if _is_missing(value) else _make_plain(value) for value in values]
    kinds = {type(value) for value in present if value is not None}
    if any(issubclass(kind, COMPOUND) for kind in kinds):
        return pl.Series(present, dtype=pl.Object)
    series = unify_values(present)
    if series is not None:
        return series
    if len(kinds) > 1:
        listed = ", ".join(sorted(kind.__name__ for kind in kinds))
        findings.note(f"{name!r} mixes values of several types ({listed}): read as text.")
    return pl.Series([None if value is None else _write_text(value) for value in present])


def unify_values(values: Sequence[Any]) -> pl.Series | None:
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


def _make_plain(value: Any) -> Any:
    """Make a Python value of a NumPy one: Polars would take the type of the first for all."""
    return value.item() if isinstance(value, np.generic) else value


def _write_text(value: Any) -> str:
    """Write a value as text, 12.0 like 12, for pandas makes floats of integers beside gaps."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def take_values(vocabulary: pl.Series, codes: NDArray[np.integer[Any]]) -> pl.Series:
    """Return the values that codes point at, missing where a code is negative.

    >>> take_values(pl.Series(["f", "m"]), np.array([1, -1])).to_list()
    ['m', None]
    """
    # Without its name, which Polars would take for a pattern when it is "*" or like "^...$".
    positions = pl.Series(codes)
    return vocabulary.alias("").gather(positions.set(positions < 0, None))


def is_nested(values: pl.Series) -> bool:
    """Tell whether a column holds lists, structs and the like rather than single values."""
    return values.dtype.is_nested() or values.dtype == pl.Object


def tidy_values(values: pl.Series, whole: bool | None = None) -> pl.Series:
    """Bring a column to the form in which equal content is equal, whatever table it came from.

    NaN becomes missing, categories become text, floats that are all whole become
    integers, and times that are all midnight become dates. Of a part of a column, it must be
    said whether all of the column is whole.
    """
    dtype = values.dtype
    if dtype in (pl.Categorical, pl.Enum):
        return values.cast(pl.String)
    if dtype == pl.String:
        return values
    if dtype.is_float() or dtype.is_decimal():
        return _write_whole(values.cast(pl.Float64).fill_nan(None), whole)
    if isinstance(dtype, pl.Datetime):
        return _write_dates(
            values.dt.convert_time_zone("UTC") if dtype.time_zone else values, whole
        )
    return values


def _write_whole(values: pl.Series, whole: bool | None) -> pl.Series:
    """Make integers of floats that are all whole, such as those of a pandas column with gaps."""
    if whole is None:
        whole = ((values.round() == values) & (values.abs() < EXACT)).all()
    return values.cast(pl.Int64) if whole else values


def _write_dates(values: pl.Series, whole: bool | None) -> pl.Series:
    """Make dates of times without a zone that are all midnight, since pandas has no dates."""
    if whole is None:
        dtype = values.dtype
        no_zone = isinstance(dtype, pl.Datetime) and dtype.time_zone is None
        whole = no_zone and (values.dt.truncate("1d") == values).all()
    return values.cast(pl.Date) if whole else values.dt.cast_time_unit("us")


class WritingForm(NamedTuple):
    """How a column is written as text, which may take a look at all of it.

    Parameters
    ----------
    whole
        Whether it becomes integers, or dates, before that.
    each
        Whether its values are written one by one, as Python does.
    """

    whole: bool
    each: bool


def choose_form(values: pl.Series) -> WritingForm:
    """Find out how a column is written as text."""
    if is_nested(values):
        return WritingForm(False, True)
    if values.dtype == pl.String:
        return WritingForm(False, False)
    plain = tidy_values(values)
    return WritingForm(
        plain.dtype != values.dtype and plain.dtype in (pl.Int64, pl.Date), _is_odd(plain)
    )


def _is_odd(values: pl.Series) -> bool:
    """Tell whether values cannot be cast to text, such as bytes that are none."""
    if values.dtype.is_numeric() or values.dtype in (pl.Boolean, pl.Date, pl.Datetime):
        return False
    try:
        values.cast(pl.String)
    except pl.exceptions.PolarsError:
        return True
    return False


def write_values(values: pl.Series, how: WritingForm) -> pl.Series:
    """Write a column, or a part of it, as text, under its name."""
    if not how.each and values.dtype == pl.String:
        return values
    # Polars takes a series' own name for a pattern when it is "*" or like "^...$".
    plain = values if is_nested(values) else tidy_values(values.alias("value"), how.whole)
    if not how.each:
        return plain.cast(pl.String).alias(values.name)
    texts = [None if value is None else str(value) for value in plain.to_list()]
    return pl.Series(values.name, texts, dtype=pl.String)


def write_as_text(values: pl.Series) -> pl.Series:
    """Write the values of any column as text, under its name."""
    return write_values(values, choose_form(values.alias("value")))

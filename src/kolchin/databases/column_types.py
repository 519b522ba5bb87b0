"""Values of databases as columns of the types that people expect."""

import json
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import polars as pl


def convert_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame in plain types: decimals are numbers; bytes, lists and others are text."""
    return pl.DataFrame([_convert_column(column) for column in frame.iter_columns()])


def _convert_column(column: pl.Series) -> pl.Series:
    kind = column.dtype
    if isinstance(kind, pl.Decimal):
        return _convert_number(column, kind.scale == 0)
    if kind in (pl.UInt64, pl.Int128):
        return _convert_number(column, True)
    if kind == pl.Binary:
        made = [None if value is None else value.decode("utf-8", "replace") for value in column]
        return pl.Series(column.name, made, dtype=pl.String)
    if kind == pl.Object or kind.is_nested():  # such as UUIDs and JSON, by drivers of Python
        made = [_convert_text(value) for value in column.to_list()]
        return pl.Series(column.name, made, dtype=pl.String)
    if isinstance(kind, pl.Categorical | pl.Enum) or kind in (pl.Time, pl.Duration, pl.Null):
        return column.cast(pl.String)
    return column


def _convert_number(column: pl.Series, whole: bool) -> pl.Series:
    """Return decimals as whole numbers where they are, else as numbers with fractions.

    Whole numbers of more than 64 bits are names more than quantities, and stay as text.
    """
    if not whole:
        return column.cast(pl.Float64)
    made = column.cast(pl.Int64, strict=False)
    return made if made.null_count() == column.null_count() else column.cast(pl.String)


def convert_numbers(column: pl.Series) -> pl.Series:
    """Return a column of numbers that are written as text."""
    if not column.str.contains("[^0-9-]").any():
        return _convert_number(column, True)
    return column.cast(pl.Float64, strict=False)


def make_column(name: str, values: Sequence[Any], declared: str = "") -> pl.Series:
    """Return values as a column of one type; in SQLite each value may have its own."""
    if "BOOL" in declared and all(value in (None, 0, 1) for value in values):
        made = [None if value is None else bool(value) for value in values]
        return pl.Series(name, made, dtype=pl.Boolean)
    if "DATE" in declared or "TIMESTAMP" in declared:
        times = _convert_times(values)
        if times is not None:
            return times.alias(name)
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int}:
        if all(value is None or -(2**63) <= value < 2**63 for value in values):
            return pl.Series(name, values, dtype=pl.Int64)
    elif kinds <= {int, float}:
        return pl.Series(name, values, dtype=pl.Float64, strict=False)
    return pl.Series(name, [_convert_text(value) for value in values], dtype=pl.String)


def _convert_times(values: Sequence[Any]) -> pl.Series | None:
    """Return dates, or times where there are any; None if a value is neither."""
    try:
        made = [None if value is None else datetime.fromisoformat(value) for value in values]
        if any(value is not None and value.tzinfo is not None for value in made):
            return None
        if all(value is None or len(value) == len("2000-01-01") for value in values):
            days: list[date | None] = [None if time is None else time.date() for time in made]
            return pl.Series(days, dtype=pl.Date)
        return pl.Series(made, dtype=pl.Datetime("us"))
    except (TypeError, ValueError):
        return None


def _convert_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, dict | list):
        return json.dumps(value, default=str, ensure_ascii=False)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

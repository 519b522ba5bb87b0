"""The types of a table's columns, which the texts that are kept of it do not have."""

from collections.abc import Mapping

import polars as pl

TYPES = {
    str(dtype): dtype
    for dtype in (
        *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
        *(pl.Float32, pl.Float64, pl.Boolean, pl.Date),
    )
}
DATETIME = "Datetime"


def describe_types(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    """Return the types that can be brought back, by column; all others stay text."""
    found = {}
    for name, dtype in schema.items():
        if isinstance(dtype, pl.Datetime) and dtype.time_zone is None:
            found[name] = DATETIME
        elif str(dtype) in TYPES:
            found[name] = str(dtype)
    return found


def restore_type(texts: pl.Series, kind: str | None) -> pl.Series:
    """Return texts in the type that they were written from; as they are if that loses a value.

    >>> restore_type(pl.Series("n", ["1", None]), "Int64").to_list()
    [1, None]
    """
    if kind is None:
        return texts
    plain = texts.alias("")  # Polars takes some names for patterns
    try:
        if kind == DATETIME:
            made = plain.str.to_datetime(time_unit="us", strict=False)
        elif kind == str(pl.Date):
            made = plain.str.to_date("%Y-%m-%d", strict=False)
        elif kind == str(pl.Boolean):
            made = plain.replace_strict({"true": True, "false": False}, default=None)
        else:
            made = plain.cast(TYPES[kind], strict=False)
    except pl.exceptions.PolarsError:
        return texts
    return made.alias(texts.name) if made.null_count() == texts.null_count() else texts

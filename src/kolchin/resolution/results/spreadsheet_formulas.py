"""Cells that a spreadsheet would run as formulas."""

import re
from collections.abc import Iterable

import polars as pl

from kolchin.options import option
from kolchin.records.columns.column_texts import Texts
from kolchin.records.faults_and_notes import show_value

FORMULA = r"^[=@\t\r]|^[+-][^0-9.,\s]|^[+-].*([!|]|[A-Za-z]\()"
"""What such a cell is like: numbers, and telephone numbers, are none; calls after a number are."""


def quote_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before cells that would be formulas: spreadsheets then show the text.

    >>> quote_formulas(pl.DataFrame({"=a": ["=1+1", "-5", "x"]})).to_dict(as_series=False)
    {"'=a": ["'=1+1", '-5', 'x']}
    """
    columns = [_quote_column(column) for column in table.iter_columns()]
    names = _quote_column(pl.Series([column.name for column in columns], dtype=pl.String))
    return pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])


def _quote_column(column: pl.Series) -> pl.Series:
    if column.dtype != pl.String:
        return column
    plain = column.alias("")  # Polars takes some names for patterns
    formula = plain.str.contains(FORMULA).fill_null(False)
    return (
        column if not formula.any() else ("'" + plain).zip_with(formula, plain).alias(column.name)
    )


def note_formulas(texts: Texts, columns: Iterable[str]) -> list[str]:
    """Say which columns hold such cells, or are called so."""
    notes = []
    for name in columns:
        if re.search(FORMULA, name):
            notes.append(
                f"{name!r} is a name that a spreadsheet would run as a formula; "
                f"{option('safe_csv')} quotes it in the files that are written."
            )
        found = texts[name].alias("").drop_nulls()
        found = found.filter(found.str.contains(FORMULA))
        if found.len():
            notes.append(
                f"{name!r} has values that a spreadsheet would run as formulas, such as "
                f"{show_value(found[0])}; {option('safe_csv')} quotes them in the files that are "
                "written."
            )
    return notes

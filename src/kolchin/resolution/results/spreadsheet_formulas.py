"""Cells that a spreadsheet would run as formulas."""

from collections.abc import Iterable

import polars as pl

from kolchin.options import option
from kolchin.records.columns.column_texts import Texts
from kolchin.records.faults_and_notes import show_value

FORMULA = r"^[=@\t\r]|^[+-][^0-9.,\s]"
"""How such a cell begins; numbers and telephone numbers are none."""


def quote_formulas(table: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before cells that would be formulas: spreadsheets then show the text.

    >>> quote_formulas(pl.DataFrame({"a": ["=1+1", "-5", "x"]}))["a"].to_list()
    ["'=1+1", '-5', 'x']
    """
    return pl.DataFrame([_quote_column(column) for column in table.iter_columns()])


def _quote_column(column: pl.Series) -> pl.Series:
    if column.dtype != pl.String:
        return column
    plain = column.alias("")  # Polars takes some names for patterns
    formula = plain.str.contains(FORMULA).fill_null(False)
    return (
        column if not formula.any() else ("'" + plain).zip_with(formula, plain).alias(column.name)
    )


def note_formulas(texts: Texts, columns: Iterable[str]) -> list[str]:
    """Say which columns hold such cells."""
    notes = []
    for name in columns:
        found = texts[name].alias("").drop_nulls()
        found = found.filter(found.str.contains(FORMULA))
        if found.len():
            notes.append(
                f"{name!r} has values that a spreadsheet would run as formulas, such as "
                f"{show_value(found[0])}; {option('safe_csv')} quotes them in the files that are "
                "written."
            )
    return notes

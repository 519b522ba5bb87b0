"""Spreadsheets: the first sheet that has anything in it, every cell as text."""

from pathlib import Path

import polars as pl

from kolchin.errors import MissingExtraError
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some
from kolchin.records.files.parquet import describe_fault, describe_unreadable

EXCEL = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
MIDNIGHT = " 00:00:00"


def open_excel(
    data: bytes, path: Path, findings: FaultsAndNotes
) -> tuple[list[str], pl.DataFrame] | None:
    """Return the names in the first row and the rows below, all text; note what is wrong."""
    try:
        import fastexcel
    except ImportError as error:
        raise MissingExtraError(
            f"Reading {str(path)!r} needs fastexcel: pip install 'kolchin[excel]', or save the "
            "sheet as CSV."
        ) from error
    try:
        book = fastexcel.read_excel(data)
        sheets = {
            name: pl.DataFrame(book.load_sheet(name, dtypes="string")) for name in book.sheet_names
        }
    except fastexcel.FastExcelError as error:
        findings.fault(
            describe_unreadable(path, f"it is no spreadsheet, or damaged ({describe_fault(error)})")
        )
        return None
    filled = [name for name, sheet in sheets.items() if sheet.height and sheet.width]
    if not filled:
        findings.fault(f"file {str(path)!r} is empty: no sheet has a header and rows below it.")
        return None
    if len(filled) > 1:
        findings.note(
            f"file {str(path)!r} has {len(filled)} sheets ({list_some(filled)}): {filled[0]!r} was "
            "read; save another one as CSV to use it."
        )
    frame = _read_as_written(sheets[filled[0]])
    return [name.strip() for name in frame.columns], frame


def _read_as_written(sheet: pl.DataFrame) -> pl.DataFrame:
    """Leave out empty rows, and the midnight that spreadsheets add to dates."""
    kept = sheet.filter(~pl.all_horizontal(pl.all().is_null()))
    return pl.DataFrame([_write_dates(column) for column in kept.iter_columns()])


def _write_dates(column: pl.Series) -> pl.Series:
    if column.null_count() == column.len() or not column.str.ends_with(MIDNIGHT).all():
        return column.cast(pl.String)
    return column.str.strip_suffix(MIDNIGHT)

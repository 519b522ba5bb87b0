"""Tables as files."""

from pathlib import Path

import polars as pl

from kolchin.errors import DataError
from kolchin.files import replace_whole

_SUFFIXES = (".csv", ".parquet")


def check_table_path(path: Path) -> None:
    """Raise an error unless the path names a kind of file that `write_table` can write."""
    if path.suffix.lower() not in _SUFFIXES:
        raise DataError(
            f"The file to write must end in {' or '.join(_SUFFIXES)}. Got '{path}' instead."
        )


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table as CSV or Parquet, by the suffix of the path."""
    check_table_path(path)
    with replace_whole(path) as part:
        if path.suffix.lower() == ".csv":
            table.write_csv(part)
        else:
            table.write_parquet(part)

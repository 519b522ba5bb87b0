"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from kolchin.errors import DataError

_SUFFIXES = (".csv", ".parquet")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to, which takes the place of the given one when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def check_table_path(path: Path) -> None:
    """Raise an error unless the path names a kind of file that `write_table` can write."""
    if path.suffix.lower() not in _SUFFIXES:
        raise DataError(
            f"The file to write must end in {' or '.join(_SUFFIXES)}. Got '{path}' instead."
        )


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Write a table as CSV or Parquet, by the suffix of the path."""
    check_table_path(path)
    with replacing(path) as part:
        if path.suffix.lower() == ".csv":
            table.write_csv(part)
        else:
            table.write_parquet(part)

"""Parquet: a file, or a folder of files that are one table, as Spark and Dask write them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

import polars as pl

from kolchin.errors import DataError
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some

PARQUET = (".parquet", ".pq")

# Polars' panics are no exceptions to Python; a damaged file may bring one about.
UNREADABLE = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


class ParquetParts(NamedTuple):
    """The files of a table, and by what it is known that they are as they were.

    Of a folder these are its Parquet files in the order of their names. Hidden files, and those
    such as _SUCCESS, are not part of the table.
    """

    paths: tuple[Path, ...]
    stamps: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, path: Path) -> Self:
        """Return a file, or the files of a folder."""
        paths = tuple(_list_files(path)) if path.is_dir() else (path,)
        return cls(paths, tuple(map(_read_stamp, paths)))

    def scan(self) -> pl.LazyFrame:
        """Return the rows of the files, below each other."""
        return pl.scan_parquet(list(self.paths), glob=False, hive_partitioning=False)

    def check(self) -> None:
        """Refuse files that are no longer what they were."""
        for path, stamp in zip(self.paths, self.stamps, strict=True):
            if not path.exists() or _read_stamp(path) != stamp:
                raise DataError(f"{path} has changed since it was first read, or is gone.")


def is_parquet_folder(path: Path) -> bool:
    """Tell whether a path is a folder with Parquet files in it."""
    return path.is_dir() and next(_list_files(path), None) is not None


def _list_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        is_part = path.suffix.lower() in PARQUET and not path.name.startswith((".", "_"))
        if is_part and path.is_file():
            yield path


def _read_stamp(path: Path) -> tuple[int, int]:
    about = path.stat()
    return about.st_size, about.st_mtime_ns


def open_parquet(path: Path, findings: FaultsAndNotes) -> tuple[list[str], pl.LazyFrame] | None:
    """Return the column names of a file or a folder, and its content; note what is wrong."""
    parts = ParquetParts.of(path)
    if not parts.paths:
        findings.fault(
            f"{str(path)!r} is a folder without tables; name a file in it, or a folder "
            "of Parquet, CSV or JSON files that have the same columns."
        )
        return None
    schemas = _read_schemas(parts.paths, findings)
    if schemas is None or not _are_alike(schemas, findings):
        return None
    return list(schemas[parts.paths[0]]), parts.scan()


def describe_fault(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return (str(error).strip() or type(error).__name__).split("\n")[0].rstrip(".")


def describe_unreadable(path: str | os.PathLike[str], why: str) -> str:
    """Say that a file cannot be read."""
    return f"file {str(path)!r} cannot be read: {why}."


def _read_schemas(parts: Sequence[Path], findings: FaultsAndNotes) -> dict[Path, pl.Schema] | None:
    """Return the names and types of the columns of each file."""
    schemas = {}
    for part in parts:
        try:
            schemas[part] = pl.scan_parquet(part, glob=False).collect_schema()
        except UNREADABLE as error:
            findings.fault(describe_unreadable(part, describe_fault(error)))
            return None
    return schemas


def _are_alike(schemas: Mapping[Path, pl.Schema], findings: FaultsAndNotes) -> bool:
    """Tell whether all files have the columns of the first, or note how one differs."""
    (first, expected), *others = schemas.items()
    different = [(part, schema) for part, schema in others if dict(schema) != dict(expected)]
    if not different:
        return True
    part, schema = different[0]
    lacking, more = set(expected) - set(schema), set(schema) - set(expected)
    how = [f"it lacks {list_some(sorted(lacking))}"] if lacking else []
    how += [f"it has {list_some(sorted(more))} besides"] if more else []
    how += [
        f"{name!r} is {schema[name]}, not {dtype}"
        for name, dtype in expected.items()
        if name in schema and schema[name] != dtype
    ][:3]
    rest = f" Others that differ: {len(different) - 1:,}." if len(different) > 1 else ""
    findings.fault(
        f"file {str(part)!r} has other columns than {first.name!r}: {'; '.join(how)}. The files "
        f"of a folder must have the same columns, of the same types.{rest}"
    )
    return False

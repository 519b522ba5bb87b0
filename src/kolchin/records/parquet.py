"""Parquet: a file, or a folder of files that are one table, as Spark and Dask write them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from kolchin.records.findings import Findings, some

PARQUET = (".parquet", ".pq")

# Polars' panics are no exceptions to Python; a damaged file may bring one about.
UNREADABLE = (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException)


def parts_of(path: Path) -> list[Path]:
    """Return the Parquet files of a folder that are a table, in the order of their names.

    Hidden files, and those such as _SUCCESS, are not part of it.
    """
    names = sorted(part.name for part in path.iterdir() if part.suffix.lower() in PARQUET)
    parts = [path / name for name in names if not name.startswith((".", "_"))]
    return [part for part in parts if part.is_file()]


def open_parquet(path: Path, findings: Findings) -> tuple[list[str], pl.LazyFrame] | None:
    """Return the column names of a file or a folder, and its content; note what is wrong."""
    parts = parts_of(path) if path.is_dir() else [path]
    if not parts:
        findings.fault(
            f"{str(path)!r} is a folder without Parquet files; name a file in it, or a folder "
            f"of files whose names end in {' or '.join(map(repr, PARQUET))}."
        )
        return None
    schemas = _schemas(parts, findings)
    if schemas is None or not _are_alike(schemas, findings):
        return None
    return list(schemas[parts[0]]), pl.scan_parquet(parts, glob=False, hive_partitioning=False)


def reason(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return (str(error).strip() or type(error).__name__).split("\n")[0].rstrip(".")


def _schemas(parts: Sequence[Path], findings: Findings) -> dict[Path, pl.Schema] | None:
    """Return the names and types of the columns of each file."""
    schemas = {}
    for part in parts:
        try:
            schemas[part] = pl.scan_parquet(part, glob=False).collect_schema()
        except UNREADABLE as error:
            findings.fault(f"file {str(part)!r} cannot be read: {reason(error)}.")
            return None
    return schemas


def _are_alike(schemas: Mapping[Path, pl.Schema], findings: Findings) -> bool:
    """Tell whether all files have the columns of the first, or note how one differs."""
    (first, expected), *others = schemas.items()
    different = [(part, schema) for part, schema in others if dict(schema) != dict(expected)]
    if not different:
        return True
    part, schema = different[0]
    lacking, more = set(expected) - set(schema), set(schema) - set(expected)
    how = [f"it lacks {some(sorted(lacking))}"] if lacking else []
    how += [f"it has {some(sorted(more))} besides"] if more else []
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

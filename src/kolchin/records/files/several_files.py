"""Several files become one table whose rows remember the file they come from."""

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from kolchin.options import option
from kolchin.records.columns.values import write_as_text
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some, suggest
from kolchin.records.files.any_table import read_table
from kolchin.records.files.column_renames import Renames, check_renames, rename_columns
from kolchin.records.files.parquet import PARQUET, is_parquet_folder


def read_tables(
    table: Any, findings: FaultsAndNotes, renames: Renames | None = None
) -> tuple[pl.DataFrame, pl.Series | None] | None:
    """Return all columns of a table and, of several files, which one each row comes from."""
    if isinstance(table, str | os.PathLike):
        table = [table]
    if not _are_paths(table):
        frame = read_table(table, None, findings)
        if renames:
            findings.fault("columns can be renamed by file where files are given, not a table.")
        return None if frame is None else (frame, None)
    paths = [Path(path) for path in table]
    check_renames(renames or {}, paths, findings)
    if len(paths) == 1:
        frame = read_table(paths[0], None, findings)
        return (
            None
            if frame is None
            else (rename_columns(frame, paths[0], renames or {}, findings), None)
        )
    for path, count in Counter(path.resolve() for path in paths).items():
        if count > 1:
            findings.fault(f"file {str(path)!r} is given {count} times; give it once.")
    frames = [read_table(path, None, findings) for path in paths]
    whole = [
        rename_columns(frame, path, renames or {}, findings)
        for path, frame in zip(paths, frames, strict=True)
        if frame is not None
    ]
    if len(whole) < len(frames):
        return None
    return _join_tables(dict(zip(_label_files(paths), whole, strict=True)), findings)


def find_parquet_path(table: Any) -> Path | None:
    """Return the path of a single Parquet file, or of a folder of them; None for other tables."""
    listed = table if _are_paths(table) else [table]
    if len(listed) != 1 or not isinstance(listed[0], str | os.PathLike):
        return None
    path = Path(listed[0])
    return path if is_parquet_folder(path) or path.suffix.lower() in PARQUET else None


def _are_paths(table: Any) -> bool:
    return (
        isinstance(table, Sequence)
        and not isinstance(table, str | bytes)
        and bool(len(table))
        and all(isinstance(path, str | os.PathLike) for path in table)
    )


def _list_labels(path: Path) -> tuple[str, str, str]:
    """Return what a file may be called, the shortest first."""
    return path.name.split(".")[0], path.name, str(path)


def label_file(path: Path, known: Collection[str]) -> str:
    """Name one more file: as it was called, if it is one of those that are known, else short."""
    labels = _list_labels(path)
    return next((label for label in labels if label in known), labels[0])


def _label_files(paths: Sequence[Path]) -> list[str]:
    """Name files as short as tells them apart."""
    for labels in map(list, zip(*map(_list_labels, paths), strict=True)):
        if len(set(labels)) == len(labels):
            return labels
    return [f"{number}: {path}" for number, path in enumerate(paths, start=1)]


def _join_tables(
    frames: Mapping[str, pl.DataFrame], findings: FaultsAndNotes
) -> tuple[pl.DataFrame, pl.Series] | None:
    """Put frames below each other, columns matched by name."""
    counts = Counter(name for frame in frames.values() for name in frame.columns)
    if max(counts.values()) == 1:
        listed = "; ".join(
            f"{label!r} has {list_some(frame.columns)}" for label, frame in frames.items()
        )
        findings.fault(
            f"the files have no column in common: {listed}. Rename those that match "
            f"({option('rename')})."
        )
        return None
    _note_unshared(frames, counts, findings)
    mixed = _find_mixed_columns(list(frames.values()))
    plain = [_write_mixed_as_text(frame, mixed) for frame in frames.values()]
    source = [pl.Series([label]).new_from_index(0, frame.height) for label, frame in frames.items()]
    told = ", ".join(f"{label!r} {frame.height:,}" for label, frame in frames.items())
    findings.note(f"the records come from {len(frames)} files, in this order: {told}.")
    return pl.concat(plain, how="diagonal"), pl.concat(source).alias("source")


def _note_unshared(
    frames: Mapping[str, pl.DataFrame], counts: Mapping[str, int], findings: FaultsAndNotes
) -> None:
    """Say which columns are not in every file, and which of another file they may be meant as."""
    for name, count in counts.items():
        if count == len(frames):
            continue
        lacking = [label for label, frame in frames.items() if name not in frame.columns]
        others = {other for label in lacking for other in frames[label].columns}
        unshared = [other for other in others if counts[other] < len(frames)]
        findings.note(
            f"{name!r} is not in {list_some(lacking)}, where it counts as missing."
            f"{suggest(name, sorted(unshared))}"
        )


def _find_mixed_columns(frames: Sequence[pl.DataFrame]) -> set[str]:
    types: dict[str, set[pl.DataType]] = {}
    for frame in frames:
        for name, dtype in frame.schema.items():
            types.setdefault(name, set()).add(dtype)
    return {name for name, seen in types.items() if len(seen) > 1}


def _write_mixed_as_text(frame: pl.DataFrame, names: set[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {column.name: write_as_text(column) if column.name in names else column for column in frame}
    )

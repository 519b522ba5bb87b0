"""Columns of several files that mean the same under different names."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from kolchin.errors import DataError
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some, suggest

Renames = Mapping[str, Mapping[str, str]]
"""By file, as it was given or by its name, the new name of each column."""


def read_renames(texts: Iterable[str]) -> dict[str, dict[str, str]]:
    """Read FILE:COLUMN=NAME, or the path of a TOML file with [FILE] and COLUMN = "NAME".

    >>> read_renames(["b.csv:Surname=last_name", "b.csv:Born=dob"])
    {'b.csv': {'Surname': 'last_name', 'Born': 'dob'}}
    """
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        if text.lower().endswith(".toml") and "=" not in text:
            for file, columns in _read_file(Path(text)).items():
                found.setdefault(file, {}).update(columns)
            continue
        what, equals, name = text.rpartition("=")
        file, colon, column = what.rpartition(":")
        if not (equals and colon and file and column.strip() and name.strip()):
            raise DataError(
                f"The '--map' option must be FILE:COLUMN=NAME, or a .toml file. Got {text!r}."
            )
        found.setdefault(file, {})[column.strip()] = name.strip()
    return found


def _read_file(path: Path) -> dict[str, dict[str, str]]:
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise DataError(f"{str(path)!r} is not TOML: {error}.") from None
    for file, columns in content.items():
        if not isinstance(columns, dict) or not all(isinstance(v, str) for v in columns.values()):
            raise DataError(
                f'{str(path)!r} must have ["FILE"] and below it COLUMN = "NAME". '
                f"Got {columns!r} under {file!r}."
            )
    return content


def check_renames(renames: Renames, paths: Iterable[Path], findings: FaultsAndNotes) -> None:
    """Find fault with files that are not among those given."""
    known = [name for path in paths for name in (path.name, str(path))]
    for file in renames:
        if file not in known:
            findings.fault(
                f"columns of {file!r} are to be renamed, but it is none of the files."
                f"{suggest(file, known)}"
            )


def rename_columns(
    frame: pl.DataFrame, path: Path, renames: Renames, findings: FaultsAndNotes
) -> pl.DataFrame:
    """Give the columns of a file their new names; note what cannot be done."""
    wanted = {**renames.get(path.name, {}), **renames.get(str(path), {})}
    if not wanted:
        return frame
    for column in wanted:
        if column not in frame.columns:
            hint = suggest(column, frame.columns)
            findings.fault(f"{path.name!r} has no column {column!r} to rename.{hint}")
    names = [wanted.get(name, name) for name in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        findings.fault(f"{path.name!r} would have columns of the same name: {list_some(twice)}.")
        return frame
    result = frame.clone()
    result.columns = names
    return result

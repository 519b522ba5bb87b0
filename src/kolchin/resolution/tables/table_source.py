"""Where a table came from, so that a change of it is noticed."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kolchin import databases
from kolchin.errors import DataError
from kolchin.options import option
from kolchin.records.loading import load
from kolchin.resolution.running.progress_display import Display
from kolchin.resolution.tables.input_table import InputTable
from kolchin.workplace import Workplace


def open_source(data: Any, table: str | None, query: str | None) -> tuple[Any, str]:
    """Return what to load, and its title: of a database the rows, so that none is needed later."""
    if databases.is_database(data):
        rows = databases.read_database(data, table, query)
        return rows, databases.make_title(data, table)
    if table is not None or query is not None:
        raise DataError(
            f"{option('table')} and {option('query')} say what to read of a database, and "
            "the input is none."
        )
    return data, make_title(data)


def make_title(table: Any) -> str:
    """Return the name of a table's files, or just "table"."""
    paths = list_paths(table)
    return ", ".join(Path(path).name for path in paths) if paths else "table"


def list_paths(table: Any) -> list[str] | None:
    """Return the paths of files, or None for a table in memory."""
    listed = [table] if isinstance(table, str | os.PathLike) else table
    if isinstance(listed, Sequence) and all(isinstance(one, str | os.PathLike) for one in listed):
        return [str(Path(one).absolute()) for one in listed]
    return None


def describe_source(table: Any, choices: dict[str, Any]) -> dict[str, Any] | None:
    """Return how to read the files again, or None where that cannot be written down.

    Among the choices, the fields are a list of names, the path of a file, or None.
    """
    paths, fields = list_paths(table), choices["fields"]
    if paths is None:
        return None
    if isinstance(fields, os.PathLike) or (isinstance(fields, str) and fields.endswith(".toml")):
        return {"paths": paths, "choices": choices | {"fields": str(Path(fields).absolute())}}
    if fields is not None:
        listed = [fields] if isinstance(fields, str) else fields
        listed = list(listed) if isinstance(listed, Iterable) else [listed]
        if not all(isinstance(field, str) for field in listed):
            return None
        choices = choices | {"fields": listed}
    return {"paths": paths, "choices": choices}


def check_unchanged(
    options: dict[str, Any] | None,
    given: InputTable,
    display: Display,
    work: Workplace | None = None,
) -> None:
    """Refuse to go on with an input that is not what the run began with."""
    if options is None:
        return
    paths = options["paths"]
    gone = [path for path in paths if not Path(path).exists()]
    if gone:
        display.say(f"Note: {gone[0]} is no longer there; going on with the copy of the run.")
        return
    choices = dict(options["choices"])
    if isinstance(choices["fields"], str):
        choices["fields"] = Path(choices["fields"])
    loaded = load(paths[0] if len(paths) == 1 else paths, **choices, work=work)
    if loaded.fingerprint != given.fingerprint:
        raise DataError(
            f"{given.title} has changed since the run began, so it cannot go on. "
            f"Restore the file, or start again with {option('overwrite')}."
        )

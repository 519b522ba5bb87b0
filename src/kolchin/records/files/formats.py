"""Files become frames: delimited text, JSON, spreadsheets, Parquet and Arrow."""

import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from kolchin.errors import ADDRESS, hide_credentials
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some, show_value, suggest
from kolchin.records.files.decoding import decode, names_inside, unpack
from kolchin.records.files.delimited import read_delimited
from kolchin.records.files.excel import EXCEL, open_excel
from kolchin.records.files.parquet import (
    PARQUET,
    UNREADABLE,
    describe_fault,
    describe_unreadable,
    is_parquet_folder,
    open_parquet,
)

TEXT = (".csv", ".tsv", ".tab", ".txt")
JSON = (".json", ".jsonl", ".ndjson")
ARROW = (".arrow", ".feather", ".ipc")
COMPRESSED = (".gz", ".zst", ".bz2", ".xz", ".zip")
KINDS = TEXT + JSON + EXCEL + PARQUET + ARROW
NO_SCHEME = re.compile(r"www\.[^/]+\.[^/]+(/.*)?", re.IGNORECASE)

WEB = ("http", "https", "ftp")

OpenFile = tuple[list[str], Any]


def open_file(path: Path, findings: FaultsAndNotes) -> OpenFile | None:
    """Return the column names as a file has them, and its content; note what is wrong."""
    kind = _find_kind(path, findings)
    if kind is None:
        return None
    try:
        if kind in PARQUET:
            return open_parquet(path, findings)
        if path.is_dir():
            return _open_folder(path, findings)
        data = unpack(path.read_bytes(), keep_zip=kind in EXCEL)
        if not data.strip():
            findings.fault(f"file {str(path)!r} is empty.")
            return None
        if kind in EXCEL:
            return open_excel(data, path, findings)
        if kind in ARROW:
            return _open_arrow(data)
        return _open_text(data, path, kind, findings)
    except UNREADABLE as error:
        findings.fault(describe_unreadable(path, describe_fault(error)))
    return None


def _find_kind(path: Path, findings: FaultsAndNotes) -> str | None:
    """Return the suffix that says how to read a file, once it is known that it can be opened.

    A folder is read as its files are: Parquet, or what its first file is.
    """
    if path.is_dir():
        return PARQUET[0] if is_parquet_folder(path) or not _list_files(path) else TEXT[0]
    kind = _find_suffix(path)
    if not path.exists():
        findings.fault(_describe_absent(path))
    elif kind not in KINDS and path.suffix.lower() == ".zip":
        return _kind_inside(path, findings)
    elif kind not in KINDS:
        findings.fault(_describe_unknown(path.name, str(path)))
    else:
        return kind
    return None


def _kind_inside(path: Path, findings: FaultsAndNotes) -> str | None:
    """Return the kind of the only file in an archive that is called otherwise than its file."""
    names = names_inside(path.read_bytes())
    kind = _find_suffix(Path(names[0])) if len(names) == 1 else ""
    if len(names) > 1:
        findings.fault(
            f"file {str(path)!r} is an archive of {len(names)} files "
            f"({list_some(names)}): unpack it, "
            "and give the files or their folder."
        )
    elif kind in KINDS:
        return kind
    else:
        findings.fault(_describe_unknown(names[0] if names else path.name, str(path)))
    return None


def _describe_unknown(name: str, path: str) -> str:
    """Say of a file that its kind is not known, and what to do."""
    inside = "" if path.endswith(name) else f" has {name!r} in it, which"
    return (
        f"file {path!r}{inside} is of no known kind. Save the table as CSV, or read it as a data "
        "frame and give that to kolchin.resolve in Python. Names of tables end in one of "
        f"{list_some(KINDS, limit=len(KINDS))}, packed ones in {list_some(COMPRESSED)} as well."
    )


def _find_suffix(path: Path) -> str:
    """Return the end of a file's name, without that of a compressed one."""
    return Path(path.stem if path.suffix.lower() in COMPRESSED else path).suffix.lower()


def _describe_absent(path: Path) -> str:
    """Say that a file is not there; of an address, say what to do with it."""
    if NO_SCHEME.fullmatch(path.as_posix()):
        return _on_the_web(path.as_posix())
    if not ADDRESS.fullmatch(path.as_posix()):
        siblings = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        return f"file {hide_credentials(str(path))!r} does not exist.{suggest(path.name, siblings)}"
    scheme, told = path.as_posix().partition(":")[0].lower(), hide_credentials(path.as_posix())
    told = told if "://" in told else told.replace(":/", "://", 1)  # a path has lost a slash
    if scheme in WEB:
        return _on_the_web(told)
    return (
        f"{told!r} is an address ({scheme}), and kolchin reads files: copy or export it to a "
        "file first, or read it as a data frame and give that to kolchin.resolve in Python."
    )


def _on_the_web(address: str) -> str:
    return (
        f"{address!r} is a web address, and kolchin reads files: download it first, for instance "
        "with 'curl -O', and give the file."
    )


def _list_files(folder: Path) -> list[Path]:
    """Return the files of a folder that are parts of a table, in the order of their names."""
    return [
        path
        for path in sorted(folder.iterdir())
        if path.is_file()
        and not path.name.startswith((".", "_"))
        and _find_suffix(path) in TEXT + JSON
    ]


def _open_folder(folder: Path, findings: FaultsAndNotes) -> OpenFile | None:
    """Read the files of a folder, which must have the same columns, as one table."""
    parts = []
    for path in _list_files(folder):
        opened = open_file(path, findings)
        if opened is None:
            return None
        names, content = opened
        frame = content if isinstance(content, pl.DataFrame) else pl.DataFrame(content)
        frame.columns = names if len(set(names)) == len(names) else frame.columns
        parts.append((path, frame))
    first, frame = parts[0]
    for path, other in parts[1:]:
        if set(other.columns) != set(frame.columns):
            findings.fault(
                f"file {str(path)!r} has other columns than {first.name!r}: "
                f"{list_some(other.columns)}, not {list_some(frame.columns)}. The files "
                "of a folder must "
                "have the same columns; give files with others one by one."
            )
            return None
    findings.note(f"{str(folder)!r} is a folder of {len(parts)} files, read as one table.")
    whole = pl.concat(
        [part.select(_order_columns(frame, part)) for _, part in parts], how="vertical_relaxed"
    )
    return whole.columns, whole


def _order_columns(frame: pl.DataFrame, part: pl.DataFrame) -> pl.Expr:
    """Pick columns by place, since Polars takes some names for patterns."""
    return pl.nth([part.columns.index(name) for name in frame.columns])


def _open_arrow(data: bytes) -> OpenFile:
    """Read Arrow's file format, which Feather is too, or its streaming format."""
    read = pl.read_ipc if data.startswith(b"ARROW1") else pl.read_ipc_stream
    frame = read(io.BytesIO(data))
    return frame.columns, frame


def _open_text(data: bytes, path: Path, kind: str, findings: FaultsAndNotes) -> OpenFile | None:
    text = decode(data, str(path), findings)
    if text is None:
        return None
    if kind in JSON:
        return _open_json(text, str(path), findings)
    return read_delimited(text, str(path), "," if kind == ".csv" else "\t", findings)


def _open_json(data: bytes, name: str, findings: FaultsAndNotes) -> OpenFile | None:
    """Read an array of JSON objects, or one object a line, whatever the name promises."""
    if not data.lstrip().startswith(b"["):
        return _open_json_lines(data, name, findings)
    try:
        rows = json.loads(data)
    except (ValueError, RecursionError) as error:
        findings.fault(f"file {name!r} begins as a JSON array but is none: {error}.")
        return None
    wrong = next((row for row in rows if not isinstance(row, dict)), None)
    if wrong is not None or not rows:
        what = "nothing" if not rows else show_value(wrong)
        findings.fault(f"file {name!r} must hold an array of JSON objects. Got {what} in it.")
        return None
    return open_rows(rows)


def open_rows(rows: Sequence[Mapping[str, Any]]) -> OpenFile:
    """Turn records into columns; what a record does not have is missing."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    return [str(name) for name in names], {key: [row.get(key) for row in rows] for key in names}


def _open_json_lines(data: bytes, name: str, findings: FaultsAndNotes) -> OpenFile | None:
    """Read one JSON object a line: by Polars, or by Python where a line is out of the ordinary."""
    tables = _tables_in(_whole_object(data) or {})
    if tables:
        return _open_json_object(tables, name, findings)
    n_lines = sum(not line.isspace() for line in io.BytesIO(data))
    try:
        frame = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
    except UNREADABLE:
        frame = pl.DataFrame()
    if frame.width and frame.height == n_lines:
        return frame.columns, frame
    return _open_json_line_by_line(data, name, findings)


def _whole_object(data: bytes) -> dict[str, Any] | None:
    """Return the content of a file that is a single object; None of lines of objects."""
    begun = data.lstrip()
    end = begun.find(b"\n")
    many_lines = end >= 0 and begun[:end].rstrip().endswith(b"}") and not begun[end:].isspace()
    if begun[:1] != b"{" or many_lines:
        return None
    try:
        return dict(json.loads(begun))
    except (ValueError, RecursionError):
        return None


def _tables_in(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an object has that is a list of records, by its name."""
    return {
        key: held
        for key, held in whole.items()
        if isinstance(held, list) and held and all(isinstance(row, dict) for row in held)
    }


def _open_json_object(
    tables: dict[str, Any], name: str, findings: FaultsAndNotes
) -> OpenFile | None:
    """Read the list of records that an object holds under one of its names."""
    if len(tables) > 1:
        findings.fault(
            f"file {name!r} is one JSON object with records under {list_some(tables)}: save one of "
            "these lists as a file of its own."
        )
        return None
    ((key, rows),) = tables.items()
    findings.note(f"file {name!r} is one JSON object: the records under {key!r} are read.")
    return open_rows(rows)


def _open_json_line_by_line(data: bytes, name: str, findings: FaultsAndNotes) -> OpenFile | None:
    rows: list[Mapping[str, Any]] = []
    for number, line in enumerate(io.BytesIO(data), start=1):
        if line.isspace():
            continue
        try:
            row = json.loads(line)
            why = f"Got {type(row).__name__} instead" if not isinstance(row, dict) else None
        except (ValueError, RecursionError) as error:
            row, why = {}, str(error)
        if why:
            findings.fault(
                f"file {name!r} must have one JSON object a line; line {number} has "
                f"{show_value(line.decode().strip())} ({why})."
            )
            return None
        rows.append(row)
    return open_rows(rows)

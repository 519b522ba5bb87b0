"""Files become frames: delimited text, JSON lines, Parquet and Arrow."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from kolchin.records.decoding import decode, unpack
from kolchin.records.delimited import read_delimited
from kolchin.records.findings import Findings, shown, some, suggestion
from kolchin.records.parquet import PARQUET, UNREADABLE, open_parquet, reason, unreadable

TEXT = (".csv", ".tsv", ".tab", ".txt")
JSON_LINES = (".jsonl", ".ndjson")
ARROW = (".arrow", ".feather", ".ipc")
COMPRESSED = (".gz", ".zst")
KINDS = TEXT + JSON_LINES + PARQUET + ARROW

Opened = tuple[list[str], Any]


def open_file(path: Path, findings: Findings) -> Opened | None:
    """Return the column names as a file has them, and its content; note what is wrong."""
    kind = _kind(path, findings)
    if kind is None:
        return None
    try:
        if kind in PARQUET:
            return open_parquet(path, findings)
        data = unpack(path.read_bytes())
        if not data.strip():
            findings.fault(f"file {str(path)!r} is empty.")
            return None
        if kind in ARROW:
            return _open_arrow(data)
        return _open_text(data, path, kind, findings)
    except UNREADABLE as error:
        findings.fault(unreadable(path, reason(error)))
    return None


def _kind(path: Path, findings: Findings) -> str | None:
    """Return the suffix that says how to read a file, once it is known that it can be opened.

    A folder is read as its Parquet files are.
    """
    kind = Path(path.stem if path.suffix.lower() in COMPRESSED else path).suffix.lower()
    if path.is_dir():
        return PARQUET[0]
    if not path.exists():
        siblings = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        findings.fault(f"file {str(path)!r} does not exist.{suggestion(path.name, siblings)}")
    elif kind not in KINDS:
        findings.fault(
            f"file {str(path)!r} is of no known kind; its name must end in one of "
            f"{some(KINDS, limit=len(KINDS))}."
        )
    else:
        return kind
    return None


def _open_arrow(data: bytes) -> Opened:
    """Read Arrow's file format, which Feather is too, or its streaming format."""
    read = pl.read_ipc if data.startswith(b"ARROW1") else pl.read_ipc_stream
    frame = read(io.BytesIO(data))
    return frame.columns, frame


def _open_text(data: bytes, path: Path, kind: str, findings: Findings) -> Opened | None:
    text = decode(data, str(path), findings)
    if text is None:
        return None
    if kind in JSON_LINES:
        return _open_json_lines(text, str(path), findings)
    return read_delimited(text, str(path), "," if kind == ".csv" else "\t", findings)


def _open_json_lines(data: bytes, name: str, findings: Findings) -> Opened | None:
    """Read one JSON object a line: by Polars, or by Python where a line is out of the ordinary."""
    n_lines = sum(not line.isspace() for line in io.BytesIO(data))
    try:
        frame = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
    except UNREADABLE:
        frame = pl.DataFrame()
    if frame.width and frame.height == n_lines:
        return frame.columns, frame
    return _open_json_lines_one_by_one(data, name, findings)


def _open_json_lines_one_by_one(data: bytes, name: str, findings: Findings) -> Opened | None:
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
                f"{shown(line.decode().strip())} ({why})."
            )
            return None
        rows.append(row)
    names = list(dict.fromkeys(key for row in rows for key in row))
    return names, {key: [row.get(key) for row in rows] for key in names}

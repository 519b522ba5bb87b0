"""Delimited text: which character separates values, whether rows are whole, and the table itself.

Polars parses; but it fills short rows and stumbles over stray quotes. So the places of separators,
quotes and line ends are counted first, by NumPy, which also tells where a fault stands.
"""

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.records.faults_and_notes import FaultsAndNotes, show_value
from kolchin.records.files.decoding import find_line

SEPARATORS = ",;\t|"
PREFIX = 1 << 16
BLOCK = 1 << 22
MOST_ROWS_SHOWN = 3
# A last line of its own, by which it is seen that no quote was left open before it.
SENTINEL = "\x1a"


class TextLayout(NamedTuple):
    """Where each row ends, how many values it has, and whether every quote is where it belongs."""

    ends: NDArray[np.int64]
    counts: NDArray[np.int64]
    well_quoted: bool

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each row begins."""
        return np.concatenate([np.zeros(1, np.int64), self.ends[:-1] + 1])[: self.ends.size]

    @property
    def blank(self) -> NDArray[np.bool_]:
        """Which rows hold nothing."""
        return np.equal(self.starts, self.ends)


def read_delimited(
    data: bytes, name: str, usual: str, findings: FaultsAndNotes
) -> tuple[list[str], pl.DataFrame] | None:
    """Return the names in the first row and the rows below, all text; note what is wrong."""
    separator = find_separator(data, usual)
    if b"\0" in data:
        findings.fault(_describe_nul(data, name, separator))
        return None
    quote = find_quote(data)
    layout = lay_out(data, separator, quote)
    if not layout.well_quoted:
        return _read_ill_quoted(data, name, separator, findings)
    return _read_laid_out(data, name, separator, quote, layout, findings)


def find_separator(data: bytes, usual: str) -> str:
    r"""Return the character that divides the first rows most evenly, the usual one if several do.

    >>> find_separator(b"name;born\nDoe, Jane;1970\n", usual=",")
    ';'
    """
    prefix = data[: data.find(b"\n", min(PREFIX, len(data) - 1)) + 1]
    quote = find_quote(prefix)
    scores = {}
    for separator in SEPARATORS:
        layout = lay_out(prefix, separator, quote)
        if not layout.well_quoted:
            layout = lay_out(prefix, separator, quote="")
        counts = layout.counts[~layout.blank]
        if counts.size and counts[0] > 1:
            scores[separator] = (np.mean(counts == counts[0]), separator == usual, counts[0])
    return max(scores, key=lambda separator: scores[separator], default=usual)


def find_quote(data: bytes) -> str:
    """Return the single quote if the header begins with one and there is no double one."""
    return "'" if data.lstrip(b"\n").startswith(b"'") and b'"' not in data else '"'


def lay_out(data: bytes, separator: str, quote: str) -> TextLayout:
    """Find the rows of text; a separator or line end between quotes belongs to the value."""
    raw = np.frombuffer(data, np.uint8)
    quoted = quote != "" and quote.encode() in data
    ends, totals = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    n_separators, within, well_quoted = 0, np.uint8(0), True
    for start in range(0, raw.size, BLOCK):
        block = raw[start : start + BLOCK]
        separates, terminates = block == ord(separator), block == ord("\n")
        if quoted:
            is_quote = block == ord(quote)
            inside = (np.cumsum(is_quote, dtype=np.uint8) + within) & np.uint8(1)
            well_quoted &= _well_placed(raw, start, is_quote, inside, separator + quote)
            separates &= inside == 0
            terminates &= inside == 0
            within = inside[-1]
        at = np.flatnonzero(terminates)
        before = np.cumsum(separates, dtype=np.int64)
        ends.append(at + start)
        totals.append(before[at] + n_separators)
        n_separators += int(before[-1])
    total = np.concatenate(totals)
    counts = total - np.concatenate([np.zeros(1, np.int64), total])[: total.size] + 1
    return TextLayout(np.concatenate(ends), counts, well_quoted and not within)


def _well_placed(
    raw: NDArray[np.uint8],
    start: int,
    is_quote: NDArray[np.bool_],
    inside: NDArray[np.uint8],
    around: str,
) -> bool:
    """Tell whether quotes open where a value begins and close where it ends, or are doubled."""
    neighbours = np.frombuffer(f"{around}\n".encode(), np.uint8)
    opening = np.flatnonzero(is_quote & (inside == 1)) + start
    closing = np.flatnonzero(is_quote & (inside == 0)) + start
    before = raw[opening[opening > 0] - 1]
    after = raw[closing[closing + 1 < raw.size] + 1]
    return bool(np.isin(before, neighbours).all() and np.isin(after, neighbours).all())


def _read_laid_out(
    data: bytes, name: str, separator: str, quote: str, layout: TextLayout, findings: FaultsAndNotes
) -> tuple[list[str], pl.DataFrame] | None:
    """Read text whose rows are known, if they are all of the header's length."""
    filled = np.flatnonzero(~layout.blank)
    if not filled.size:
        findings.fault(f"file {name!r} is empty.")
        return None
    first = int(filled[0])
    n_columns = int(layout.counts[first])
    # A blank line is a missing value in a single column, and nothing where rows have several.
    rows = np.arange(first, layout.ends.size) if n_columns == 1 else filled
    ragged = rows[layout.counts[rows] != n_columns]
    if ragged.size:
        located = (_locate(data, layout, int(row)) for row in (first, *ragged))
        findings.fault(_describe_ragged(name, separator, ragged.size, located))
        return None
    header = data[layout.starts[first] : layout.ends[first]].decode()
    names = _read_names(header, separator, quote)
    body = _drop_blank_lines(data, layout, first, rows.size)
    return [label.strip() for label in names], _parse(body, separator, quote, n_columns)


def _locate(data: bytes, layout: TextLayout, row: int) -> tuple[int, int, str]:
    """Return a row's line, how many values it has, and its text."""
    start, end = int(layout.starts[row]), int(layout.ends[row])
    return find_line(data, start), int(layout.counts[row]), data[start:end].decode()


def _drop_blank_lines(data: bytes, layout: TextLayout, first: int, n_rows: int) -> bytes:
    """Return what is below the header, without the lines that hold nothing."""
    begin = int(layout.ends[first]) + 1
    if n_rows == layout.ends.size - first:
        return data[begin:]
    blanks = layout.ends[layout.blank]
    kept = np.delete(np.frombuffer(data, np.uint8)[begin:], blanks[blanks >= begin] - begin)
    return kept.tobytes()


def _parse(body: bytes, separator: str, quote: str, n_columns: int) -> pl.DataFrame:
    """Let Polars parse rows of equal length; every column stays text, so that '007' stays."""
    schema = {f"column_{i}": pl.String for i in range(n_columns)}
    if not body:
        return pl.DataFrame(schema=schema)
    quote_char = quote if quote.encode() in body else None
    return pl.read_csv(
        body, has_header=False, separator=separator, quote_char=quote_char or None, schema=schema
    )


def _read_ill_quoted(
    data: bytes, name: str, separator: str, findings: FaultsAndNotes
) -> tuple[list[str], pl.DataFrame] | None:
    """Read text with quotes inside values by the slower parser of Python, which allows them."""
    rows, lines = _read_tolerantly(data, separator)
    closed = rows.pop() == [SENTINEL]
    n_columns = len(rows[0]) if rows else 0
    ragged = [i for i, row in enumerate(rows) if len(row) != n_columns]
    if closed and n_columns and not ragged:
        schema = {f"column_{i}": pl.String for i in range(n_columns)}
        frame = pl.DataFrame(rows[1:], schema=schema, orient="row")
        return [label.strip() for label in rows[0]], frame
    layout = lay_out(data, separator, quote="")
    literal = _read_laid_out(data, name, separator, "", layout, FaultsAndNotes())
    if literal is not None:
        findings.note(
            f"file {name!r} has quotes that do not come in pairs: read as part of the values."
        )
    elif closed:
        located = ((lines[i], len(rows[i]), separator.join(rows[i])) for i in (0, *ragged))
        findings.fault(_describe_ragged(name, separator, len(ragged), located))
    else:
        opened = data.split(b"\n")[lines[-1] - 1].decode()
        findings.fault(
            f"file {name!r} has a quote in line {lines[-1]} that is never closed: "
            f"{show_value(opened)}; "
            "close it, or double it if it is part of the value."
        )
    return literal


def _read_tolerantly(data: bytes, separator: str) -> tuple[list[list[str]], list[int]]:
    """Return all rows and the lines they begin in, with the sentinel as the last of them."""
    rows, lines, line = [], [], 1
    text = io.StringIO(data.decode() + SENTINEL, newline="\n")
    with _allow_long_values(len(data)):
        reader = csv.reader(text, delimiter=separator, skipinitialspace=True)
        for row in reader:
            if row:
                rows.append(row)
                lines.append(line)
            line = reader.line_num + 1
    return rows, lines


@contextmanager
def _allow_long_values(limit: int) -> Iterator[None]:
    """Let Python's parser take values of any length for a while."""
    before = csv.field_size_limit(max(limit, 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _read_names(header: str, separator: str, quote: str) -> list[str]:
    """Parse the header by Python's parser."""
    if not quote:
        return header.split(separator)
    with _allow_long_values(len(header)):
        return next(csv.reader(io.StringIO(header), delimiter=separator, quotechar=quote), [""])


def _describe_ragged(
    name: str, separator: str, n_ragged: int, located: Iterator[tuple[int, int, str]]
) -> str:
    """Say which rows have more or fewer values than the header, the first one, and what to do."""
    header_line, n_columns, header = next(located)
    seen = "; ".join(
        f"line {line} has {_write_count(count, 'value')}, {show_value(row)}"
        for line, count, row in islice(located, MOST_ROWS_SHOWN)
    )
    rest = f" and {n_ragged - MOST_ROWS_SHOWN:,} more" if n_ragged > MOST_ROWS_SHOWN else ""
    return (
        f"file {name!r} has rows that do not fit the "
        f"{_write_count(n_columns, 'name')} of its header in "
        f"line {header_line}, {show_value(header)}: {seen}{rest}. Put quotes "
        "around values that hold "
        f"{separator!r}, fill up short rows, and take out lines above the header."
    )


def _write_count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _describe_nul(data: bytes, name: str, separator: str) -> str:
    """Say which value holds a NUL byte."""
    position = data.index(b"\0")
    start, end = data.rfind(b"\n", 0, position) + 1, data.find(b"\n", position)
    before = data[start:position].count(separator.encode())
    value = data[start:end].split(separator.encode())[before].decode(errors="replace")
    n_bytes = data.count(b"\0")
    return (
        f"file {name!r} holds {_write_count(n_bytes, 'NUL byte')}, the first in "
        f"line {find_line(data, position)}, value {before + 1}: {show_value(value)}; "
        "remove them, or save "
        "the file as UTF-8 if it is text of another encoding."
    )

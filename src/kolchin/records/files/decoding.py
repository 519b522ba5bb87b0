"""Bytes become UTF-8 text with plain line ends, whatever a program wrote."""

import bz2
import codecs
import gzip
import io
import lzma
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np

from kolchin.records.faults_and_notes import FaultsAndNotes, show_value

MARKS = (  # the longer first, since one begins like another
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
GZIP, ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
BZIP, XZ, ZIP = b"BZh", b"\xfd7zXZ\x00", b"PK\x03\x04"
# What files of other kinds begin with, for those whose name promises text.
FOREIGN = {
    ZIP: "a spreadsheet; let its name end in '.xlsx' or '.ods', or export it as CSV",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet; let its name end in '.xls', or export it as CSV",
    b"PAR1": "Parquet; let its name end in '.parquet'",
    b"ARROW1": "Arrow; let its name end in '.arrow'",
    b"%PDF": "PDF; export the table as CSV",
}
PREFIX = 1 << 12
CONTROL = re.compile(rb"[\x01-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def unpack(data: bytes, keep_zip: bool = False) -> bytes:
    """Decompress content, known by its first bytes, and leave other as it is.

    Archives (zip) must hold one file; ``keep_zip`` leaves those that are files of another kind.

    >>> unpack(gzip.compress(b"name"))
    b'name'
    """
    if data.startswith(ZIP):
        return data if keep_zip else _unzip(data)
    for mark, opened, wrong in _list_packers():
        if data.startswith(mark):
            try:
                return bytes(opened(data))
            except wrong as error:
                raise OSError(f"its compressed content is damaged ({error})") from None
    return data


def _list_packers() -> Iterator[tuple[bytes, Any, tuple[type[Exception], ...]]]:
    """Yield what compressed content begins with, how to unpack it, and what that raises."""
    yield GZIP, gzip.decompress, (EOFError, zlib.error, gzip.BadGzipFile)
    yield BZIP, bz2.decompress, (OSError, ValueError)
    yield XZ, lzma.decompress, (lzma.LZMAError, EOFError)
    zstd = _import_zstandard()
    yield ZSTANDARD, zstd.decompress, (zstd.ZstdError,)


def _unzip(data: bytes) -> bytes:
    """Return the only file of an archive; a spreadsheet, which is one too, as it is."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = _names_of(archive)
            if "[Content_Types].xml" in names or "mimetype" in names:
                return data
            if len(names) != 1:
                raise OSError(f"it is an archive of {len(names)} files; unpack it")
            return archive.read(names[0])
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error) as error:
        raise OSError(f"its compressed content is damaged ({error})") from None


def names_inside(data: bytes) -> list[str]:
    """Return the names of the files in an archive, none of what is no archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _names_of(archive)
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return []


def _names_of(archive: zipfile.ZipFile) -> list[str]:
    """Return the files of an archive without those that only a Mac needs."""
    return [
        one
        for one in archive.namelist()
        if not one.endswith("/") and not one.startswith("__MACOSX/")
    ]


def _import_zstandard() -> Any:
    """Return Python's module, which came into the standard library with 3.14."""
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def decode(data: bytes, name: str, findings: FaultsAndNotes) -> bytes | None:
    """Return a file's text as UTF-8 that ends every line by a line feed; None if it is no text."""
    foreign = next((what for mark, what in FOREIGN.items() if data.startswith(mark)), None)
    if foreign is not None:
        findings.fault(f"file {name!r} is not text but {foreign}.")
        return None
    mark, encoding = next((pair for pair in MARKS if data.startswith(pair[0])), (b"", ""))
    if not mark and b"\0" in data[:PREFIX]:
        encoding = _take_mark_off(data[:PREFIX])
        if encoding:
            findings.note(f"file {name!r} does not say its encoding: read as {encoding.upper()}.")
    if encoding.startswith(("utf-16", "utf-32")):
        try:
            data = data.decode(encoding).encode()
        except UnicodeError as error:
            findings.fault(
                f"file {name!r} begins as {encoding.upper()} but does not go on as such ({error}); "
                "save it as UTF-8."
            )
            return None
    elif mark:
        data = data[len(mark) :]
    return _check_text(_make_ends_plain(data), name, bool(mark), findings)


def _take_mark_off(prefix: bytes) -> str:
    """Return the kind of UTF-16 that text of mostly Latin letters shows, every other byte NUL."""
    for encoding, zeros in (("utf-16-le", prefix[1::2]), ("utf-16-be", prefix[::2])):
        if zeros.count(0) > 0.7 * len(zeros) and prefix.count(0) < 0.6 * len(prefix):
            return encoding
    return ""


def _make_ends_plain(data: bytes) -> bytes:
    """End lines by a line feed, as neither Windows nor old Macintoshes do."""
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data if data.endswith(b"\n") or not data else data + b"\n"


def _check_text(data: bytes, name: str, marked: bool, findings: FaultsAndNotes) -> bytes | None:
    """Return UTF-8 as it is, Windows-1252 made UTF-8; find fault with what is neither."""
    try:
        data.decode()
        return data
    except UnicodeDecodeError as error:
        first = error.start
    where = f"line {find_line(data, first)}"
    start = data.rfind(b"\n", 0, first) + 1
    excerpt = data[max(start, first - 20) : first + 20].split(b"\n")[0]
    # A file with whole letters of several bytes is UTF-8: one broken byte must not garble the rest.
    whole = np.frombuffer(data.decode(errors="ignore").encode(), np.uint8)
    letters = np.count_nonzero(whole >= 0xC0)
    broken = data.decode(errors="replace").count("\ufffd")
    if marked or letters > broken or CONTROL.search(data) or b"\0" in data:
        findings.fault(
            f"file {name!r} is not UTF-8 text: see {where}, near "
            f"{show_value(excerpt.decode(errors='replace'))}; save it as UTF-8."
        )
        return None
    text = _decode_western(data)
    findings.note(
        f"file {name!r} is not UTF-8 ({where} is the first to show it): read as Windows-1252, "
        f"which makes it {show_value(_decode_western(excerpt))}. If that looks "
        "wrong, save it as UTF-8."
    )
    return text.encode()


def _decode_western(data: bytes) -> str:
    """Decode by Windows-1252, or by Latin-1 where that has gaps."""
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def find_line(data: bytes, position: int) -> int:
    """Return the number, from 1, of the line that a byte stands in."""
    return data.count(b"\n", 0, position) + 1

"""Files become lazy frames: CSV, TSV and Parquet."""

from pathlib import Path

import polars as pl

from kolchin.records.findings import Findings, some, suggestion

TEXT = (".csv", ".tsv", ".tab", ".txt")
PARQUET = (".parquet", ".pq")


def open_file(path: Path, findings: Findings) -> tuple[list[str], pl.LazyFrame] | None:
    """Return the column names as a file has them, and its content; note what is wrong."""
    kind = _kind(path, findings)
    if kind is None:
        return None
    try:
        return _open_parquet(path) if kind in PARQUET else _open_text(path, kind)
    except pl.exceptions.NoDataError:
        findings.fault(f"file {str(path)!r} is empty.")
    except (OSError, pl.exceptions.PolarsError) as error:
        findings.fault(f"file {str(path)!r} cannot be read: {_reason(error)}")
    return None


def _kind(path: Path, findings: Findings) -> str | None:
    """Return the suffix that says how to read a file, once it is known that it can be opened."""
    kind = Path(path.stem if path.suffix.lower() == ".gz" else path).suffix.lower()
    if path.is_dir():
        findings.fault(f"{str(path)!r} is a folder; name a file in it.")
    elif not path.exists():
        siblings = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        findings.fault(f"file {str(path)!r} does not exist.{suggestion(path.name, siblings)}")
    elif kind not in TEXT + PARQUET:
        findings.fault(
            f"file {str(path)!r} is of no known kind; its name must end in one of "
            f"{some(TEXT + PARQUET, limit=9)}."
        )
    else:
        return kind
    return None


def _open_parquet(path: Path) -> tuple[list[str], pl.LazyFrame]:
    frame = pl.scan_parquet(path, glob=False)
    return frame.collect_schema().names(), frame


def _open_text(path: Path, kind: str) -> tuple[list[str], pl.LazyFrame]:
    """Read delimited text; every column stays text, so that '007' is not the number 7."""
    separator = "," if kind == ".csv" else "\t"
    names = _header(path, separator)
    # One column is rarely meant: spreadsheets of many countries write semicolons into .csv files.
    if len(names) == 1:
        separator = next((other for other in ",;\t|" if other in names[0]), separator)
        names = _header(path, separator)
    frame = pl.read_csv(path, separator=separator, infer_schema=False, glob=False)
    return names, frame.lazy()


def _header(path: Path, separator: str) -> list[str]:
    """Return the names in the first line, where polars.read_csv would rename repeated ones."""
    first = pl.read_csv(
        path, separator=separator, infer_schema=False, glob=False, has_header=False, n_rows=1
    )
    return ["" if name is None else name for name in first.row(0)]


def _reason(error: Exception) -> str:
    """Say in a user's words why a file could not be read."""
    text = str(error).strip().split("\n")[0]
    if "utf-8" in text.lower() or "utf8" in text.lower():
        return "it is not UTF-8 text; save it with that encoding."
    if "more fields" in text:
        return "a row has more values than the header has names; look for unquoted separators."
    return f"{text}."

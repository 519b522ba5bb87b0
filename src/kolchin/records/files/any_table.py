"""Tables of any kind become Polars frames: the door of the package."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from polars import selectors

from kolchin.records.columns.values import make_series, take_values
from kolchin.records.faults_and_notes import FaultsAndNotes, suggest
from kolchin.records.files.formats import open_file, open_rows
from kolchin.records.files.parquet import UNREADABLE, describe_fault

KINDS = (
    "a pandas, Polars or Arrow table, a DuckDB relation, a dictionary of columns, a list of "
    "dictionaries, or the path of a file or of a folder of files"
)


def read_table(
    table: Any, columns: Sequence[str] | None, findings: FaultsAndNotes
) -> pl.DataFrame | None:
    """Return the given columns of a table, or all, as a Polars frame; None if there are none."""
    opened = _open(table, findings)
    if opened is None:
        return None
    names, source = opened
    wanted = _find_positions(names, columns, findings)
    if not wanted:
        return None
    try:
        return _collect(source, wanted, findings)
    except UNREADABLE as error:  # of a lazy table, or of a file that is read only now
        what = f"file {str(table)!r}" if isinstance(table, str | os.PathLike) else "the table"
        findings.fault(f"{what} cannot be read: {describe_fault(error)}.")
        return None


def can_be_scanned(path: Path, findings: FaultsAndNotes) -> bool:
    """Tell whether a Parquet file, or a folder of them, is a table, or note why it is none."""
    opened = open_file(path, findings)
    return opened is not None and bool(_find_positions(opened[0], None, findings))


def _open(table: Any, findings: FaultsAndNotes) -> tuple[list[str], Any] | None:
    """Return a table's column names and something to take columns from."""
    if isinstance(table, str | os.PathLike):
        return open_file(Path(table), findings)
    if isinstance(table, Mapping):
        return [str(name) for name in table], table
    if _are_rows(table):
        return open_rows(table)
    if isinstance(table, pl.LazyFrame):
        return table.collect_schema().names(), table
    if nw.dependencies.is_pyarrow_table(table):
        return list(table.column_names), table
    if nw.dependencies.is_into_dataframe(table) or nw.dependencies.is_duckdb_relation(table):
        return [str(name) for name in table.columns], table
    if hasattr(table, "__arrow_c_stream__"):
        frame = pl.DataFrame(table)
        return frame.columns, frame
    findings.fault(f"table must be {KINDS}. Got {_name_type(table)} instead.")
    return None


def _name_type(table: Any) -> str:
    """Say what was given in place of a table."""
    name = type(table).__name__
    if not _is_listed(table):
        return name
    if not len(table):
        return f"an empty {name}"
    strange = next(row for row in table if not isinstance(row, Mapping))
    return f"a {name} with a value that is no dictionary ({type(strange).__name__})"


def _are_rows(table: Any) -> bool:
    """Tell a list of dictionaries, one a record."""
    listed = _is_listed(table) and bool(len(table))
    return listed and all(isinstance(row, Mapping) for row in table)


def _is_listed(table: Any) -> bool:
    return isinstance(table, Sequence) and not isinstance(table, str | bytes)


def _find_positions(
    names: Sequence[str], columns: Sequence[str] | None, findings: FaultsAndNotes
) -> dict[str, int]:
    """Return where each wanted column stands, and note those that are unknown or repeated."""
    if not names:
        findings.fault("the table has no columns.")
    counts = Counter(names)
    places = {name: place for place, name in enumerate(names)}
    found = {}
    for name in counts if columns is None else columns:
        if counts[name] == 1:
            found[name] = places[name]
        elif counts[name]:
            findings.fault(f"{counts[name]} columns are named {name!r}; rename or drop the others.")
        else:
            findings.fault(f"the table has no column {name!r}.{suggest(name, counts)}")
    return found


def _collect(
    source: Any, wanted: Mapping[str, int], findings: FaultsAndNotes
) -> pl.DataFrame | None:
    """Take columns from a source as a Polars frame."""
    if isinstance(source, Mapping):
        values = list(source.values())
        return _assemble({name: values[i] for name, i in wanted.items()}, findings)
    if nw.dependencies.is_pandas_like_dataframe(source):
        return _assemble({name: source.iloc[:, i] for name, i in wanted.items()}, findings)
    if isinstance(source, pl.LazyFrame | pl.DataFrame):
        # By position, since Polars takes names such as "*" and "^...$" for patterns.
        frame = source.lazy().select(selectors.by_index(*wanted.values())).collect()
        frame.columns = list(wanted)  # those of a text file are numbered until now
        return frame
    if nw.dependencies.is_pyarrow_table(source):
        return _assemble({name: source.column(i) for name, i in wanted.items()}, findings)
    native: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(source).select(*wanted)
    if isinstance(native, nw.DataFrame):
        return native.to_polars()
    try:
        return native.collect(backend="polars").to_polars()
    except ModuleNotFoundError:  # without pyarrow, a DuckDB relation is still an Arrow stream
        return pl.DataFrame(native.to_native())


def _assemble(columns: Mapping[str, Any], findings: FaultsAndNotes) -> pl.DataFrame | None:
    """Make a frame of columns that are held one by one."""
    series = {}
    for name, values in columns.items():
        try:
            series[name] = _make_series(name, values, findings)
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            findings.fault(f"column {name!r} must be a sequence of values. Got {values!r} instead.")
    lengths = {name: len(values) for name, values in series.items()}
    if len(set(lengths.values())) > 1:
        findings.fault(f"columns must be of one length. Got {lengths} instead.")
        return None
    return pl.DataFrame(series) if series else None


def _make_series(name: str, values: Any, findings: FaultsAndNotes) -> pl.Series:
    """Make a Polars series of a column of any kind."""
    if isinstance(values, pl.Series):
        return values
    if nw.dependencies.is_pandas_like_series(values):
        return _convert_pandas(name, values, findings)
    if isinstance(values, np.ndarray):
        plain = values.dtype.kind in "biufUM" and not isinstance(values, np.ma.MaskedArray)
        return pl.Series(values) if plain else make_series(name, values.tolist(), findings)
    if isinstance(values, str | bytes):
        raise TypeError("text is one value, not a column of letters")
    if hasattr(values, "__arrow_c_stream__"):
        return pl.Series(values)
    return make_series(name, list(values), findings)


def _convert_pandas(name: str, values: Any, findings: FaultsAndNotes) -> pl.Series:
    """Convert through the distinct values alone: quick, and pyarrow need not be installed."""
    try:
        codes, distinct = values.factorize()
    except TypeError:  # lists and the like cannot be hashed
        return make_series(name, values.tolist(), findings)
    return take_values(make_series(name, distinct.tolist(), findings), codes)

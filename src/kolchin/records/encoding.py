"""Columns become codes, vocabularies and base frequencies."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from kolchin.records.fields import Categorical
from kolchin.records.findings import Findings, some
from kolchin.records.values import alike, is_nested, tidy

MISSING = -1
MANY_VALUES = 100_000
NUMERIC = r"^-?\d+(\.\d+)?([eE][+-]?\d+)?$"


class Column(NamedTuple):
    """A field's codes, one a record, with the values and the base probabilities they point at."""

    field: Categorical
    codes: NDArray[np.int32]
    vocabulary: tuple[Any, ...]
    frequencies: NDArray[np.float64]


def encode_table(
    frame: pl.DataFrame, fields: Sequence[Categorical] | None, findings: Findings
) -> list[Column]:
    """Encode the declared columns of a frame, or all that can tell entities apart."""
    for column in frame:
        if is_nested(column):
            findings.fault(
                f"column {column.name!r} holds lists or other compound values, not single ones; "
                "name only other columns in fields, or turn it into text."
            )
    if frame.height < 2:
        findings.fault(f"at least two records are needed. Got {frame.height} instead.")
        return []
    # Polars takes a series' own name for a pattern when it is "*" or like "^...$".
    plain = {column.name: column.alias("value") for column in frame if not is_nested(column)}
    tidied = {name: tidy(column) for name, column in plain.items()}
    if fields is None:
        fields = _usable(tidied, findings)
    columns = [
        encode(field, tidied[field.column], findings) for field in fields if field.column in tidied
    ]
    return [column for column in columns if column is not None]


def _usable(columns: Mapping[str, pl.Series], findings: Findings) -> list[Categorical]:
    """Choose the columns that can tell entities apart, and note why the others cannot."""
    reasons = {name: _uselessness(values) for name, values in columns.items()}
    left_out = [f"{name!r} was left out: {why}." for name, why in reasons.items() if why]
    usable = [Categorical(name) for name, why in reasons.items() if not why]
    if usable:
        findings.notes.extend(left_out)
    elif left_out:
        findings.faults.extend(left_out)
        findings.fault("no column is left to be a field; name in fields those to use all the same.")
    return usable


def _uselessness(values: pl.Series) -> str | None:
    """Say why a column cannot tell entities apart, or None when it may."""
    present = values.drop_nulls()
    n_values = present.n_unique()
    if not n_values:
        return "every value is missing"
    if n_values == 1:
        return f"its only value is {present[0]!r}"
    if n_values == present.len():
        return f"all its {n_values:,} values differ, as an identifier's do"
    return None


def encode(field: Categorical, values: pl.Series, findings: Findings) -> Column | None:
    """Replace the values of a tidy column by their rank, whatever the order of its rows."""
    seen = values.drop_nulls().unique()
    if not seen.len():
        findings.fault(f"column {field.column!r} has no values: all are missing.")
        return None
    n_present = values.len() - values.null_count()
    if seen.len() > MANY_VALUES and 2 * seen.len() > n_present:
        findings.note(
            f"{field.column!r} has {seen.len():,} different values in {n_present:,} records and "
            "can hardly tell who is who: kept as categorical, where only equal values speak."
        )
    if field.frequencies is None:
        ordered = _in_order(seen)
        codes = _codes(values, ordered)
        frequencies = np.bincount(codes[codes != MISSING]) / n_present
        return Column(field, codes, tuple(ordered.to_list()), frequencies)
    return _encode_given(field, field.frequencies, values, seen, findings)


def _encode_given(
    field: Categorical,
    given: Mapping[Any, float],
    values: pl.Series,
    seen: pl.Series,
    findings: Findings,
) -> Column | None:
    """Encode with a vocabulary that the given base frequencies span."""
    name = f"the frequencies of {field.column!r}"
    bad = {value: weight for value, weight in given.items() if not _is_weight(weight)}
    lacking = [value for value in seen.sort().to_list() if value not in given]
    if bad:
        findings.fault(f"{name} must be positive and finite. Got {bad} instead.")
    if lacking:
        findings.fault(f"{name} lack values that the column holds: {some(lacking)}.")
    if bad or lacking:
        return None
    ordered = _spanned(seen, list(given))
    if ordered is None:
        findings.fault(f"{name} must be of values of one type, {seen.dtype} as in the column.")
        return None
    weights = np.array([given[value] for value in ordered.to_list()], dtype=np.float64)
    codes = _codes(values.cast(ordered.dtype), ordered)
    return Column(field, codes, tuple(ordered.to_list()), weights / weights.sum())


def _spanned(seen: pl.Series, given: Sequence[Any]) -> pl.Series | None:
    """Return the values seen and given, in order; None if they are of different types."""
    others = alike(given)
    if others is None:
        return None
    frames = [seen.to_frame("value"), tidy(others).drop_nulls().to_frame("value")]
    return _in_order(pl.concat(frames, how="vertical_relaxed")["value"].unique())


def _is_weight(weight: Any) -> bool:
    try:
        return math.isfinite(weight) and weight > 0
    except TypeError:
        return False


def _in_order(values: pl.Series) -> pl.Series:
    """Sort distinct values; text that is all numbers goes by number, as numbers do."""
    if values.dtype == pl.String and values.str.contains(NUMERIC).all():
        return values.to_frame("value").sort(pl.col("value").cast(pl.Float64), "value")["value"]
    return values.sort()


def _codes(values: pl.Series, vocabulary: pl.Series) -> NDArray[np.int32]:
    """Return the position of each value in the vocabulary, -1 where it is missing."""
    positions = pl.int_range(vocabulary.len(), dtype=pl.Int32, eager=True).alias("code")
    table = pl.DataFrame([vocabulary.alias("value"), positions])
    joined = values.to_frame("value").join(table, on="value", how="left", maintain_order="left")
    return joined["code"].fill_null(MISSING).to_numpy()


def encode_codes(
    codes: NDArray[np.integer[Any]],
    frequencies: Sequence[ArrayLike] | None,
    names: Sequence[str],
    findings: Findings,
) -> list[Column]:
    """Encode columns that are numbered already."""
    fields = [Categorical(name) for name in names]
    columns: list[Column | None]
    if frequencies is None:
        series = [pl.Series("value", np.ascontiguousarray(column)) for column in codes.T]
        tidied = [values.set(values < 0, None) for values in series]
        columns = [encode(f, v, findings) for f, v in zip(fields, tidied, strict=True)]
    else:
        triples = zip(fields, codes.T, frequencies, strict=True)
        columns = [_encode_numbered(f, c, given, findings) for f, c, given in triples]
    return [column for column in columns if column is not None]


def _encode_numbered(
    field: Categorical, codes: NDArray[np.integer[Any]], given: ArrayLike, findings: Findings
) -> Column | None:
    """Check codes against the base frequencies that they point at."""
    weights = np.ravel(np.asarray(given))
    if not weights.size or not all(_is_weight(weight) for weight in weights.tolist()):
        findings.fault(
            f"the frequencies of {field.column!r} must be positive and finite. "
            f"Got {given!r} instead."
        )
        return None
    if codes.max() >= weights.size:
        findings.fault(
            f"the codes of {field.column!r} must be below {weights.size}, the number of its "
            f"frequencies. Got {codes.max()} in row {codes.argmax()} instead."
        )
        return None
    vocabulary = tuple(range(weights.size))
    return Column(field, codes.astype(np.int32), vocabulary, weights / weights.sum())

"""Coded values become fields with their base frequencies."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from kolchin.records.columns.cleaning import CleanColumn
from kolchin.records.columns.distinct_values import (
    MISSING,
    CodedColumn,
    encode_column,
    find_positions,
    sort_vocabulary,
)
from kolchin.records.columns.values import tidy_values, unify_values
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some
from kolchin.records.fields.declarations import Categorical, Field
from kolchin.records.fields.vocabulary import Vocabulary

MANY_VALUES = 100_000


class Column(NamedTuple):
    """A field's codes, one a record, with the values and the base probabilities they point at."""

    field: Field
    codes: NDArray[np.int32]
    vocabulary: Vocabulary
    frequencies: NDArray[np.float64]


def encode_fields(
    fields: Iterable[Field], columns: Mapping[str, CleanColumn], findings: FaultsAndNotes
) -> list[Column]:
    """Encode the fields whose columns are there."""
    made = [
        encode(field, columns[field.column].values, findings)
        for field in fields
        if field.column in columns
    ]
    return [column for column in made if column is not None]


def encode(field: Field, values: CodedColumn, findings: FaultsAndNotes) -> Column | None:
    """Make a field's column of coded values; note what is wrong with it."""
    n_values, n_present = values.vocabulary.len(), int(np.count_nonzero(values.codes != MISSING))
    if not n_values:
        findings.fault(f"column {field.column!r} has no values: all are missing.")
        return None
    categorical = isinstance(field, Categorical)
    if categorical and n_values > MANY_VALUES and 2 * n_values > n_present:
        findings.note(
            f"{field.column!r} has {n_values:,} different values in {n_present:,} records and "
            "can hardly tell who is who: kept as categorical, where only equal values speak."
        )
    if isinstance(field, Categorical) and field.frequencies is not None:
        return _encode_given(field, field.frequencies, values, findings)
    frequencies = values.counts / n_present
    return Column(field, values.codes, Vocabulary(values.vocabulary), frequencies)


def _encode_given(
    field: Categorical, given: Mapping[Any, float], values: CodedColumn, findings: FaultsAndNotes
) -> Column | None:
    """Encode with a vocabulary that the given base frequencies span."""
    name = f"the frequencies of {field.column!r}"
    seen = values.vocabulary
    bad = {value: weight for value, weight in given.items() if not _is_weight(weight)}
    lacking = [value for value in seen.to_list() if value not in given]
    if bad:
        findings.fault(f"{name} must be positive and finite. Got {bad} instead.")
    if lacking:
        findings.fault(f"{name} lack values that the column holds: {list_some(lacking)}.")
    if bad or lacking:
        return None
    ordered = _span_values(seen, [value for value in given if value != ""])
    if ordered is None:
        findings.fault(f"{name} must be of values of one type, {seen.dtype} as in the column.")
        return None
    weights = np.array([given[value] for value in ordered.to_list()], dtype=np.float64)
    places = np.append(find_positions(seen.cast(ordered.dtype), ordered), np.int32(MISSING))
    return Column(field, places[values.codes], Vocabulary(ordered), weights / weights.sum())


def _span_values(seen: pl.Series, given: Sequence[Any]) -> pl.Series | None:
    """Return the values seen and given, in order; None if they are of different types."""
    others = unify_values(given)
    if others is None:
        return None
    frames = [seen.to_frame("value"), tidy_values(others).drop_nulls().to_frame("value")]
    return sort_vocabulary(pl.concat(frames, how="vertical_relaxed")["value"])


def _is_weight(weight: Any) -> bool:
    try:
        return math.isfinite(weight) and weight > 0
    except TypeError:
        return False


def encode_codes(
    codes: NDArray[np.integer[Any]],
    frequencies: Sequence[ArrayLike] | None,
    names: Sequence[str],
    findings: FaultsAndNotes,
) -> list[Column]:
    """Encode columns that are numbered already."""
    fields = [Categorical(name) for name in names]
    columns: list[Column | None]
    if frequencies is None:
        series = [pl.Series("value", np.ascontiguousarray(column)) for column in codes.T]
        tidied = [values.set(values < 0, None) for values in series]
        columns = [
            encode(f, encode_column(v), findings) for f, v in zip(fields, tidied, strict=True)
        ]
    else:
        triples = zip(fields, codes.T, frequencies, strict=True)
        columns = [_encode_numbered(f, c, given, findings) for f, c, given in triples]
    return [column for column in columns if column is not None]


def _encode_numbered(
    field: Categorical, codes: NDArray[np.integer[Any]], given: ArrayLike, findings: FaultsAndNotes
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
    vocabulary = Vocabulary(pl.int_range(weights.size, eager=True))
    return Column(field, codes.astype(np.int32), vocabulary, weights / weights.sum())

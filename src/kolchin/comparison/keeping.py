"""Comparisons as plain arrays, so that a run that is read again need not compare again."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.comparisons import CandidateReport, Comparisons
from kolchin.comparison.gathering import Used
from kolchin.comparison.parts import Parts
from kolchin.records.fields import Field

Arrays = dict[str, NDArray[Any]]

OWN_WAY = ("fields", "parts", "report")
"""What is no array, tuple of arrays or plain data. All else is found by its type."""


def arrays_of(comparisons: Comparisons) -> Arrays:
    """Return comparisons as arrays; of sorted pairs, how many each smaller record has."""
    told: dict[str, Any] = {"report": vars(comparisons.report)}
    arrays: Arrays = {}
    for name, value in vars(comparisons).items():
        if name in OWN_WAY:
            continue
        if isinstance(value, np.ndarray):
            arrays[name] = value
        elif isinstance(value, tuple) and value and isinstance(value[0], np.ndarray):
            arrays |= {f"{name}-{f}": own for f, own in enumerate(value)}
        else:
            told[name] = value
    pairs = comparisons.pairs
    n_larger = np.bincount(pairs[:, 0], minlength=len(comparisons.shows))
    return arrays | {
        "told": np.frombuffer(json.dumps(told).encode(), dtype=np.uint8),
        "n_larger": n_larger.astype(np.int32),
        "larger": np.ascontiguousarray(pairs[:, 1]),
        "which": comparisons.parts.which,
    }


def comparisons_of(arrays: Mapping[str, NDArray[Any]], fields: Sequence[Field]) -> Comparisons:
    """Make comparisons of the fields that were compared, from what `arrays_of` returned."""
    told = json.loads(bytes(arrays["told"]))
    report = told.pop("report")
    report["keys"] = tuple(Used(*one) for one in report["keys"])
    values: dict[str, Any] = {name: _as_tuple(value) for name, value in told.items()}
    for one in dataclasses.fields(Comparisons):
        if one.name in arrays:
            values[one.name] = arrays[one.name]
        elif f"{one.name}-0" in arrays:
            values[one.name] = tuple(arrays[f"{one.name}-{f}"] for f in range(len(fields)))
    smaller = np.repeat(np.arange(arrays["n_larger"].size, dtype=np.int32), arrays["n_larger"])
    parts = Parts.of(np.column_stack([smaller, arrays["larger"]]), arrays["which"])
    return Comparisons(
        fields=tuple(fields), parts=parts, report=CandidateReport(**report), **values
    )


def _as_tuple(value: Any) -> Any:
    """Return a list of JSON as the tuple that it was."""
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value

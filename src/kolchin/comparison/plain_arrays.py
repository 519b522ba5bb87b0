"""Comparisons as plain arrays, so that a run that is read again need not compare again.

Dataclasses, named tuples and tuples become arrays with names such as ``report.keys.0.pairs``, and
are made again by the types of their fields. What is neither array nor one of these is kept as JSON.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from kolchin.comparison.compared_pairs import PairParts
from kolchin.comparison.comparisons import Comparisons
from kolchin.records.fields.declarations import Field

Arrays = dict[str, NDArray[Any]]

OWN_WAY = ("fields", "parts")
NUMBER, PLAIN = "#", "json"


def arrays_of(comparisons: Comparisons) -> Arrays:
    """Return comparisons as arrays; of sorted pairs, how many each smaller record has."""
    arrays: Arrays = {}
    for name, value in vars(comparisons).items():
        if name not in OWN_WAY:
            arrays |= flatten(name, value)
    pairs = comparisons.pairs
    n_larger = np.bincount(pairs[:, 0], minlength=len(comparisons.shows))
    return arrays | {
        "n_larger": n_larger.astype(np.int32),
        "larger": np.ascontiguousarray(pairs[:, 1]),
        "which": comparisons.parts.which,
    }


def comparisons_of(arrays: Mapping[str, NDArray[Any]], fields: Sequence[Field]) -> Comparisons:
    """Make comparisons of the fields that were compared, from what `arrays_of` returned."""
    smaller = np.repeat(np.arange(arrays["n_larger"].size, dtype=np.int32), arrays["n_larger"])
    parts = PairParts.of(np.column_stack([smaller, arrays["larger"]]), arrays["which"])
    values = {
        name: rebuild(kind, name, arrays)
        for name, kind in get_type_hints(Comparisons).items()
        if name not in OWN_WAY
    }
    return Comparisons(fields=tuple(fields), parts=parts, **values)


def flatten(name: str, value: Any) -> Arrays:
    """Return a value as arrays whose names begin with its own; None has none."""
    if value is None:
        return {}
    if isinstance(value, np.ndarray):
        return {name: value}
    if isinstance(value, np.generic):
        value = value.item()
    parts = _parts(value)
    if parts is None:
        return {f"{name}.{PLAIN}": np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)}
    arrays: Arrays = {f"{name}.{NUMBER}": np.array(len(parts))}
    for part, own in parts.items():
        arrays |= flatten(f"{name}.{part}", own)
    return arrays


def _parts(value: Any) -> dict[str, Any] | None:
    """Return what a value is made of by name, or by place; None if it is one whole."""
    if dataclasses.is_dataclass(value):
        return dict(vars(value))
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    if isinstance(value, tuple):
        return {str(k): own for k, own in enumerate(value)}
    return None


def rebuild(kind: Any, name: str, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Make a value of a type from what `flatten` returned."""
    if name in arrays:
        return arrays[name]
    if f"{name}.{PLAIN}" in arrays:
        return json.loads(bytes(arrays[f"{name}.{PLAIN}"]))
    if f"{name}.{NUMBER}" not in arrays:
        return None
    classes = [one for one in (kind, *get_args(kind)) if _has_fields(one)]
    if classes and kind in (classes[0], classes[0] | None):
        hints = get_type_hints(classes[0])
        values = {own: rebuild(hints[own], f"{name}.{own}", arrays) for own in hints}
        return classes[0](**values)
    kinds = _kinds(kind, int(arrays[f"{name}.{NUMBER}"]))
    return tuple(rebuild(own, f"{name}.{k}", arrays) for k, own in enumerate(kinds))


def _has_fields(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")


def _kinds(kind: Any, number: int) -> Iterator[Any]:
    """Give the type of each part of a tuple."""
    listed = get_args(kind)
    for k in range(number):
        yield listed[0] if Ellipsis in listed else listed[k]

"""What the columns of a table say about entities: the kinds of fields."""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from kolchin.records.findings import Findings


@dataclasses.dataclass(frozen=True)
class Field:
    """The base of every kind of field: something that a column says about an entity.

    Parameters
    ----------
    column
        The column's name in the table.
    """

    column: str


@dataclasses.dataclass(frozen=True)
class Categorical(Field):
    """A field whose values agree or differ, nothing in between.

    Parameters
    ----------
    frequencies
        The weight of each value in the population, scaled to sum to one. Every value of the table
        needs one; others may have one too. By default, the share of each value in the table.

    Examples
    --------
    >>> Categorical("sex", frequencies={"f": 0.51, "m": 0.49}).column
    'sex'
    """

    # Not part of the hash, since a mapping has none.
    frequencies: Mapping[Any, float] | None = dataclasses.field(default=None, hash=False)


FieldLike = Field | str


def declared(
    fields: Iterable[FieldLike] | FieldLike | None, findings: Findings
) -> tuple[Categorical, ...] | None:
    """Turn what a user gave as fields into field objects; None is left for the table to decide."""
    if fields is None:
        return None
    result: dict[str, Categorical] = {}
    given = (
        list(fields) if isinstance(fields, Iterable) and not isinstance(fields, str) else [fields]
    )
    for position, one in enumerate(given):
        field = Categorical(one) if isinstance(one, str) else one
        if not isinstance(field, Categorical) or not _is_well_made(field):
            findings.fault(
                f"fields[{position}] must be a column name, or a Categorical of a name and perhaps "
                f"a mapping of frequencies. Got {field!r} instead."
            )
        elif field.column in result:
            findings.fault(f"column {field.column!r} is declared twice in fields; keep one.")
        else:
            result[field.column] = field
    if not given:
        findings.fault("fields must name at least one column. Got an empty sequence instead.")
    return tuple(result.values())


def _is_well_made(field: Categorical) -> bool:
    return isinstance(field.column, str) and isinstance(field.frequencies, Mapping | None)

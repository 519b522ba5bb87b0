"""What the columns of a table say about entities: the kinds of fields."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kolchin.records.faults_and_notes import FaultsAndNotes

Comparator = Callable[[Any, Any], float]


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


@dataclasses.dataclass(frozen=True)
class Compared(Field):
    """The base of fields whose values may be near: two of them compare into an ordered level.

    Level 0 is exact agreement, the last is 'different', the others stand between.

    Parameters
    ----------
    cuts
        Where the levels of nearness end, nearest first; each kind says of what.
    comparator
        A function of two values that is used instead of the kind's own comparison. With `levels`
        it returns a level; otherwise a similarity, which `cuts` divides. It is called once for
        each two values that differ, the smaller one first; equal values agree exactly.
    levels
        The names of the comparator's levels, from exact to different.

    Examples
    --------
    >>> same_start = Text("part", comparator=lambda a, b: float(a[:3] == b[:3]), cuts=(1,))
    >>> same_start.cuts
    (1,)
    """

    cuts: tuple[float, ...] = ()
    comparator: Comparator | None = None
    levels: tuple[str, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Text(Compared):
    """A name, a street, a city: exact, mistyped, similar to some degree, different.

    Mistyped is one edit (a letter more, less, other, or two exchanged) for every ten letters begun,
    or the same words in another order. `cuts` are the least Jaro-Winkler similarities of
    the levels after that.
    """

    cuts: tuple[float, ...] = (0.88, 0.75)


@dataclasses.dataclass(frozen=True)
class Name(Compared):
    """A full name in one column, its parts in any order and perhaps only initials.

    Exact, the same words in another order, all words mistyped at most, the words of the shorter one
    with initials, similar, different. `cuts` are the least Jaro-Winkler similarities, words sorted.
    """

    cuts: tuple[float, ...] = (0.85,)


@dataclasses.dataclass(frozen=True)
class Words(Compared):
    """A product's name, a title, a description, a list of authors: words in any order.

    The same words, words of which a part is shared, different. Rare words count more than frequent
    ones, codes such as model numbers twice; a word that is mistyped, shortened or an initial
    counts nearly as the same. `cuts` are the least similarities (cosine of the words' weights).
    """

    cuts: tuple[float, ...] = (0.8, 0.65, 0.5, 0.35, 0.2)


@dataclasses.dataclass(frozen=True)
class Date(Compared):
    """A date in any common form, or a year: exact, mistyped, day and month swapped, and so on.

    After that come dates that share two of day, month and year, and those that are not further
    apart than `cuts` in days. What is no date is compared as text: mistyped or different.
    """

    cuts: tuple[float, ...] = (366.0,)


@dataclasses.dataclass(frozen=True)
class Number(Compared):
    """A number: exact, mistyped (one digit, of three or more), near to some degree, different.

    `cuts` are the greatest differences relative to the larger of the two, or to the spread of the
    column where that is less: years and other numbers far from zero differ by years.
    """

    cuts: tuple[float, ...] = (0.02, 0.1)


@dataclasses.dataclass(frozen=True)
class Email(Compared):
    """An e-mail address: exact, mistyped, the same user elsewhere, a similar user, different.

    `cuts` are the least Jaro-Winkler similarities of user names. A shared domain says nothing.
    """

    cuts: tuple[float, ...] = (0.88,)


@dataclasses.dataclass(frozen=True)
class Phone(Compared):
    """A telephone number by its digits: exact, same ending, one or more digits wrong, different.

    The same ending is the last seven digits, since country and area may be left out. `cuts` are
    the largest numbers of wrong, missing or exchanged digits.
    """

    cuts: tuple[float, ...] = (1, 2)


@dataclasses.dataclass(frozen=True)
class Code(Compared):
    """A postcode or another code by its letters and digits: exact, mistyped, same start, different.

    `cuts` is the least share of the shorter code that a common start must have.
    """

    cuts: tuple[float, ...] = (0.5,)


@dataclasses.dataclass(frozen=True)
class Category(Compared):
    """A categorical field that is compared, so that it stands beside all others: exact or not."""


FieldLike = Field | str


def check_fields(
    fields: Iterable[FieldLike] | FieldLike | None,
    findings: FaultsAndNotes,
    kind: type[Field] = Categorical,
) -> tuple[Field, ...] | None:
    """Turn what a user gave as fields into field objects; None is left for the table to decide.

    Names of columns become fields of a kind; Field itself leaves that for the table to decide.
    """
    if fields is None:
        return None
    result: dict[str, Field] = {}
    given = (
        list(fields) if isinstance(fields, Iterable) and not isinstance(fields, str) else [fields]
    )
    for position, one in enumerate(given):
        field = kind(one) if isinstance(one, str) else one
        if not isinstance(one, str) and not _is_well_made(field):
            findings.fault(
                f"fields[{position}] must be a column name, or a Categorical of a name and perhaps "
                f"a mapping of frequencies, or a Text, Date or other kind. Got {field!r} instead."
            )
        elif field.column in result:
            findings.fault(f"column {field.column!r} is declared twice in fields; keep one.")
        else:
            check_comparison(field, findings)
            result[field.column] = field
    if not given:
        findings.fault("fields must name at least one column. Got an empty sequence instead.")
    return tuple(result.values())


def _is_well_made(field: object) -> bool:
    if isinstance(field, Categorical):
        return isinstance(field.column, str) and isinstance(field.frequencies, Mapping | None)
    return isinstance(field, Compared) and isinstance(field.column, str)


def check_comparison(field: Field, findings: FaultsAndNotes) -> None:
    """Find fault with the cuts, the comparator and the levels of a compared field."""
    if not isinstance(field, Compared):
        return
    name = f"{type(field).__name__}({field.column!r})"
    if not isinstance(field.cuts, tuple) or not all(_is_number(cut) for cut in field.cuts):
        findings.fault(f"cuts of {name} must be a tuple of numbers. Got {field.cuts!r} instead.")
    elif len(set(field.cuts)) < len(field.cuts) or list(field.cuts) not in (
        sorted(field.cuts),
        sorted(field.cuts, reverse=True),
    ):
        findings.fault(f"cuts of {name} must be in order. Got {field.cuts!r} instead.")
    if field.comparator is not None and not callable(field.comparator):
        findings.fault(
            f"comparator of {name} must be a function of two values. "
            f"Got {field.comparator!r} instead."
        )
    if field.levels is not None and (field.comparator is None or len(field.levels) < 2):
        findings.fault(
            f"levels of {name} must be two or more names, and go with a comparator that "
            f"returns a level. Got {field.levels!r} instead."
        )
    if type(field) is Compared and field.comparator is None:
        findings.fault(f"{name} needs a comparator; or use Text, Date or another kind.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value

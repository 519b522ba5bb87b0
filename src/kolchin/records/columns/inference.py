"""Which columns can tell entities apart, why others cannot, and how much each can tell."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from kolchin.records.columns.cleaning import CleanColumn
from kolchin.records.columns.column_kinds import (
    Kind,
    are_long_numbers,
    infer_kind,
    is_written,
    split_name,
)
from kolchin.records.columns.roles import WHY
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some, show_value
from kolchin.records.fields.declarations import (
    Categorical,
    Code,
    Compared,
    Date,
    Email,
    Field,
    Name,
    Number,
    Phone,
    Text,
    Words,
)

COMPARED: dict[Kind, type[Compared]] = {
    Kind.TEXT: Text,
    Kind.NAME: Name,
    Kind.WORDS: Words,
    Kind.DATE: Date,
    Kind.NUMBER: Number,
    Kind.EMAIL: Email,
    Kind.PHONE: Phone,
    Kind.POSTCODE: Code,
    Kind.CODE: Code,
    # Those that are left out unless users want them.
    Kind.NEAR_KEY: Code,
    Kind.FREE_TEXT: Words,
}
"""The field that a column of each kind becomes when it is used; all others are categorical."""

MOST_CODES = 100
"""In a table of categories, numbers with at most so many values are categories as well."""

MOST_COMPARED = 16
"""A model has at most so many compared fields."""

ENOUGH = 50  # records below which nearly all different means little
NEARLY_ALL = 0.9
CROWD_OF_A_KEY = 3.0
CROWD_OF_AN_ID = 6.0
LARGE_ENTITY = 10  # records of one entity, on average
MOST_LINES = 20
ID_WORDS = {"id", "ids", "key", "uuid", "guid", "identifier", "uid", "pid", "oid"}
JOINED_IDS = {
    *("recid", "recordid", "rowid", "uniqueid", "personid", "customerid", "userid", "patientid"),
    *("entid", "entityid", "clusterid"),
}
SECRET_WORDS = {"ssn", "socsec", "passport", "nino", "nhs", "iban", "mrn"}
ENTITY_WORDS = {
    *("ent", "entity", "cluster", "true", "truth", "gold", "match", "duplicate"),
    *("entid", "entityid", "clusterid"),
}
NUMBERS = {"no", "nr", "num", "number", "nummer", "code"}
NUMBERED = {"member", "membership", "customer", "client", "record", "row", "file", "case"} | {
    *("person", "patient", "employee", "student", "order", "item", "article", "product", "account"),
}
"""What a column may number, so that it names records when all its values differ."""
RECORD_WORDS = {"rec", "record", "row", "unique", "recid", "recordid", "rowid", "uniqueid"}
HOUSE_NUMBERS = {"streetnumber", "streetno", "housenumber", "houseno", "unitnumber", "flatnumber"}
SOURCE_NAMES = {"source", "data_source", "source_file", "source_dataset", "dataset", "filename"}
MOST_SOURCES = 50


@dataclasses.dataclass(frozen=True)
class ColumnReport:
    """What was found about a column, and whether it is used.

    Parameters
    ----------
    column
        Its name.
    kind
        What it is: a `Kind`, such as text, date, identifier, or truth.
    used
        Whether it is a field of the model.
    why
        The reason, in words.
    distinct
        How many different values it has, after cleaning.
    missing
        The share of records without a value.
    markers
        How often each missing marker stands in it, as written there; '' for empty cells.
    bits
        What agreement on it tells on average: -log2 of the chance that two random values agree,
        times the chance that both records have one.
    cuts
        Where the levels of nearness end, if a user said so.
    spared
        Values that stand for gaps elsewhere, and are names in this column.
    """

    column: str
    kind: Kind
    used: bool
    why: str
    distinct: int
    missing: float
    markers: Mapping[str, int]
    bits: float
    cuts: tuple[float, ...] | None = None
    spared: tuple[str, ...] = ()

    @property
    def field(self) -> Field:
        """The field that the column becomes when it is used."""
        compared = COMPARED.get(self.kind)
        if compared is None:
            return Categorical(self.column)
        return compared(self.column) if self.cuts is None else compared(self.column, self.cuts)

    @property
    def all_differ(self) -> bool:
        """Whether no two records share a value, as the reason for leaving it out says."""
        return self.why.startswith("all its ")

    def describe_markers(self) -> str:
        """Write which values count as missing, and how often; empty cells need no telling."""
        return ", ".join(
            f"{show_value(marker)} ({n:,})" for marker, n in self.markers.items() if marker
        )


class ColumnTally(NamedTuple):
    """How often the values of a column occur."""

    n_present: int
    distinct: int
    crowd: float  # how many records share the value of a record, on average, itself among them


def tally_column(column: CleanColumn) -> ColumnTally:
    """Count the values of a column."""
    counts = column.values.counts.astype(np.float64)
    n_present = int(counts.sum())
    return ColumnTally(
        n_present, counts.size, float(counts @ counts) / n_present if n_present else 0.0
    )


def describe_column(name: str, column: CleanColumn | None, role: Kind | None) -> ColumnReport:
    """Say what a column is: the part it was given, or what its values show; None is compound."""
    if column is None:
        why = "it holds lists or other compound values, not single ones"
        return ColumnReport(name, Kind.COMPOUND, False, why, 0, 0.0, {}, 0.0)
    if role is not None:
        return write_report(name, column, role, False, WHY[role])
    return infer_column(name, column)


def infer_column(name: str, column: CleanColumn) -> ColumnReport:
    """Say what a column is, and whether it should be a field."""
    seen = tally_column(column)
    kind, why = _decide_left_out(name, column.values.vocabulary, seen)
    used = kind is None
    if kind is None:
        kind = infer_kind(name, column.values.vocabulary)
        if kind is Kind.NUMBER and _is_numbering(column.values.vocabulary, seen):
            kind = Kind.CODE
        why = f"{seen.distinct:,} values, shared by {seen.crowd:,.1f} records on average"
    return write_report(name, column, kind, used, why)


def _is_numbering(vocabulary: pl.Series, seen: ColumnTally) -> bool:
    """Tell long numbers that hardly repeat: they number things, and nearness says nothing."""
    return seen.crowd <= CROWD_OF_A_KEY and are_long_numbers(vocabulary)


def write_report(name: str, column: CleanColumn, kind: Kind, used: bool, why: str) -> ColumnReport:
    """Write down a decision about a column with its numbers."""
    seen = tally_column(column)
    n_records = max(column.values.codes.size, 1)
    missing = (column.values.codes.size - seen.n_present) / n_records
    agreement = float(np.log2(seen.n_present / seen.crowd)) if seen.crowd else 0.0
    bits = agreement * (seen.n_present / n_records) ** 2
    return ColumnReport(
        name,
        kind,
        used,
        why,
        seen.distinct,
        missing,
        column.markers,
        bits,
        spared=column.spared,
    )


def _decide_left_out(
    name: str, vocabulary: pl.Series, seen: ColumnTally
) -> tuple[Kind | None, str]:
    """Say as what a column should be left out, and why; no kind if it should not."""
    if not seen.distinct:
        return Kind.EMPTY, "every value is missing"
    if seen.distinct == 1:
        return Kind.CONSTANT, f"its only value is {show_value(vocabulary[0])}"
    if seen.distinct == seen.n_present and (_is_numbered(name) or not is_written(name, vocabulary)):
        return Kind.IDENTIFIER, f"all its {seen.distinct:,} values differ, as an identifier's do"
    if _names_entities(name, vocabulary, seen):
        return Kind.IDENTIFIER, (
            "by its name and values it numbers entities; if it is the truth, give it as such"
        )
    if "_".join(split_name(name)) in SOURCE_NAMES and seen.distinct <= MOST_SOURCES:
        return Kind.SOURCE, (
            "by its name it says where records come from; if so, give it as the source"
        )
    if seen.n_present < ENOUGH:
        return None, ""
    return _decide_key_like(name, vocabulary, seen)


def _decide_key_like(
    name: str, vocabulary: pl.Series, seen: ColumnTally
) -> tuple[Kind | None, str]:
    """Tell keys, whose values only very few records share, from fields with many values.

    Agreement on a key would decide nearly alone, and where a key was mistyped, shared or reused
    nothing could outweigh it: by default the result stands on what people can check.
    """
    words = split_name(name)
    if HOUSE_NUMBERS & {first + second for first, second in pairwise(words)}:
        return None, ""
    if seen.crowd > CROWD_OF_AN_ID or not _is_numbered(name):
        return None, ""
    if seen.distinct >= NEARLY_ALL * seen.n_present:
        return Kind.IDENTIFIER, "by its name and values it is an identifier"
    return Kind.NEAR_KEY, (
        "by its name it numbers people or things, and is nearly a key, shared by "
        f"{seen.crowd:.1f} records on average: agreement on it would decide alone, right or wrong; "
        "use it only if it can be trusted"
    )


def _is_numbered(name: str) -> bool:
    """Tell names of columns that number people or records."""
    words = split_name(name)
    return _ends_as_id(words) or bool(SECRET_WORDS & set(words))


def _ends_as_id(words: list[str]) -> bool:
    return bool(words) and (words[-1] in ID_WORDS or words[-1] in JOINED_IDS)


def find_own_id(reports: Iterable[ColumnReport]) -> str | None:
    """Return the column that names the records by itself: by its name an id, all values differ.

    Of several, the one that is called as an id of records comes first.
    """
    found = [
        one.column
        for one in reports
        if one.kind is Kind.IDENTIFIER
        and not one.missing
        and one.all_differ
        and (_ends_as_id(split_name(one.column)) or _numbers_records(split_name(one.column)))
        and not _speaks_of_others(split_name(one.column))
    ]
    return min(found, key=lambda name: not RECORD_WORDS & set(split_name(name)), default=None)


def _numbers_records(words: list[str]) -> bool:
    """Tell names such as member_no from those such as house_number and phone_number."""
    return len(words) == 2 and words[0] in NUMBERED and words[1] in NUMBERS


def _speaks_of_others(words: list[str]) -> bool:
    """Tell ids of entities, and numbers that people have."""
    return bool((ENTITY_WORDS | SECRET_WORDS | {"sec"}) & set(words))


def _names_entities(name: str, vocabulary: pl.Series, seen: ColumnTally) -> bool:
    """Tell names such as ent_id, and those such as cluster where they stand over many numbers."""
    words = split_name(name)
    if not words or words[0] not in ENTITY_WORDS or len(words) > 2:
        return False
    if _ends_as_id(words):
        return True
    numbered = vocabulary.dtype.is_integer() or (
        vocabulary.dtype == pl.String and bool(vocabulary.str.contains(r"\d").all())
    )
    return len(words) == 1 and numbered and seen.distinct * LARGE_ENTITY >= seen.n_present


def name_kind(field: Field, found: Kind) -> Kind:
    """Return the kind of column that a field stands for: what was found, where that fits."""
    if isinstance(field, Compared):
        fitting = [kind for kind, compared in COMPARED.items() if isinstance(field, compared)]
    else:
        fitting = [Kind.CATEGORICAL]
    return found if found in fitting or not fitting else fitting[0]


def settle_columns(reports: Iterable[ColumnReport]) -> tuple[ColumnReport, ...]:
    """Look at the columns together: in a table without typed text, numbers are codes.

    Surveys are of this kind. What was ticked or looked up is not mistyped as names are.
    """
    reports = tuple(reports)
    if {one.kind for one in reports if one.used} - {Kind.CATEGORICAL, Kind.NUMBER}:
        return reports
    return tuple(
        dataclasses.replace(one, kind=Kind.CATEGORICAL)
        if one.kind is Kind.NUMBER and one.distinct <= MOST_CODES
        else one
        for one in reports
    )


def limit_columns(
    reports: Iterable[ColumnReport], categories: bool = True
) -> tuple[ColumnReport, ...]:
    """Leave out the least telling columns, where a model of compared fields has no more room.

    Categories alone need no comparing; unless ``categories`` are compared, all of them stay then.
    """
    reports = tuple(reports)
    compared = [one for one in reports if one.used]
    if not categories and not any(isinstance(one.field, Compared) for one in compared):
        return reports
    least = {one.column for one in sorted(compared, key=lambda one: -one.bits)[MOST_COMPARED:]}
    why = f"of {len(compared)} columns to be compared the {MOST_COMPARED} most telling are used"
    return tuple(
        dataclasses.replace(one, used=False, why=why) if one.column in least else one
        for one in reports
    )


def choose(reports: Iterable[ColumnReport], findings: FaultsAndNotes) -> list[Field]:
    """Return the fields that reports speak of, and note why other columns are none."""
    reports = list(reports)
    usable = [one.field for one in reports if one.used]
    left_out = _list_left_out([one for one in reports if not one.used])
    if usable:
        findings.notes.extend(left_out)
    elif left_out or not findings.faults:
        findings.faults.extend(left_out)
        findings.fault(_none_left(reports))
    return usable


def _none_left(reports: Sequence[ColumnReport]) -> str:
    """Say that there is nothing to compare, and what to do."""
    if reports and all(one.kind in (Kind.CONSTANT, Kind.EMPTY) for one in reports):
        return (
            "no column is left to be a field: none has more than one value, so that nothing tells "
            "entities apart. Add columns that differ."
        )
    return "no column is left to be a field; name in fields those to use all the same."


def _list_left_out(reports: Sequence[ColumnReport]) -> list[str]:
    """Say of each column why it was left out, or of each kind when there are many."""
    if len(reports) <= MOST_LINES:
        return [f"{one.column!r} was left out: {one.why}." for one in reports]
    kinds: dict[Kind, list[str]] = {}
    for one in reports:
        kinds.setdefault(one.kind, []).append(one.column)
    return [f"{list_some(names)} were left out ({kind})." for kind, names in kinds.items()]

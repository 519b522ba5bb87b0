"""Rules for golden records, and values that people have set, from a TOML file.

[fields.email]
keep = "recent"          # probable, source, recent, longest or complete
by = "updated"           # of recent: the column of dates

[fields.phone]
keep = "source"
order = ["crm", "web"]   # of source: the most trusted first

[fields."*"]             # all fields without a rule of their own
keep = "complete"

[[overrides]]            # one cell: the entity that a record belongs to, whatever its number
record = "17"
field = "city"
value = "Rome"
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison.kinds.dates import write_dates_alike
from kolchin.errors import DataError
from kolchin.options import option
from kolchin.parameters import FloatArray
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some, show_value, suggest
from kolchin.resolution.tables.input_table import InputTable

PROBABLE, SOURCE, RECENT, LONGEST, COMPLETE = "probable", "source", "recent", "longest", "complete"
KEEPS = (PROBABLE, SOURCE, RECENT, LONGEST, COMPLETE)
KEPT_RULES = "golden.toml"
"""The file of a run's directory with the rules that hold until others are given."""

EVERY = "*"
NEEDS = {SOURCE: "order", RECENT: "by"}
"""What a rule must say beside what it keeps."""


class GoldenRule(NamedTuple):
    """Which value of a field to keep; ``by`` is a column of dates, ``order`` the sources."""

    keep: str = PROBABLE
    by: str | None = None
    order: tuple[str, ...] = ()


class GoldenOverride(NamedTuple):
    """A value that a person has set for the entity of a record."""

    record: str
    field: str
    value: str | None


@dataclass(frozen=True)
class GoldenRules:
    """What to keep of each field, and what people have set; of which records they did in vain."""

    fields: Mapping[str, GoldenRule]
    overrides: tuple[GoldenOverride, ...] = ()
    gone: tuple[str, ...] = ()

    @classmethod
    def read(cls, rules: Any, given: InputTable, kept: bool = False) -> Self:
        """Check a TOML file, or what it would hold; every fault is told in one message.

        Rules that a run has ``kept`` were checked when they were given: overrides of records that
        are gone since, after an update, are left out.
        """
        findings = FaultsAndNotes()
        content, name = _read_content(rules, findings)
        fields = content.pop("fields", {})
        listed = content.pop("overrides", [])
        for key in content:
            findings.fault(f"{name} may have [fields.COLUMN] and [[overrides]]. Got {key!r}.")
        made = cls(
            {field: _read_rule(field, table, name, findings) for field, table in fields.items()}
            if isinstance(fields, Mapping)
            else {},
            tuple(_read_override(one, name, findings) for one in listed),
        )
        if kept:
            made = made._leave_out_gone(given)
        made._check(given, name, findings, kept)
        if findings.faults:
            raise DataError("\n".join(["These rules cannot be used:", *findings.faults]))
        return made

    def _leave_out_gone(self, given: InputTable) -> Self:
        ids = set(given.ids.cast(pl.String)) if self.overrides else set()
        there = tuple(one for one in self.overrides if one.record in ids)
        gone = tuple(one.record for one in self.overrides if one.record not in ids)
        return replace(self, overrides=there, gone=gone)

    def of(self, field: str) -> GoldenRule:
        """Return the rule of a field."""
        return self.fields.get(field) or self.fields.get(EVERY) or GoldenRule()

    def columns_beside(self, given: InputTable) -> list[str]:
        """Return the columns with a rule or an override that are no fields of the model."""
        named = [*self.fields, *(one.field for one in self.overrides)]
        own = {EVERY, *given.records.names}
        return list(dict.fromkeys(name for name in named if name not in own))

    def list_overrides(
        self, field: str, given: InputTable, labels: NDArray[np.int64]
    ) -> dict[int, str | None]:
        """Return the values that were set, by entity."""
        return {
            int(labels[given.row_of(one.record)]): one.value
            for one in self.overrides
            if one.field == field
        }

    def _check(self, given: InputTable, name: str, findings: FaultsAndNotes, kept: bool) -> None:
        """Find fault with columns, sources and records that the run does not have."""
        known = given.texts.columns
        named = [
            *(field for field in self.fields if field != EVERY),
            *(rule.by for rule in self.fields.values() if rule.by is not None),
            *(one.field for one in self.overrides),
        ]
        for column in dict.fromkeys(named):
            if column not in known:
                hint = suggest(column, known)
                findings.fault(f"{name} names {column!r}, which is no column of the table.{hint}")
        wanted = {source for rule in self.fields.values() for source in rule.order if not kept}
        if wanted and given.source is None:
            findings.fault(
                f"{name} has an order of sources, but the run has none ({option('source')})."
            )
        elif wanted and given.source is not None:
            lacking = wanted - set(given.source.unique().to_list())
            if lacking:
                findings.fault(
                    f"{name} names sources that no record has: {list_some(sorted(lacking))}."
                )
        ids = set(given.ids.cast(pl.String)) if self.overrides else set()
        for one in self.overrides:
            if one.record not in ids:
                findings.fault(f"{name} sets a value of record {one.record!r}, which is not there.")


class RuleScores:
    """How well records stand by the rule of a field: more is better, -inf is worst."""

    def __init__(self, rules: GoldenRules, given: InputTable) -> None:
        self.rules = rules
        self.given = given
        self._filled = cache(self._count_values)

    def of(self, field: str) -> FloatArray:
        """Return a number a record; equal ones are left to their probabilities."""
        rule, given = self.rules.of(field), self.given
        if rule.keep == SOURCE and given.source is not None:
            place = {source: -k for k, source in enumerate(rule.order)}
            return _read_floats(given.source.replace_strict(place, default=-len(place)))
        if rule.keep == RECENT and rule.by is not None:
            return _read_dates(given.texts[rule.by].alias("value"))
        if rule.keep == LONGEST:
            return _read_floats(given.texts[field].alias("value").str.len_chars().fill_null(0))
        if rule.keep == COMPLETE:
            return self._filled()
        return np.zeros(given.records.n_records)

    def _count_values(self) -> FloatArray:
        """Return how many columns of each record have a value."""
        total = np.zeros(self.given.records.n_records)
        for name in self.given.texts.columns:
            total += self.given.texts[name].alias("value").is_not_null().to_numpy()
        return total


def _read_floats(values: pl.Series) -> FloatArray:
    result: FloatArray = values.cast(pl.Float64).to_numpy()
    return result


def _read_dates(texts: pl.Series) -> FloatArray:
    """Return dates as numbers that grow with time; what is no date comes before all."""
    alike = write_dates_alike(texts.fill_null("").str.to_lowercase().to_list())
    digits = alike.str.replace_all("-", "").str.slice(0, 14)
    is_date = alike.str.contains(r"^\d{4}-\d\d-\d\d$")
    times = texts.str.extract(r"(\d\d:\d\d(:\d\d)?)").str.replace_all(":", "").fill_null("0")
    day = _read_floats(digits.set(~is_date, None).cast(pl.Float64, strict=False).fill_null(-np.inf))
    return day + _read_floats(times.str.pad_end(6, "0")) / 1e6


def _read_content(rules: Any, findings: FaultsAndNotes) -> tuple[dict[str, Any], str]:
    """Return what a file, or a mapping, says."""
    if rules is None:
        return {}, "the rules"
    if isinstance(rules, Mapping):
        return dict(rules), "the rules"
    name = str(rules)
    try:
        text = Path(rules).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        return tomllib.loads(text), name
    except OSError as error:
        reason = "it does not exist" if isinstance(error, FileNotFoundError) else error.strerror
        findings.fault(f"{name} cannot be read: {reason}.")
    except (ValueError, RecursionError) as error:
        findings.fault(f"{name} is not TOML: {error}.")
    return {}, name


def _read_rule(field: str, table: Any, name: str, findings: FaultsAndNotes) -> GoldenRule:
    """Check what is said about one field."""
    where = f"in {name}, [fields.{field}]"
    if not isinstance(table, Mapping):
        findings.fault(f"{where} must be a table with keep. Got {show_value(table)} instead.")
        return GoldenRule()
    for key in set(table) - set(GoldenRule._fields):
        hint = suggest(key, GoldenRule._fields)
        findings.fault(f"{where} may have keep, by and order. Got {key!r} instead.{hint}")
    keep, by, order = table.get("keep", PROBABLE), table.get("by"), table.get("order", [])
    if keep not in KEEPS:
        findings.fault(f"{where}, keep must be one of {', '.join(KEEPS)}. Got {show_value(keep)}.")
        return GoldenRule()
    if by is not None and not isinstance(by, str):
        findings.fault(f"{where}, by must be the name of a column. Got {show_value(by)} instead.")
        return GoldenRule()
    if not isinstance(order, list) or not all(isinstance(one, str) for one in order):
        findings.fault(
            f"{where}, order must be a list of sources. Got {show_value(order)} instead."
        )
        return GoldenRule()
    lacking = NEEDS.get(keep)
    if lacking is not None and not table.get(lacking):
        what = "the column of dates" if lacking == "by" else "the sources, most trusted first"
        findings.fault(f'{where}, keep = "{keep}" needs {lacking}: {what}.')
    return GoldenRule(keep, by, tuple(order))


def _read_override(one: Any, name: str, findings: FaultsAndNotes) -> GoldenOverride:
    """Check a value that was set."""
    if not isinstance(one, Mapping) or not {"record", "field", "value"} >= set(one) >= {
        "record",
        "field",
    }:
        findings.fault(
            f"in {name}, [[overrides]] has record, field and value. Got {show_value(one)}."
        )
        return GoldenOverride("", "", None)
    value = one.get("value")
    return GoldenOverride(
        str(one["record"]), str(one["field"]), None if value is None else str(value)
    )

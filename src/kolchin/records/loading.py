"""The way from any table to records, with all that people need to know about it."""

import dataclasses
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from kolchin.options import option
from kolchin.records.columns.cleaning import (
    CleanColumn,
    CleaningRules,
    clean_weights,
    make_cleaning_rules,
)
from kolchin.records.columns.column_kinds import Kind, infer_kind
from kolchin.records.columns.column_reports import column_table, note_markers, note_names
from kolchin.records.columns.column_texts import Texts
from kolchin.records.columns.inference import (
    ColumnReport,
    choose,
    find_own_id,
    limit_columns,
    name_kind,
    settle_columns,
)
from kolchin.records.columns.open_tables import OpenTable, open_table
from kolchin.records.columns.repeated_columns import leave_out_repeats
from kolchin.records.columns.roles import (
    WHY,
    Roles,
    check_roles,
    number_rows,
    read_as_text,
    read_ids,
)
from kolchin.records.faults_and_notes import FaultsAndNotes, suggest
from kolchin.records.fields.declarations import Categorical, Field, FieldLike, check_fields
from kolchin.records.fields.encoding import encode_fields
from kolchin.records.fields.field_choices import SUFFIX, Choice, read_choices
from kolchin.records.files.column_renames import Renames
from kolchin.records.records import Records
from kolchin.workplace import Workplace

FieldsLike = Iterable[FieldLike] | FieldLike | os.PathLike[str] | None
CODES = "codes"
"""The name of the records' codes in a store."""


@dataclasses.dataclass(frozen=True, eq=False)
class LoadedTable:
    """Records with the table they come from, made by `load`.

    Parameters
    ----------
    records
        What the model sees.
    texts
        Every input column as text, as it was before normalisation, one row a record.
    ids
        A name a record, all different: the id column's values, else the row number from 0.
    id_column
        The id column's name, if one was given.
    truth
        The true entity of each record, null where it is not known; the model never sees it.
    source
        Which file or source each record comes from.
    columns
        What was found about each column of the input, in its order.
    notes
        What was done with the table and may surprise.
    fingerprint
        A hash of ids, values and fields, by which a changed input is noticed.
    types
        The types of the columns of the input that are no text.
    """

    records: Records
    texts: Texts
    ids: pl.Series
    id_column: str | None
    truth: pl.Series | None
    source: pl.Series | None
    columns: tuple[ColumnReport, ...]
    notes: tuple[str, ...]
    fingerprint: str
    types: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def values(self) -> pl.DataFrame:
        """Every input column as text, in memory."""
        return self.texts.frame()

    def field_table(self) -> pl.DataFrame:
        """Return what was found about each column as a table."""
        return column_table(self.columns)


@dataclasses.dataclass(frozen=True)
class Inspection:
    """What `inspect` found about a table."""

    columns: tuple[ColumnReport, ...]
    notes: tuple[str, ...]


class _TableParts(NamedTuple):
    """A table, what was seen in its columns, and which of them have a part of their own."""

    table: OpenTable
    origin: pl.Series | None
    reports: tuple[ColumnReport, ...]
    cleaned: Mapping[str, CleanColumn]
    roles: Roles

    @property
    def kinds(self) -> Mapping[str, Kind]:
        """The parts that columns have."""
        return self.roles.kinds


def load(
    table: Any,
    *,
    fields: FieldsLike = None,
    id: str | None = None,
    source: str | None = None,
    truth: str | None = None,
    normalise: bool = True,
    missing: Iterable[str] | None = None,
    rename: Renames | None = None,
    work: Workplace | None = None,
) -> LoadedTable:
    """Read a table, find out what its columns are, and encode those that tell entities apart.

    Parameters
    ----------
    table
        A path, several paths, or a table as `Records.from_table` takes it. The records of several
        files are linked together: columns are matched by name, and a source is made of file names.
    fields
        Fields, or column names, whose kind is inferred, or the path of a .toml file as
        `write_choices` writes it. By default, all columns that can tell entities apart.
    id, source, truth
        Columns that name a record, say where it comes from, and which entity it is of. They
        are never fields. Without ``id``, a column of identifiers whose values all differ names
        the records, if there is one.
    normalise
        Whether values that differ in case, spaces, accents or Unicode form alone are the same.
    missing
        The values, whatever their case, that stand for none; empty ones always do. By default
        `MISSING_MARKERS`, but for those that are names in a column of names.
    rename
        By file, the new names of columns: ``{"b.csv": {"Surname": "last_name"}}``.
    work
        An engine whose tasks look at the columns of a Parquet table, one each. The result is the
        same; `texts` is then read from the files when it is asked for.

    Raises
    ------
    DataError
        If the table cannot be used; the message lists every reason.

    Examples
    --------
    >>> loaded = load({"id": [7, 8, 9], "name": ["Ada", " ADA", "Zoë"]}, id="id")
    >>> loaded.records.decode()["name"].to_list()
    ['ada', 'ada', 'zoe']
    """
    findings = FaultsAndNotes()
    how = _choose_cleaning(normalise, missing, findings)
    wanted = _read_wanted_fields(fields, findings)
    opened = _open(table, Roles(id, source, truth), how, findings, work, rename)
    opened = _use_own_id(opened, _list_named_fields(wanted), findings)
    id = opened.roles.id
    reports, chosen = _decide(opened, wanted, how, findings)
    columns = encode_fields(chosen, opened.cleaned, findings)
    origin = opened.origin if source is None else _read_part(opened, source, "source")
    known = None if truth is None else _read_part(opened, truth, "truth")
    if known is not None and known.len() and not known.count():
        findings.fault(f"column {truth!r}, the truth, has no values: all are missing.")
    read = opened.table
    ids = number_rows(read.n_records) if id is None else read_ids(read.column(id), origin, findings)
    findings.stop_on_faults()
    records = _keep_records(Records._from_columns(columns), work)
    del columns
    texts, types = read.texts(), read.types
    read.close()
    return LoadedTable(
        *(records, texts, ids, id, known, origin, reports, tuple(findings.notes)),
        fingerprint=_compute_fingerprint(records, texts, ids),
        types=types,
    )


def _keep_records(records: Records, work: Workplace | None) -> Records:
    """Return records whose codes are in the store of an engine, and not in memory as well."""
    if work is None or work.is_here:
        return records
    work.store.put(CODES, records.codes)
    return dataclasses.replace(records, codes=work.store.get(CODES))


def inspect(
    table: Any,
    *,
    id: str | None = None,
    source: str | None = None,
    truth: str | None = None,
    normalise: bool = True,
    missing: Iterable[str] | None = None,
    rename: Renames | None = None,
) -> Inspection:
    """Find out what the columns of a table are, as `load` does, whether they can be used or not."""
    findings = FaultsAndNotes()
    how = _choose_cleaning(normalise, missing, findings)
    opened = _open(table, Roles(id, source, truth), how, findings, renames=rename)
    opened = _use_own_id(opened, (), findings)
    reports = limit_columns(leave_out_repeats(opened.reports, opened.cleaned))
    note_markers(reports, findings)
    return Inspection(reports, tuple(findings.notes))


def _list_named_fields(wanted: Sequence[Field] | Mapping[str, Choice] | None) -> list[str]:
    """Return the columns that users want as fields."""
    if isinstance(wanted, Mapping):
        return [column for column, choice in wanted.items() if choice.use]
    return [field.column for field in wanted or ()]


def _use_own_id(
    opened: _TableParts, wanted: Iterable[str], findings: FaultsAndNotes
) -> _TableParts:
    """Let a column of identifiers name the records where none was given, and say so."""
    if opened.roles.id is not None:
        return opened
    found = find_own_id(
        [one for one in opened.reports if one.column not in {*wanted, *opened.kinds}]
    )
    if found is None:
        return opened
    findings.note(
        f"records are named by {found!r}, whose values all differ; {option('id')} names another "
        "column."
    )
    reports = tuple(
        dataclasses.replace(one, kind=Kind.ID, used=False, why=WHY[Kind.ID])
        if one.column == found
        else one
        for one in opened.reports
    )
    return opened._replace(reports=reports, roles=opened.roles._replace(id=found))


def _choose_cleaning(
    normalise: bool, missing: Iterable[str] | None, findings: FaultsAndNotes
) -> CleaningRules:
    """Prepare the cleaning, or note what is wrong with the markers."""
    if missing is None:
        return make_cleaning_rules(normalise, spare_names=True)
    markers = [missing] if isinstance(missing, str) else list(missing)
    wrong = [marker for marker in markers if not isinstance(marker, str)]
    if wrong:
        findings.fault(f"missing must be a sequence of text. Got {wrong} in it instead.")
        markers = []
    return make_cleaning_rules(normalise, markers)


def _read_wanted_fields(
    fields: FieldsLike, findings: FaultsAndNotes
) -> tuple[Field, ...] | dict[str, Choice] | None:
    """Return fields as they were declared, or as a file has them; None for those to be inferred."""
    if isinstance(fields, str) and fields.lower().endswith(SUFFIX):
        fields = Path(fields)
    if isinstance(fields, os.PathLike):
        return read_choices(Path(fields), findings) or {}
    return check_fields(fields, findings, kind=Field)


def _open(
    table: Any,
    roles: Roles,
    how: CleaningRules,
    findings: FaultsAndNotes,
    work: Workplace | None = None,
    renames: Renames | None = None,
) -> _TableParts:
    """Read a table and look at its columns; raise an error when there is none to go on with."""
    n_faults = len(findings.faults)
    read = open_table(table, findings, work, renames)
    if read is not None:
        found, origin = read
        check_roles(roles, found.names, found.single, findings)
        if found.n_records < 2:
            findings.fault(f"at least two records are needed. Got {found.n_records} instead.")
        if len(findings.faults) == n_faults:
            seen = found.look(how, roles.kinds, findings)
            if seen is not None:
                return _TableParts(found, origin, settle_columns(seen.reports), seen.cleaned, roles)
    findings.stop_on_faults()
    raise AssertionError("a table that was not read has a fault")


def _read_part(opened: _TableParts, column: str, name: str) -> pl.Series:
    """Return the column of a part as text."""
    return read_as_text(opened.table.column(column), opened.cleaned[column].values.codes, name)


def _decide(
    opened: _TableParts,
    wanted: Sequence[Field] | Mapping[str, Choice] | None,
    how: CleaningRules,
    findings: FaultsAndNotes,
) -> tuple[tuple[ColumnReport, ...], Sequence[Field]]:
    """Say of each column whether it is used, and return the fields in the order they were given."""
    reports = opened.reports
    note_markers(reports, findings)
    note_names(reports, findings)
    if wanted is None:
        reports = limit_columns(leave_out_repeats(reports, opened.cleaned))
        return reports, choose([one for one in reports if one.column not in opened.kinds], findings)
    if isinstance(wanted, Mapping):
        _check_columns(opened, wanted, [c for c, choice in wanted.items() if choice.use], findings)
        reports = tuple(_follow_choice(one, wanted, opened.kinds) for one in reports)
        return reports, choose([one for one in reports if one.used], findings)
    named = [field.column for field in wanted]
    _check_columns(opened, named, named, findings)
    of_column = {one.column: one for one in reports}
    fields = [_make_field(field, of_column, opened) for field in wanted]
    by_name = {field.column: field for field in fields}
    reports = tuple(_follow_fields(one, by_name, opened.kinds) for one in reports)
    return reports, [_clean_field_weights(field, how) for field in fields]


def _check_columns(
    opened: _TableParts, named: Iterable[str], used: Iterable[str], findings: FaultsAndNotes
) -> None:
    """Find fault with names that no column has, and with columns that cannot be fields."""
    known = opened.table.names
    there = set(known)
    for name in named:
        if name not in there:
            findings.fault(f"the table has no column {name!r}.{suggest(name, known)}")
    for name in used:
        if name in opened.kinds:
            findings.fault(
                f"column {name!r} cannot be a field: {WHY[opened.kinds[name]]}; take it out of "
                "fields."
            )
        elif name in there and name not in opened.cleaned:
            findings.fault(
                f"column {name!r} cannot be a field: it holds lists or other compound values; turn "
                "it into text."
            )


def _follow_choice(
    one: ColumnReport, choices: Mapping[str, Choice], roles: Mapping[str, Kind]
) -> ColumnReport:
    """Follow what a file of fields says about a column."""
    choice = choices.get(one.column)
    if one.column in roles:
        return one
    if choice is None:
        return dataclasses.replace(one, used=False, why="the file of fields does not name it")
    why = f"the file of fields says use = {str(choice.use).lower()}"
    kind = choice.kind or one.kind
    return dataclasses.replace(one, kind=kind, cuts=choice.cuts, used=choice.use, why=why)


def _make_field(field: Field, reports: Mapping[str, ColumnReport], opened: _TableParts) -> Field:
    """Return the field that a column is by its values, where only its name was given."""
    one = reports.get(field.column)
    if type(field) is not Field or one is None or field.column not in opened.cleaned:
        return field
    vocabulary = opened.cleaned[field.column].values.vocabulary
    kind = one.kind if one.kind.is_field else infer_kind(field.column, vocabulary)
    return dataclasses.replace(one, kind=kind).field


def _follow_fields(
    one: ColumnReport, fields: Mapping[str, Field], roles: Mapping[str, Kind]
) -> ColumnReport:
    """Follow what was given as fields."""
    if one.column in roles:
        return one
    field = fields.get(one.column)
    if field is None:
        return dataclasses.replace(one, used=False, why="not named in fields")
    kind, cuts = name_kind(field, one.kind), getattr(field, "cuts", None)
    return dataclasses.replace(one, kind=kind, cuts=cuts, used=True, why="named in fields")


def _clean_field_weights(field: Field, how: CleaningRules) -> Field:
    if not isinstance(field, Categorical) or field.frequencies is None:
        return field
    return dataclasses.replace(field, frequencies=clean_weights(field.frequencies, how))


def _compute_fingerprint(records: Records, texts: Texts, ids: pl.Series) -> str:
    """Hash what a run depends on; batches keep the memory small."""
    digest = hashlib.blake2b(digest_size=16)
    first = 0
    for batch in texts.batches():
        own = ids.slice(first, batch.height)
        named = pl.DataFrame([own, *(column.alias(f"_{i}") for i, column in enumerate(batch))])
        digest.update(named.write_csv(include_header=False).encode())
        first += batch.height
    for name in (*texts.columns, *records.names):
        digest.update(f"{name!r};".encode())
    for field in records.fields:
        digest.update(f"{type(field).__name__}{getattr(field, 'cuts', ())!r};".encode())
    digest.update(records.codes.reshape(-1).view(np.uint8).data)
    for weights in records.frequencies:
        digest.update(weights.tobytes())
    return digest.hexdigest()

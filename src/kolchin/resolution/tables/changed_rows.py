"""A table with new records, changed ones and without others, row by row beside the old one."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from kolchin.options import option
from kolchin.parameters import IntArray
from kolchin.records.columns.column_types import restore_type
from kolchin.records.columns.open_tables import open_table
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some, suggest
from kolchin.records.files.several_files import label_file
from kolchin.records.loading import load
from kolchin.resolution.running.grown_models import BASE_ROW, find_base_rows
from kolchin.resolution.tables.input_table import InputTable
from kolchin.resolution.tables.table_source import list_paths, open_source


class ChangedTable(NamedTuple):
    """The table as it is now, and where each of its records was before (-1: nowhere)."""

    given: InputTable
    row_before: IntArray


class ChangeRequest(NamedTuple):
    """What is to be done: new rows, the table or query that gives them, a key, ids to take out."""

    rows: Any
    table: str | None = None
    query: str | None = None
    key: str | None = None
    delete: Any = None


class NewRows(NamedTuple):
    """New rows as text, what to call them, and the source of each: its file, or what it says."""

    rows: pl.DataFrame
    title: str
    source: pl.Series


def change_table(given: InputTable, asked: ChangeRequest) -> ChangedTable:
    """Put the rows that stay and the new ones together; all faults are told in one message."""
    findings = FaultsAndNotes()
    _check_named(given, asked.key, findings)
    read = _read_rows(given, asked, findings)
    rows = _fit_columns(given, read, findings)
    new = NewRows(rows, read.title, _find_sources(given, rows, read, findings))
    ids = _read_new_ids(given, new, findings)
    findings.stop_on_faults()
    lacking = [name for name in given.texts.columns if name not in read.rows.columns]
    new = new._replace(rows=_keep_known_values(given, new.rows, ids, lacking))
    stays = _mark_staying(given, ids, asked, findings)
    findings.stop_on_faults()
    return _join_rows(given, new, ids, stays, tuple(findings.notes))


def _read_rows(given: InputTable, asked: ChangeRequest, findings: FaultsAndNotes) -> NewRows:
    """Return the new rows as they were written; none if records only go."""
    if asked.rows is None and asked.delete is not None:
        none = given.texts.frame().clear()
        return NewRows(none, given.title, pl.Series([], dtype=pl.String))
    content, title = open_source(asked.rows, asked.table, asked.query)
    read = open_table(content, findings, None)
    findings.stop_on_faults()
    assert read is not None
    rows, files = read[0].texts().frame(), read[1]
    if files is None:
        files = pl.Series([_name_source(given, content, title)] * rows.height, dtype=pl.String)
    return NewRows(rows, title, files)


def _name_source(given: InputTable, content: Any, title: str) -> str:
    """Return what to call the only source of new rows: a file as it was called before."""
    known = set() if given.source is None else set(given.source.unique().to_list())
    paths = list_paths(content)
    return title if paths is None else label_file(Path(paths[0]), known)


def _find_sources(
    given: InputTable, rows: pl.DataFrame, read: NewRows, findings: FaultsAndNotes
) -> pl.Series:
    """Return where new rows are from: by the column that says so, else their files."""
    column = _list_roles(given.fields).get("source")
    if column is None:
        return read.source
    if column not in read.rows.columns and _is_named_by_source(given):
        findings.fault(
            f"records are named by their source and their id, and {read.title} has no column "
            f"{column!r}."
        )
    return rows[column].str.strip_chars()


def _check_named(given: InputTable, key: str | None, findings: FaultsAndNotes) -> None:
    column = given.id_column
    if key is not None and key != column:
        known = "records have no ids, only row numbers" if column is None else f"it is {column!r}"
        findings.fault(f"the key must be the column that names the records: {known}. Got {key!r}.")


def _is_named_by_source(given: InputTable) -> bool:
    """Tell whether records are named by their source and their id, which recurs in others."""
    if given.id_column is None or given.source is None:
        return False
    own = given.texts[given.id_column].str.strip_chars()
    return bool((own != given.ids.cast(pl.String)).any())


def _fit_columns(given: InputTable, read: NewRows, findings: FaultsAndNotes) -> pl.DataFrame:
    """Return new rows with the columns of the table, empty where they lack one."""
    known, new, title = given.texts.columns, read.rows, read.title
    if not set(given.records.names) & set(new.columns):
        hints = "".join(suggest(name, new.columns) for name in given.records.names)
        findings.fault(f"{title} has none of the columns {list_some(given.records.names)}.{hints}")
    lacking = [name for name in known if name not in new.columns]
    more = [name for name in new.columns if name not in known]
    if lacking:
        findings.note(
            f"{title} has no column {list_some(lacking)}: new records have no value there, changed "
            "ones keep theirs."
        )
    if more:
        findings.note(f"the table has no column {list_some(more)}: of {title} they are left out.")
    empty = pl.Series([None] * new.height, dtype=pl.String)
    columns = [new[name] if name in new.columns else empty.alias(name) for name in known]
    return pl.DataFrame(columns)


def _keep_known_values(
    given: InputTable, new: pl.DataFrame, ids: pl.Series, lacking: list[str]
) -> pl.DataFrame:
    """Return new rows in which those of known ids have the old values of columns that lack."""
    if not lacking or given.id_column is None:
        return new
    known = given.texts.frame().select(lacking).with_columns(given.ids.alias(""))
    old = pl.DataFrame({"": ids}).join(known, on="", how="left", maintain_order="left")
    return new.with_columns(old[name] for name in lacking)


def _read_new_ids(given: InputTable, read: NewRows, findings: FaultsAndNotes) -> pl.Series:
    """Return the ids of new rows, all different; those of a table without ids are counted on."""
    new, title = read.rows, read.title
    if given.id_column is None:
        first = int(given.ids.max() or 0) + 1  # type: ignore[arg-type]
        return pl.int_range(first, first + new.height, dtype=pl.Int64, eager=True).alias("record")
    ids = new[given.id_column].str.strip_chars().alias("record")
    if ids.null_count() or (ids == "").any():
        findings.fault(f"{title} has rows without a value of {given.id_column!r}, the id.")
    if _is_named_by_source(given):
        ids = (read.source.fill_null("") + ":" + ids).alias("record")
    if not ids.is_unique().all():
        twice = ids.filter(ids.is_duplicated()).unique().sort().to_list()
        findings.fault(f"{title} has several rows of one id: {list_some(twice)}.")
    made = ids.cast(given.ids.dtype, strict=False)
    if made.null_count() > ids.null_count():
        odd = ids.filter(made.is_null() & ids.is_not_null()).to_list()
        findings.fault(f"ids are whole numbers, but {title} has {list_some(odd)}.")
    return made


def _mark_staying(
    given: InputTable, ids: pl.Series, asked: ChangeRequest, findings: FaultsAndNotes
) -> pl.Series:
    """Tell which of the known records stay as they are."""
    again = given.ids.is_in(ids.implode())
    if again.any() and asked.key is None:
        findings.fault(
            f"{int(again.sum()):,} ids are in the table already: "
            f"{list_some(given.ids.filter(again).to_list())}. Where {option('key')} names "
            f"{given.id_column!r}, new rows take the place of the old ones."
        )
    gone = _read_deleted_ids(given, asked.delete, findings)
    text = given.ids.cast(pl.String)
    unknown = sorted(set(gone) - set(text.to_list())) if gone else []
    if unknown:
        findings.fault(f"records to delete are not in the table: {list_some(unknown)}.")
    return ~(again | text.is_in(pl.Series(gone, dtype=pl.String).implode()))


def _read_deleted_ids(given: InputTable, delete: Any, findings: FaultsAndNotes) -> list[str]:
    if delete is None:
        return []
    if not isinstance(delete, str | os.PathLike):
        listed = delete if isinstance(delete, Iterable) else [delete]
        return [str(one) for one in listed]
    read = open_table(Path(delete), findings, None)
    findings.stop_on_faults()
    assert read is not None
    frame = read[0].texts().frame()
    names = [name for name in (given.id_column, "record") if name in frame.columns]
    if not names and frame.width > 1:
        findings.fault(f"{delete} must have one column, or one that is called 'record'.")
        return []
    column = frame[names[0]] if names else frame.to_series(0)
    return [one.strip() for one in column.drop_nulls().to_list()]


def _join_rows(
    given: InputTable,
    new: NewRows,
    ids: pl.Series,
    stays: pl.Series,
    notes: tuple[str, ...],
) -> ChangedTable:
    """Read the table as it is now, its columns as they were understood before."""
    n_new = new.rows.height
    (rows,) = np.nonzero(stays.to_numpy())
    row_before = np.append(rows, np.full(n_new, -1)).astype(np.int64)
    kept = given.texts.frame().filter(stays)
    every = pl.concat([kept, new.rows])
    columns = [restore_type(one, given.types.get(one.name)) for one in every.iter_columns()]
    roles = _list_roles(given.fields)
    loaded = load(
        pl.DataFrame(columns),
        fields=list(given.records.fields),
        id=None if _is_named_by_source(given) else given.id_column,
        source=roles.get("source"),
        truth=roles.get("truth"),
        **_list_cleaning(given.cleaning),
    )
    made = InputTable.of(loaded, given.title)
    about = {"record": pl.concat([given.ids.filter(stays), ids])}
    about |= {name: made.about[name] for name in made.about.columns if name != "record"}
    if given.source is not None and "source" not in roles:
        about["source"] = pl.concat([given.source.filter(stays), new.source]).alias("source")
    base = given.records if given.base is None else given.base
    among = np.append(find_base_rows(given)[rows], np.full(n_new, -1))
    about[BASE_ROW] = pl.Series(among, dtype=pl.Int64)
    return ChangedTable(
        replace(
            made,
            about=pl.DataFrame(about),
            id_column=given.id_column,
            fields=given.fields,
            notes=tuple(dict.fromkeys((*given.notes, *notes))),
            cleaning=given.cleaning,
            base=base,
        ),
        row_before,
    )


def _list_roles(fields: pl.DataFrame) -> dict[str, str]:
    """Return the columns that were given as source and truth."""
    found = {row["kind"]: row["column"] for row in fields.iter_rows(named=True)}
    return {role: found[role] for role in ("source", "truth") if role in found}


def _list_cleaning(known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: known[name] for name in ("normalise", "missing") if name in known}

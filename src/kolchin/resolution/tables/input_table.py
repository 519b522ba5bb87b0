"""The table that a run is about, kept with its draws so that results can be made again."""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.errors import DataError
from kolchin.files import replace_whole
from kolchin.records import (
    Categorical,
    Code,
    Compared,
    Date,
    Email,
    Field,
    Name,
    Number,
    Phone,
    Records,
    Text,
    Words,
)
from kolchin.records.columns.column_texts import Texts
from kolchin.records.columns.column_types import restore_type
from kolchin.records.faults_and_notes import suggest
from kolchin.records.fields.vocabulary import Vocabulary
from kolchin.records.files.parquet import ParquetParts
from kolchin.records.loading import LoadedTable
from kolchin.resolution.tables.entity_numbers import EarlierEntities, GivenIds

KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (Categorical, Text, Name, Words, Date, Number, Email, Phone, Code)
}

RECORDS, BASE, IDS = "records.npz", "base.npz", "ids.npz"
BEFORE = "before"
"""The name of the file with the list that was before."""

UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)
"""What NumPy and JSON raise on a file that is damaged or is no such file."""


@dataclass(frozen=True)
class InputTable:
    """Records as the model sees them and as people do.

    Attributes
    ----------
    title : the input's name.
    records : the encoded fields.
    texts : the input's columns as text.
    about : one row a record: ``record`` (its id) and, where known, ``truth`` and ``source``.
    fields : what became of each column.
    id_column : the name of the column of ids, if there is one.
    notes : what a user should know.
    fingerprint : a hash of the content that matters.
    types : the types of the input's columns that are no text.
    cleaning : how values were read: ``normalise`` and ``missing``, as they were given.
    before : the list that was before records were added, whose ids stay.
    shown : the ids of the last list of these records that was written, which stay, too.
    base : the records that chances were learnt from, where others were added since; ``about`` then
        has ``base_row``, the row of each record among them (-1: it was added).
    """

    title: str
    records: Records
    texts: Texts
    about: pl.DataFrame
    fields: pl.DataFrame
    id_column: str | None
    notes: tuple[str, ...]
    fingerprint: str
    types: Mapping[str, str] = field(default_factory=dict)
    cleaning: Mapping[str, Any] = field(default_factory=dict)
    before: EarlierEntities | None = None
    shown: GivenIds | None = None
    base: Records | None = None

    @property
    def numbered(self) -> EarlierEntities | None:
        """The list whose ids stay: the last one that people have seen."""
        if self.shown is None:
            return self.before
        return EarlierEntities.of(self.ids, *self.shown)

    @classmethod
    def of(cls, loaded: LoadedTable, title: str) -> Self:
        """Take what was loaded."""
        about = {"record": loaded.ids, "truth": loaded.truth, "source": loaded.source}
        return cls(
            title=title,
            records=loaded.records,
            texts=loaded.texts,
            about=pl.DataFrame({name: v for name, v in about.items() if v is not None}),
            fields=loaded.field_table(),
            id_column=loaded.id_column,
            notes=tuple(loaded.notes),
            fingerprint=loaded.fingerprint,
            types=dict(loaded.types),
        )

    @property
    def ids(self) -> pl.Series:
        """The records' ids."""
        return self.about["record"]

    @property
    def truth(self) -> pl.Series | None:
        """The true entities, where they were given."""
        return self.about["truth"] if "truth" in self.about.columns else None

    @property
    def source(self) -> pl.Series | None:
        """Where each record comes from, where that is known."""
        return self.about["source"] if "source" in self.about.columns else None

    @property
    def identifiers(self) -> list[str]:
        """The columns of identifiers that do not name the records, and could."""
        kinds = self.fields.filter(pl.col("kind") == "identifier")["column"].to_list()
        return [name for name in kinds if self.texts[name].alias("").is_unique().all()]

    def ids_under(self, column: str) -> pl.Series:
        """Return what names the records in a column: their ids, or another identifier of theirs."""
        own = column in (self.id_column, "record") or column not in self.texts.columns
        return self.ids if own else self.texts[column]

    def describe_naming(self) -> str:
        """Say what records are called by."""
        if self.id_column is None:
            return "by their row number, from 0"
        return f"by column {self.id_column!r}"

    def frame(self) -> pl.DataFrame:
        """Return the input, its columns in their types."""
        columns = self.texts.frame().iter_columns()
        return pl.DataFrame(
            [restore_type(column, self.types.get(column.name)) for column in columns]
        )

    def row_of(self, record: Any) -> int:
        """Return the row of a record, by its id as text."""
        text = self.ids.cast(pl.String)
        rows = (text == str(record)).arg_true()
        if rows.len() != 1:
            close = suggest(str(record), text.head(10_000).drop_nulls().to_list())
            raise DataError(
                f"There is no record {str(record)!r} in {self.title}.{close} Records are named "
                f"{self.describe_naming()}."
            )
        return int(rows[0])

    def save(self, folder: Path) -> Self:
        """Write all of it to a folder; return it, with texts that are not in memory as kept there.

        The files that they came from may change or go.
        """
        tables: dict[str, Texts | pl.DataFrame]
        tables = {"values": self.texts, "about": self.about, "fields": self.fields}
        (folder / f"{BEFORE}.parquet").unlink(missing_ok=True)
        if self.before is not None:
            tables[BEFORE] = self.before.table
        for name, table in tables.items():
            with replace_whole(folder / f"{name}.parquet") as part:
                table.write_parquet(part)
        header = {
            "title": self.title,
            "fields": [_write_field(field) for field in self.records.fields],
            "id_column": self.id_column,
            "notes": self.notes,
            "fingerprint": self.fingerprint,
            "types": dict(self.types),
            "cleaning": dict(self.cleaning),
            "first_free": None if self.before is None else self.before.first_free,
        }
        _write_records(folder / RECORDS, self.records, header)
        (folder / IDS).unlink(missing_ok=True)
        if self.shown is not None:
            write_ids(folder, self.shown)
        (folder / BASE).unlink(missing_ok=True)
        if self.base is not None:
            fields = [_write_field(field) for field in self.base.fields]
            _write_records(folder / BASE, self.base, {"fields": fields})
        return self if self.texts.is_held else replace(self, texts=_read_texts(folder))

    @classmethod
    def load(cls, folder: Path, hold: bool = True) -> Self:
        """Read what ``save`` wrote, the texts into memory only if they are to be held there."""
        try:
            header, records = _read_records(folder / RECORDS)
            base = _read_records(folder / BASE)[1] if (folder / BASE).exists() else None
            tables = {
                name: pl.read_parquet(folder / f"{name}.parquet") for name in ("about", "fields")
            }
            texts = _read_texts(folder)
            texts = Texts.of(texts.frame()) if hold else texts
        except (*UNREADABLE, pl.exceptions.PolarsError) as error:
            raise DataError(f"The table kept in {folder} cannot be read: {error}") from error
        return cls(
            title=header["title"],
            records=records,
            base=base,
            texts=texts,
            about=tables["about"],
            fields=tables["fields"],
            id_column=header["id_column"],
            notes=tuple(header["notes"]),
            fingerprint=header["fingerprint"],
            types=header.get("types", {}),
            cleaning=header.get("cleaning", {}),
            before=_read_before(folder, header.get("first_free")),
            shown=_read_ids(folder),
        )


def _write_records(path: Path, records: Records, header: Mapping[str, Any]) -> None:
    weights = {f"frequencies-{k}": w for k, w in enumerate(records.frequencies)}
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with replace_whole(path) as part, part.open("wb") as file:
        np.savez(
            file,
            allow_pickle=False,
            header=text,
            codes=records.codes,
            vocabularies=_pack_values(records.vocabularies),
            **weights,
        )


def _read_records(path: Path) -> tuple[dict[str, Any], Records]:
    """Return what was written beside records, and these."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
        header = json.loads(bytes(data["header"]))
        fields = tuple(map(_read_field, header["fields"]))
        codes = data["codes"]
        vocabularies = _unpack_values(data["vocabularies"])
        weights = tuple(data[f"frequencies-{k}"] for k in range(len(fields)))
    codes.setflags(write=False)
    return header, Records(fields, codes, vocabularies, weights)


def _read_before(folder: Path, first_free: int | None) -> EarlierEntities | None:
    if first_free is None:
        return None
    table = pl.read_parquet(folder / f"{BEFORE}.parquet")
    return EarlierEntities.of(table["record"], table["entity"].to_numpy(), first_free)


def write_ids(folder: Path, ids: GivenIds) -> None:
    """Write the ids of a list that people are about to see."""
    with replace_whole(folder / IDS) as part, part.open("wb") as file:
        np.savez(file, entities=ids.entities, first_free=np.int64(ids.first_free))


def _read_ids(folder: Path) -> GivenIds | None:
    """Return the ids of the last list that was written; None where none was."""
    path = folder / IDS
    if not path.exists():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
            return GivenIds(data["entities"].astype(np.int64), int(data["first_free"]))
    except UNREADABLE as error:
        raise DataError(f"{path} is damaged and cannot be read: {error}.") from error


def _read_texts(folder: Path) -> Texts:
    return Texts.over(ParquetParts.of((folder / "values.parquet").absolute()))


def check_fields_can_be_kept(fields: Iterable[Any]) -> None:
    """Refuse fields that a file cannot hold: functions, and classes of a user's own."""
    lost = [
        f"{type(field).__name__}({field.column!r})"
        for field in fields
        if isinstance(field, Compared)
        and (field.comparator is not None or type(field).__name__ not in KINDS)
    ]
    if lost:
        raise DataError(
            f"A run directory cannot hold a comparator, which is Python: {', '.join(lost)}. "
            "Resolve without 'out' and use the result as it is, or compare these fields by a kind."
        )


def _write_field(field: Field) -> dict[str, Any]:
    """Return a field as plain data; given frequencies are kept with the records."""
    cuts = {"cuts": list(field.cuts)} if isinstance(field, Compared) else {}
    return {"kind": type(field).__name__, "column": field.column, **cuts}


def _read_field(data: dict[str, Any]) -> Field:
    cuts = {"cuts": tuple(data["cuts"])} if "cuts" in data else {}
    field: Field = KINDS[data["kind"]](data["column"], **cuts)
    return field


def _pack_values(vocabularies: Iterable[Vocabulary]) -> NDArray[np.uint8]:
    """Return the values of all fields as the bytes of a table, each in its type."""
    lists = {f"{k}": values.series.implode() for k, values in enumerate(vocabularies)}
    buffer = io.BytesIO()
    pl.DataFrame(lists).write_ipc(buffer)
    return np.frombuffer(buffer.getvalue(), dtype=np.uint8)


def _unpack_values(packed: NDArray[np.uint8]) -> tuple[Vocabulary, ...]:
    table = pl.read_ipc(io.BytesIO(packed.tobytes()))
    return tuple(Vocabulary(column.explode()) for column in table)

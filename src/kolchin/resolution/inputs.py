"""The table that a run is about, kept with its draws so that results can be made again."""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl

from kolchin.errors import DataError
from kolchin.files import replacing
from kolchin.records import Categorical, Records
from kolchin.records.findings import suggestion
from kolchin.records.loading import Loaded

UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile)
"""What NumPy and JSON raise on a file that is damaged or is no such file."""


@dataclass(frozen=True)
class Input:
    """Records as the model sees them and as people do.

    Attributes
    ----------
    title : the input's name.
    records : the encoded fields.
    values : the input's columns as text.
    about : one row a record: ``record`` (its id) and, where known, ``truth`` and ``source``.
    fields : what became of each column.
    id_column : the name of the column of ids, if there is one.
    notes : what a user should know.
    fingerprint : a hash of the content that matters.
    """

    title: str
    records: Records
    values: pl.DataFrame
    about: pl.DataFrame
    fields: pl.DataFrame
    id_column: str | None
    notes: tuple[str, ...]
    fingerprint: str

    @classmethod
    def of(cls, loaded: Loaded, title: str) -> Self:
        """Take what was loaded."""
        about = {"record": loaded.ids, "truth": loaded.truth, "source": loaded.source}
        return cls(
            title=title,
            records=loaded.records,
            values=loaded.values,
            about=pl.DataFrame({name: v for name, v in about.items() if v is not None}),
            fields=loaded.field_table(),
            id_column=loaded.id_column,
            notes=tuple(loaded.notes),
            fingerprint=loaded.fingerprint,
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

    def row_of(self, record: Any) -> int:
        """Return the row of a record, by its id as text."""
        text = self.ids.cast(pl.String)
        rows = (text == str(record)).arg_true()
        if rows.len() != 1:
            close = suggestion(str(record), text.head(10_000).drop_nulls().to_list())
            raise DataError(f"There is no record {str(record)!r} in {self.title}.{close}")
        return int(rows[0])

    def save(self, folder: Path) -> None:
        """Write all of it to a folder."""
        tables = {"values": self.values, "about": self.about, "fields": self.fields}
        for name, table in tables.items():
            with replacing(folder / f"{name}.parquet") as part:
                table.write_parquet(part)
        header = {
            "title": self.title,
            "fields": list(self.records.names),
            "id_column": self.id_column,
            "notes": self.notes,
            "fingerprint": self.fingerprint,
        }
        weights = {f"frequencies-{k}": w for k, w in enumerate(self.records.frequencies)}
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        with replacing(folder / "records.npz") as part, part.open("wb") as file:
            np.savez(file, allow_pickle=False, header=text, codes=self.records.codes, **weights)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what ``save`` wrote."""
        try:
            path = folder / "records.npz"
            with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
                header = json.loads(bytes(data["header"]))
                names = header["fields"]
                codes = data["codes"]
                weights = tuple(data[f"frequencies-{k}"] for k in range(len(names)))
            tables = {
                name: pl.read_parquet(folder / f"{name}.parquet")
                for name in ("values", "about", "fields")
            }
        except (*UNREADABLE, pl.exceptions.PolarsError) as error:
            raise DataError(f"The table kept in {folder} cannot be read: {error}") from error
        codes.setflags(write=False)
        fields = tuple(Categorical(name) for name in names)
        numbers = tuple(tuple(range(w.size)) for w in weights)
        return cls(
            title=header["title"],
            records=Records(fields, codes, numbers, weights),
            values=tables["values"],
            about=tables["about"],
            fields=tables["fields"],
            id_column=header["id_column"],
            notes=tuple(header["notes"]),
            fingerprint=header["fingerprint"],
        )

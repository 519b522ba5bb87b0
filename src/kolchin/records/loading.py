"""A user's table becomes records with their ids, truth and sources.

Stand-in of the same names and signatures, to be replaced by the front door of ``records``.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from kolchin.records.encoding import encode_table
from kolchin.records.fields import declared
from kolchin.records.findings import Findings
from kolchin.records.reading import read_table
from kolchin.records.records import Records

MISSING_MARKERS: tuple[str, ...] = ("",)


@dataclass(frozen=True)
class ColumnReport:
    """What became of one column."""

    column: str
    kind: str
    used: bool
    why: str
    distinct: int
    missing: float
    bits: float


@dataclass(frozen=True)
class Loaded:
    """Records, and all that a user knows about them."""

    records: Records
    values: pl.DataFrame
    ids: pl.Series
    id_column: str | None
    truth: pl.Series | None
    source: pl.Series | None
    columns: tuple[ColumnReport, ...]
    notes: tuple[str, ...]
    fingerprint: str

    def field_table(self) -> pl.DataFrame:
        """Return the columns' report as a table."""
        return pl.DataFrame([vars(column) for column in self.columns])


def load(
    table: Any,
    *,
    fields: Any = None,
    id: str | None = None,
    source: str | None = None,
    truth: str | None = None,
    normalise: bool = True,
    missing: Sequence[str] = MISSING_MARKERS,
) -> Loaded:
    """Read a table."""
    findings = Findings()
    wanted = declared(fields, findings)
    frame = read_table(table, None, findings)
    findings.stop_on_faults()
    assert frame is not None
    apart = [name for name in (id, source, truth) if name is not None]
    for name in apart:
        if name not in frame.columns:
            findings.fault(f"the table has no column {name!r}.")
    findings.stop_on_faults()
    columns = encode_table(frame.drop(apart), wanted, findings)
    findings.stop_on_faults()
    records = Records._from_columns(columns)
    values = frame.with_columns(pl.all().cast(pl.String))
    ids = frame[id].alias("record") if id else pl.Series("record", range(frame.height))
    digest = hashlib.sha256(values.write_csv().encode())
    digest.update(repr(records.names).encode())
    reports = tuple(
        ColumnReport(
            name,
            "categorical",
            name in records.names,
            "" if name in records.names else "not a field",
            frame[name].n_unique(),
            frame[name].null_count() / max(frame.height, 1),
            1.0,
        )
        for name in frame.columns
    )
    return Loaded(
        records=records,
        values=values,
        ids=ids,
        id_column=id,
        truth=frame[truth] if truth else None,
        source=frame[source] if source else None,
        columns=reports,
        notes=tuple(findings.notes),
        fingerprint=digest.hexdigest(),
    )

"""Records: what a model sees of a table."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from kolchin.records.columns.cleaning import AS_IT_IS, clean_table
from kolchin.records.columns.inference import choose, infer_column, limit_columns, settle_columns
from kolchin.records.columns.values import take_values
from kolchin.records.faults_and_notes import FaultsAndNotes
from kolchin.records.fields.declarations import (
    Categorical,
    Category,
    Compared,
    Field,
    FieldLike,
    check_fields,
)
from kolchin.records.fields.encoding import Column, encode_codes, encode_fields
from kolchin.records.fields.vocabulary import Vocabulary
from kolchin.records.files.any_table import read_table


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Records:
    """Records with the values of each field numbered, made by `from_table` or `from_codes`.

    Parameters
    ----------
    fields
        What each column of the codes is.
    codes
        An integer a record and field: the value's place in the vocabulary, -1 where it is missing.
    vocabularies
        The values of each field, sorted; like tuples of them.
    frequencies
        The base probabilities of those values; positive, and of sum one in each field.
    """

    fields: tuple[Field, ...]
    codes: NDArray[np.int32]
    vocabularies: tuple[Vocabulary, ...]
    frequencies: tuple[NDArray[np.float64], ...]

    @classmethod
    def from_table(cls, table: Any, fields: Iterable[FieldLike] | FieldLike | None = None) -> Self:
        """Read records from a table or a file, with values as they are written.

        (:func:`kolchin.resolve` cleans them first: case, spaces, accents, and markers of gaps.)
        None, NaN and empty text are missing values. Equal content gives equal records, whatever
        kind of table it comes in: categories are text, floats that are all whole are integers, and
        times that are all midnight are dates. A CSV file's columns are text, so that '007' stays.

        Parameters
        ----------
        table
            A pandas, Polars or Arrow table, a DuckDB relation, a dictionary of columns, or the path
            of a CSV, TSV, JSON lines, Parquet or Arrow file, or of a folder of Parquet files.
        fields
            Fields or column names. By default every column, apart from those that cannot
            tell entities apart: empty ones, constants, identifiers, near-keys, free text and
            sources; a `DataWarning` names them.

        Raises
        ------
        DataError
            If the table cannot be used; the message lists every reason.

        Examples
        --------
        >>> table = {"sex": ["f", "m", "f", None], "year": [1970, 1981, 1970, 1981]}
        >>> Records.from_table(table)
        Records: 4 records, 2 fields
          field  values  missing
          sex         2    25.0%
          year        2     0.0%
        """
        findings = FaultsAndNotes()
        wanted = check_fields(fields, findings)
        names = None if wanted is None else [field.column for field in wanted]
        frame = read_table(table, names, findings)
        columns = [] if frame is None else _encode_frame(frame, wanted, findings)
        findings.stop_on_faults()
        findings.warn()
        return cls._from_columns(columns)

    @classmethod
    def from_codes(
        cls,
        codes: ArrayLike,
        frequencies: Sequence[ArrayLike] | None = None,
        names: Sequence[str] | None = None,
    ) -> Self:
        """Make records of values that are numbered already.

        Parameters
        ----------
        codes
            An integer a record and field, -1 where it is missing.
        frequencies
            The weights of the codes 0, 1, ... of each field, scaled to sum to one. By default the
            share of each code in its column; the vocabulary is then of the codes that occur, and
            they are renumbered without gaps.
        names
            The fields' names, by default field_0, field_1, ...

        Examples
        --------
        >>> Records.from_codes([[0, 1], [0, -1], [1, 0]]).frequencies[1]
        array([0.5, 0.5])
        """
        array = np.asarray(codes)
        findings = FaultsAndNotes()
        _check_codes(array, frequencies, names, findings)
        findings.stop_on_faults()
        labels = [f"field_{f}" for f in range(array.shape[1])] if names is None else list(names)
        columns = encode_codes(array, frequencies, labels, findings)
        findings.stop_on_faults()
        return cls._from_columns(columns)

    @classmethod
    def _from_columns(cls, columns: Sequence[Column]) -> Self:
        codes = np.ascontiguousarray(np.column_stack([column.codes for column in columns]))
        frequencies = tuple(column.frequencies for column in columns)
        codes.setflags(write=False)
        for weights in frequencies:
            weights.setflags(write=False)
        return cls(
            fields=tuple(column.field for column in columns),
            codes=codes,
            vocabularies=tuple(column.vocabulary for column in columns),
            frequencies=frequencies,
        )

    @property
    def n_records(self) -> int:
        """The number of records."""
        return len(self.codes)

    @property
    def n_fields(self) -> int:
        """The number of fields."""
        return len(self.fields)

    @property
    def names(self) -> tuple[str, ...]:
        """The fields' column names."""
        return tuple(field.column for field in self.fields)

    def select(self, places: Sequence[int]) -> Self:
        """Return the same records with some of the fields, given by their places; even none."""
        codes = np.ascontiguousarray(self.codes[:, list(places)])
        codes.setflags(write=False)
        return type(self)(
            fields=tuple(self.fields[f] for f in places),
            codes=codes,
            vocabularies=tuple(self.vocabularies[f] for f in places),
            frequencies=tuple(self.frequencies[f] for f in places),
        )

    def take(self, rows: ArrayLike) -> Self:
        """Return some of the records, with the vocabularies and frequencies of all."""
        codes = np.ascontiguousarray(self.codes[np.asarray(rows)])
        codes.setflags(write=False)
        return dataclasses.replace(self, codes=codes)

    def as_compared(self) -> Self:
        """Return the same records, all fields of which are compared: categories exactly.

        >>> Records.from_codes([[0], [1]]).as_compared().fields
        (Category(column='field_0', cuts=(), comparator=None, levels=None),)
        """
        fields = tuple(
            field if isinstance(field, Compared) else Category(field.column)
            for field in self.fields
        )
        return dataclasses.replace(self, fields=fields)

    def as_categorical(self) -> Self:
        """Return the same records, all fields of which are categories."""
        fields = tuple(
            Categorical(field.column) if isinstance(field, Compared) else field
            for field in self.fields
        )
        return dataclasses.replace(self, fields=fields)

    def decode(self) -> pl.DataFrame:
        """Return the records' values as a table, None where they are missing.

        >>> Records.from_table({"sex": ["f", "m", ""]}, fields="sex").decode()["sex"].to_list()
        ['f', 'm', None]
        """
        columns = zip(self.names, self.vocabularies, self.codes.T, strict=True)
        return pl.DataFrame({name: take_values(v.series, codes) for name, v, codes in columns})

    def __len__(self) -> int:
        return self.n_records

    def __repr__(self) -> str:
        missing = (self.codes < 0).mean(axis=0)
        rows = [("field", "values", "missing")] + [
            (name, f"{len(vocabulary):,}", f"{share:.1%}")
            for name, vocabulary, share in zip(self.names, self.vocabularies, missing, strict=True)
        ]
        wide, high = (max(len(row[i]) for row in rows) for i in (0, 1))
        lines = [f"  {name:<{wide}}  {values:>{high}}  {share:>7}" for name, values, share in rows]
        fields = "field" if self.n_fields == 1 else "fields"
        return "\n".join([f"Records: {self.n_records:,} records, {self.n_fields} {fields}", *lines])


def _encode_frame(
    frame: pl.DataFrame, fields: Sequence[Field] | None, findings: FaultsAndNotes
) -> list[Column]:
    """Encode the declared columns of a frame, or all that can tell entities apart."""
    cleaned = clean_table(frame, AS_IT_IS)
    for name in (column for column in frame.columns if column not in cleaned):
        findings.fault(
            f"column {name!r} holds lists or other compound values, not single ones; "
            "name only other columns in fields, or turn it into text."
        )
    if frame.height < 2:
        findings.fault(f"at least two records are needed. Got {frame.height} instead.")
        return []
    if fields is None:
        reports = settle_columns(infer_column(name, column) for name, column in cleaned.items())
        fields = choose(limit_columns(reports, categories=False), findings)
    return encode_fields(fields, cleaned, findings)


def _check_codes(
    codes: NDArray[Any],
    frequencies: Sequence[ArrayLike] | None,
    names: Sequence[str] | None,
    findings: FaultsAndNotes,
) -> None:
    """Find what is wrong with codes before their values are looked at one by one."""
    if codes.ndim != 2 or not codes.size or codes.dtype.kind not in "iu":
        findings.fault(
            "codes must be a two-dimensional array of integers, one row a record. "
            f"Got shape {codes.shape} of {codes.dtype} instead."
        )
        return
    for row, field in np.argwhere(codes < -1)[:5]:
        findings.fault(
            f"codes must be -1 (missing) or more. Got {codes[row, field]} in row {row}, "
            f"field {field} instead."
        )
    n_fields = codes.shape[1]
    for what, given in (("frequencies", frequencies), ("names", names)):
        if given is not None and len(given) != n_fields:
            findings.fault(
                f"{what} must have {n_fields} entries, one a field. Got {len(given)} instead."
            )
    if names is not None and len(set(names)) < len(names):
        findings.fault(f"names must differ from each other. Got {list(names)} instead.")

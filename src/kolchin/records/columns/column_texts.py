"""The columns of a table as text, for people: in memory, or read from files when asked for."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import polars as pl

from kolchin.errors import DataError
from kolchin.records.columns.values import WritingForm, write_as_text, write_values
from kolchin.records.files.parquet import UNREADABLE, ParquetParts, describe_fault

BATCH = 100_000


class Texts:
    """All columns of a table as text, one row a record, made by `of` or `over`.

    Parameters
    ----------
    table
        The columns as they were read.
    expressions
        How each of them is written as text.
    parts
        The files that the table is read from, if it is not in memory.
    """

    def __init__(
        self,
        table: pl.LazyFrame,
        expressions: Mapping[str, pl.Expr],
        parts: ParquetParts | None = None,
    ) -> None:
        self._table = table
        self._expressions = expressions
        self._parts = parts
        self.columns = list(expressions)
        (self.height,) = self._read(table.select(pl.len()))["len"]

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Self:
        """Write a frame as text."""
        texts = pl.DataFrame({column.name: write_as_text(column) for column in frame})
        return cls(texts.lazy(), {name: pl.nth(k) for k, name in enumerate(texts.columns)})

    @classmethod
    def over(cls, parts: ParquetParts, how: Mapping[str, WritingForm] | None = None) -> Self:
        """Take Parquet files that are one table; without ``how``, all columns are text."""
        table = parts.scan()
        expressions = {}
        for k, (name, dtype) in enumerate(table.collect_schema().items()):
            expressions[name] = pl.nth(k)
            if how is not None and dtype != pl.String:
                # Out of Polars' sight, which would take some names for patterns.
                write = partial(write_values, how=how[name])
                expressions[name] = pl.nth(k).map_batches(
                    write, return_dtype=pl.String, is_elementwise=True
                )
        return cls(table, expressions, parts)

    @property
    def is_held(self) -> bool:
        """Whether the texts are in memory."""
        return self._parts is None

    def __getitem__(self, column: str) -> pl.Series:
        """Return a column."""
        return self._read(self._table.select(self._expressions[column])).to_series()

    def row(self, number: int) -> dict[str, Any]:
        """Return a record's values by column."""
        return self._slice(number, 1).row(0, named=True)

    def rows(self, numbers: Sequence[int]) -> pl.DataFrame:
        """Return some records' values, a row each, in the order given."""
        if self.is_held:
            return self.frame()[list(numbers)]
        slices = [self._slice(number, 1) for number in numbers]
        return pl.concat(slices) if slices else self._slice(0, 0)

    def batches(self) -> Iterator[pl.DataFrame]:
        """Give the rows, some after the other."""
        for first in range(0, self.height, BATCH):
            yield self._slice(first, BATCH)
        self._check()

    def frame(self) -> pl.DataFrame:
        """Return all of it."""
        return self._slice(0, self.height)

    def write_parquet(self, path: Path) -> None:
        """Write all of it to a file; what is read from files is not in memory as a whole."""
        if self.is_held:
            self.frame().write_parquet(path)
            return
        self._check()
        self._table.select(*self._expressions.values()).sink_parquet(path)
        self._check()

    def _slice(self, first: int, size: int) -> pl.DataFrame:
        return self._read(self._table.slice(first, size).select(*self._expressions.values()))

    def _read(self, query: pl.LazyFrame) -> pl.DataFrame:
        self._check()
        try:
            return query.collect()
        except UNREADABLE as error:
            raise DataError(f"The table cannot be read again: {describe_fault(error)}.") from error

    def _check(self) -> None:
        if self._parts is not None:
            self._parts.check()

"""Columns that say what others say: a full name beside its parts, an address beside its street.

Whatever is written twice would count twice, and an error in it as two.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from kolchin.records.columns.cleaning import CleanColumn
from kolchin.records.columns.column_kinds import Kind
from kolchin.records.columns.inference import ColumnReport
from kolchin.records.faults_and_notes import list_some

LOOKED_AT = 5_000
"""Records that are looked at, evenly spread."""

SEVERAL = 1.5
"""Only columns of so many words a value can be made of others."""

REPEATED = 0.95
"""A column repeats others if so many of its words stand there, record by record."""

WRITTEN = (Kind.TEXT, Kind.NAME, Kind.WORDS)


def leave_out_repeats(
    reports: Sequence[ColumnReport], cleaned: Mapping[str, CleanColumn]
) -> tuple[ColumnReport, ...]:
    """Leave out columns whose words all stand in others, those that do most of all first."""
    words = {
        one.column: _list_words(column)
        for one in reports
        if one.used and one.kind in (*WRITTEN, Kind.CATEGORICAL)
        if (column := cleaned[one.column]).values.vocabulary.dtype == pl.String
    }
    texts = {one.column for one in reports if one.kind in WRITTEN}
    gone: dict[str, list[str]] = {}
    while len(words) > 1 and texts & words.keys():
        long = [name for name in sorted(texts & words.keys()) if _is_long(words[name])]
        shares = {name: _measure_repeated(name, words) for name in long}
        most = max(shares, key=lambda name: shares[name], default=None)
        if most is None or shares[most] < REPEATED:
            break
        own = words.pop(most)
        gone[most] = [name for name, other in words.items() if _measure_share(own, other) > 0.1]
    return tuple(
        dataclasses.replace(
            one, used=False, why=f"its words stand in {list_some(gone[one.column])} too"
        )
        if one.column in gone
        else one
        for one in reports
    )


def _list_words(column: CleanColumn) -> pl.DataFrame:
    """Return the words of some records, each once: record, word."""
    codes, vocabulary = column.values
    rows = np.unique(np.linspace(0, codes.size - 1, min(LOOKED_AT, codes.size)).astype(np.int64))
    shown = rows[codes[rows] >= 0]
    texts = vocabulary.gather(codes[shown])
    lists = texts.str.to_lowercase().str.replace_all(r"['’`.]", "").str.extract_all(r"[\pL\pN\pM]+")
    return pl.DataFrame({"record": shown, "word": lists}).explode("word").drop_nulls().unique()


def _is_long(words: pl.DataFrame) -> bool:
    return words.height >= SEVERAL * words["record"].n_unique()


def _measure_share(own: pl.DataFrame, other: pl.DataFrame) -> float:
    """Return the share of words that another column has in the same record."""
    return own.join(other, on=["record", "word"], how="semi").height / max(own.height, 1)


def _measure_repeated(name: str, words: Mapping[str, pl.DataFrame]) -> float:
    """Return the share of a column's words that others have together."""
    others = pl.concat([of for other, of in words.items() if other != name])
    return _measure_share(words[name], others)

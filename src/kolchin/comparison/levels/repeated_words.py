"""What one field tells, another does not tell again: words of a title in a description."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from kolchin.comparison.kinds.base import MISSING
from kolchin.comparison.kinds.long_texts import TOLD, WordsComparer
from kolchin.comparison.kinds.preparing import PreparedField
from kolchin.comparison.kinds.tokens import split_tokens
from kolchin.records.columns.distinct_values import encode_column
from kolchin.records.fields.declarations import Category, Name, Text, Words

OFTEN = 0.02
"""Words are told apart where so many of a field's stand in shorter fields of their records."""


def mark_repeated_words(prepared: Sequence[PreparedField]) -> list[PreparedField]:
    """Mark the words of texts that shorter fields of the same record have already.

    Shared words then count once, in the shortest field in which both records have them.
    """
    written = [f for f, one in enumerate(prepared) if _has_words(one)]
    words = {f: _list_words(prepared[f]) for f in written}
    result = list(prepared)
    for f in written:
        shorter = [
            g for g in written if (_measure_length(words[g]), g) < (_measure_length(words[f]), f)
        ]
        if isinstance(prepared[f].comparing, WordsComparer) and shorter:
            result[f] = _mark_words(prepared, f, shorter, words)
    return result


def measure_repeated_share(one: PreparedField, other: PreparedField) -> float:
    """Return the share of a field's words that another field of the same records has."""
    rows = pl.DataFrame({"one": one.codes, "other": other.codes})
    rows = rows.filter((pl.col("one") >= 0) & (pl.col("other") >= 0)).unique().with_row_index("row")
    own = rows.select("row", form="one").join(_list_words(one), on="form")
    told = rows.select("row", form="other").join(_list_words(other), on="form")
    n_repeated = own.join(told, on=["row", "word"], how="semi").height
    return n_repeated / max(own.height, 1)


def _has_words(one: PreparedField) -> bool:
    kind = isinstance(one.field, Text | Name | Words | Category)
    return kind and one.comparing is not None and not one.comparing.custom


def _list_words(one: PreparedField) -> pl.DataFrame:
    """Return the words of each form, once."""
    if isinstance(one.comparing, WordsComparer):
        words = one.comparing.rows()
    else:
        words = split_tokens(one.forms)
    return words.rename({"text": "form"}).unique(maintain_order=True)


def _measure_length(words: pl.DataFrame) -> float:
    """Return the mean number of words of a field's forms."""
    return words.height / max(words["form"].n_unique(), 1)


def _mark_words(
    prepared: Sequence[PreparedField],
    f: int,
    shorter: Sequence[int],
    words: dict[int, pl.DataFrame],
) -> PreparedField:
    """Mark the words of one field that shorter ones have."""
    one = prepared[f]
    names = [str(g) for g in (f, *shorter)]
    codes = pl.DataFrame({name: prepared[int(name)].codes for name in names})
    rows = codes.filter(pl.col(str(f)) >= 0).unique(maintain_order=True).with_row_index("row")
    own = rows.select("row", form=str(f)).join(words[f], on="form", maintain_order="left")
    others = [rows.select("row", form=str(g)).join(words[g], on="form") for g in shorter]
    told = pl.concat([of.select("row", "word") for of in others]).unique()
    told = told.with_columns(told=pl.lit(value=True))
    own = own.join(told, on=["row", "word"], how="left", maintain_order="left")
    own = own.with_columns(pl.col("told").fill_null(value=False))
    share = own["told"].mean()
    if not isinstance(share, float) or share < OFTEN:
        return one
    mark = pl.when("told").then(pl.lit(TOLD)).otherwise(pl.lit(""))
    forms = own.group_by("row").agg(
        pl.concat_str(mark, pl.col("word")).sort().str.join(" ").alias("form"),
        pl.col("told").all().alias("all"),
    )
    # A value whose words are all told says nothing of its own.
    forms = forms.select("row", pl.when("all").then(None).otherwise("form").alias("form"))
    return _rewrite_forms(one, codes.join(rows, on=names, how="left", maintain_order="left"), forms)


def _rewrite_forms(one: PreparedField, records: pl.DataFrame, forms: pl.DataFrame) -> PreparedField:
    """Give the records of a field other forms."""
    found = records.join(forms, on="row", how="left", maintain_order="left")
    written = encode_column(found["form"])
    places = np.where(written.codes < 0, np.int32(MISSING), written.codes)
    counts = np.bincount(places[places >= 0], minlength=written.vocabulary.len())
    assert one.comparing is not None
    comparing = type(one.comparing)(one.comparing.field, written.vocabulary)
    return one._replace(codes=places, forms=written.vocabulary, counts=counts, comparing=comparing)

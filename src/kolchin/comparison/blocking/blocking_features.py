"""What two records of one entity may share in one field: values, sounds, starts, ends."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison.kinds.base import MISSING, Codes
from kolchin.comparison.kinds.contacts import ENDING, take_users
from kolchin.comparison.kinds.preparing import PreparedField
from kolchin.comparison.kinds.short_texts import sort_words
from kolchin.comparison.kinds.sounds import encode_sounds
from kolchin.comparison.levels.swapped_values import find_couples
from kolchin.records.columns.distinct_values import encode_column
from kolchin.records.fields.declarations import Code, Date, Email, Name, Phone, Text
from kolchin.store import StoreShelf

AFFIX = 4
SEVERAL_WORDS = 0.3


class BlockingFeature(NamedTuple):
    """A property of a field's values by which records fall into blocks.

    Parameters
    ----------
    name
        What it is, such as 'surname (sound)'.
    field
        The field's place among the records' fields.
    column
        The name of the blocks in the store: one a record, -1 for none.
    whole
        Whether it is the value itself, which finer than other atoms of the field is of no use in
        conjunctions.
    chance
        The chance that two random records share it.
    n_records
        How many records there are.
    """

    name: str
    field: int
    column: str
    whole: bool
    chance: float
    n_records: int


class WordBlocks(NamedTuple):
    """Words by which records fall into several blocks at once."""

    name: str
    field: int
    records: Codes
    blocks: Codes


def list_features(prepared: PreparedField, field: int, shelf: StoreShelf) -> list[BlockingFeature]:
    """List the atoms of a field, the value itself first; their blocks are put into the store."""
    name = prepared.field.column
    parts = list(_list_parts(prepared))
    result = [_make_feature(name, field, prepared, None, bool(parts), f"atom-{field}-0", shelf)]
    for k, (part, forms) in enumerate(parts, start=1):
        of_form = encode_column(forms).codes
        column = f"atom-{field}-{k}"
        result.append(
            _make_feature(f"{name} ({part})", field, prepared, of_form, False, column, shelf)
        )
    return result


def _make_feature(
    name: str,
    field: int,
    prepared: PreparedField,
    of_form: Codes | None,
    whole: bool,
    column: str,
    shelf: StoreShelf,
) -> BlockingFeature:
    blocks, counts = prepared.codes, prepared.counts.astype(np.float64)
    if of_form is not None:
        blocks = np.append(of_form, np.int32(MISSING))[blocks]
        present = of_form >= 0
        counts = np.bincount(of_form[present], counts[present]).astype(np.float64)
    shelf.put(column, blocks)
    n_records = prepared.codes.size
    chance = float(counts @ counts) / max(n_records, 1) ** 2
    return BlockingFeature(name, field, column, whole, chance, n_records)


def _list_parts(prepared: PreparedField) -> Iterator[tuple[str, pl.Series]]:
    """Give each form's coarser properties, by the kind of field."""
    forms, kind = prepared.forms, prepared.field
    if prepared.comparing is None or not prepared.comparing.spelled:
        return
    if isinstance(kind, Text | Name):
        joined = forms.str.replace_all(" ", "", literal=True)
        yield "sound", encode_sounds(sort_words(forms) if isinstance(kind, Name) else forms)
        yield "start", joined.str.head(AFFIX)
        yield "end", joined.str.tail(AFFIX)
    elif isinstance(kind, Date):
        dated = forms.str.contains(r"^\d{4}-\d\d-\d\d$")
        yield "year and month", forms.set(~dated, None).str.head(7)
        yield "month and day", forms.set(~dated, None).str.tail(5)
        yield "year and day", forms.set(~dated, None).str.replace(r"-\d\d-", "-")
    elif isinstance(kind, Email):
        yield "user", take_users(forms)
        yield "start", take_users(forms).str.head(AFFIX)
    elif isinstance(kind, Phone):
        yield "end", forms.str.tail(ENDING - 1)
        yield "start", forms.str.head(ENDING - 1)
    elif isinstance(kind, Code):
        yield "start", forms.str.head(3)
        yield "end", forms.str.tail(3)


def block_by_words(prepared: PreparedField, field: int) -> WordBlocks | None:
    """Return the words of a field's values, if it is text that often has several."""
    forms = prepared.forms
    if not isinstance(prepared.field, Text | Name) or prepared.comparing is None:
        return None
    if not prepared.comparing.spelled or not forms.len():
        return None
    several = forms.str.contains(" ", literal=True).mean()
    if not isinstance(several, float) or several < SEVERAL_WORDS:
        return None
    table = pl.DataFrame({"form": np.arange(forms.len(), dtype=np.int32), "word": forms})
    long = table.with_columns(pl.col("word").str.split(" ")).explode("word").unique()
    long = long.filter(pl.col("word").str.len_chars() > 1).sort("form", "word")
    coded_words = long.with_columns(pl.Series("block", encode_column(long["word"]).codes))
    rows = pl.DataFrame(
        {"record": np.arange(prepared.codes.size, dtype=np.int32), "form": prepared.codes}
    ).join(coded_words, on="form", how="inner", maintain_order="left")
    name = f"{prepared.field.column} (a word)"
    return WordBlocks(name, field, rows["record"].to_numpy(), rows["block"].to_numpy())


def list_either_way(prepared: Sequence[PreparedField]) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Give blocks of records that have the same two texts, in whichever of two columns."""
    for couple in find_couples(prepared):
        low = np.minimum(couple.first, couple.second).astype(np.int64)
        high = np.maximum(couple.first, couple.second)
        blocks = np.where(low < 0, -1, low * couple.vocabulary.len() + high)
        names = (prepared[field].field.column for field in couple.fields)
        yield f"{' + '.join(names)} (either way)", blocks


def order_records(prepared: list[PreparedField], first: int) -> NDArray[np.int64]:
    """Order records by a field, then by the others, the most telling first."""
    telling = sorted(range(len(prepared)), key=lambda f: -prepared[f].forms.len())
    fields = [first, *(f for f in telling if f != first)][:4]
    return np.lexsort([prepared[f].codes for f in reversed(fields)])

"""A field of the records becomes its distinct forms, ready to be compared."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison.kinds.base import MISSING, Codes, Comparer
from kolchin.comparison.kinds.categories import CategoryComparer
from kolchin.comparison.kinds.contacts import CodeComparer, EmailComparer, PhoneComparer
from kolchin.comparison.kinds.custom import CustomComparer
from kolchin.comparison.kinds.dates import DateComparer
from kolchin.comparison.kinds.full_names import NameComparer
from kolchin.comparison.kinds.long_texts import WordsComparer
from kolchin.comparison.kinds.numbers import NumberComparer
from kolchin.comparison.kinds.short_texts import TextComparer
from kolchin.errors import DataError
from kolchin.records import Records
from kolchin.records.columns.distinct_values import encode_column
from kolchin.records.faults_and_notes import FaultsAndNotes, suggest
from kolchin.records.fields.declarations import (
    Category,
    Code,
    Compared,
    Date,
    Email,
    Field,
    Name,
    Number,
    Phone,
    Text,
    Words,
    check_comparison,
)

LONGEST = 300
"""Values are compared by so many letters at their beginning: longer ones would take for ever."""

KINDS: dict[type[Compared], type[Comparer]] = {
    Text: TextComparer,
    Name: NameComparer,
    Words: WordsComparer,
    Date: DateComparer,
    Number: NumberComparer,
    Email: EmailComparer,
    Phone: PhoneComparer,
    Code: CodeComparer,
    Category: CategoryComparer,
}


class PreparedField(NamedTuple):
    """A field's forms, one a record by code (-1 where missing), and how often each occurs."""

    field: Field
    codes: Codes
    forms: pl.Series
    counts: NDArray[np.int64]
    comparing: Comparer | None  # None for categorical fields, whose forms are all that is known


def prepare(field: Field, codes: Codes, vocabulary: Sequence[Any]) -> PreparedField:
    """Find the distinct forms of a field's values."""
    kind = _find_comparer(field)
    if isinstance(field, Compared) and kind is not None and field.comparator is None:
        written = kind.forms_of(vocabulary)
        forms = encode_column(written if kind.whole else written.str.head(LONGEST))
        places = np.append(forms.codes, np.int32(MISSING))[codes]
        comparing: Comparer | None = kind(field, forms.vocabulary)
        return PreparedField(
            field, places, forms.vocabulary, _count_forms(places, forms), comparing
        )
    texts = CustomComparer.forms_of(vocabulary)
    comparing = None
    if isinstance(field, Compared) and field.comparator is not None:
        comparing = CustomComparer(field, vocabulary, field.comparator)
    return PreparedField(
        field, codes, texts, np.bincount(codes[codes >= 0], minlength=len(texts)), comparing
    )


def _count_forms(codes: Codes, forms: Any) -> NDArray[np.int64]:
    return np.bincount(codes[codes >= 0], minlength=forms.vocabulary.len())


def _find_comparer(field: Field) -> type[Comparer] | None:
    """Return how a field compares; classes derived from a kind compare like it."""
    return next((KINDS[base] for base in type(field).__mro__ if base in KINDS), None)


def prepare_all(records: Records, fields: Sequence[Field] | None) -> list[PreparedField]:
    """Prepare every field of the records; given ones replace those of the same column."""
    given = {field.column: field for field in fields or ()}
    findings = FaultsAndNotes()
    for column, field in given.items():
        check_comparison(field, findings)
        if column not in records.names:
            hint = suggest(column, records.names)
            findings.fault(f"the records have no field {column!r}.{hint}")
    findings.stop_on_faults()
    triples = zip(records.fields, records.codes.T, records.vocabularies, strict=True)
    prepared = [
        prepare(given.get(field.column, field), np.ascontiguousarray(codes), vocabulary)
        for field, codes, vocabulary in triples
    ]
    if not any(one.comparing for one in prepared):
        raise DataError("No field is compared; give at least one Text, Date or other such field.")
    return prepared

"""Names, streets, cities: text of one or a few words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from kolchin.comparison.kinds.base import Codes, Comparer, Levels, cut_into_levels, write_as_text
from kolchin.comparison.kinds.strings import LEAST_SIMILAR, Strings
from kolchin.records.fields.declarations import Compared

MISTYPED = 1


def write_plain_words(values: Sequence[Any]) -> pl.Series:
    """Write values as words without punctuation; what is nothing else stays.

    >>> write_plain_words(["O'Brien-Smith, J.", "?!"]).to_list()
    ['obrien smith j', '?!']
    """
    texts = write_as_text(values)
    words = (
        texts.str.replace_all(r"['’`.]", "")
        .str.replace_all(r"[^\pL\pN\pM]+", " ")
        .str.strip_chars()
    )
    return words.zip_with(words != "", texts)


def sort_words(texts: pl.Series) -> pl.Series:
    """Put the words of each text into order."""
    return texts.str.split(" ").list.sort().list.join(" ")


class TextComparer(Comparer):
    """Exact, mistyped, similar to some degree, different."""

    forms_of = staticmethod(write_plain_words)

    def __init__(self, field: Compared, forms: pl.Series) -> None:
        super().__init__(field, forms)
        similar = (f"similarity {cut:g}" for cut in field.cuts)
        self.names = ("exact", "mistyped", *similar, "different")
        self.near = MISTYPED + 1 + min(len(field.cuts), 1)
        self.strings = Strings(forms)
        self.sorted = Strings(sort_words(forms))
        self.several = forms.str.contains(" ", literal=True).to_numpy()

    def levels(self, left: Codes, right: Codes) -> Levels:
        """Compare as they stand and, where there are several words, with the words in order."""
        similarity = self.strings.similarity(left, right)
        mistyped = np.zeros(left.size, dtype=np.bool_)
        (close,) = np.nonzero(similarity >= LEAST_SIMILAR)
        mistyped[close] = self.strings.find_mistyped(left[close], right[close])
        (several,) = np.nonzero(self.several[left] & self.several[right])
        if several.size:
            a, b = left[several], right[several]
            in_order = self.sorted.similarity(a, b)
            similarity[several] = np.maximum(similarity[several], in_order)
            mistyped[several] |= self.sorted.same(a, b)
        result = cut_into_levels(similarity, self.field.cuts, MISTYPED + 1)
        result[mistyped] = MISTYPED
        return result

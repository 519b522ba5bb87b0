"""Full names in one column: words in any order, and initials."""

import numpy as np
import polars as pl

from kolchin.comparison.kinds.base import Codes, Comparer, Levels, cut_into_levels
from kolchin.comparison.kinds.short_texts import sort_words, write_plain_words
from kolchin.comparison.kinds.strings import Strings, encode_letters, find_offsets
from kolchin.comparison.text_kernels.name_matching import match_names
from kolchin.records.fields.declarations import Compared


class NameComparer(Comparer):
    """Exact, other order, mistyped, initials, similar to some degree, different."""

    forms_of = staticmethod(write_plain_words)

    def __init__(self, field: Compared, forms: pl.Series) -> None:
        super().__init__(field, forms)
        similar = (f"similarity {cut:g}" for cut in field.cuts)
        self.names = ("exact", "other order", "mistyped", "initials", *similar, "different")
        self.near = 4
        self.sorted = Strings(sort_words(forms))
        words = forms.str.split(" ")
        flat = words.explode(empty_as_null=False)
        self.letters, self.words = encode_letters(flat)
        self.starts = find_offsets(words.list.len().to_numpy())

    def levels(self, left: Codes, right: Codes) -> Levels:
        """Find a partner for every word, then compare the words in order."""
        # Which word finds which partner may hang on the order, so there is but one.
        first, second = np.minimum(left, right), np.maximum(left, right)
        partners = match_names(self.letters, self.words, self.starts, first, second)
        result = cut_into_levels(self.sorted.similarity(left, right), self.field.cuts, first=4)
        result[partners == 2] = 3
        result[partners == 1] = 2
        result[self.sorted.same(left, right)] = 1
        return result

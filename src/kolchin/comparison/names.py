"""Full names in one column: words in any order, and initials."""

import numpy as np
import polars as pl

from kolchin.comparison.base import Codes, Comparing, Levels, by_cuts
from kolchin.comparison.kernels import match_names
from kolchin.comparison.strings import Strings
from kolchin.comparison.texts import plain_words, sorted_words
from kolchin.records.fields import Compared


class NameComparing(Comparing):
    """Exact, other order, mistyped, initials, similar to some degree, different."""

    forms_of = staticmethod(plain_words)

    def __init__(self, field: Compared, forms: pl.Series) -> None:
        super().__init__(field, forms)
        similar = (f"similarity {cut:g}" for cut in field.cuts)
        self.names = ("exact", "other order", "mistyped", "initials", *similar, "different")
        self.near = 4
        self.sorted = Strings(sorted_words(forms))
        words = forms.str.split(" ")
        flat = words.explode(empty_as_null=False)
        letters = "".join(flat.to_list()).encode("utf-32-le", "surrogatepass")
        self.letters = np.frombuffer(letters, dtype=np.uint32)
        self.words = _offsets(flat.str.len_chars().to_numpy())
        self.starts = _offsets(words.list.len().to_numpy())

    def levels(self, left: Codes, right: Codes) -> Levels:
        """Find a partner for every word, then compare the words in order."""
        # Which word finds which partner may hang on the order, so there is but one.
        first, second = np.minimum(left, right), np.maximum(left, right)
        partners = match_names(self.letters, self.words, self.starts, first, second)
        result = by_cuts(self.sorted.similarity(left, right), self.field.cuts, first=4)
        result[partners == 2] = 3
        result[partners == 1] = 2
        result[self.sorted.texts[left] == self.sorted.texts[right]] = 1
        return result


def _offsets(lengths: Codes) -> Codes:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)

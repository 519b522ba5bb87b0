"""E-mail addresses, telephone numbers, and codes such as postcodes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from kolchin.comparison.kinds.base import Codes, Comparer, Levels, cut_into_levels, write_as_text
from kolchin.comparison.kinds.strings import Strings
from kolchin.records.fields.declarations import Compared

ENDING = 7
"""The last digits of a telephone number, without country and area."""

SHORTEST_MISTYPED = 3


def clean_addresses(values: Sequence[Any]) -> pl.Series:
    """Write e-mail addresses without space around them."""
    return write_as_text(values).str.replace_all(r"\s|^mailto:", "")


def take_users(forms: pl.Series) -> pl.Series:
    """Return what stands before the last @."""
    return forms.str.replace(r"@[^@]*$", "")


def take_telephone_digits(values: Sequence[Any]) -> pl.Series:
    """Return digits alone, without extensions and leading zeros; what has none stays.

    >>> take_telephone_digits(["+41 (0)31 123-45-67 ext 8", "0041 31 1234567", "?"]).to_list()
    ['41311234567', '41311234567', '?']
    """
    texts = write_as_text(values)
    digits = (
        texts.str.replace(r"\s*(x|ext)\.?\s*\d+$", "")
        .str.replace_all(r"\(0\)|\D", "")
        .str.strip_chars_start("0")
    )
    return digits.zip_with(digits != "", texts)


def keep_letters_and_digits(values: Sequence[Any]) -> pl.Series:
    """Return letters and digits alone; what has none stays.

    >>> keep_letters_and_digits(["SW1A 1AA", "sw1a-1aa"]).to_list()
    ['sw1a1aa', 'sw1a1aa']
    """
    texts = write_as_text(values)
    plain = texts.str.replace_all(r"[^\pL\pN\pM]+", "")
    return plain.zip_with(plain != "", texts)


class EmailComparer(Comparer):
    """Exact, mistyped, the same user, a similar user, different."""

    forms_of = staticmethod(clean_addresses)

    def __init__(self, field: Compared, forms: pl.Series) -> None:
        super().__init__(field, forms)
        similar = (f"user similarity {cut:g}" for cut in field.cuts)
        self.names = ("exact", "mistyped", "same user", *similar, "different")
        self.near = 3
        self.strings = Strings(forms)
        self.users = Strings(take_users(forms))

    def levels(self, left: Codes, right: Codes) -> Levels:
        """Compare users, and whole addresses for mistakes in either part."""
        similarity = self.users.similarity(left, right)
        result = cut_into_levels(similarity, self.field.cuts, first=3)
        result[self.users.same(left, right)] = 2
        (close,) = np.nonzero(similarity >= 0.5)
        mistyped = self.strings.find_mistyped(left[close], right[close])
        same = result[close] == 2
        # Another domain is no slip of a finger unless one letter of it is.
        one = self.strings.edits(left[close], right[close], 1) <= 1
        result[close[mistyped & (one | ~same)]] = 1
        return result


class PhoneComparer(Comparer):
    """Exact, same ending, some digits wrong, different."""

    forms_of = staticmethod(take_telephone_digits)

    def __init__(self, field: Compared, forms: pl.Series) -> None:
        super().__init__(field, forms)
        wrong = (f"{cut:g} wrong" for cut in field.cuts)
        self.names = ("exact", "same ending", *wrong, "different")
        self.near = 2 + sum(cut <= 1 for cut in field.cuts)
        self.strings = Strings(forms)

    def levels(self, left: Codes, right: Codes) -> Levels:
        """Compare endings, then count wrong digits."""
        most = int(max(self.field.cuts, default=0))
        edits = self.strings.edits(left, right, most)
        result = cut_into_levels(-edits, [-cut for cut in self.field.cuts], first=2)
        result[self.strings.common_end(left, right) >= ENDING] = 1
        return result


class CodeComparer(Comparer):
    """Exact, mistyped, same start, different."""

    forms_of = staticmethod(keep_letters_and_digits)

    def __init__(self, field: Compared, forms: pl.Series) -> None:
        super().__init__(field, forms)
        starts = (f"same start {cut:.0%}" for cut in field.cuts)
        self.names = ("exact", "mistyped", *starts, "different")
        self.near = 2
        self.strings = Strings(forms)

    def levels(self, left: Codes, right: Codes) -> Levels:
        """Look for one edit, then for a common start."""
        shorter = self.strings.shorter(left, right)
        share = self.strings.common_start(left, right) / np.maximum(shorter, 1)
        result = cut_into_levels(share, self.field.cuts, first=2)
        mistyped = self.strings.edits(left, right, 1) <= 1
        result[mistyped & (shorter >= SHORTEST_MISTYPED)] = 1
        return result

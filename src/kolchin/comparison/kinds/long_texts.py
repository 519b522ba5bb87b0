"""Product names, titles, descriptions: texts of many words, compared by the words they share."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison.kinds.base import (
    EXACT,
    Codes,
    Comparer,
    Floats,
    Levels,
    cut_into_levels,
    write_as_text,
)
from kolchin.comparison.kinds.strings import encode_letters, find_offsets
from kolchin.comparison.kinds.tokens import are_codes, split_tokens
from kolchin.comparison.text_kernels.alike_words import are_alike
from kolchin.comparison.text_kernels.word_similarity import OTHER_NUMBERS, measure_word_similarities
from kolchin.records.columns.distinct_values import find_positions
from kolchin.records.fields.declarations import Compared

NUMBERS_COUNT, CODES_COUNT = 1.5, 2.0
"""Numbers and codes weigh so many times what a word does that is as rare: they tell models of one
family apart."""

ALIKE_FROM = 0.5
"""Texts agree but for slips from this similarity on."""

HOW_THEY_DIFFER = (", one has more", "", ", other numbers")
"""Each similarity is three levels: at most one text has words of its own, both have, or both have
numbers or codes, as models of one family do."""

MOST_WORDS = 100
NO_LETTERS = "?"
TOLD = "="
"""Stands before a word that another field of the record tells already."""


def write_word_forms(values: Sequence[Any]) -> pl.Series:
    """Write texts as their different words in alphabetical order; what has none stays.

    >>> write_word_forms(["The Clash: London Calling", "?!"]).to_list()
    ['calling clash london the', '?!']
    """
    texts = write_as_text(values)
    return write_row_forms(split_tokens(texts), texts)


def write_row_forms(rows: pl.DataFrame, texts: pl.Series) -> pl.Series:
    """Write the words of each text, as `word_forms` does, the first hundred of them."""
    few = rows.filter(pl.int_range(pl.len()).over("text") < MOST_WORDS).unique(["text", "word"])
    joined = few.group_by("text").agg(pl.col("word").sort().str.join(" "))
    whole = texts.str.replace_all(r"\s", "").replace("", NO_LETTERS)
    every = pl.DataFrame({"text": np.arange(texts.len(), dtype=np.int32), "whole": whole})
    found = every.join(joined, on="text", how="left", maintain_order="left")
    return found.select(pl.coalesce("word", "whole")).to_series()


def list_shared_words(one: str, other: str) -> list[str]:
    """Return the words that two texts share, codes first, then the longer ones; alike ones last.

    >>> list_shared_words("Sony Cyber-shot DSC-W120", "sony dscw120 cybershot, silvr")
    ['dscw120', 'cybershot', 'sony']
    >>> list_shared_words("Art's Delicatessen", "arts deli")
    ['arts', 'deli ~ delicatessen']
    """
    rows = split_tokens(pl.Series([one, other]))
    first, second = (set(rows.filter(pl.col("text") == text)["word"].to_list()) for text in (0, 1))
    same = pl.Series(sorted(first & second), dtype=pl.String)
    codes = dict(zip(same, are_codes(same), strict=True))
    ranked = sorted(codes, key=lambda word: (not codes[word], -len(word), word))
    return [*ranked, *_list_alike_words(sorted(first - second), sorted(second - first))]


def _list_alike_words(first: list[str], second: list[str]) -> list[str]:
    """Write the couples of words of which one may stand for the other."""
    words = pl.Series([*first, *second], dtype=pl.String)
    codes = are_codes(words)
    numbers = words.str.contains(r"\d").to_numpy()
    classes = np.where(codes, 2, np.where(numbers, 1, 3)).astype(np.int8)
    letters, begins = encode_letters(words)
    return [
        " ~ ".join(sorted([one, other], key=len))
        for i, one in enumerate(first)
        for j, other in enumerate(second, start=len(first))
        if min(len(one), len(other)) > 1 and are_alike(letters, begins, classes, i, j)
    ]


class WordsComparer(Comparer):
    """The same words, or words of which some are shared: the rarer, the more they count."""

    forms_of = staticmethod(write_word_forms)
    whole = True

    def __init__(self, field: Compared, forms: pl.Series) -> None:
        super().__init__(field, forms)
        near = (f"words {cut:g}{how}" for cut in field.cuts for how in HOW_THEY_DIFFER)
        self.names = ("exact", *near, "different")
        self.near = 1 + len(HOW_THEY_DIFFER) * sum(cut >= ALIKE_FROM for cut in field.cuts)
        lists = forms.str.split(" ")
        flat = lists.explode(empty_as_null=False)
        self.told: NDArray[np.bool_] = flat.str.starts_with(TOLD).to_numpy()
        plain = flat.str.strip_prefix(TOLD)
        # In alphabetical order, even where all are numbers.
        self.vocabulary = plain.unique().sort()
        self.starts = find_offsets(lists.list.len().to_numpy())
        self.words = self._sort_words(find_positions(plain, self.vocabulary))
        self.letters, self.begins = encode_letters(self.vocabulary)
        digits = self.vocabulary.str.contains(r"\d").to_numpy()
        codes = are_codes(self.vocabulary)
        counts = np.bincount(self.words, minlength=self.vocabulary.len())
        lone = np.where(counts == 1, 3, 0)
        self.classes = np.where(codes, 2, np.where(digits, 1, lone)).astype(np.int8)
        rarity = np.log2((forms.len() + 1) / np.maximum(counts, 1))
        factor = np.where(codes, CODES_COUNT, np.where(digits, NUMBERS_COUNT, 1.0))
        self.weights: Floats = factor * rarity

    def _sort_words(self, codes: Codes) -> Codes:
        """Sort the words of each text by their numbers."""
        text = np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))
        order = np.lexsort((codes, text))
        self.told = self.told[order]
        return codes[order]

    @property
    def n_words(self) -> float:
        """How many words texts have on average."""
        return self.words.size / max(self.starts.size - 1, 1)

    def rows(self) -> pl.DataFrame:
        """Return the words of each text: text (its place) and word."""
        text = np.repeat(np.arange(self.starts.size - 1, dtype=np.int32), np.diff(self.starts))
        return pl.DataFrame({"text": text, "word": self.vocabulary.gather(self.words)})

    @property
    def agrees(self) -> NDArray[np.bool_]:
        """Whether each level means that texts agree but for slips: other numbers are none."""
        level = np.arange(len(self.names))
        is_slip = (level - 1) % len(HOW_THEY_DIFFER) != OTHER_NUMBERS
        result: NDArray[np.bool_] = (level < self.near) & (is_slip | (level == EXACT))
        return result

    def similarity(self, left: Codes, right: Codes) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """Return how much of two texts is shared, from 0 to 1, and how they differ."""
        texts = self.words, self.told, self.starts, self.weights
        similar: NDArray[np.float32]
        differ: NDArray[np.int8]
        similar, differ = measure_word_similarities(
            *texts, self.letters, self.begins, self.classes, left, right
        )
        return similar, differ

    def levels(self, left: Codes, right: Codes) -> Levels:
        """Compare by cuts of the similarity, and how texts differ."""
        similar, differ = self.similarity(left, right)
        cut = cut_into_levels(similar, self.field.cuts, first=0)
        near = cut < len(self.field.cuts)
        levels: Levels = np.where(near, 1 + 3 * cut + differ, self.different).astype(np.int8)
        return levels

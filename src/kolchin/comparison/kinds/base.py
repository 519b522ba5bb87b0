"""What every kind of compared field has in common."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.records.fields.declarations import Compared
from kolchin.records.fields.vocabulary import Vocabulary

Codes = NDArray[np.int32]
Levels = NDArray[np.int8]
Floats = NDArray[np.float64]

EXACT = 0
MISSING = -1
FALLING = np.array([8.0, 1.0, 0.5, 0.25])
"""Prior weights of the levels from exact to different; the last is for all further levels."""


class Comparer(ABC):
    """Compares the distinct forms of a field, many pairs of them at once.

    A *form* is what is left of a value when its spelling is taken off, such as the digits of a
    telephone number; values of one form agree exactly.

    Parameters
    ----------
    field
        The field with its cuts.
    forms
        The distinct forms, as text.
    """

    names: tuple[str, ...]
    """The names of the levels, from exact to different."""

    near: int
    """How many of the first levels mean that values agree but for slips: exact, mistyped, ..."""

    custom: ClassVar[bool] = False
    """Whether values have no form of their own, so that nothing is known about them."""

    spelled: ClassVar[bool] = True
    """Whether forms are written by people, so that near ones share letters."""

    whole: ClassVar[bool] = False
    """Whether forms are compared as they are, however long."""

    def __init__(self, field: Compared, forms: pl.Series) -> None:
        self.field = field
        self.forms = forms

    @staticmethod
    @abstractmethod
    def forms_of(values: Sequence[Any]) -> pl.Series:
        """Return the form of each value, as text."""

    @abstractmethod
    def levels(self, left: Codes, right: Codes) -> Levels:
        """Return the level of each pair of different forms, given by their places."""

    @property
    def different(self) -> int:
        """The last level."""
        return len(self.names) - 1

    @property
    def agrees(self) -> NDArray[np.bool_]:
        """Whether each level means that values agree but for slips."""
        return np.arange(len(self.names)) < self.near


def write_as_text(values: Sequence[Any]) -> pl.Series:
    """Write values as lower-case text."""
    if isinstance(values, Vocabulary) and values.series.dtype == pl.String:
        return values.series.str.to_lowercase()
    texts = pl.Series([value if isinstance(value, str) else str(value) for value in values])
    return texts.cast(pl.String).str.to_lowercase()


def cut_into_levels(similarity: NDArray[Any], cuts: Sequence[float], first: int = 1) -> Levels:
    """Return `first` where the similarity reaches the first cut, and so on.

    >>> cut_into_levels(np.array([0.95, 0.8, 0.1]), (0.9, 0.7)).tolist()
    [1, 2, 3]
    """
    levels = np.full(similarity.size, first + len(cuts), dtype=np.int8)
    for position in reversed(range(len(cuts))):
        levels[similarity >= cuts[position]] = first + position
    return levels


def make_falling_weights(n_levels: int) -> Floats:
    """Return prior weights of levels, falling from exact to different.

    >>> make_falling_weights(5).tolist()
    [8.0, 1.0, 0.5, 0.25, 0.25]
    """
    return FALLING[np.minimum(np.arange(n_levels), FALLING.size - 1)]

"""What a review needs to know of a run: plain tables, whoever made them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.posterior import Posterior


class RowSource(Protocol):
    """The input's columns as text, of which a few rows are looked at."""

    def rows(self, numbers: Sequence[int]) -> pl.DataFrame:
        """Return some records' values, a row each, in the order given."""


class QuestionKind(NamedTuple):
    """Pairs that hang on one question: what is asked, and their places among the pairs."""

    sentence: str
    pairs: NDArray[np.int64]


@dataclass(frozen=True)
class ReviewContent:
    """A run as a reviewer sees it.

    Attributes
    ----------
    title : the input's name.
    directory : the run's directory, in which answers are kept.
    ids : the records' ids.
    values : the input's columns as text.
    used, unused : the columns to show: those that are compared, then others.
    labels : the entity of each record in the list.
    pairs : the pairs that may be one entity: record_a, record_b (rows) and probability.
    posterior : the draws.
    kinds : the questions on which many pairs hang, the largest first.
    """

    title: str
    directory: Path
    ids: pl.Series
    values: RowSource
    used: tuple[str, ...]
    unused: tuple[str, ...]
    labels: NDArray[np.int64]
    pairs: pl.DataFrame
    posterior: Posterior
    kinds: tuple[QuestionKind, ...] = field(default=())

    @property
    def names(self) -> list[str]:
        """The records' ids as text, as the answers name them."""
        return [str(one) for one in self.ids.cast(pl.String).to_list()]

    def show_values(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Return the values of some records, by column."""
        wanted = [*self.used, *self.unused]
        return self.values.rows(list(rows)).select(wanted).to_dicts()

"""The values of a field, without an object for each."""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl


class Vocabulary(Sequence[Any]):
    """Values in order, which are like a tuple of them.

    >>> values = Vocabulary(pl.Series(["f", "m"]))
    >>> values, values[1], values == ("f", "m")
    (('f', 'm'), 'm', True)
    """

    def __init__(self, series: pl.Series) -> None:
        # Without its name, which Polars would take for a pattern when it is "*" or like "^...$".
        self.series = series.alias("")

    def __len__(self) -> int:
        return self.series.len()

    def __getitem__(self, place: Any) -> Any:
        found = self.series[place]
        return tuple(found.to_list()) if isinstance(place, slice) else found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.series.to_list())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

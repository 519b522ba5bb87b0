"""Ids of entities that stay while a table lives.

An id once given is never given to other records. Of an earlier entity, the part with most of its
records keeps the id; of several that came together, the one with the most records in the new
entity. All other entities get numbers that no entity has had.
"""

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.parameters import IntArray

UNKNOWN = -1
"""The earlier entity of a record that was not there."""


class GivenIds(NamedTuple):
    """The ids of a list as a run's directory keeps them: by row, and the first id never given."""

    entities: IntArray
    first_free: int


class EarlierEntities(NamedTuple):
    """An earlier list: ids of records as text, the entity of each, and the first id never given."""

    records: pl.Series
    entities: IntArray
    first_free: int

    @classmethod
    def of(
        cls, records: pl.Series, entities: NDArray[np.integer], first_free: int
    ) -> "EarlierEntities":
        """Take a list; records are told by their ids as text."""
        named = records.cast(pl.String).alias("record")
        return cls(named, entities.astype(np.int64), first_free)

    @property
    def table(self) -> pl.DataFrame:
        """One row a record: record and entity."""
        return pl.DataFrame({"record": self.records, "entity": self.entities})

    def entity_of(self, records: pl.Series) -> IntArray:
        """Return the earlier entity of records by their ids, -1 for those that were not there."""
        asked = pl.DataFrame({"record": records.cast(pl.String)})
        found = asked.join(self.table, on="record", how="left", maintain_order="left")["entity"]
        result: IntArray = found.fill_null(UNKNOWN).to_numpy().astype(np.int64)
        return result

    def find_lost(self, records: pl.Series) -> IntArray:
        """Return the earlier entity of each record that is not among these."""
        asked = pl.DataFrame({"record": records.cast(pl.String)})
        gone = self.table.join(asked, on="record", how="anti")["entity"]
        result: IntArray = gone.to_numpy().astype(np.int64)
        return result


def find_keepers(earlier: IntArray, labels: IntArray) -> pl.DataFrame:
    """Return which earlier entity (``old``) goes on as which later one (``label``), one to one.

    Of as many records the smaller number comes first.
    """
    records = pl.DataFrame({"old": earlier, "label": labels}).filter(pl.col("old") != UNKNOWN)
    shares = records.group_by("old", "label").len()
    ranked = shares.sort("len", "old", "label", descending=[True, False, False])
    home = ranked.unique("old", keep="first", maintain_order=True)
    return home.unique("label", keep="first", maintain_order=True).select("old", "label")


def number_entities(earlier: IntArray, labels: IntArray, first_free: int) -> IntArray:
    """Return the id of each label, given the earlier entity of each record (-1: it is new).

    >>> number_entities(np.array([7, 7, 9, -1]), np.array([0, 0, 1, 2]), 10).tolist()
    [7, 9, 10]
    """
    n_entities = int(labels.max(initial=-1)) + 1
    numbers = np.full(n_entities, UNKNOWN, dtype=np.int64)
    kept = find_keepers(earlier, labels)
    numbers[kept["label"].to_numpy()] = kept["old"].to_numpy()
    fresh = numbers == UNKNOWN
    numbers[fresh] = first_free + np.arange(int(fresh.sum()))
    return numbers

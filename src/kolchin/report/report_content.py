"""What a report is made of: plain data that knows neither the model nor the sampler."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from numpy.typing import NDArray

from kolchin.records.columns.column_texts import Texts

LINK_COLUMNS = ("record_a", "record_b", "probability", "same_entity")
ENTITY_COUNT_NAMES = ("n_entities", "n_clusters", "K")
"""Names under which the traces may hold the number of entities."""


@dataclass(frozen=True)
class ReportContent:
    """Everything that a report shows.

    Attributes
    ----------
    title : the input's name.
    summary : what ``summary.json`` holds; parts that are not there are left out of the page.
    entities : record, entity, entity_size, confidence; one row a record.
    links : record_a, record_b, probability, same_entity, then one column of bits a field.
    values : the input's columns as text, one row a record, in the order of ``entities``.
    fields : column, kind, used, why, distinct, missing (a share), bits; one row a column.
    sizes : size, mean, q05, q95: how many entities have so many records.
    traces : name -> (chain, draw), of the number of entities and of the parameters.
    calibration : bin, n_pairs, mean_probability, share_true, low, high; None without truth.
    notes : what a reader should know about the input or the run.
    prior_bits : log2 of the prior odds that two records are one, where known.
    events : event, entity, from_entities, n_records, n_new, probability; None if nothing was added.
    audit : what a random sample of pairs that people answered says of the list, in sentences.
    """

    title: str
    summary: Mapping[str, Any]
    entities: pl.DataFrame
    links: pl.DataFrame
    values: Texts
    fields: pl.DataFrame
    sizes: pl.DataFrame
    traces: Mapping[str, NDArray[Any]]
    calibration: pl.DataFrame | None = None
    notes: Sequence[str] = ()
    prior_bits: float | None = None
    events: pl.DataFrame | None = None
    audit: Sequence[str] = ()

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self.entities.height

    @property
    def compared(self) -> dict[str, str]:
        """The columns of evidence in the links, each with the column of the input it is about.

        A field called like a column of the links has ``_bits`` at its end there.
        """
        names = [name for name in self.links.columns if name not in LINK_COLUMNS]
        known = set(self.fields["column"]) | set(self.values.columns)
        return {name: name if name in known else name.removesuffix("_bits") for name in names}

"""The tables of a result: its links, and its input with entities beside it."""

from typing import TYPE_CHECKING

import polars as pl

from kolchin.report.report_content import LINK_COLUMNS
from kolchin.resolution.results.explanation import compute_pair_bits

if TYPE_CHECKING:
    from kolchin.resolution.results.result import Result


def list_links(result: "Result") -> pl.DataFrame:
    """Return one row a pair that is probable enough, and the evidence of each field."""
    pairs = result._pairs
    rows = pairs.select("record_a", "record_b").to_numpy()
    bits = compute_pair_bits(result._model, result.posterior, rows)
    ids, labels = result._given.ids, result.labels
    names = [
        f"{name}_bits" if name in LINK_COLUMNS else name for name in result._given.records.names
    ]
    return pl.DataFrame(
        {
            "record_a": ids.gather(rows[:, 0]),
            "record_b": ids.gather(rows[:, 1]),
            "probability": pairs["probability"],
            "same_entity": labels[rows[:, 0]] == labels[rows[:, 1]],
            **{name: bits[:, f] for f, name in enumerate(names)},
        }
    )


def merge_with_input(result: "Result") -> pl.DataFrame:
    """Return the input with its types, and entities and confidence beside it."""
    values, source = result._given.frame(), result._given.source
    added = {
        "entity": pl.Series(result.entity_of),
        "confidence": pl.Series(result._summary.confidence).round(6),
    }
    texts = result._given.texts
    if source is not None and not any(source.equals(texts[name]) for name in texts.columns):
        added = {"source": source, **added}
    return values.with_columns(
        column.alias(_find_free_name(name, values)) for name, column in added.items()
    )


def _find_free_name(name: str, table: pl.DataFrame) -> str:
    while name in table.columns:
        name = f"kolchin_{name}"
    return name

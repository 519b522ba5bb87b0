"""How many entities, in numbers and in a paragraph."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.report.report_content import ENTITY_COUNT_NAMES, Content
from kolchin.report.sections.pairs import n_undecided
from kolchin.report.wording import count, counted, is_number, percent

SURE = 0.9
"""A record is called sure when its group is this probable."""

MOST_BARS = 40
MOST_SIZES = 12


class Headline(NamedTuple):
    """The numbers on top of the page and the paragraph below them."""

    entities: str
    interval: str
    records: str
    duplicates: str
    duplicates_interval: str
    sure: str
    paragraph: list[str]
    listed: str


def headline(content: Content) -> Headline:
    """Return the headline."""
    found = _entity_count(content)
    n_records = content.n_records
    mean = found["mean"]
    return Headline(
        entities=count(mean),
        interval=_between(found["q05"], found["q95"]),
        records=count(n_records),
        duplicates=count(n_records - mean),
        duplicates_interval=_between(n_records - found["q95"], n_records - found["q05"]),
        sure=percent(_share_sure(content)),
        paragraph=_paragraph(content, found),
        listed=_listed(content, found),
    )


def entity_draws(content: Content) -> NDArray[np.float64]:
    """Return the drawn numbers of entities, or none if the traces lack them."""
    for name in ENTITY_COUNT_NAMES:
        if name in content.traces:
            return np.asarray(content.traces[name], dtype=np.float64).ravel()
    return np.empty(0)


def entity_histogram(content: Content) -> list[dict[str, Any]]:
    """Return start, end, share and whether inside the interval, a row a bar."""
    draws = entity_draws(content)
    if draws.size < 2 or np.ptp(draws) == 0:
        return []
    found = _entity_count(content)
    low, high = int(draws.min()), int(draws.max())
    width = -(-(high - low + 1) // MOST_BARS)
    edges = np.arange(low, high + width + 1, width)
    heights, _ = np.histogram(draws, edges)
    return [
        {
            # Whole numbers stand in the middle of their bar.
            "start": float(edge) - 0.5,
            "end": float(edge) + width - 0.5,
            "share": round(float(height) / draws.size, 4),
            "inside": bool(edge + width > found["q05"] and edge <= found["q95"]),
        }
        for edge, height in zip(edges[:-1], heights, strict=True)
    ]


def size_rows(content: Content) -> list[dict[str, Any]]:
    """Return the sizes that probably occur, the smallest first, each with its interval."""
    rows = []
    for row in _shown_sizes(content).iter_rows(named=True):
        label = counted(row["size"], "record")
        words = f"{count(row['mean'])}  ({_dash(row['q05'], row['q95'])})"
        bounds = {key: round(float(row[key]), 2) for key in ("mean", "q05", "q95")}
        rows.append({"label": label, "text": words} | bounds)
    return rows


def sizes_left_out(content: Content) -> str:
    """Say what the chart of sizes does not show."""
    more = content.sizes.join(_shown_sizes(content), on="size", how="anti")
    if more.height == 0 or more["mean"].sum() < 0.5:
        return ""
    return (
        f"Not drawn: about {counted(more['mean'].sum(), 'entity', 'entities')} of other sizes, "
        f"up to {counted(more['size'].max(), 'record')}."
    )


def _shown_sizes(content: Content) -> pl.DataFrame:
    likely = (pl.col("q95") >= 0.5) | (pl.col("mean") >= 0.5)
    return content.sizes.filter(likely).sort("size").head(MOST_SIZES)


def _entity_count(content: Content) -> Mapping[str, float]:
    """Return the posterior of the number of entities; without one, what the list holds."""
    listed = float(content.entities["entity"].n_unique())
    given = content.summary.get("n_entities") or {}
    found = {key: given.get(key) for key in ("mean", "q05", "q95")}
    return {key: float(v) if is_number(v) else listed for key, v in found.items()}


def _paragraph(content: Content, found: Mapping[str, float]) -> list[str]:
    n_records, mean = content.n_records, found["mean"]
    if n_records == 0:
        return ["The table has no records."]
    repeated = n_records - mean
    doubts = content.summary.get("doubts") or []
    return [
        f"The {counted(n_records, 'record')} describe about {counted(mean, 'entity', 'entities')}; "
        + (
            "nearly every draw has this number."
            if _is_sharp(found)
            else "with 90% probability the true number lies "
            f"{_between(found['q05'], found['q95'])}."
        ),
        (
            f"So {percent(repeated / n_records)} of the records repeat an entity that the table "
            "already has."
            if repeated >= 0.5
            else "So no record was found to repeat another."
        ),
        f"{percent(_share_sure(content))} of the records are in a group that is at least "
        f"{percent(SURE)} sure.",
        _open_pairs_in_words(n_undecided(content)),
        *(str(doubt["sentence"]) for doubt in doubts),
    ]


def _open_pairs_in_words(n_pairs: int) -> str:
    if n_pairs == 0:
        return "No pair of records is undecided."
    verb = "is" if n_pairs == 1 else "are"
    return f"{counted(n_pairs, 'pair')} of records {verb} undecided; the closest are shown below."


def _listed(content: Content, found: Mapping[str, float]) -> str:
    """Say how many entities the list has, and why that may lie outside the interval."""
    listed = content.entities["entity"].n_unique()
    sentence = f"The list that goes with this report has {counted(listed, 'entity', 'entities')}"
    if round(found["q05"]) <= listed <= round(found["q95"]):
        return sentence + "."
    word = "apart" if listed > found["mean"] else "together"
    return (
        f"{sentence}. It has to decide each doubtful case, and where {word} is a little more "
        f"probable it says {word} every time; the count above weighs both."
    )


def _share_sure(content: Content) -> float | None:
    share = (content.entities["confidence"] >= SURE).mean()
    return float(share) if isinstance(share, int | float) else None


def _is_sharp(found: Mapping[str, float]) -> bool:
    return count(found["q05"]) == count(found["q95"])


def _between(low: float, high: float) -> str:
    if count(low) == count(high):
        return "in nearly every draw"
    return f"between {count(low)} and {count(high)}"


def _dash(low: float, high: float) -> str:
    return count(low) if count(low) == count(high) else f"{count(low)}–{count(high)}"

"""How many entities, in numbers and in a paragraph."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.report.report_content import ENTITY_COUNT_NAMES, ReportContent
from kolchin.report.sections.pairs import count_undecided
from kolchin.report.wording import is_number, write_count, write_counted, write_percent

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


def make_headline(content: ReportContent) -> Headline:
    """Return the headline."""
    found = _read_entity_count(content)
    n_records = content.n_records
    mean = found["mean"]
    return Headline(
        entities=write_count(mean),
        interval=_write_interval(found["q05"], found["q95"]),
        records=write_count(n_records),
        duplicates=write_count(n_records - mean),
        duplicates_interval=_write_interval(n_records - found["q95"], n_records - found["q05"]),
        sure=write_percent(_measure_share_sure(content)),
        paragraph=_write_paragraph(content, found),
        listed=_describe_list(content, found),
    )


def read_entity_draws(content: ReportContent) -> NDArray[np.float64]:
    """Return the drawn numbers of entities, or none if the traces lack them."""
    for name in ENTITY_COUNT_NAMES:
        if name in content.traces:
            return np.asarray(content.traces[name], dtype=np.float64).ravel()
    return np.empty(0)


def count_entity_draws(content: ReportContent) -> list[dict[str, Any]]:
    """Return start, end, share and whether inside the interval, a row a bar."""
    draws = read_entity_draws(content)
    if draws.size < 2 or np.ptp(draws) == 0:
        return []
    found = _read_entity_count(content)
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


def make_size_rows(content: ReportContent) -> list[dict[str, Any]]:
    """Return the sizes that probably occur, the smallest first, each with its interval."""
    rows = []
    for row in _choose_sizes(content).iter_rows(named=True):
        label = write_counted(row["size"], "record")
        words = f"{write_count(row['mean'])}  ({_write_range(row['q05'], row['q95'])})"
        bounds = {key: round(float(row[key]), 2) for key in ("mean", "q05", "q95")}
        rows.append({"label": label, "text": words} | bounds)
    return rows


def describe_left_out(content: ReportContent) -> str:
    """Say what the chart of sizes does not show."""
    more = content.sizes.join(_choose_sizes(content), on="size", how="anti")
    if more.height == 0 or more["mean"].sum() < 0.5:
        return ""
    return (
        "Not drawn: about "
        f"{write_counted(more['mean'].sum(), 'entity', 'entities')} of other sizes, "
        f"up to {write_counted(more['size'].max(), 'record')}."
    )


def _choose_sizes(content: ReportContent) -> pl.DataFrame:
    likely = (pl.col("q95") >= 0.5) | (pl.col("mean") >= 0.5)
    return content.sizes.filter(likely).sort("size").head(MOST_SIZES)


def _read_entity_count(content: ReportContent) -> Mapping[str, float]:
    """Return the posterior of the number of entities; without one, what the list holds."""
    listed = float(content.entities["entity"].n_unique())
    given = content.summary.get("n_entities") or {}
    found = {key: given.get(key) for key in ("mean", "q05", "q95")}
    return {key: float(v) if is_number(v) else listed for key, v in found.items()}


def _write_paragraph(content: ReportContent, found: Mapping[str, float]) -> list[str]:
    n_records, mean = content.n_records, found["mean"]
    if n_records == 0:
        return ["The table has no records."]
    repeated = n_records - mean
    doubts = content.summary.get("doubts") or []
    return [
        f"The {write_counted(n_records, 'record')} describe about "
        f"{write_counted(mean, 'entity', 'entities')}; "
        + (
            "nearly every draw has this number."
            if _is_sharp(found)
            else "with 90% probability the true number lies "
            f"{_write_interval(found['q05'], found['q95'])}."
        ),
        (
            f"So {write_percent(repeated / n_records)} of the records repeat an "
            "entity that the table "
            "already has."
            if repeated >= 0.5
            else "So no record was found to repeat another."
        ),
        f"{write_percent(_measure_share_sure(content))} of the records are in a "
        "group that is at least "
        f"{write_percent(SURE)} sure.",
        _describe_open_pairs(count_undecided(content)),
        *(str(doubt["sentence"]) for doubt in doubts),
    ]


def _describe_open_pairs(n_pairs: int) -> str:
    if n_pairs == 0:
        return "No pair of records is undecided."
    verb = "is" if n_pairs == 1 else "are"
    return (
        f"{write_counted(n_pairs, 'pair')} of records {verb} undecided; the "
        "closest are shown below."
    )


def _describe_list(content: ReportContent, found: Mapping[str, float]) -> str:
    """Say how many entities the list has, and why that may lie outside the interval."""
    listed = content.entities["entity"].n_unique()
    sentence = (
        f"The list that goes with this report has {write_counted(listed, 'entity', 'entities')}"
    )
    if round(found["q05"]) <= listed <= round(found["q95"]):
        return sentence + "."
    word = "apart" if listed > found["mean"] else "together"
    return (
        f"{sentence}. It has to decide each doubtful case, and where {word} is a little more "
        f"probable it says {word} every time; the count above weighs both."
    )


def _measure_share_sure(content: ReportContent) -> float | None:
    share = (content.entities["confidence"] >= SURE).mean()
    return float(share) if isinstance(share, int | float) else None


def _is_sharp(found: Mapping[str, float]) -> bool:
    return write_count(found["q05"]) == write_count(found["q95"])


def _write_interval(low: float, high: float) -> str:
    if write_count(low) == write_count(high):
        return "in nearly every draw"
    return f"between {write_count(low)} and {write_count(high)}"


def _write_range(low: float, high: float) -> str:
    return (
        write_count(low)
        if write_count(low) == write_count(high)
        else f"{write_count(low)}–{write_count(high)}"
    )

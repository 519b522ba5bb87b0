"""What each field contributed."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from kolchin.report.report_content import ReportContent
from kolchin.report.wording import (
    is_number,
    write_chart_label,
    write_count,
    write_percent,
    write_signed,
    write_text,
)

LIKELY = 0.5
"""Links more probable than this are called likely."""

MOST_ROWS = 60
MOST_BARS = 25


class FieldRow(NamedTuple):
    """A column of the input in words."""

    name: str
    kind: str
    used: bool
    why: str
    mean_bits: str
    possible_bits: str
    distinct: str
    missing: str


def make_field_rows(content: ReportContent) -> list[FieldRow]:
    """Return the columns of the input, the used ones first."""
    means = {row["name"]: row["mean"] for row in summarise_evidence(content)}
    ordered = content.fields.sort("used", descending=True, maintain_order=True)
    return [
        FieldRow(
            name=write_text(row["column"], 60),
            kind=write_text(row["kind"] or "", 40),
            used=bool(row["used"]),
            why=write_text(row["why"] or ""),
            mean_bits=write_signed(means.get(row["column"])),
            possible_bits=write_signed(_read_agreement_bits(row)).lstrip("+"),
            distinct=write_count(row["distinct"]),
            missing=write_percent(row["missing"]),
        )
        for row in ordered.head(MOST_ROWS).iter_rows(named=True)
    ]


def _read_agreement_bits(row: Mapping[str, Any]) -> float | None:
    """Return what agreement tells where both records have a value; ``bits`` counts gaps in."""
    bits, missing = row["bits"], row["missing"]
    if not is_number(bits) or not is_number(missing) or missing >= 1:
        return None
    return float(bits / (1 - missing) ** 2)


def summarise_evidence(content: ReportContent) -> list[dict[str, Any]]:
    """Return the mean and the middle four fifths of a field's bits on likely links."""
    likely = content.links["probability"] > LIKELY
    rows = []
    for column, name in content.compared.items():
        # Without its name, which Polars would take for a pattern when it is like "^...$".
        bits = (
            content.links[column].alias("").filter(likely).cast(pl.Float64).drop_nulls().drop_nans()
        )
        if bits.len():
            low, mean, high = bits.quantile(0.1), bits.mean(), bits.quantile(0.9)
            rows.append({"name": name, "low": low, "mean": mean, "high": high})
    return rows


def make_evidence_bars(content: ReportContent) -> list[dict[str, Any]]:
    """Return the fields that say most for likely links, ready to be drawn."""
    rows = sorted(summarise_evidence(content), key=lambda row: -abs(row["mean"]))[:MOST_BARS]
    return [
        {"label": write_chart_label(row["name"])}
        | {key: round(float(row[key]), 3) for key in ("low", "mean", "high")}
        for row in sorted(rows, key=lambda row: -row["mean"])
    ]


def describe_fields(content: ReportContent) -> str:
    """Say which fields carry the evidence."""
    rows = sorted(summarise_evidence(content), key=lambda row: -row["mean"])
    if not rows:
        return "There are no likely links, so no field has spoken for one."
    best, whole = rows[0], sum(row["mean"] for row in rows)
    sentence = (
        f"On a likely link the fields together give {write_signed(whole)} bits on average; "
        f"{write_text(best['name'], 60)} gives the most ({write_signed(best['mean'])})"
    )
    worst = rows[-1]
    if worst is not best:
        sentence += f", {write_text(worst['name'], 60)} the least ({write_signed(worst['mean'])})"
    return sentence + "."

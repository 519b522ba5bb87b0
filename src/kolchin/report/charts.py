"""The charts, as Vega-Lite by Altair.

Colours are variables of the style sheet, so that charts follow the page's light, dark and printed
schemes. Values of the user are data alone: they never name a column nor enter an expression.
"""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

Rows = Sequence[dict[str, Any]]
Spec = dict[str, Any]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK, MUTED, LINE = "var(--ink)", "var(--muted)", "var(--line)"
ACCENT, SOFT = "var(--accent)", "var(--accent-soft)"
VALIDATED = False
"""Whether charts are held against their schema: it takes seconds, so that the tests do it alone."""
CHAINS = [f"var(--chain-{k})" for k in range(1, 5)]

_STEP = 30
"""Pixels a bar. Vega-Lite would warn about its own steps in a chart as wide as its container."""


def draw_entities(rows: Rows) -> Spec:
    """Draw the posterior of the number of entities, its 90% interval in colour."""
    chart = (
        alt.Chart(_inline_data(rows))
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X(
                "start:Q", bin="binned", title="number of entities", axis=_make_whole_axis(rows)
            ),
            x2="end:Q",
            y=alt.Y("share:Q", title=None, axis=None),
            color=alt.condition("datum.inside", alt.value(ACCENT), alt.value(SOFT)),
        )
    )
    return _make_spec(chart, height=110)


def draw_sizes(rows: Rows) -> Spec:
    """Draw how many entities have one record, two, and so on, each with its interval."""
    x = alt.X("mean:Q", axis=None, scale=_make_wide_scale(130, [0, _find_largest(rows, "q95")]))
    base = alt.Chart(_inline_data(rows)).encode(y=_make_label_axis())
    chart = (
        base.mark_bar(color=SOFT, cornerRadiusEnd=2).encode(x=x)
        + base.mark_rule(color=ACCENT, strokeWidth=3).encode(x=alt.X("q05:Q"), x2="q95:Q")
        + base.mark_text(align="left", dx=8, color=INK).encode(x=alt.X("q95:Q"), text="text:N")
    )
    return _make_spec(chart, height=_STEP * len(rows))


def draw_confidence(rows: Rows, kinds: Sequence[str]) -> Spec:
    """Draw the share of records by confidence, in groups and on their own."""
    scale = _make_wide_scale(105, [0, _find_largest(rows, "total")])
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=list(kinds), range=[ACCENT, SOFT]),
        legend=alt.Legend(orient="top", title=None, symbolType="square", offset=4),
    )
    base = alt.Chart(_inline_data(rows)).encode(y=_make_label_axis())
    bars = base.mark_bar().encode(
        x=alt.X("share:Q", stack="zero", axis=None, scale=scale),
        color=colour,
    )
    first = base.transform_filter(alt.datum.kind == kinds[0])
    texts = first.mark_text(align="left", dx=8, color=INK).encode(x="total:Q", text="text:N")
    return _make_spec(bars + texts, height=_STEP * len(rows) // len(kinds))


def draw_fields(rows: Rows) -> Spec:
    """Draw the mean bits of each field on likely links, with the middle four fifths."""
    base = alt.Chart(_inline_data(rows)).encode(y=_make_label_axis())
    sign = alt.condition("datum.mean >= 0", alt.value("var(--up)"), alt.value("var(--down)"))
    chart = (
        base.mark_bar(opacity=0.35).encode(
            x=alt.X("mean:Q", title="bits on likely links", axis=_make_axis()), color=sign
        )
        + base.mark_rule(strokeWidth=3).encode(x="low:Q", x2="high:Q", color=sign)
        + base.mark_point(filled=True, size=70, opacity=1).encode(x="mean:Q", color=sign)
    )
    return _make_spec(chart, height=_STEP * len(rows))


def draw_calibration(rows: Rows) -> Spec:
    """Draw the share of true links against the probability given."""
    ends = alt.Chart(_inline_data([{"said": 0, "true": 0}, {"said": 1, "true": 1}]))
    x = alt.X(
        "said:Q", title="probability given", axis=_make_axis("%"), scale=alt.Scale(domain=[0, 1])
    )
    y = alt.Y("true:Q", title="share truly the same", axis=_make_axis("%", upright=True))
    base = alt.Chart(_inline_data(rows)).encode(x=x, y=y)
    chart = (
        ends.mark_line(color=MUTED, strokeDash=[4, 4], strokeWidth=1).encode(x=x, y=y)
        + base.mark_rule(color=ACCENT, strokeWidth=2).encode(y=alt.Y("low:Q"), y2="high:Q")
        + base.mark_point(filled=True, size=90, opacity=1, color=ACCENT).encode(
            tooltip=alt.Tooltip("tip:N")
        )
    )
    return _make_spec(chart, height=300)


def draw_trace(rows: Rows, chains: Sequence[str]) -> Spec:
    """Draw the draws of each chain in their order."""
    colours = [CHAINS[k % len(CHAINS)] for k in range(len(chains))]
    chart = (
        alt.Chart(_inline_data(rows))
        .transform_fold(list(chains), as_=["run", "value"])
        .mark_line(strokeWidth=1, opacity=0.8)
        .encode(
            x=alt.X(
                "draw:Q", title="draw", axis=_make_axis(",d", ticks=4), scale=alt.Scale(nice=False)
            ),
            y=alt.Y(
                "value:Q", title=None, axis=_make_axis(upright=True), scale=alt.Scale(zero=False)
            ),
            color=alt.Color(
                "run:N", legend=None, scale=alt.Scale(domain=list(chains), range=colours)
            ),
        )
    )
    return _make_spec(chart, height=110)


def _inline_data(rows: Rows) -> alt.InlineData:
    return alt.InlineData(values=list(rows))


def _make_label_axis() -> alt.Y:
    """Name the rows of a bar chart, in the order of the data."""
    axis = alt.Axis(title=None, domain=False, ticks=False, labelLimit=120, labelPadding=8)
    return alt.Y("label:N", sort=None, axis=axis, scale=alt.Scale(paddingInner=0.4))


def _make_whole_axis(rows: Rows, ticks: int = 5) -> alt.Axis:
    """Return an axis of bars whose middles are whole numbers: binned ones have halves otherwise."""
    first = math.ceil(min(row["start"] for row in rows))
    last = int(max(row["end"] for row in rows))
    step = max(1, -(-(last - first) // ticks))
    places = list(range(first, last + 1, step))
    return alt.Axis(values=places, format=",d", grid=False, labelFlush=False, labelOverlap=True)


def _make_axis(form: str | None = None, upright: bool = False, ticks: int = 5) -> alt.Axis:
    options: dict[str, Any] = {"labelSeparation": 8} | ({} if form is None else {"format": form})
    if form == ",d":
        options["tickMinStep"] = 1
    return alt.Axis(
        grid=upright, tickCount=ticks, labelFlush=not upright, labelOverlap=True, **options
    )


def _make_wide_scale(pixels: int, domain: list[float]) -> alt.Scale:
    """Return a scale that leaves room on the right for the text behind a bar."""
    end = alt.ExprRef(expr=f"max(width - {pixels}, 20)")
    return alt.Scale(domain=domain, range=[0, end], nice=False)


def _find_largest(rows: Rows, key: str) -> float:
    return max((row[key] for row in rows), default=0) or 1


def _make_spec(chart: alt.Chart | alt.LayerChart, height: int) -> Spec:
    """Return the chart as plain data: as wide as the page allows, in the page's colours."""
    titles = {"titleColor": MUTED, "titleFontSize": 12, "titleFontWeight": "normal"}
    lines = {"gridColor": LINE, "domainColor": LINE, "tickColor": LINE}
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    spec: Spec = (
        chart.properties(width="container", height=height, autosize=fit)
        .configure(font=FONT, background="transparent")
        .configure_view(stroke=None)
        .configure_axis(labelColor=INK, labelFontSize=12, **titles, **lines)
        .configure_legend(labelColor=INK, labelFontSize=12)
        .configure_text(fontSize=12)
        .to_dict(validate=VALIDATED)
    )
    # It is the address of a schema, which the page has no use for.
    del spec["$schema"]
    return spec

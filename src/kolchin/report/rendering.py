"""The page: sections and charts put into the template."""

from functools import cache
from importlib import resources
from typing import Any

from altair.utils.schemapi import debug_mode
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kolchin.report import charts
from kolchin.report.report_content import ReportContent
from kolchin.report.sections import (
    candidates,
    changes,
    confidence,
    diagnostics,
    evaluation,
    fields,
    groups,
    headline,
    pairs,
    parameters,
    provenance,
)
from kolchin.report.wording import NOT_CONVERGED, write_count, write_percent, write_text

Charts = dict[str, charts.Spec]

FOLDER = "page"
_EXPOSED = "window.vegaEmbed = vegaEmbed;"


def render_page(content: ReportContent) -> str:
    """Return the whole page."""
    traces = diagnostics.make_traces(content)
    rows = {
        "entities": headline.count_entity_draws(content),
        "sizes": headline.make_size_rows(content),
        "confidence": confidence.make_confidence_rows(content) if content.n_records else [],
        "fields": fields.make_evidence_bars(content),
        "calibration": evaluation.make_calibration_rows(content),
    }
    return (
        _make_environment()
        .get_template("report.html")
        .render(
            title=write_text(content.title, 200),
            notes=[write_text(note[:1].upper() + note[1:], 1000) for note in content.notes],
            cautions=_list_cautions(content),
            headline=headline.make_headline(content),
            sizes=rows["sizes"],
            sizes_left_out=headline.describe_left_out(content),
            confidence=rows["confidence"],
            calibration=rows["calibration"],
            changes=changes.make_changes(content),
            shelves=groups.make_shelves(content),
            pairs=pairs.make_undecided_pairs(content),
            prior_known=content.prior_bits is not None,
            n_undecided=pairs.count_undecided(content),
            has_links=bool((content.links["probability"] > fields.LIKELY).any()),
            undecided=[write_percent(bound) for bound in pairs.UNDECIDED],
            fields=fields.make_field_rows(content),
            n_fields=content.fields.height,
            fields_in_words=fields.describe_fields(content),
            candidates=candidates.make_candidates(content),
            parameters=parameters.make_parameter_rows(content),
            verdict=diagnostics.make_verdict(content),
            traces=traces,
            evaluation=evaluation.make_evaluation(content),
            audit=[write_text(line, 1000) for line in content.audit],
            settings=provenance.make_settings_rows(content),
            timings=provenance.make_timing_rows(content),
            charts=_draw_charts(rows, traces),
            style=_read_file("style.css"),
            script=_read_file("page.js"),
            vega=_read_vega(),
        )
    )


def _list_cautions(content: ReportContent) -> list[str]:
    """Return what to read first; that chains do not agree yet has a notice of its own."""
    said = content.summary.get("cautions") or []
    return [write_text(one, 1000) for one in said if one != NOT_CONVERGED]


def _draw_charts(rows: dict[str, list[dict[str, Any]]], traces: list[diagnostics.Trace]) -> Charts:
    """Return the charts, whose shape the tests check, so that no page waits for it."""
    with debug_mode(False):
        return _draw_available(rows, traces)


def _draw_available(
    rows: dict[str, list[dict[str, Any]]], traces: list[diagnostics.Trace]
) -> Charts:
    """Return the charts that there are data for, by name."""
    drawn: Charts = {trace.name: charts.draw_trace(trace.data, trace.chains) for trace in traces}
    if rows["entities"]:
        drawn["entities"] = charts.draw_entities(rows["entities"])
    if rows["sizes"]:
        drawn["sizes"] = charts.draw_sizes(rows["sizes"])
    if rows["confidence"]:
        drawn["confidence"] = charts.draw_confidence(rows["confidence"], confidence.KINDS)
    if rows["fields"]:
        drawn["fields"] = charts.draw_fields(rows["fields"])
    if rows["calibration"]:
        drawn["calibration"] = charts.draw_calibration(rows["calibration"])
    return drawn


@cache
def _make_environment() -> Environment:
    """Return Jinja2 with every value escaped, and JSON that cannot end its script element."""
    environment = Environment(
        loader=PackageLoader("kolchin.report", FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = write_count
    environment.policies["json.dumps_kwargs"] = {
        "allow_nan": False,
        "separators": (",", ":"),
        "sort_keys": True,
    }
    return environment


def _read_file(name: str) -> Markup:
    """Return a file of the package as it is: it is ours, and needs no escaping."""
    folder = resources.files("kolchin.report").joinpath(FOLDER)
    return Markup(folder.joinpath(name).read_text(encoding="utf-8"))


@cache
def _read_vega() -> Markup:
    """Return Vega-Embed with Vega and the Vega-Lite that Altair writes for, as one script."""
    import altair
    import vl_convert

    wanted = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    known = vl_convert.get_vegalite_versions()
    version = wanted if wanted in known else None
    bundle: str = vl_convert.javascript_bundle(_EXPOSED, vl_version=version)
    return Markup(bundle.replace("</script", "<\\/script"))

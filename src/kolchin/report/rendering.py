"""The page: sections and charts put into the template."""

from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kolchin.report import charts
from kolchin.report.report_content import Content
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
from kolchin.report.wording import NOT_CONVERGED, count, percent, text

Charts = dict[str, charts.Spec]

FOLDER = "page"
_EXPOSED = "window.vegaEmbed = vegaEmbed;"


def render_page(content: Content) -> str:
    """Return the whole page."""
    traces = diagnostics.traces(content)
    rows = {
        "entities": headline.entity_histogram(content),
        "sizes": headline.size_rows(content),
        "confidence": confidence.confidence_rows(content) if content.n_records else [],
        "fields": fields.evidence_bars(content),
        "calibration": evaluation.calibration_rows(content),
    }
    return (
        _environment()
        .get_template("report.html")
        .render(
            title=text(content.title, 200),
            notes=[text(note, 1000) for note in content.notes],
            cautions=_own_cautions(content),
            headline=headline.headline(content),
            sizes=rows["sizes"],
            sizes_left_out=headline.sizes_left_out(content),
            confidence=rows["confidence"],
            calibration=rows["calibration"],
            changes=changes.changes(content),
            shelves=groups.shelves(content),
            pairs=pairs.undecided_pairs(content),
            prior_known=content.prior_bits is not None,
            n_undecided=pairs.n_undecided(content),
            has_links=bool((content.links["probability"] > fields.LIKELY).any()),
            undecided=[percent(bound) for bound in pairs.UNDECIDED],
            fields=fields.field_rows(content),
            n_fields=content.fields.height,
            fields_in_words=fields.in_words(content),
            candidates=candidates.candidates(content),
            parameters=parameters.parameter_rows(content),
            verdict=diagnostics.verdict(content),
            traces=traces,
            evaluation=evaluation.evaluation(content),
            audit=[text(line, 1000) for line in content.audit],
            settings=provenance.settings_rows(content),
            timings=provenance.timing_rows(content),
            charts=_charts(rows, traces),
            style=_file("style.css"),
            script=_file("page.js"),
            vega=_vega(),
        )
    )


def _own_cautions(content: Content) -> list[str]:
    """Return what to read first; that chains do not agree yet has a notice of its own."""
    said = content.summary.get("cautions") or []
    return [text(one, 1000) for one in said if one != NOT_CONVERGED]


def _charts(rows: dict[str, list[dict[str, Any]]], traces: list[diagnostics.Trace]) -> Charts:
    """Return the charts that there are data for, by name."""
    drawn: Charts = {trace.name: charts.trace_chart(trace.data, trace.chains) for trace in traces}
    if rows["entities"]:
        drawn["entities"] = charts.entities_chart(rows["entities"])
    if rows["sizes"]:
        drawn["sizes"] = charts.sizes_chart(rows["sizes"])
    if rows["confidence"]:
        drawn["confidence"] = charts.confidence_chart(rows["confidence"], confidence.KINDS)
    if rows["fields"]:
        drawn["fields"] = charts.fields_chart(rows["fields"])
    if rows["calibration"]:
        drawn["calibration"] = charts.calibration_chart(rows["calibration"])
    return drawn


@cache
def _environment() -> Environment:
    """Return Jinja2 with every value escaped, and JSON that cannot end its script element."""
    environment = Environment(
        loader=PackageLoader("kolchin.report", FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = count
    environment.policies["json.dumps_kwargs"] = {
        "allow_nan": False,
        "separators": (",", ":"),
        "sort_keys": True,
    }
    return environment


def _file(name: str) -> Markup:
    """Return a file of the package as it is: it is ours, and needs no escaping."""
    folder = resources.files("kolchin.report").joinpath(FOLDER)
    return Markup(folder.joinpath(name).read_text(encoding="utf-8"))


@cache
def _vega() -> Markup:
    """Return Vega-Embed with Vega and the Vega-Lite that Altair writes for, as one script."""
    import altair
    import vl_convert

    wanted = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    known = vl_convert.get_vegalite_versions()
    version = wanted if wanted in known else None
    bundle: str = vl_convert.javascript_bundle(_EXPOSED, vl_version=version)
    return Markup(bundle.replace("</script", "<\\/script"))

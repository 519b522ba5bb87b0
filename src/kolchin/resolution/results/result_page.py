"""The report page of a result."""

from typing import TYPE_CHECKING

from kolchin.posterior.convergence import list_quantities
from kolchin.resolution.results.explanation import compute_prior_bits
from kolchin.resolution.results.summary import tabulate_sizes

if TYPE_CHECKING:
    from kolchin.resolution.results.result import Result

SIZES_TRACED = 5


def render_result(result: "Result") -> str:
    """Return the report as one HTML page."""
    from kolchin.report import ReportContent, render

    given = result._given
    traces = list_quantities(result.posterior)
    few = [f"mu[{k}]" for k in range(1, SIZES_TRACED + 1)]
    return render(
        ReportContent(
            title=given.title,
            summary=result.summary(),
            entities=result.entities,
            links=result.links,
            values=given.texts,
            fields=given.fields,
            sizes=tabulate_sizes(result.posterior),
            traces={
                "n_entities" if name == "n_clusters" else name: values
                for name, values in traces.items()
                if not name.startswith("mu[") or name in few
            },
            calibration=None
            if result._own_evaluation is None
            else result._calibration(result._truth),
            notes=result.notes,
            prior_bits=compute_prior_bits(result._model, result.posterior),
            events=result.events,
            audit=_describe_audit(result),
        )
    )


def _describe_audit(result: "Result") -> list[str]:
    """Say what an audit has found so far, if there was one."""
    from kolchin.review.audit import describe_audit, read_audit

    found = None if result.directory is None else read_audit(result.directory)
    return [] if found is None else describe_audit(found)

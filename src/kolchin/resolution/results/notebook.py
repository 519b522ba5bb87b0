"""What a notebook shows of a result and of an entity: a few lines of HTML."""

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from kolchin.resolution.results.entity_views import EntityView, find_usual_value
from kolchin.resolution.results.summary import write_headline
from kolchin.terminal import join_lines

if TYPE_CHECKING:
    from kolchin.resolution.results.result import Result

MOST_GROUPS, MOST_RECORDS = 3, 8
"""Groups that a result shows of itself, and records of a group."""

LONGEST = 40


def write_result_html(result: "Result") -> str:
    """Return the headline, the least sure groups, and where the report is."""
    parts = [f"<p>{'<br>'.join(map(escape, write_headline(result.summary())))}</p>"]
    doubtful = result.doubtful(MOST_GROUPS)
    if doubtful.height:
        parts.append("<p><b>Least sure:</b></p>")
        parts += [write_entity_html(result.entity(number)) for number in doubtful["entity"]]
    else:
        parts.append("<p>Every draw has the same groups.</p>")
    where = result.directory
    parts.append(
        "<p>The report: result.report('report.html') writes it.</p>"
        if where is None
        else f"<p>The report: <code>{escape(str(where / 'report.html'))}</code></p>"
    )
    return "\n".join(parts)


def write_entity_html(entity: EntityView) -> str:
    """Return a table of the records with differences marked, and what is least sure."""
    shown = entity.records.head(MOST_RECORDS)
    usual = {name: find_usual_value(shown[name].to_list()) for name in shown.columns[1:]}
    rows = [
        _write_row(
            [
                _write_text(record),
                *(_write_value(v, u) for v, u in zip(values, usual.values(), strict=True)),
            ]
        )
        for record, *values in shown.iter_rows()
    ]
    head = _write_row(["record", *map(_write_text, usual)], "th")
    more = len(entity) - shown.height
    lines = [entity._headline(), *([f"{more:,} more records."] if more else []), *entity._doubts()]
    said = "<br>".join(map(escape, lines))
    return f"<table>{head}{''.join(rows)}</table><p>{said}</p>"


def _write_row(cells: Iterable[str], tag: str = "td") -> str:
    return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"


def _write_text(value: Any) -> str:
    return escape(join_lines(value, LONGEST))


def _write_value(value: Any, usual: Any) -> str:
    if value is None:
        return "<i>missing</i>"
    return _write_text(value) if value == usual else f"<mark>{_write_text(value)}</mark>"

"""For the record: settings, seed, version and timings."""

from collections.abc import Iterator, Mapping
from typing import Any

from kolchin.report.report_content import ReportContent
from kolchin.report.wording import write_duration, write_text

MOST_ROWS = 60
_OWN = ("version", "seed", "draws", "ended")

Rows = list[tuple[str, str]]


def make_settings_rows(content: ReportContent) -> Rows:
    """Return version, seed and the settings, nested ones with dots."""
    summary = content.summary
    rows = [(name, write_text(summary[name], 300)) for name in _OWN if name in summary]
    rows += _flatten(summary.get("settings") or {})
    return rows[:MOST_ROWS]


def make_timing_rows(content: ReportContent) -> Rows:
    """Return the phases and how long they took."""
    seconds = content.summary.get("seconds") or {}
    phases = seconds if isinstance(seconds, Mapping) else {"total": seconds}
    return [
        (write_text(name, 60), write_duration(value))
        for name, value in list(phases.items())[:MOST_ROWS]
    ]


def _flatten(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield write_text(f"{prefix}{name}", 100), write_text(value, 300)

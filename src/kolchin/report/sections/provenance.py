"""For the record: settings, seed, version and timings."""

from collections.abc import Iterator, Mapping
from typing import Any

from kolchin.report.report_content import Content
from kolchin.report.wording import duration, text

MOST_ROWS = 60
_OWN = ("version", "seed", "draws", "ended")

Rows = list[tuple[str, str]]


def settings_rows(content: Content) -> Rows:
    """Return version, seed and the settings, nested ones with dots."""
    summary = content.summary
    rows = [(name, text(summary[name], 300)) for name in _OWN if name in summary]
    rows += _flat(summary.get("settings") or {})
    return rows[:MOST_ROWS]


def timing_rows(content: Content) -> Rows:
    """Return the phases and how long they took."""
    seconds = content.summary.get("seconds") or {}
    phases = seconds if isinstance(seconds, Mapping) else {"total": seconds}
    return [(text(name, 60), duration(value)) for name, value in list(phases.items())[:MOST_ROWS]]


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield text(f"{prefix}{name}", 100), text(value, 300)

"""Seconds and memory against the number of records, on scales of powers."""

from pathlib import Path
from typing import Any

from kolchin.paper.plotting import new_figure, save_figure

PHASES = ("reading", "comparing", "dependence", "starting", "sampling", "results", "report")

# Told apart also by those who see few colours (Okabe and Ito).
COLOURS = {
    "reading": "#56B4E9",
    "comparing": "#0072B2",
    "dependence": "#009E73",
    "starting": "#F0E442",
    "sampling": "#D55E00",
    "results": "#CC79A7",
    "report": "#999999",
}
TOOLS = {
    "kolchin": ("kolchin resolve", "black", "-"),
    "splink first": ("Splink, first", "#E69F00", "--"),
    "splink expert": ("Splink, expert", "#E69F00", "-"),
    "simulate": ("simulating", "#56B4E9", ":"),
}
"""The label, colour and line of each kind of part."""

Parts = dict[str, dict[str, Any]]
Points = list[tuple[int, float]]


def draw_figures(parts: Parts, folder: Path) -> list[Path]:
    """Draw seconds by phase, and memory, each with a line of slope 1 for the eye."""
    time, memory = new_figure(7, 4.5), new_figure(7, 4.5)
    axes = time.add_subplot()
    for phase in PHASES:
        points = _points(parts, "kolchin", lambda part, own=phase: part["phases"].get(own))
        _line(axes, points, label=phase, color=COLOURS[phase], linewidth=1.2)
    _tools(axes, parts, "seconds", ("kolchin", "splink first", "splink expert"), "whole_seconds")
    _finish(axes, "seconds")
    axes = memory.add_subplot()
    _tools(axes, parts, "peak_mb", tuple(TOOLS))
    _finish(axes, "peak memory, MB")
    return [
        *save_figure(time, folder, "scale-time"),
        *save_figure(memory, folder, "scale-memory"),
    ]


def _points(parts: Parts, kind: str, value: Any) -> Points:
    """Return records and a value of each part of a kind that has one above 0."""
    found = []
    for name, part in parts.items():
        own, _, n = name.rpartition(" ")
        if own == kind and "error" not in part and value(part):
            found.append((int(n), value(part)))
    return sorted(found)


def _line(axes: Any, points: Points, **style: Any) -> None:
    if points:
        axes.loglog(*zip(*points, strict=True), marker="o", markersize=4, **style)


def _tools(
    axes: Any, parts: Parts, quantity: str, kinds: tuple[str, ...], before: str | None = None
) -> None:
    """Draw a quantity of each kind of part, or the one that comes before it where it is there."""
    for kind in kinds:
        label, colour, line = TOOLS[kind]
        points = _points(parts, kind, lambda part: part.get(before, part[quantity]))
        _line(axes, points, label=label, color=colour, linestyle=line, linewidth=2)
        if kind == "kolchin" and len(points) > 1:
            (first, least), last = points[0], points[-1][0]
            ends = [least, least * last / first]
            axes.loglog([first, last], ends, color="#bbbbbb", linestyle=":", label="slope 1")


def _finish(axes: Any, name: str) -> None:
    axes.set_xlabel("records")
    axes.set_ylabel(name)
    axes.grid(visible=True, which="major", color="#eeeeee")
    axes.tick_params(labelsize=8)
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))

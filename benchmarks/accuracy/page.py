"""The page and the plot: numbers of all tables, side by side."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import altair as alt

from accuracy.measures import added, calibration_error
from accuracy.peer import best_of

Results = dict[str, dict[str, Any]]

TOOLS = {"kolchin": "#2563a8", "Splink": "#c2571a"}


def write_page(results: Results, command: str, out: Path) -> Path:
    """Write accuracy.md and its figure into a folder of documentation."""
    figures = out / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    chart = reliability_chart(results)
    for ending in ("svg", "png"):
        chart.save(figures / f"accuracy.{ending}", scale_factor=2 if ending == "png" else 1)
    file = out / "accuracy.md"
    file.write_text("\n".join(_lines(results, command)) + "\n", encoding="utf-8")
    return file


def _lines(results: Results, command: str) -> Iterator[str]:
    yield from ("# Accuracy", "", "```sh", command, "```", "")
    yield (
        "kolchin with defaults alone (`kp.resolve(table, id='rec_id', truth='ent_id', "
        "seed=...)`: fields inferred, no label, no threshold) beside Splink"
        f"{_version(results)} in the same run, told about every column as `benchmarks/accuracy/"
        "columns.py` says: several specifications a table, of which the best one counts, at the "
        "default threshold 0.95 and at the threshold that is best when the truth is known. "
        "Neither is given identifiers, `source` or `soc_sec_id`. Rates are of pairs, for kolchin "
        "of the point estimate."
    )
    yield from ("", "## Links", "")
    yield from links_table(results)
    yield from (
        "",
        *_meaning(),
        "",
        "## Calibration",
        "",
        "![Reliability](figures/accuracy.svg)",
        "",
    )
    yield (
        "Of the pairs given probability p, about p should be true. Pairs of at least 0.01, in ten "
        "bins of equal width; the error is the mean distance of both, weighted by pairs. Splink "
        "in its specification that is best at 0.95."
    )
    yield from ("", *_calibration_table(results))
    if any("wrong_links" in row["kolchin"] for row in results.values()):
        yield from ("", "## Wrong links of people", "")
        yield (
            "Links between two persons: all, those at one address, and those born on one day at "
            "one address (twins); kolchin's point estimate, and Splink at its best threshold."
        )
        yield from ("", *_wrong_table(results))


def links_table(results: Results) -> Iterator[str]:
    """Write the main table."""
    yield (
        "| table | records | entities | kolchin F1 | precision | recall | K, 90% interval | s | "
        "Splink F1 at 0.95 | s | Splink F1 at best | threshold |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for name, row in results.items():
        ours = _ours(row["kolchin"])
        yield (
            f"| {name} | {row['records']:,} | {row['entities']:,} | {' | '.join(ours)} | "
            f"{' | '.join(_theirs(row['splink']))} |"
        )


def _ours(run: dict[str, Any]) -> list[str]:
    if "f1" not in run:
        return [run.get("error", "-"), *["-"] * 4]
    found = run["n_entities"]
    draft = "" if run["converged"] else " *"
    return [
        f"{run['f1']:.3f}{draft}",
        f"{run['precision']:.3f}",
        f"{run['recall']:.3f}",
        f"{found['mean']:,.0f} ({found['q05']:,.0f} to {found['q95']:,.0f})",
        f"{run['seconds']:.0f}",
    ]


def _theirs(runs: dict[str, Any]) -> list[str]:
    usual, best = best_of(runs, "default"), best_of(runs, "best")
    if usual is None or best is None:
        return ["-"] * 4
    return [
        f"{usual[1]['default']['f1']:.3f} ({usual[0]})",
        f"{usual[1]['seconds']:.0f}",
        f"{best[1]['best']['f1']:.3f} ({best[0]})",
        f"{best[1]['best']['threshold']:g} bits",
    ]


def _meaning() -> list[str]:
    return [
        "K is the number of entities. A star: R-hat is not yet below 1.01 or the effective sample",
        "size not above 400. Seconds are of the whole work in one process after starting it; for",
        "Splink of one specification, without finding it and without the search for a threshold.",
    ]


def _calibration_table(results: Results) -> Iterator[str]:
    yield "| table | kolchin: pairs | error | R-hat | Splink: pairs | error |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, row in results.items():
        best = best_of(row["splink"], "default")
        theirs = ["-", "-"] if best is None else _calibrated(best[1])
        rhat = row["kolchin"].get("rhat")
        shown = "-" if rhat is None else f"{rhat:.3f}"
        ours = _calibrated(row["kolchin"])
        yield f"| {name} | {' | '.join(ours)} | {shown} | {' | '.join(theirs)} |"


def _calibrated(run: dict[str, Any]) -> list[str]:
    error = run.get("calibration_error")
    if error is None:
        return ["-", "-"]
    return [f"{sum(row['pairs'] for row in run['reliability']):,}", f"{error:.3f}"]


def _wrong_table(results: Results) -> Iterator[str]:
    yield "| table | kolchin: wrong | one address | twins | Splink: wrong | one address | twins |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name, row in results.items():
        if "wrong_links" not in row["kolchin"]:
            continue
        best = best_of(row["splink"], "best")
        theirs = {} if best is None else best[1]["best"]["wrong_links"]
        counts = [*row["kolchin"]["wrong_links"].values(), *(theirs.values() or ["-"] * 3)]
        yield f"| {name} | {' | '.join(str(count) for count in counts)} |"


def _version(results: Results) -> str:
    runs = [run for row in results.values() for run in row["splink"].values()]
    return next((f" {run['version']}" for run in runs if "version" in run), "")


def reliability_chart(results: Results) -> Any:
    """Draw shares of true pairs against probabilities: development data and simulated people."""
    panels = {"development data": False, "simulated": True}
    return alt.hconcat(
        *(_panel(results, title, simulated) for title, simulated in panels.items())
    ).configure(font="system-ui, sans-serif", background="white")


def _panel(results: Results, title: str, simulated: bool) -> Any:
    own = [row for row in results.values() if row["simulated"] == simulated]
    runs = {
        "kolchin": [row["kolchin"] for row in own],
        "Splink": [best[1] for row in own if (best := best_of(row["splink"], "default"))],
    }
    points, errors = [], []
    for tool, each in runs.items():
        bins = added([run["reliability"] for run in each if "reliability" in run])
        points += [{**row, "tool": tool} for row in bins]
        error = calibration_error(bins)
        errors += [] if error is None else [f"{tool} {error:.3f}"]
    x = alt.X("said:Q", title="probability given", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("true:Q", title="share truly the same", scale=alt.Scale(domain=[0, 1]))
    ends = [{"said": 0, "true": 0}, {"said": 1, "true": 1}]
    colour = alt.Scale(domain=list(TOOLS), range=list(TOOLS.values()))
    line = alt.Chart(alt.InlineData(values=ends)).mark_line(color="#999", strokeDash=[4, 4])
    base = alt.Chart(alt.InlineData(values=points)).encode(
        x=x, y=y, color=alt.Color("tool:N", title=None, scale=colour)
    )
    size = alt.Size("pairs:Q", title="pairs", scale=alt.Scale(type="log", range=[20, 300]))
    shown = base.mark_line(strokeWidth=1) + base.mark_point(filled=True).encode(size=size)
    heading = alt.TitleParams(title, subtitle=f"calibration error: {', '.join(errors) or 'none'}")
    return (line.encode(x=x, y=y) + shown).properties(width=300, height=300, title=heading)

"""Figure 2 of the paper: posteriors of cluster-size statistics as box plots, truth dashed.

It is made from the runs of table 1: those that are kept cost nothing, others are made first.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from kolchin.paper.campaign import complete
from kolchin.paper.plotting import COLOURS, new_figure, save_figure
from kolchin.paper.printed import DELTAS, MODELS, STATISTICS, printed_figure2
from kolchin.paper.result import Progress, Reproduction, ignore
from kolchin.paper.run import RunResult
from kolchin.paper.summary import run_table
from kolchin.paper.table1 import FULL, QUICK, describe, planned_runs, runs_directory
from kolchin.simulation import paper_dataset
from kolchin.simulation.files import write_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = {
    "singletons": "Singleton clusters",
    "largest": "Maximum cluster size",
    "mean_size": "Mean cluster size",
    "q90_size": "90th percentile of cluster sizes",
}

_BOX = ("low", "q1", "median", "q3", "high")


def reproduce_figure2(
    out: Path | str,
    *,
    quick: bool = False,
    replicates: int | None = None,
    cores: int | None = None,
    seed: int = 1,
    authors: bool = True,
    progress: Progress = ignore,
) -> Reproduction:
    """Write one figure a data set, as PNG and SVG, and the boxes as CSV.

    Parameters
    ----------
    out
        The directory, best that of `reproduce_table1`, whose finished runs are used.
    replicates
        Simulated data sets. The boxes are those of the first, as in the paper; the medians of the
        others are dots.
    authors
        Draw the authors' own boxes beside ours, in grey.
    """
    new_figure(1, 1)
    out, plan = Path(out), QUICK if quick else FULL
    runs = planned_runs(plan, replicates, seed)
    results = complete(runs, runs_directory(out, plan), cores, progress)
    boxes = box_table(results)
    data = out / f"figure2{plan.suffix}.csv"
    write_table(boxes, data)
    files = [data]
    for name in plan.datasets:
        figure = draw_dataset(boxes.filter(dataset=name), name, authors)
        files += save_figure(figure, out, f"figure2_{name}{plan.suffix}")
    return Reproduction(files, describe(plan, runs, run_table(results)))


def box_table(results: Sequence[RunResult]) -> pl.DataFrame:
    """Return one line a run and statistic: whiskers and quartiles."""
    return pl.DataFrame(
        [
            {
                "dataset": result.run.dataset,
                "delta": result.run.delta,
                "model": result.run.model,
                "replicate": result.run.replicate,
                "statistic": statistic,
                **{name: getattr(result.boxes[statistic], name) for name in _BOX},
            }
            for result in results
            for statistic in STATISTICS
        ]
    )


def draw_dataset(boxes: pl.DataFrame, name: str, authors: bool) -> "Figure":
    """Draw the four statistics of one data set side by side."""
    dataset = paper_dataset(name)
    theirs = printed_figure2().filter(dataset=name)
    figure = new_figure(13, 3.2)
    for place, statistic in enumerate(STATISTICS):
        axes = figure.add_subplot(1, 4, place + 1)
        axes.axhline(dataset.truth[statistic], color="black", linestyle="--", linewidth=1)
        if authors:
            _draw_boxes(
                axes, theirs.filter(statistic=statistic), -0.19, dict.fromkeys(MODELS, "0.8")
            )
        ours = boxes.filter(statistic=statistic)
        _draw_boxes(axes, ours.filter(replicate=0), 0.19 if authors else 0.0, COLOURS)
        _draw_others(axes, ours.filter(pl.col("replicate") > 0), 0.19 if authors else 0.0)
        _label(axes, statistic)
    told = "dashed: truth" + ("; grey: the authors' boxes, from an earlier run" if authors else "")
    figure.suptitle(f"{dataset.title} ({told})", fontsize=11)
    return figure


def _position(delta: float, model: str) -> float:
    """Return where a box stands: models side by side, a gap between distortions."""
    return DELTAS.index(delta) * (len(MODELS) + 1) + MODELS.index(model)


def _draw_boxes(axes: "Axes", boxes: pl.DataFrame, shift: float, colours: dict[str, str]) -> None:
    """Draw boxes from their quartiles and whiskers."""
    for row in boxes.iter_rows(named=True):
        place = _position(row["delta"], row["model"]) + shift
        shape: dict[str, Any] = {
            "med": row["median"],
            "q1": row["q1"],
            "q3": row["q3"],
            "whislo": row["low"],
            "whishi": row["high"],
        }
        axes.bxp(
            [shape],
            positions=[place],
            widths=0.36 if shift else 0.7,
            showfliers=False,
            patch_artist=True,
            boxprops={"facecolor": colours[row["model"]], "linewidth": 0.6},
            medianprops={"color": "black"},
            whiskerprops={"linewidth": 0.6},
            capprops={"linewidth": 0.6},
        )


def _draw_others(axes: "Axes", boxes: pl.DataFrame, shift: float) -> None:
    """Mark the medians of the other simulated data sets."""
    for row in boxes.iter_rows(named=True):
        place = _position(row["delta"], row["model"]) + shift
        axes.plot(place, row["median"], ".", color="black", markersize=3)


def _label(axes: "Axes", statistic: str) -> None:
    """Write models under the boxes and distortions under the models."""
    axes.set_title(TITLES[statistic], fontsize=10)
    places = [_position(delta, model) for delta in DELTAS for model in MODELS]
    axes.set_xticks(places, [*MODELS] * len(DELTAS), rotation=90, fontsize=7)
    axes.set_xlim(-1, max(places) + 1)
    middles = [_position(delta, MODELS[0]) + (len(MODELS) - 1) / 2 for delta in DELTAS]
    below = axes.secondary_xaxis(-0.2)
    below.set_xticks(middles, [f"$\\delta$ = {delta:g}" for delta in DELTAS], fontsize=8)
    below.tick_params(length=0)
    below.spines["bottom"].set_visible(False)
    axes.tick_params(axis="y", labelsize=8)

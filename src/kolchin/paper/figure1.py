"""Figure 1 of the paper: the share of the largest cluster as the number of records grows.

Under a microclustering model M_N / N, the largest cluster's share of N records, goes to zero in
probability. Under an exchangeable model such as a Dirichlet or Pitman-Yor process it does not.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from kolchin.paper.plotting import COLOURS, new_figure, save_figure
from kolchin.paper.result import Progress, Reproduction, ignore
from kolchin.partitions import cluster_sizes
from kolchin.simulation.files import write_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_RECORDS = (100, 178, 316, 562, 1000, 1778, 3162, 5623, 10_000)
N_DRAWS = 50
QUICK_LARGEST = 1000
THETA, DISCOUNT = 1.0, 0.5
TITLES = {
    "NBNB": "NBNB (a = 1, q = 0.5, r = 1, p = 0.5)",
    "NBD": "NBD (a = 1, q = 0.5, alpha = 1)",
    "DP": f"Dirichlet process (theta = {THETA:g})",
    "PYP": f"Pitman-Yor process (theta = {THETA:g}, d = {DISCOUNT:g})",
}

Largest = Callable[[np.random.Generator, int], int]


def reproduce_figure1(
    out: Path | str, *, quick: bool = False, seed: int = 1, progress: Progress = ignore
) -> Reproduction:
    """Draw partitions from the priors, exactly, and plot the share of the largest cluster."""
    figure = new_figure(10, 6)
    out = Path(out)
    numbers = tuple(n for n in N_RECORDS if n <= QUICK_LARGEST) if quick else N_RECORDS
    shares = largest_shares(numbers, N_DRAWS, seed, progress)
    suffix = "_quick" if quick else ""
    data = out / f"figure1{suffix}.csv"
    write_table(shares, data)
    for place, model in enumerate(TITLES):
        axes = figure.add_subplot(2, 2, place + 1)
        _panel(axes, shares.filter(model=model), model)
        axes.set_ylim(0, _top(shares, model))
    notes = [
        f"{N_DRAWS} draws for each N. NBNB and NBD have the paper's parameters; DP and PYP are not "
        "in the paper's figure and show what an exchangeable model does."
    ]
    if quick:
        notes.append(f"This is the quick version: N stops at {QUICK_LARGEST} instead of 10,000.")
    return Reproduction([data, *save_figure(figure, out, f"figure1{suffix}")], notes)


def largest_shares(
    numbers: tuple[int, ...], n_draws: int, seed: int, progress: Progress = ignore
) -> pl.DataFrame:
    """Return model, n_records, draw and share: the largest cluster's size divided by N."""
    samplers = _samplers(max(numbers))
    cells = [(model, n_records) for model in samplers for n_records in numbers]
    tables = []
    for done, (model, n_records) in enumerate(cells):
        progress(done, len(cells), f"{model}, N = {n_records}")
        place = (list(TITLES).index(model), n_records)
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=place))
        shares = [samplers[model](rng, n_records) / n_records for _ in range(n_draws)]
        columns = {"draw": range(n_draws), "share": shares}
        tables.append(
            pl.DataFrame(columns).select(
                pl.lit(model).alias("model"), pl.lit(n_records).alias("n_records"), pl.all()
            )
        )
    progress(len(cells), len(cells), "done")
    return pl.concat(tables)


def _samplers(most_records: int) -> Mapping[str, Largest]:
    """Return, by model, a function that draws the size of the largest cluster of n records."""
    from kolchin.priors import NBNB, DirichletProcess, PitmanYor, Prior
    from kolchin.priors.free_sizes import FreeSizes

    def of(prior: Prior) -> Largest:
        return lambda rng, n_records: int(cluster_sizes(prior.draw(n_records, rng)).max())

    free = FreeSizes(0.5, 1.0, np.float64(0.5) ** np.arange(1, most_records + 1))
    return {
        "NBNB": of(NBNB(a=1, q=0.5, r=1, p=0.5)),
        "NBD": lambda rng, n_records: int(free.draw(rng, n_records).max()),
        "DP": of(DirichletProcess(THETA)),
        "PYP": of(PitmanYor(THETA, DISCOUNT)),
    }


def _panel(axes: "Axes", shares: pl.DataFrame, model: str) -> None:
    """Draw one box a number of records."""
    groups = shares.group_by("n_records", maintain_order=True).agg("share")
    axes.boxplot(
        groups["share"].to_list(),
        tick_labels=[f"{n:,}" for n in groups["n_records"]],
        patch_artist=True,
        boxprops={"facecolor": COLOURS[model], "alpha": 0.6},
        medianprops={"color": "black"},
        flierprops={"marker": ".", "markersize": 3},
    )
    axes.set_title(TITLES[model], fontsize=10)
    axes.set_xlabel("N")
    axes.set_ylabel("largest cluster / N")
    axes.tick_params(labelsize=8)


def _top(shares: pl.DataFrame, model: str) -> float:
    """Return one end of the scale for each kind of model, so that neighbours can be compared."""
    kind = next(kind for kind in (("NBNB", "NBD"), ("DP", "PYP")) if model in kind)
    largest = shares.filter(pl.col("model").is_in(kind))["share"].max()
    return 1.05 * float(largest)  # type: ignore[arg-type]

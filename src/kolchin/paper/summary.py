"""Table 1 from its runs, beside the printed values.

A printed value comes from one data set. Ours come from several, whose spread says how far
apart two such values are by chance. When a printed value is one more draw of the same experiment,

    (printed - mean of ours) / sqrt(spread^2 (1 + 1/replicates) + rounding^2)

is a Student t variable with replicates - 1 degrees of freedom (rounding is the standard deviation
of the printed value's last digit). Its place is the standard normal value of the same
probability, so that within +-2 means the same for any number of replicates.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.special import ndtri, stdtr

from kolchin.paper.printed import PRINTED_STEP, ROW, in_paper_order, printed_table1
from kolchin.paper.run import RunResult
from kolchin.simulation import paper_dataset

QUANTITIES = tuple(PRINTED_STEP)


def run_table(results: Sequence[RunResult]) -> pl.DataFrame:
    """Return one line a run, in the paper's order."""
    lines = [
        {
            "dataset": result.run.dataset,
            "delta": result.run.delta,
            "model": result.run.model,
            "replicate": result.run.replicate,
            **{name: getattr(result, name) for name in _MEASURED},
        }
        for result in results
    ]
    return in_paper_order(pl.DataFrame(lines).sort("replicate"))


_MEASURED = (
    *QUANTITIES,
    "fnr_posterior",
    "fdr_posterior",
    "delta_sd",
    "rhat_k",
    "rhat_delta",
    "ess_k",
    "ess_delta",
    "draws",
    "converged",
    "seconds",
)


def summarise(runs: pl.DataFrame) -> pl.DataFrame:
    """Return one line a row of table 1: means, spreads, printed values and their places."""
    ours = runs.group_by(ROW, maintain_order=True).agg(
        pl.len().alias("replicates"),
        *(pl.col(name).mean() for name in QUANTITIES),
        *(pl.col(name).std().alias(f"{name}_spread") for name in QUANTITIES),
        pl.col("fnr_posterior", "fdr_posterior").mean(),
        pl.col("rhat_k", "rhat_delta").max(),
        pl.col("ess_k", "ess_delta").min(),
        pl.col("draws").max(),
        pl.col("converged").sum(),
        pl.col("seconds").sum(),
    )
    table = ours.join(printed_table1(), on=ROW, how="left", suffix="_printed")
    table = table.with_columns(_place(table, name) for name in QUANTITIES)
    true_k = {name: paper_dataset(name).n_entities for name in table["dataset"].unique()}
    compared = [
        f"{name}{part}" for name in QUANTITIES for part in ("", "_spread", "_printed", "_place")
    ]
    return in_paper_order(table).select(
        "dataset",
        pl.col("dataset").replace_strict(true_k).alias("true_k"),
        "delta",
        "model",
        "replicates",
        *compared,
        "fnr_posterior",
        "fdr_posterior",
        "rhat_k",
        "rhat_delta",
        "ess_k",
        "ess_delta",
        "draws",
        "converged",
        "seconds",
    )


def _place(table: pl.DataFrame, name: str) -> pl.Series:
    """Return where the printed values stand; null where there is only one data set."""
    replicates = table["replicates"].to_numpy()
    if replicates.min() < 2:
        return pl.Series(f"{name}_place", [None] * table.height, dtype=pl.Float64)
    spread, ours, printed = (
        table[column].to_numpy() for column in (f"{name}_spread", name, f"{name}_printed")
    )
    variance = spread**2 * (1 + 1 / replicates) + PRINTED_STEP[name] ** 2 / 12
    student = (printed - ours) / np.sqrt(variance)
    # The lower tail keeps its digits where the upper one would round to 1.
    place = -np.sign(student) * ndtri(stdtr(replicates - 1, -np.abs(student)))
    return pl.Series(f"{name}_place", place)


def agreement(summary: pl.DataFrame) -> pl.DataFrame:
    """Count, by data set and quantity, the printed values inside the 95% prediction interval."""
    if summary["k_mean_place"].null_count():
        return pl.DataFrame()
    limit = float(ndtri(0.975))
    inside = [(pl.col(f"{name}_place").abs() <= limit).sum().alias(name) for name in QUANTITIES]
    return summary.group_by("dataset", maintain_order=True).agg(pl.len().alias("rows"), *inside)

"""What the paper printed: table 1, and the box plots of figure 2 read off the authors' graphics.

The box plots come from an earlier run than the table, so they compare only loosely.
"""

from importlib import resources

import polars as pl

from kolchin.simulation import PAPER_DATASETS

DELTAS = (0.02, 0.05, 0.1)
MODELS = ("DP", "PYP", "NBNB", "NBD")
ROW = ["dataset", "delta", "model"]
STATISTICS = ("singletons", "largest", "mean_size", "q90_size")

# Half of the last printed digit, as a uniform error: its standard deviation is step / sqrt(12).
PRINTED_STEP = {"k_mean": 0.1, "k_sd": 0.01, "fnr": 0.01, "fdr": 0.01, "delta_mean": 0.01}


def printed_table1() -> pl.DataFrame:
    """Return the 48 rows of table 1 as printed."""
    return _read("printed_table1.csv")


def printed_figure2() -> pl.DataFrame:
    """Return the box plots of figure 2: whiskers and quartiles by row and statistic."""
    return _read("printed_figure2.csv")


def in_paper_order(table: pl.DataFrame) -> pl.DataFrame:
    """Sort rows as the paper's table 1 has them."""
    return table.sort(
        pl.col("dataset").replace_strict(PAPER_DATASETS, range(len(PAPER_DATASETS))),
        "delta",
        pl.col("model").replace_strict(MODELS, range(len(MODELS))),
        maintain_order=True,
    )


def _read(name: str) -> pl.DataFrame:
    with resources.files("kolchin.paper").joinpath(name).open("rb") as file:
        return pl.read_csv(file)

"""Synthetic records from the model, and the data sets of the paper."""

from kolchin.simulation.categorical import simulate
from kolchin.simulation.datasets import (
    PAPER_DATASETS,
    PaperDataset,
    PaperField,
    paper_dataset,
    simulate_paper,
)

__all__ = [
    "PAPER_DATASETS",
    "PaperDataset",
    "PaperField",
    "paper_dataset",
    "simulate",
    "simulate_paper",
]

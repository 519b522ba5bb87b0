"""The four data sets of the paper: their facts, and synthetic versions of them.

Sizes, fields and frequencies stand in `paper_datasets.json`, with their provenance.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import polars as pl

from kolchin.errors import ModelError
from kolchin.simulation.categorical import Seed, simulate

Provenance = Literal["published", "computed", "reconstructed"]

PAPER_DATASETS = ("italy", "nltcs5000", "syria2000", "syriasizes")


@dataclass(frozen=True)
class PaperField:
    """A field of one of the paper's data sets, its base frequencies and where they come from."""

    name: str
    description: str
    frequencies: Mapping[str, float]
    provenance: Provenance
    source: str


@dataclass(frozen=True)
class PaperDataset:
    """What is known about one of the paper's data sets."""

    name: str
    title: str
    n_records: int
    n_entities: int
    size_histogram: Mapping[int, int]
    deltas: tuple[float, ...]
    fields: tuple[PaperField, ...]
    provenance: Mapping[str, tuple[Provenance, str]]
    contradictions: tuple[str, ...]

    @property
    def truth(self) -> dict[str, float]:
        """Return the true values of the statistics that the paper's second figure shows."""
        sizes = np.repeat(list(self.size_histogram), list(self.size_histogram.values()))
        return {
            "n_clusters": float(self.n_entities),
            "singletons": float(self.size_histogram.get(1, 0)),
            "largest": float(sizes.max()),
            "mean_size": float(sizes.mean()),
            "q90_size": float(np.quantile(sizes, 0.9)),
        }


def paper_dataset(name: str) -> PaperDataset:
    """Return the facts of one of the paper's data sets.

    >>> paper_dataset("italy").n_entities
    587
    """
    key = name.lower()
    if key not in PAPER_DATASETS:
        raise ModelError(
            f"The 'name' parameter must be one of {', '.join(PAPER_DATASETS)}. "
            f"Got {name!r} instead."
        )
    return _read_dataset(key)


def simulate_paper(name: str, delta: float = 0.05, seed: Seed = None) -> pl.DataFrame:
    """Draw a synthetic version of one of the paper's data sets, as the authors did.

    Parameters
    ----------
    name
        `italy`, `nltcs5000`, `syria2000` or `syriasizes`.
    delta
        Distortion; the paper uses 0.02, 0.05 and 0.1.
    """
    dataset = paper_dataset(name)
    frequencies = {field.name: field.frequencies for field in dataset.fields}
    return simulate(frequencies, sizes=dataset.size_histogram, delta=delta, seed=seed)


@cache
def _read_facts() -> dict[str, Any]:
    """Read the facts once."""
    file = resources.files("kolchin.simulation").joinpath("paper_datasets.json")
    facts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return facts


@cache
def _read_dataset(name: str) -> PaperDataset:
    """Build a data set's facts from the package data."""
    facts = _read_facts()
    entry = facts["datasets"][name]
    histogram = {size: count for size, count in enumerate(entry["size_histogram"], 1) if count}
    return PaperDataset(
        name=name,
        title=entry["title"],
        n_records=entry["n_records"],
        n_entities=entry["n_entities"],
        size_histogram=MappingProxyType(histogram),
        deltas=tuple(facts["deltas"]),
        fields=tuple(
            PaperField(
                name=field["name"],
                description=field["description"],
                frequencies=MappingProxyType(field["values"]),
                provenance=field["provenance"],
                source=field["source"],
            )
            for field in facts["field_sets"][entry["field_set"]]
        ),
        provenance=MappingProxyType(
            {key: (p, text) for key, (p, text) in entry["provenance"].items()}
        ),
        contradictions=tuple(entry["contradictions"]),
    )

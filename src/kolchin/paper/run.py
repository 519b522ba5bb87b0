"""One row of table 1 on one simulated data set: what it is, and what it found.

A run's random numbers depend on the seed and on which run it is, never on the order or the
number of workers.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from kolchin.files import replace_whole
from kolchin.paper.printed import MODELS
from kolchin.simulation import PAPER_DATASETS

FORMAT = 1


@dataclass(frozen=True)
class Effort:
    """How long a run goes on: until K and delta have converged, within a number of draws.

    There is one chain from each kind of start.
    """

    chains: int = 3
    warmup: int = 100
    draws: int = 200
    max_draws: int = 4000
    max_rhat: float = 1.01
    min_ess: float = 200.0


@dataclass(frozen=True)
class ExperimentRun:
    """One model on one simulated data set; replicates are data sets of one row of the table."""

    dataset: str
    delta: float
    model: str
    replicate: int
    seed: int
    effort: Effort

    @property
    def name(self) -> str:
        """Return a name that serves as a file name."""
        return f"{self.dataset}-{self.delta:g}-{self.model}-{self.replicate}"

    @property
    def data_seed(self) -> int:
        """Return the seed of the data set, which the four models share."""
        return self._derive(0)

    @property
    def sampler_seed(self) -> int:
        """Return the seed of the chains."""
        return self._derive(1 + MODELS.index(self.model))

    def _derive(self, purpose: int) -> int:
        place = (PAPER_DATASETS.index(self.dataset), round(self.delta * 10_000), self.replicate)
        sequence = np.random.SeedSequence(self.seed, spawn_key=(*place, purpose))
        return int(sequence.generate_state(1)[0])


@dataclass(frozen=True)
class Box:
    """A box plot: quartiles, and whiskers to the last draw within 1.5 box lengths."""

    low: float
    q1: float
    median: float
    q3: float
    high: float


@dataclass(frozen=True)
class RunResult:
    """What one run found; `fnr` and `fdr` are by the paper's rule, `*_posterior` are means."""

    run: ExperimentRun
    version: str
    k_mean: float
    k_sd: float
    fnr: float
    fdr: float
    fnr_posterior: float
    fdr_posterior: float
    delta_mean: float
    delta_sd: float
    rhat_k: float
    rhat_delta: float
    ess_k: float
    ess_delta: float
    draws: int
    converged: bool
    seconds: float
    boxes: dict[str, Box]

    def save(self, directory: Path) -> None:
        """Write the result as JSON, whole or not at all."""
        content = {"format": FORMAT, **asdict(self)}
        with replace_whole(directory / f"{self.run.name}.json") as part:
            part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, run: ExperimentRun, directory: Path) -> "RunResult | None":
        """Return the kept result of exactly this run by this version, or None."""
        try:
            content = json.loads((directory / f"{run.name}.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        kept = {"format": FORMAT, "run": asdict(run), "version": current_version()}
        if any(content.get(key) != value for key, value in kept.items()):
            return None
        boxes = {name: Box(**box) for name, box in content["boxes"].items()}
        del content["format"]
        return cls(**content | {"run": run, "boxes": boxes})


def current_version() -> str:
    """Return the version that makes the runs."""
    import kolchin

    return str(kolchin.__version__)

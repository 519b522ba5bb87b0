"""What the parameters of the fields depend on, counted from clusters."""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.likelihoods.categorical import Cells
from kolchin.likelihoods.pattern_counts import PatternCounts
from kolchin.model import Model


class FieldStatistics(NamedTuple):
    """What the parameters of the fields depend on, of some clusters; those of others add up."""

    cells: Cells
    levels: PatternCounts | None

    def plus(self, other: "FieldStatistics") -> "FieldStatistics":
        """Add those of other clusters."""
        if self.levels is None or other.levels is None:
            return FieldStatistics(self.cells.plus(other.cells), None)
        return FieldStatistics(self.cells.plus(other.cells), self.levels.plus(other.levels))


def count_statistics(
    rng: np.random.Generator,
    model: Model,
    data: kernels.Data,
    evidence: kernels.Evidence,
    members: NDArray[np.int32],
    sizes: NDArray[np.int32],
) -> FieldStatistics:
    """Count what the parameters depend on, of clusters: members one after another, and sizes."""
    steps = kernels.agreement_cells(members, sizes, data.codes)
    cells = model.likelihood.cells(*steps)
    levels = None
    if model.compared is not None:
        levels = model.compared.count(rng, data, evidence, members, sizes)
    return FieldStatistics(cells, levels)


def pool_statistics(parts: Sequence[FieldStatistics]) -> FieldStatistics:
    """Add up statistics, always in the same order: sums of floating-point numbers depend on it."""
    return reduce(FieldStatistics.plus, parts)

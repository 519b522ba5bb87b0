"""Pairs of records worth proposing, found without comparing all pairs."""

import numpy as np
from numpy.typing import NDArray

from kolchin.model import Model
from kolchin.parameters import FloatArray
from kolchin.workplace import Workplace


def find_candidate_pairs(
    model: Model, work: Workplace | None = None
) -> tuple[NDArray[np.int32], FloatArray]:
    """List the pairs that are not hopeless, and the log evidence of each."""
    return model.likelihood.find_candidates(model.sources, work)

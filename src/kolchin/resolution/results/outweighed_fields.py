"""Whether fields can outweigh the odds against a link, told before and after a run."""

import numpy as np

from kolchin.likelihoods import Exemplar
from kolchin.model import Model
from kolchin.options import command


def find_most_bits(model: Model) -> float | None:
    """Return the most that all fields together say for a pair that was compared, in bits."""
    likelihood = model.likelihood
    if not isinstance(likelihood, Exemplar):
        return None
    ratios = likelihood.compute_ratios(likelihood.start()).ratio
    return float(np.log2(max(ratios.max(initial=0.0), 1e-300)))


def describe_too_weak(model: Model) -> list[str]:
    """Say it where no pair could be a link, since the odds are one to the number of records."""
    most = find_most_bits(model)
    needed = np.log2(max(model.n_records, 1))
    if most is None or most >= needed:
        return []
    return [
        f"These columns say at most {max(most, 0.0):.0f} bits for a pair; one in "
        f"{model.n_records:,} needs {needed:.0f}. They cannot tell links from coincidence: add "
        f"columns, or change what they are ({command('fields')})."
    ]

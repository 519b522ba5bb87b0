"""Whether fields can outweigh the odds against a link, told before and after a run."""

import numpy as np

from kolchin.comparison import Comparisons
from kolchin.likelihoods import Exemplar
from kolchin.model import Model
from kolchin.options import command


def find_most_bits(model: Model) -> float | None:
    """Return the most that all fields together say for a pair, in bits.

    Where no pair that was compared agrees on everything, it is what each field would say by itself
    if its values agreed: that nothing was alike does not show that the fields are weak.
    """
    likelihood, comparisons = model.likelihood, model.comparisons
    if not isinstance(likelihood, Exemplar):
        return None
    ratios = likelihood.compute_ratios(likelihood.start()).ratio
    most = float(np.log2(max(ratios.max(initial=0.0), 1e-300)))
    if comparisons is None or _has_agreement(comparisons):
        return most
    return max(most, -sum(float(np.log2(max(u[0], 1e-300))) for u in comparisons.u))


def _has_agreement(comparisons: Comparisons) -> bool:
    """Tell whether a pair that was compared agrees on every field, but for slips."""
    agrees = [
        (levels >= 0) & of_field[levels]
        for levels, of_field in zip(comparisons.outcomes.T, comparisons.agrees, strict=True)
    ]
    return bool(np.logical_and.reduce(agrees).any())


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

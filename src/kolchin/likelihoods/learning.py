"""What is learned from all candidate pairs before sampling: sets of fields, and what chance is."""

from typing import NamedTuple

from kolchin.likelihoods.chance import Coincidences
from kolchin.likelihoods.dependence import Dependence
from kolchin.likelihoods.fitting import STEPS, Fit
from kolchin.likelihoods.sharing import Patterns, UnrelatedChances, find_sets
from kolchin.parameters import FloatArray

FIRST_STEPS = 18
"""Sets are looked for again once chance is known better: so many steps tell enough of it."""


class LearnedDependence(NamedTuple):
    """Fields that move together, and what chance is: by level and field, and by pattern."""

    dependence: Dependence
    u: tuple[FloatArray, ...]
    gain: FloatArray


def learn_dependence(
    patterns: Patterns, chances: UnrelatedChances, coincidences: Coincidences | None = None
) -> LearnedDependence:
    """Learn sets of fields that move together, by expectation and maximisation over patterns.

    Chance is learnt along with them, where it is known which agreement may be coincidence.
    """
    fit: Fit | None = None
    for most_steps in (STEPS,) if coincidences is None else (FIRST_STEPS, STEPS):
        sets = find_sets(patterns, chances)
        if coincidences is not None and coincidences.texts:
            sets = sets._replace(family=True)
            if coincidences.family is not None:
                # Pairs that are never of one entity show what is shared: no set need be guessed.
                sets = sets._replace(shared={})
        fit = Fit(patterns, chances, sets, coincidences, fit)
        fit.run(most_steps)
        patterns, chances = patterns._replace(log_gain=fit.gain), fit.chances
    assert fit is not None
    doubted = fit.find_sets_in_doubt()
    while doubted is not None:
        fit = Fit(patterns, chances, doubted, coincidences, fit)
        fit.run()
        doubted = fit.leave_out_unsupported()
    fit.learn_chance(unseen=True)
    return LearnedDependence(fit.build_dependence(), fit.chances.u, fit.gain)

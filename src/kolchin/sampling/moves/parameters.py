"""Updates of the parameters, given the partition."""

from typing import NamedTuple

import numpy as np

from kolchin.sampling.problem import Problem
from kolchin.sampling.state import State, ensure_statistics, make_evidence, tabulate_weights


class UpdateFieldParameters(NamedTuple):
    """Draw the parameters of the likelihood.

    ``holds_levels``: what compared fields say stays as it was fitted, but for categorical ones.
    """

    holds_levels: bool = False

    def step(self, rng: np.random.Generator, problem: Problem, state: State) -> State:
        """Draw them, given how the records of each cluster resemble each other."""
        model = problem.model
        state = ensure_statistics(rng, problem, state)
        assert state.statistics is not None
        cells, levels = state.statistics
        values = model.likelihood.update(rng, state.field_values, cells)
        if model.compared is not None and levels is not None and not self.holds_levels:
            values = model.compared.update(rng, values, levels)
        evidence = make_evidence(model, values)
        return state._replace(field_values=values, evidence=evidence, statistics=None)


class UpdateParameters(NamedTuple):
    """Draw all parameters, and tabulate what the prior weighs then.

    Those that are drawn with links by another move (``moves.forest``) would creep here: then only
    in a share ``given_links`` of the steps are they drawn here, too.
    """

    given_links: float = 1.0
    holds_levels: bool = False

    def step(self, rng: np.random.Generator, problem: Problem, state: State) -> State:
        """Draw the parameters of the likelihood, then those of the prior."""
        prior, names = problem.model.prior, None
        if self.given_links < 1 and rng.random() > self.given_links:
            names = set(prior.ranges) - set(prior.drawn_with_links(problem.n_records))
        else:
            state = UpdateFieldParameters(self.holds_levels).step(rng, problem, state)
        prior_values = prior.update(rng, state.prior_values, state.counts, names)
        state = state._replace(prior_values=prior_values, statistics=None)
        return tabulate_weights(rng, problem, state)

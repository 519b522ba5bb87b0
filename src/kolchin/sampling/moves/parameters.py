"""Updates of the parameters, given the partition."""

from typing import NamedTuple

import numpy as np

from kolchin.sampling.problem import Problem
from kolchin.sampling.state import State, ensure_statistics, tabulate_weights


class UpdateFieldParameters(NamedTuple):
    """Draw the parameters of the likelihood.

    ``holds_fitted``: those that were fitted before sampling stay as they are.
    """

    holds_fitted: bool = False

    def step(self, rng: np.random.Generator, problem: Problem, state: State) -> State:
        """Draw them, given how the records of each cluster resemble each other."""
        likelihood = problem.model.likelihood
        state = ensure_statistics(rng, problem, state)
        values = likelihood.update(
            rng, state.field_values, state.statistics, holds_fitted=self.holds_fitted
        )
        evidence = likelihood.compute_evidence(values)
        return state._replace(field_values=values, evidence=evidence, statistics=None)


class UpdateParameters(NamedTuple):
    """Draw all parameters, and tabulate what the prior weighs then.

    Those that are drawn with links by another move (``moves.forest``) would creep here: then only
    in a share ``given_links`` of the steps are they drawn here, too.
    """

    given_links: float = 1.0
    holds_fitted: bool = False

    def step(self, rng: np.random.Generator, problem: Problem, state: State) -> State:
        """Draw the parameters of the likelihood, then those of the prior."""
        prior, names = problem.model.prior, None
        if self.given_links < 1 and rng.random() > self.given_links:
            names = set(prior.ranges) - set(prior.list_drawn_with_links(problem.n_records))
        else:
            state = UpdateFieldParameters(self.holds_fitted).step(rng, problem, state)
        prior_values = prior.update(rng, state.prior_values, state.counts, names)
        state = state._replace(prior_values=prior_values, statistics=None)
        return tabulate_weights(rng, problem, state)

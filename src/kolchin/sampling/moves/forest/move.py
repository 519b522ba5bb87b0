"""The move that draws all parameters which depend on links, and loose links, at once."""

from typing import NamedTuple

import numpy as np

from kolchin import kernels
from kolchin.likelihoods.categorical import Cells, DirichletCategorical
from kolchin.parameters import FloatArray
from kolchin.sampling.conditional_prior import draw_auxiliaries
from kolchin.sampling.moves.forest.parameters_given_forest import (
    ParametersGivenForest,
    TypicalState,
)
from kolchin.sampling.moves.forest.weighed_forest import grow_weighed_forest
from kolchin.sampling.problem import Problem
from kolchin.sampling.state import (
    State,
    ensure_statistics,
    lengthen_counts,
    tabulate_weights,
)

SLICED = 0.1
"""How often parameters are slice sampled, and not reflected: few records say little."""


class ForestMove(NamedTuple):
    """Delta, the prior's parameters and loose links are drawn, links by a forest.

    ``proposals`` say whom records propose links with, ``typical`` is where modes are looked for.
    """

    proposals: kernels.LinkProposals
    typical: TypicalState | None = None

    def step(self, rng: np.random.Generator, problem: Problem, state: State) -> State:
        """Take links apart, draw parameters with the links summed over, then draw links."""
        model, capacity = problem.model, state.capacity
        likelihood = model.likelihood
        assert isinstance(likelihood, DirichletCategorical)
        given = draw_auxiliaries(rng, model, state.prior_values, state.counts, capacity)
        given = given._replace(values=model.prior.extend_values(rng, given.values, capacity))
        forest = grow_weighed_forest(rng, self.proposals, problem.data, state.following)
        state = _count_clusters(state, capacity)
        typical = self.typical if rng.random() > SLICED else None
        parameters = ParametersGivenForest(
            model.prior, state.counts, forest.log_sum, given, typical
        )
        joins = parameters.weigh_joins(given)

        def log_sum(delta: FloatArray) -> float:
            forest.weigh_links(delta)
            return forest.log_sum(joins)

        state = ensure_statistics(rng, problem, state)
        assert isinstance(state.statistics, Cells)
        field_values = likelihood.update(
            rng,
            state.field_values,
            state.statistics,
            log_sum,
            None if typical is None else typical.delta,
        )
        forest.weigh_links(field_values["delta"])
        given = parameters.update(rng, given)
        forest.log_sum(parameters.weigh_joins(given))
        forest.link(rng, state.following)
        # What was integrated out still is.
        prior_values = {name: given.values[name] for name in state.prior_values}
        state = _count_clusters(state, capacity)._replace(
            prior_values=prior_values,
            field_values=field_values,
            evidence=likelihood.compute_evidence(field_values),
        )
        return tabulate_weights(rng, problem, state)


def _count_clusters(state: State, capacity: int) -> State:
    """Count the sizes of all clusters; one may be larger than any was by one."""
    state = lengthen_counts(state, capacity)
    partition = state.partition
    partition.n_clusters[0] = kernels.count_sizes(state.following, partition.size_counts)
    return state._replace(statistics=None)

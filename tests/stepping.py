"""A chain without a plan: a test makes the moves that it wants."""

from kolchin.sampling.moves.chaperones import ChaperonesMove
from kolchin.sampling.moves.parameters import UpdateParameters
from kolchin.sampling.problem import pose_problem
from kolchin.sampling.proposals.mixture import PairMixture
from kolchin.sampling.state import (
    ensure_statistics,
    start_state,
    tabulate_weights,
    take_snapshot,
)


class Stepper:
    """A problem, a state, and moves to be made on it.

    ``on_links`` are moves that ``update`` makes before it draws parameters.
    """

    def __init__(self, model, rng, labels, mixture=None, layout=None):
        self.problem = pose_problem(model, layout)
        self.state = start_state(rng, self.problem, labels)
        self.mixture = PairMixture.uniform() if mixture is None else mixture
        self.on_links = ()
        self.on_parameters = UpdateParameters()

    def step(self, *moves):
        """Make moves."""
        for move in moves:
            self.state = move.step(self.state.rng, self.problem, self.state)

    def move(self, n_moves):
        """Make chaperones moves."""
        self.step(ChaperonesMove(self.mixture, n_moves))

    def update(self):
        """Let links and all parameters follow."""
        self.step(*self.on_links, self.on_parameters)

    def snapshot(self):
        """Return what would be kept of the state."""
        self.state = ensure_statistics(self.state.rng, self.problem, self.state)
        return take_snapshot(self.problem, self.state)

    def set_prior(self, values):
        """Set the parameters of the prior, and what it weighs by them."""
        self.state = self.state._replace(prior_values={**self.state.prior_values, **values})
        self.state = tabulate_weights(self.state.rng, self.problem, self.state)

    def set_fields(self, values):
        """Set the parameters of the likelihood."""
        evidence = self.problem.model.likelihood.compute_evidence(values)
        self.state = self.state._replace(field_values=values, evidence=evidence, statistics=None)

    def set_weights(self, **changes):
        """Change what the kernels are told of the prior, until it is tabulated anew."""
        self.state = self.state._replace(weights=self.state.weights._replace(**changes))

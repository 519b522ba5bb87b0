"""One chain: chaperones moves on the partition, in turn with updates of all parameters."""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.likelihoods import Exemplar
from kolchin.model import Model
from kolchin.parameters import FloatArray, IntArray, Values
from kolchin.partitions import canonical, size_counts
from kolchin.posterior import Snapshot
from kolchin.priors.base import SizeCounts, table_size
from kolchin.sampling.candidates import kernel_data
from kolchin.sampling.loose import Loose, loose_pairs
from kolchin.sampling.proposals import Proposals, uniform_pairs

LARGEST_LOG = 600.0
"""Products of factors whose logs add up to less cannot leave the range of doubles."""

LARGEST_BESIDE = LARGEST_LOG - float(np.log(kernels.LARGEST_FACTOR))
"""What is left of it beside the evidence of compared fields, which the kernel looks after."""

GENEROUS = 2.0
"""Loose links are listed for a delta this many times the typical one, or what is generous."""

FEWEST_ROUNDS, MOST_ROUNDS = 4, 12
MOVES_A_ROUND = 500
"""How often loose links and parameters follow each other in a step: a round for so many moves."""

FEWER_IF_COMPARED = 4
"""Compared fields leave few links loose: so many times fewer records ask to join or leave."""

FEWEST_PAIRS = 0.05
"""Proposals reckon with at least this many pairs a singleton."""


class Chain:
    """The state of a Markov chain and the steps that it takes.

    Everything that the next step depends on is here, so that a chain can be stopped and taken
    up again between any two steps.
    """

    NO_STATE = ("model", "data", "pairs", "loose", "members", "sizes", "cells")
    """Attributes that follow from the model, from what is learnt, or that no step looks back at."""

    def __init__(
        self,
        model: Model,
        rng: np.random.Generator,
        labels: IntArray,
        pairs: kernels.Pairs | None = None,
    ) -> None:
        self.model = model
        self.rng = rng
        # A stream apart for what is only shown, so that looking does not change the chain.
        (self.showing,) = rng.spawn(1)
        self.data = kernel_data(model)
        self.pairs = uniform_pairs() if pairs is None else pairs
        self.following: NDArray[np.int32] = kernels.rings(canonical(labels))
        counts = size_counts(labels)
        self.size_counts = counts.astype(np.int64)
        self.size_counts[0] = counts.sum()
        self.loose: Loose | None = None
        self.n_rounds = 1
        self.pending = np.array([-1, -1])
        self.own_values: Values = model.likelihood.start(rng)
        self.ratios = (np.empty(0), np.empty(0))
        if model.compared is not None:
            self.own_values |= model.compared.start()
            self.ratios = model.compared.ratios(self.own_values)
        # What can be integrated out is: a size distribution given the sizes would hold on to them.
        self.prior_values: Values = model.prior.collapsed(model.prior.start(rng, self.counts))
        self._tabulate()

    @property
    def counts(self) -> SizeCounts:
        """The sizes of the clusters."""
        return SizeCounts.of(self.size_counts)

    @property
    def n_clusters(self) -> int:
        """The number of clusters now."""
        return int(self.size_counts[0])

    @property
    def evidence(self) -> kernels.Evidence:
        """What the fields say, by the parameters as they are."""
        return kernels.Evidence(self.own_values["delta"], *self.ratios)

    @property
    def fields(self) -> tuple[Any, ...]:
        """The records and what they say, as the kernels take them."""
        return (*self.data, *self.evidence)

    def _tabulate(self, at_least: int = 2) -> None:
        """Put the prior's weights into tables that cover twice the largest size."""
        prior, n_records = self.model.prior, self.model.n_records
        largest = int(np.flatnonzero(self.size_counts[1:])[-1]) + 1
        capacity = max(at_least, table_size(largest))
        self.prior_values = prior.extended(self.rng, self.prior_values, capacity)
        log_h, opening, shapes = prior.tables(n_records, capacity, self.prior_values)
        numbers = opening.log_scale, opening.slope, opening.intercept, opening.alpha
        self.weights = kernels.Weights(
            np.append(0.0, log_h - log_h[0]),
            self._small_sizes(log_h - log_h[0]),
            np.array(numbers, dtype=np.float64),
            opening.log_table,
            np.append(0.0, shapes) if shapes.size else shapes,
        )
        if self.size_counts.size <= capacity:
            more = np.zeros(capacity + 1 - self.size_counts.size, dtype=np.int64)
            self.size_counts = np.append(self.size_counts, more)

    def _small_sizes(self, log_size: FloatArray) -> FloatArray:
        """Exponentiate the weights of small sizes, where products stay in the range of doubles."""
        size = np.append(1.0, np.exp(np.minimum(log_size[: kernels.LARGEST_ENUMERATED], 700.0)))
        reach = self.model.likelihood.log_reach(self.own_values["delta"])
        largest = LARGEST_LOG if self.model.compared is None else LARGEST_BESIDE
        if (kernels.LARGEST_ENUMERATED - 1) * reach > largest:
            size[0] = np.nan
        reach += max(float(np.abs(np.log(ratio)).max(initial=0.0)) for ratio in self.ratios)
        if reach > LARGEST_LOG or np.abs(log_size[1]) > LARGEST_LOG:
            size[:] = np.nan
        return size

    def move(self, n_moves: int) -> None:
        """Make chaperones moves."""
        done = 0
        while done < n_moves:
            done += self._chaperones(n_moves - done, False)
            if done < n_moves:
                self._tabulate(2 * (self.weights.log_size.size - 1))

    def dissolve(self) -> None:
        """Take clusters apart that do not hold together: for warm-up alone."""
        self._chaperones(self.model.n_records, True)

    def _chaperones(self, n_moves: int, in_rings: bool) -> int:
        return int(
            kernels.chaperones(  # type: ignore[call-arg]
                self.rng,
                n_moves,
                in_rings,
                *self.pairs,
                *self.fields,
                *self.weights,
                self.following,
                self.size_counts,
                self.pending,
            )
        )

    def update(self) -> None:
        """Let the loose links and delta follow each other, several times; then update the prior."""
        for _ in range(self.n_rounds):
            if self.loose is not None:
                self._attach(self.loose)
            self._collect_cells()
            self.own_values = self.model.likelihood.update(self.rng, self.own_values, self.cells)
            self._update_compared()
        self.prior_values = self.model.prior.update(self.rng, self.prior_values, self.counts)
        self._tabulate()

    def _update_compared(self) -> None:
        """Update the parameters of the compared fields, and what they make of each pattern."""
        compared = self.model.compared
        if compared is not None:
            self.own_values = compared.update(
                self.rng, self.own_values, self.ratios, self.members, self.sizes
            )
            self.ratios = compared.ratios(self.own_values)

    def _attach(self, loose: Loose) -> None:
        """Let lone records join their neighbours, and others leave theirs."""
        kernels.attach(  # type: ignore[call-arg]
            self.rng,
            *loose,
            *self.fields,
            *self.weights,
            self.following,
            self.size_counts,
        )

    def _collect_cells(self) -> None:
        self.members, self.sizes = kernels.grouped(self.following)
        steps = kernels.agreement_cells(self.members, self.sizes, self.data.codes)
        self.cells = self.model.likelihood.cells(*steps)

    def step(self, n_moves: int) -> None:
        """Make moves, then update all parameters."""
        self.move(n_moves)
        self.update()

    def draw(self) -> Snapshot:
        """Return the state; the rings are the chain's own."""
        prior, likelihood = self.model.prior, self.model.likelihood
        n_records = self.model.n_records
        values = prior.collapsed(self.prior_values)
        self._collect_cells()
        log_joint = (
            prior.log_prob_counts(self.counts, values)
            + prior.log_hyper(n_records, values)
            + likelihood.log_singletons
            + likelihood.log_evidence(self.cells, self.own_values["delta"])
            + likelihood.log_hyper(self.own_values)
        )
        if self.model.compared is not None:
            log_joint += self._log_compared(self.model.compared)
        complete = prior.completed(self.showing, self.prior_values, self.counts)
        parameters = prior.sampled(n_records, complete)
        parameters |= likelihood.sampled(self.own_values)
        if self.model.compared is not None:
            parameters |= self.model.compared.sampled(self.own_values)
        return Snapshot(self.following, parameters, log_joint)

    def _log_compared(self, compared: Exemplar) -> float:
        """Log joint density of the compared fields and their parameters."""
        evidence = kernels.log_exemplars(*compared.arrays, *self.ratios, self.members, self.sizes)
        return float(evidence) + compared.log_hyper(self.own_values)

    def state(self) -> dict[str, Any]:
        """Return a copy of all that the next step depends on, but for what is learnt."""
        state = {name: v for name, v in vars(self).items() if name not in self.NO_STATE}
        return copy.deepcopy(state)

    def take(self, state: dict[str, Any]) -> None:
        """Be in a state of this model."""
        vars(self).update(copy.deepcopy(state))

    def observe(self, proposals: Proposals) -> None:
        """Let the proposals see the state."""
        proposals.observe(self.following, self.own_values["delta"])

    def learn(self, proposals: Proposals) -> int:
        """Take pairs in proportion to how undecided they are now; return the moves of a sweep."""
        delta = proposals.mean_delta(self.own_values["delta"])
        self.pairs, n_moves = proposals.pairs(self._log_odds(proposals, delta))
        generous = np.maximum(GENEROUS * delta, self.model.likelihood.generous_delta())
        log_odds = self._log_odds(proposals, generous)
        self.loose = loose_pairs(self.model.n_records, proposals.candidates, log_odds)
        self.n_rounds = 1
        if self.loose is not None and self.model.compared is not None:
            # m is known well from links that are certain: loose ones matter little.
            self.loose = self.loose._replace(n_moves=1 + self.loose.n_moves // FEWER_IF_COMPARED)
        elif self.loose is not None and self.model.likelihood.is_sampled:
            self.n_rounds = min(max(FEWEST_ROUNDS, n_moves // MOVES_A_ROUND), MOST_ROUNDS)
        return n_moves

    def _log_odds(self, proposals: Proposals, delta: FloatArray) -> FloatArray:
        """Log odds that each candidate is linked, as things stand."""
        evidence = self.evidence._replace(delta=delta)
        scores: FloatArray = kernels.pair_scores(*self.data, *evidence, proposals.candidates)
        return scores + self._log_prior_odds()

    def _log_prior_odds(self) -> float:
        """Log prior odds that two singletons are a pair, as things stand."""
        weights, others = self.weights, max(self.n_clusters - 1, 1)
        opened = float(kernels.log_open_weight(weights.opening, weights.log_open, others))
        log_odds = float(weights.log_size[2]) - opened
        if weights.shape.size:
            alone, pairs = weights.shape[1:3] + self.size_counts[1:3]
            # A start without pairs would never propose any.
            pairs = max(pairs, FEWEST_PAIRS * alone)
            log_odds += float(np.log(pairs) - 2 * np.log(alone))
        return log_odds

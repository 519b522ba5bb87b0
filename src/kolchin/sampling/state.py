"""Where a chain is: its partition, its parameters, and its streams of random numbers.

A state is all that the next step depends on beside the problem and what was learned, so that a
checkpoint is a copy of it. A move takes a state and returns the next one. Kernels change the rings
and the counts in place, because these are as long as the table; all else is replaced.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.likelihoods.base import Statistics
from kolchin.model import Model
from kolchin.parameters import IntArray, Values
from kolchin.partitions import make_canonical, size_counts
from kolchin.posterior import Snapshot
from kolchin.priors.base import SizeCounts, table_size
from kolchin.sampling.problem import Problem
from kolchin.sampling.weights import build_kernel_weights

FEWEST_PAIRS = 0.05
"""Prior odds reckon with at least this many pairs a singleton."""


class State(NamedTuple):
    """A chain between two moves.

    Attributes
    ----------
    rng, display_rng
        The chain's random numbers, and a stream apart for what is only shown: looking at a chain
        does not change it.
    stream_key, round_number
        What the streams of shards are named by (``shards.advancing``).
    partition
        Rings of records and counts of sizes, as the kernels change them.
    prior_values, field_values
        The parameters of the prior and of the likelihood. What can be integrated out of the prior
        is: a size distribution given the sizes would hold on to them.
    evidence, weights
        What the fields say and what the prior weighs, by these parameters: tables for the kernels.
    statistics
        What the fields' parameters depend on, if it was counted since the partition changed.
    """

    rng: np.random.Generator
    display_rng: np.random.Generator
    stream_key: int
    round_number: int
    partition: kernels.Partition
    prior_values: Values
    field_values: Values
    evidence: kernels.Evidence
    weights: kernels.Weights
    statistics: Statistics | None = None

    @property
    def counts(self) -> SizeCounts:
        """The sizes of the clusters."""
        return SizeCounts.of(self.partition.size_counts)

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return int(self.partition.n_clusters[0])

    @property
    def following(self) -> NDArray[np.int32]:
        """The next record of each record's cluster."""
        return self.partition.following

    @property
    def capacity(self) -> int:
        """How far tables of weights are to reach: twice the largest size."""
        return table_size(int(np.flatnonzero(self.partition.size_counts[1:])[-1]) + 1)


def start_state(rng: np.random.Generator, problem: Problem, labels: IntArray) -> State:
    """Return the state of a partition, by its labels, with parameters drawn near to typical."""
    model = problem.model
    (display_rng,) = rng.spawn(1)
    counts = size_counts(labels).astype(np.int64)
    n_clusters = np.array([counts.sum()])
    partition = kernels.Partition(
        kernels.make_rings(make_canonical(labels)), counts, n_clusters, np.array([-1, -1])
    )
    stream_key = int(rng.integers(1 << 62))
    field_values = model.likelihood.start(rng)
    prior_values = model.prior.drop_integrated(model.prior.start(rng, SizeCounts.of(counts)))
    evidence = model.likelihood.compute_evidence(field_values)
    largest = int(np.flatnonzero(counts)[-1])
    prior_values, weights = _tabulate(rng, model, prior_values, evidence, table_size(largest))
    state = State(
        rng, display_rng, stream_key, 0, partition, prior_values, field_values, evidence, weights
    )
    return lengthen_counts(state, weights.log_size.size - 1)


def tabulate_weights(
    rng: np.random.Generator, problem: Problem, state: State, at_least: int = 2
) -> State:
    """Put the prior's weights into tables, given all clusters; they may grow longer."""
    capacity = max(at_least, state.capacity)
    prior_values, weights = _tabulate(
        rng, problem.model, state.prior_values, state.evidence, capacity
    )
    state = lengthen_counts(state, capacity)
    return state._replace(prior_values=prior_values, weights=weights)


def _tabulate(
    rng: np.random.Generator,
    model: Model,
    prior_values: Values,
    evidence: kernels.Evidence,
    capacity: int,
) -> tuple[Values, kernels.Weights]:
    """Return the prior's parameters, extended as far as tables reach, and the tables."""
    prior_values = model.prior.extend_values(rng, prior_values, capacity)
    tables = model.prior.tabulate(model.n_in_table, capacity, prior_values)
    return prior_values, build_kernel_weights(model, tables, evidence)


def lengthen_counts(state: State, capacity: int) -> State:
    """Make room in the counts of sizes for clusters up to a size."""
    return count_changes(state, np.zeros(capacity + 1, dtype=np.int64))


def count_changes(state: State, changes: IntArray) -> State:
    """Add to the counts of sizes, which may grow longer."""
    counts = add_counts([state.partition.size_counts, changes])
    return state._replace(partition=state.partition._replace(size_counts=counts))


def add_counts(counts: list[IntArray]) -> IntArray:
    """Add up counts of sizes of unequal length."""
    total = np.zeros(max(one.size for one in counts), dtype=np.int64)
    for one in counts:
        total[: one.size] += one
    return total


def ensure_statistics(rng: np.random.Generator, problem: Problem, state: State) -> State:
    """Return the state with what the fields' parameters depend on, counted if it was not."""
    if state.statistics is not None:
        return state
    members, sizes, _ = kernels.list_members(state.following, problem.whole.within)
    likelihood = problem.model.likelihood
    statistics = likelihood.count(rng, problem.data, state.evidence, members, sizes)
    return state._replace(statistics=statistics)


def take_snapshot(problem: Problem, state: State) -> Snapshot:
    """Return what is kept of a state with statistics; its rings are the state's own."""
    model, statistics = problem.model, state.statistics
    assert statistics is not None
    prior, likelihood, n_records = model.prior, model.likelihood, model.n_records
    values = prior.drop_integrated(state.prior_values)
    log_joint = prior.log_prob_counts(state.counts, values) + prior.log_hyper(n_records, values)
    for term in likelihood.log_terms(state.field_values, statistics):
        log_joint += term
    log_joint += _log_probability_of_answers(problem, state)
    complete = prior.draw_integrated(state.display_rng, state.prior_values, state.counts)
    parameters = prior.select_sampled(n_records, complete)
    parameters |= likelihood.select_sampled(state.field_values)
    return Snapshot(state.following, parameters, log_joint)


def _log_probability_of_answers(problem: Problem, state: State) -> float:
    """Log probability of all known answers, given the partition."""
    answers = problem.model.answers
    if not answers:
        return 0.0
    together = np.zeros(len(answers.pairs), dtype=np.int32)
    kernels.count_linked(state.following, problem.layout.to_places(answers.pairs), together)
    return float(np.where(together > 0, answers.log_together, answers.log_apart).sum())


def log_prior_odds(state: State) -> float:
    """Log prior odds that two singletons are a pair, given the other clusters."""
    weights, others = state.weights, max(state.n_clusters - 1, 1)
    opened = float(kernels.log_open_weight(weights, others))
    log_odds = float(weights.log_size[2]) - opened
    if weights.shape.size:
        alone, pairs = weights.shape[1:3] + state.partition.size_counts[1:3]
        # A start without pairs would never propose any.
        pairs = max(pairs, FEWEST_PAIRS * alone)
        log_odds += float(np.log(pairs) - 2 * np.log(alone))
    return log_odds

"""One chain: chaperones moves on the partition, in turn with updates of all parameters."""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.likelihoods.exemplar import NO_RATIOS
from kolchin.model import Model
from kolchin.parameters import FloatArray, IntArray, Values
from kolchin.partitions import canonical, size_counts
from kolchin.posterior import Snapshot
from kolchin.priors.base import SizeCounts, table_size
from kolchin.sampling.proposals.candidates import kernel_data
from kolchin.sampling.moves.forest.weighing import grow_weighed_forest
from kolchin.sampling.problem import Problem
from kolchin.sampling.layout import Layout, Shard
from kolchin.sampling.proposals.learning import LearningInput
from kolchin.sampling.proposals.link_proposals import weigh_proposals
from kolchin.sampling.proposals.attach_lists import AttachLists
from kolchin.sampling.moves.forest.parameters_given_forest import ParametersGivenForest, TypicalState
from kolchin.sampling.proposals.mixture import PairMixture, ObservedPairs
from kolchin.sampling.shards.executors import ShardExecutor, ThreadExecutor
from kolchin.sampling.shards.advancing import (
    FEWEST_MOVES,
    SWEEPS_A_STEP,
    Fields,
    LearnedPairs,
    RoundInput,
    FieldStatistics,
    added,
    pooled,
)
from kolchin.sampling.weights import Auxiliaries, kernel_weights

GENEROUS = 2.0
"""AttachLists links are listed for a delta this many times the typical one, or what is generous."""

FEWEST_ROUNDS, MOST_ROUNDS = 4, 12
MOVES_A_ROUND = 500
"""How often loose links and parameters follow each other in a step: a round for so many moves."""

FOREST_ROUNDS, FOREST_SWEEPS = (2, 3), 0.25
"""Where they are drawn at once, few rounds are enough, and an eighth as many moves."""

SLICED = 0.1
"""How often parameters are slice sampled there, and not reflected: few records say little."""

GIVEN_LINKS = 0.1
"""How often parameters that are drawn with links are drawn given these, too."""

FEWEST_PAIRS = 0.05
"""ObservedPairs reckon with at least this many pairs a singleton."""


class Chain:
    """The state of a Markov chain and the steps that it takes.

    Everything that the next step depends on is here, so that a chain can be stopped and taken
    up again between any two steps. A step is moves, loose links, and an update of the parameters;
    where records are laid out in several blocks, moves are made in shards beside each other.
    """

    NO_STATE = (
        *("model", "data", "layout", "hands", "picks"),
        *("mixture", "loose", "typical", "_statistics"),
    )
    """Attributes that follow from the model and from what is learnt."""

    def __init__(
        self,
        model: Model,
        rng: np.random.Generator,
        labels: IntArray,
        mixture: PairMixture | None = None,
        layout: Layout | None = None,
        data: kernels.Data | None = None,
        hands: ShardExecutor | None = None,
        picks: kernels.LinkProposals | None = None,
    ) -> None:
        self.model = model
        self.rng = rng
        # A stream apart for what is only shown, so that looking does not change the chain.
        (self.showing,) = rng.spawn(1)
        self.layout = Layout.single(model.n_records) if layout is None else layout
        self.data = kernel_data(model, self.layout) if data is None else data
        self.hands = ThreadExecutor(Problem(model, self.data, self.layout)) if hands is None else hands
        self.mixture = PairMixture.uniform() if mixture is None else mixture
        self.following: NDArray[np.int32] = kernels.make_rings(canonical(labels))
        self.size_counts = size_counts(labels).astype(np.int64)
        self.cluster_count = np.array([self.size_counts.sum()])
        self.loose: AttachLists | None = None
        self.n_rounds = 1
        self.picks = picks
        self.typical: TypicalState | None = None
        self.pending = np.array([-1, -1])
        self.key = int(rng.integers(1 << 62))
        self.number = 0
        self.own_values: Values = model.likelihood.start(rng)
        self.ratios = NO_RATIOS
        if model.compared is not None:
            self.own_values |= model.compared.start()
            self.ratios = model.compared.ratios(self.own_values)
        # What can be integrated out is: a size distribution given the sizes would hold on to them.
        self.prior_values: Values = model.prior.collapsed(model.prior.start(rng, self.counts))
        self._statistics: FieldStatistics | None = None
        self._tabulate()

    @property
    def counts(self) -> SizeCounts:
        """The sizes of the clusters."""
        return SizeCounts.of(self.size_counts)

    @property
    def n_clusters(self) -> int:
        """The number of clusters now."""
        return int(self.cluster_count[0])

    @property
    def evidence(self) -> kernels.Evidence:
        """What the fields say, by the parameters as they are."""
        return self.fields.evidence

    @property
    def fields(self) -> Fields:
        """The records and what they say."""
        return Fields(self.model, self.data, self.own_values["delta"], self.ratios)

    @property
    def in_shards(self) -> bool:
        """Whether moves are made in shards."""
        return self.layout.n_blocks > 1

    @property
    def _whole(self) -> Shard:
        return Shard((0,), np.array([0, self.model.n_records, 0, 0]))

    @property
    def _capacity(self) -> int:
        """How far tables of weights reach: twice the largest size."""
        return table_size(int(np.flatnonzero(self.size_counts[1:])[-1]) + 1)

    def _tabulate(self, at_least: int = 2) -> None:
        """Put the prior's weights into tables, given all clusters."""
        prior, capacity = self.model.prior, max(at_least, self._capacity)
        self.prior_values = prior.extended(self.rng, self.prior_values, capacity)
        tables = prior.tables(self.model.n_records, capacity, self.prior_values)
        self.weights = kernel_weights(self.model, tables, self.evidence)
        self._count_sizes(np.zeros(capacity + 1, dtype=np.int64))

    def _count_sizes(self, changes: IntArray) -> None:
        """Add to the counts of sizes, which may grow longer."""
        self.size_counts = added([self.size_counts, changes])

    def move(self, n_moves: int) -> None:
        """Make chaperones moves on all records."""
        self._move(n_moves, self._whole)

    def _move(self, n_moves: int, shard: Shard) -> None:
        """Make moves in one shard, given all clusters."""
        self._statistics = None
        done = 0
        while done < n_moves:
            done += self._chaperones(n_moves - done, False, shard)
            if done < n_moves:
                self._tabulate(2 * (self.weights.log_size.size - 1))

    def dissolve(self) -> None:
        """Take clusters apart that do not hold together: for warm-up alone."""
        self._statistics = None
        self._chaperones(self.model.n_records, True, self._whole)
        self.hands.changed()

    def _chaperones(self, n_moves: int, in_rings: bool, shard: Shard) -> int:
        pairs = self.mixture.in_shard(shard)
        what = self.data, self.evidence, self.weights, self.partition
        return int(kernels.make_chaperones_moves(self.rng, n_moves, in_rings, pairs, *what))

    @property
    def partition(self) -> kernels.State:
        """The partition, as the kernels change it."""
        return kernels.State(self.following, self.size_counts, self.cluster_count, self.pending)

    def move_in_shards(self, moves: int = 0, dissolve: bool = False, cores: int = 1) -> None:
        """Pair the blocks anew and let all shards advance: moves, loose links, statistics.

        It does not matter how many run at the same time.
        """
        if self.weights.shape.size:
            self._move_crowd()
        self.number += 1
        given = Auxiliaries.drawn(self.rng, self.model, self.prior_values, self.counts, self._capacity)
        delta = self.own_values["delta"]
        sent = RoundInput(delta, self.ratios, given, moves, dissolve, self.key, self.number)
        shards = self.layout.shards(self.rng)
        learnt = LearnedPairs(self.mixture, self.loose)
        parts = self.hands.advance(shards, sent, learnt, self.following, cores)
        self._count_sizes(added([part.size_changes for part in parts]))
        self.cluster_count[0] += sum(part.n_clusters_change for part in parts)
        # Clusters between shards stayed as they are, but what they say of the parameters counts.
        between = np.concatenate([part.leaving for part in parts])
        grouped = kernels.grouped_among(self.following, np.sort(between))
        apart = self.fields.statistics(sent.stream(self.layout.n_blocks + 1), *grouped)
        self._statistics = pooled([*(part.statistics for part in parts), apart])

    def _move_crowd(self) -> None:
        """Make moves in the block of the largest groups alone, with mu integrated out.

        Given mu, which is about 0 at sizes that no cluster has, large clusters would hardly form.
        """
        crowd = self.layout.shard(0)
        self._move(SWEEPS_A_STEP * self.mixture.sweep(crowd), crowd)
        self.hands.changed(0)

    def update(self) -> None:
        """Let the loose links and all parameters follow the partition."""
        self.settle()
        self.refresh()

    def settle(self) -> None:
        """Let the loose links and the fields' parameters follow each other, several times."""
        if self.in_shards:
            return
        for _ in range(self.n_rounds - 1):
            if self.picks is not None:
                self._regroup(self.picks)
                self._redraw(self.picks)
            else:
                self._attach()
                self._refresh_fields()
        if not self.with_links:
            self._attach()

    @property
    def with_links(self) -> bool:
        """Whether parameters are drawn while links are summed over."""
        return self.picks is not None and self.loose is not None and self.n_rounds > 1

    def _redraw(self, picks: kernels.LinkProposals) -> None:
        """Draw all parameters that depend on links, and loose links, at once."""
        model, capacity = self.model, self._capacity
        given = Auxiliaries.drawn(self.rng, model, self.prior_values, self.counts, capacity)
        given = given._replace(values=model.prior.extended(self.rng, given.values, capacity))
        forest = grow_weighed_forest(self.rng, picks, self.data, self.following)
        self._recount(capacity)
        typical = self.typical if self.rng.random() > SLICED else None
        marginal = ParametersGivenForest(model.prior, self.counts, forest.log_sum, given, typical)
        joins = marginal.joins(given)

        def log_sum(delta: FloatArray) -> float:
            forest.see(delta)
            return forest.log_sum(joins)

        self.own_values = model.likelihood.update(
            self.rng,
            self.own_values,
            self.statistics.cells,
            log_sum,
            None if typical is None else typical.delta,
        )
        forest.see(self.own_values["delta"])
        given = marginal.update(self.rng, given)
        forest.log_sum(marginal.joins(given))
        forest.link(self.rng, self.following)
        # What was integrated out still is.
        self.prior_values = {name: given.values[name] for name in self.prior_values}
        self._recount(capacity)
        self._tabulate()

    def _recount(self, capacity: int) -> None:
        """Count the sizes of all clusters; one may be larger than any was by one."""
        self._statistics = None
        self._count_sizes(np.zeros(capacity + 1, dtype=np.int64))
        self.cluster_count[0] = kernels.count_sizes(self.following, self.size_counts)

    def refresh(self, hold_levels: bool = False) -> None:
        """Update all parameters, given the partition, but for those of compared fields if held.

        Those that are drawn with the links would creep here: they are drawn now and then.
        """
        prior, names = self.model.prior, None
        if self.with_links and self.rng.random() > GIVEN_LINKS:
            drawn = prior.drawn_with_links(self.model.n_records)
            names = set(prior.ranges) - set(drawn)
        else:
            self._refresh_fields(hold_levels)
        self.prior_values = prior.update(self.rng, self.prior_values, self.counts, names)
        self._tabulate()

    def _refresh_fields(self, hold_levels: bool = False) -> None:
        cells, levels = self.statistics
        self.own_values = self.model.likelihood.update(self.rng, self.own_values, cells)
        if self.model.compared is not None and levels is not None and not hold_levels:
            self.own_values = self.model.compared.update(self.rng, self.own_values, levels)
            self.ratios = self.model.compared.ratios(self.own_values)
        self._statistics = None

    @property
    def statistics(self) -> FieldStatistics:
        """What the fields' parameters depend on, given the partition and these parameters."""
        if self._statistics is None:
            members, sizes, _ = kernels.grouped(self.following, self._whole.within)
            self._statistics = self.fields.statistics(self.rng, members, sizes)
        return self._statistics

    def _attach(self) -> None:
        """Let lone records join their neighbours, and others leave theirs."""
        asked = None if self.loose is None else self.loose.in_shard(self._whole)
        if asked is not None:
            self._statistics = None
            what = self.data, self.evidence, self.weights, self.partition
            kernels.attach_records(self.rng, asked, *what)

    def _regroup(self, picks: kernels.LinkProposals) -> None:
        """Let equal records join others and leave them."""
        self._statistics = None
        what = self.data, self.evidence, self.weights, self.partition
        kernels.regroup_records(self.rng, picks, *what)

    def step(self, n_moves: int) -> None:
        """Make moves, then update all parameters."""
        self.move(n_moves)
        self.update()

    def draw(self) -> Snapshot:
        """Return the state; the rings are the chain's own."""
        prior, likelihood = self.model.prior, self.model.likelihood
        n_records = self.model.n_records
        values = prior.collapsed(self.prior_values)
        cells, levels = self.statistics
        log_joint = (
            prior.log_prob_counts(self.counts, values)
            + prior.log_hyper(n_records, values)
            + likelihood.log_singletons
            + likelihood.log_evidence(cells, self.own_values["delta"])
            + likelihood.log_hyper(self.own_values)
        )
        if self.model.compared is not None and levels is not None:
            log_joint += levels.log_evidence + self.model.compared.log_hyper(self.own_values)
        log_joint += self._log_said()
        complete = prior.completed(self.showing, self.prior_values, self.counts)
        parameters = prior.sampled(n_records, complete)
        parameters |= likelihood.sampled(self.own_values)
        if self.model.compared is not None:
            parameters |= self.model.compared.sampled(self.own_values)
        return Snapshot(self.following, parameters, log_joint)

    def _log_said(self) -> float:
        """Log probability of all known answers, given the partition."""
        answers = self.model.answers
        if not answers:
            return 0.0
        together = np.zeros(len(answers.pairs), dtype=np.int32)
        kernels.count_linked(self.following, self.layout.moved(answers.pairs), together)
        return float(np.where(together > 0, answers.log_together, answers.log_apart).sum())

    def state(self) -> dict[str, Any]:
        """Return a copy of all that the next step depends on, but for what is learnt."""
        state = {name: v for name, v in vars(self).items() if name not in self.NO_STATE}
        return copy.deepcopy(state)

    def take(self, state: dict[str, Any]) -> None:
        """Be in a state of this model."""
        self._statistics = None
        vars(self).update(copy.deepcopy(state))
        self.hands.changed()

    def observe(self, proposals: ObservedPairs) -> None:
        """Let the proposals see the state."""
        proposals.observe(self.following, self.own_values["delta"])

    def learn(self, proposals: ObservedPairs) -> None:
        """Take pairs in proportion to how undecided they are now."""
        delta = proposals.mean_delta(self.own_values["delta"])
        generous = np.maximum(GENEROUS * delta, self.model.likelihood.generous_delta())
        standing = LearningInput(self.evidence, delta, generous, self._log_prior_odds())
        self.mixture, self.loose = self.hands.learn(proposals, standing)
        self.typical = TypicalState(delta, self.prior_values, self.counts)
        if self.picks is not None:
            odds = self._log_prior_odds()
            self.picks = weigh_proposals(self.picks, self.data, GENEROUS * delta, odds)
        self.n_rounds = 1
        if self.loose and self.model.compared is None and self.model.likelihood.is_sampled:
            n_rounds = self.moves_a_step // SWEEPS_A_STEP // MOVES_A_ROUND
            fewest, most = FOREST_ROUNDS if self.picks is not None else (FEWEST_ROUNDS, MOST_ROUNDS)
            self.n_rounds = min(max(fewest, n_rounds), most)

    @property
    def moves_a_step(self) -> int:
        """How many moves a step has, so that undecided pairs are visited a few times.

        In shards that is what it has on average: blocks meet at random.
        """
        weight = self.mixture.lists.within_reach(self.layout.meeting)
        sweeps = FOREST_SWEEPS if self.with_links else SWEEPS_A_STEP
        return max(int(sweeps * 2 * weight), FEWEST_MOVES)

    def _log_prior_odds(self) -> float:
        """Log prior odds that two singletons are a pair, as things stand."""
        weights, others = self.weights, max(self.n_clusters - 1, 1)
        opened = float(kernels.log_open_weight(weights, others))
        log_odds = float(weights.log_size[2]) - opened
        if weights.shape.size:
            alone, pairs = weights.shape[1:3] + self.size_counts[1:3]
            # A start without pairs would never propose any.
            pairs = max(pairs, FEWEST_PAIRS * alone)
            log_odds += float(np.log(pairs) - 2 * np.log(alone))
        return log_odds

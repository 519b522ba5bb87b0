"""One chain on its way: what it has done, where it is, and what it has drawn."""

import copy
import time
from threading import Event
from typing import NamedTuple

from kolchin import kernels
from kolchin.posterior import Recorder, Snapshot
from kolchin.sampling.moves.chaperones import DissolvingMove
from kolchin.sampling.problem import Problem
from kolchin.sampling.proposals.observed_pairs import Observations, ObservedPairs
from kolchin.sampling.run.run_settings import RunSettings
from kolchin.sampling.schedule import Schedule, Tuning, choose_schedule, learn_tuning
from kolchin.sampling.shards.executors import ShardExecutor, ThreadExecutor
from kolchin.sampling.state import State, ensure_statistics, take_snapshot

SECONDS_BETWEEN_LOOKS = 0.25


class Moment(NamedTuple):
    """A state, and what warm-up had seen of the candidates by then."""

    state: State
    observations: Observations


class Checkpoint(NamedTuple):
    """All that the future of a chain depends on; its draws apart.

    What was learned may be large, and follows from the moment in which it was (None: not yet).
    """

    n_steps: int
    n_moves_left: int
    now: Moment
    learned_at: Moment | None


class Chain:
    """A Markov chain: a state that moves by a schedule, which warm-up learns.

    Parameters
    ----------
    problem
        What it is about, and never changes.
    state
        Where it starts.
    observed
        Candidate pairs, of which warm-up sees how often they are linked.
    settings
        How long it runs.
    executor
        Where shards advance, by default threads of this process.
    link_proposals
        Whom records propose links with, where links and parameters can be drawn at once.
    """

    def __init__(
        self,
        problem: Problem,
        state: State,
        observed: ObservedPairs,
        settings: RunSettings,
        executor: ShardExecutor | None = None,
        link_proposals: kernels.LinkProposals | None = None,
    ) -> None:
        self.problem = problem
        self.state = state
        self.observed = observed
        self.settings = settings
        self.executor = ThreadExecutor(problem) if executor is None else executor
        self.link_proposals = link_proposals
        self.draws = self.new_recorder()
        self.n_steps = 0
        self._n_moves_left = 0
        self._learned_at: Moment | None = None
        self._tuning: Tuning | None = None
        self._schedule: Schedule | None = None

    @property
    def n_moves(self) -> int:
        """The number of chaperones moves of a step, 0 before it is learned."""
        return 0 if self._schedule is None else self._schedule.on_pairs.n_moves

    @property
    def tuning(self) -> Tuning:
        """What was learned last; if nothing was, it is now."""
        if self._tuning is None:
            self._learn()
        assert self._tuning is not None
        return self._tuning

    def new_recorder(self) -> Recorder:
        """Return an empty record of draws."""
        return Recorder(self.problem.n_records, self.problem.layout.order)

    def checkpoint(self) -> Checkpoint:
        """Return a copy of all that the future depends on."""
        return Checkpoint(self.n_steps, self._n_moves_left, self._take_moment(), self._learned_at)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take up a checkpoint: learn again what had been learned, then be where it was."""
        if checkpoint.learned_at is not None:
            self._go_to(checkpoint.learned_at)
            self._learn()
        self._go_to(checkpoint.now)
        self.n_steps, self._n_moves_left = checkpoint.n_steps, checkpoint.n_moves_left

    def take_state(self, state: State) -> None:
        """Go on from a state; steps and draws that led there are not counted."""
        self.state = copy.deepcopy(state)
        self.executor.note_changes()

    def snapshot(self) -> Snapshot:
        """Return where the chain is now, as it would be kept."""
        self.state = ensure_statistics(self.state.rng, self.problem, self.state)
        return take_snapshot(self.problem, self.state)

    def advance(self, stop: Event, wanted: int, cores: int = 1) -> None:
        """Work for a moment; the draws do not depend on how long it is, nor on the cores."""
        if self._schedule is None:
            self._learn()
        until = time.monotonic() + SECONDS_BETWEEN_LOOKS
        while len(self.draws) < wanted and not stop.is_set() and time.monotonic() < until:
            assert self._schedule is not None
            dissolves = self.settings.dissolves(self.n_steps + 1)
            move, self._n_moves_left = self._schedule.on_pairs.next_portion(
                self._n_moves_left, cores, dissolves
            )
            self.state = move.step(self.state.rng, self.problem, self.state)
            if self._n_moves_left == 0:
                self._end_step(self._schedule)

    def _end_step(self, schedule: Schedule) -> None:
        """Let links and parameters follow; keep the state, and learn, when it is time."""
        problem, settings = self.problem, self.settings
        number = self.n_steps + 1
        # In shards, clusters between them come apart now and then only, but they do.
        if settings.dissolves(number) and (
            problem.layout.n_blocks == 1 or number in settings.learning_steps
        ):
            move = DissolvingMove(self.tuning.pairs.mixture)
            self.state = move.step(self.state.rng, problem, self.state)
            self.executor.note_changes()
        for link_move in schedule.on_links:
            self.state = link_move.step(self.state.rng, problem, self.state)
        self.n_steps = number
        self._n_moves_left = schedule.on_pairs.n_moves
        if settings.keeps(number):
            self.draws.add(*self.snapshot())
        update = schedule.on_parameters
        update = update._replace(holds_fitted=settings.holds_fitted(number))
        self.state = update.step(self.state.rng, problem, self.state)
        if number <= settings.learning:
            self.observed.observe(self.state.following, self.state.evidence.delta)
            if number in settings.learning_steps:
                self._learn()
                if number < settings.learning:
                    self.observed.forget()

    def _learn(self) -> None:
        """Learn which pairs moves are made on, and choose the moves of a step."""
        problem, executor = self.problem, self.executor
        self._learned_at = self._take_moment()
        self._tuning = learn_tuning(
            problem, self.state, self.observed, executor, self.link_proposals
        )
        self._schedule = choose_schedule(problem, self._tuning, executor, self.settings.moves)
        self._n_moves_left = self.n_moves

    def _take_moment(self) -> Moment:
        """Return a copy of the state, and of what was seen."""
        state = self.state._replace(statistics=None)
        return Moment(copy.deepcopy(state), self.observed.copy_observations())

    def _go_to(self, moment: Moment) -> None:
        """Be where the chain was, with what it had seen."""
        self.take_state(moment.state)
        self.observed.take(moment.observations)

"""Chains beside each other: warm-up, kept draws, progress, and an end at any moment."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Self

import numpy as np

from kolchin import threads
from kolchin.engines import engine_for
from kolchin.errors import SamplerError
from kolchin.model import Model
from kolchin.posterior import Posterior, Recorder
from kolchin.posterior.recorder import recorded, traces
from kolchin.posterior.traces import Traces
from kolchin.sampling.answered import with_answered, with_tied
from kolchin.sampling.candidates import candidate_pairs
from kolchin.sampling.chain import Chain
from kolchin.sampling.forests import can_be_forested
from kolchin.sampling.ground import ground_of
from kolchin.sampling.layout import Layout, arranged
from kolchin.sampling.link_proposals import list_proposals
from kolchin.sampling.plan import Plan, checked_plan
from kolchin.sampling.progress import Progress, shown
from kolchin.sampling.proposals import CANDIDATES, Proposals
from kolchin.sampling.rounds import Hands, OnEngine, OnThreads
from kolchin.sampling.starts import STARTS, start_labels
from kolchin.sampling.weights import can_be_sharded
from kolchin.workplace import Work, workplace

SECONDS_BETWEEN_LOOKS = 0.25
HELD = 8
"""In the first of so many parts of learning, what compared fields say stays as it was fitted: a
start without links would else teach that nothing is ever linked."""

MOVES_AT_ONCE = 200_000
"""Between two calls of the kernel a chain can be stopped."""


class Worker:
    """A chain with its plan: what has been done, and what was drawn."""

    def __init__(self, chain: Chain, proposals: Proposals, plan: Plan) -> None:
        self.chain = chain
        self.proposals = proposals
        self.plan = plan
        self.steps = 0
        self.draws = self.recorder()
        self.moves = self.moves_left = 0
        self._learnt_at: dict[str, Any] | None = None

    def recorder(self) -> Recorder:
        """Return an empty record of draws."""
        return Recorder(self.chain.model.n_records, self.chain.layout.order)

    def state(self) -> dict[str, Any]:
        """Return all that its future depends on; the draws, and what a model gives, apart.

        Learnt proposals may be large, and follow from the state in which they were learnt.
        """
        return {
            "steps": self.steps,
            "moves_left": self.moves_left,
            "now": self._moment(),
            "learnt_at": self._learnt_at,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state: learn again what had been learnt, then be where it was."""
        if state["learnt_at"] is not None:
            self._be_at(state["learnt_at"])
            self._learn()
        self._be_at(state["now"])
        self.steps, self.moves_left = state["steps"], state["moves_left"]

    def _moment(self) -> dict[str, Any]:
        return {"chain": self.chain.state(), "proposals": self.proposals.state()}

    def _be_at(self, moment: dict[str, Any]) -> None:
        self.chain.take(moment["chain"])
        self.proposals.take(moment["proposals"])

    def advance(self, stop: Event, wanted: int, cores: int = 1) -> None:
        """Work for a moment; the draws do not depend on how long it is, nor on the cores."""
        if self._learnt_at is None:
            self._learn()
        until = time.monotonic() + SECONDS_BETWEEN_LOOKS
        while len(self.draws) < wanted and not stop.is_set() and time.monotonic() < until:
            if self.chain.in_shards:
                self.chain.move_in_shards(self.plan.moves, self._dissolves, cores)
                self.moves_left = 0
            else:
                now = min(self.moves_left, MOVES_AT_ONCE)
                self.chain.move(now)
                self.moves_left -= now
            if self.moves_left == 0:
                self._end_step()

    @property
    def _dissolves(self) -> bool:
        """Whether this step is one of the first quarter, which finds the typical set."""
        return 4 * (self.steps + 1) <= self.plan.learning

    def _end_step(self) -> None:
        chain, plan = self.chain, self.plan
        # In shards, clusters between them come apart now and then only, but they do.
        now = not chain.in_shards or self.steps + 1 in _moments(plan.learning)
        if self._dissolves and now:
            chain.dissolve()
        chain.settle()
        self.steps += 1
        self.moves_left = self.moves
        if self.steps > plan.warmup and (self.steps - plan.warmup) % plan.thin == 0:
            self.draws.add(*chain.draw())
        chain.refresh(hold_levels=HELD * self.steps <= plan.learning)
        if self.steps <= plan.learning:
            chain.observe(self.proposals)
            if self.steps in _moments(plan.learning):
                self._learn()
                if self.steps < plan.learning:
                    self.proposals.forget()

    def _learn(self) -> None:
        self._learnt_at = self._moment()
        self.chain.learn(self.proposals)
        self.moves = self.plan.moves or self.chain.moves_a_step
        self.moves_left = self.moves


def _moments(n_steps: int) -> set[int]:
    """When proposals are learnt anew: often at first, while clusters form, then at the end."""
    return {1, 4, n_steps // 16, n_steps // 8, n_steps // 4, n_steps // 2, n_steps}


class Run:
    """The chains of one model side by side: they can be stopped and taken up again.

    ``wanted`` is how many draws of each chain come before the next look; ``ended`` says why the
    run has ended: "" (it has not), "draws", "enough", "interrupted" or "stopped".
    """

    def __init__(
        self, model: Model, plan: Plan, workers: Sequence[Worker], settings: dict[str, object]
    ) -> None:
        self.model = model
        self.plan = plan
        self.workers = workers
        self.settings = settings
        self.wanted = plan.draws
        self.seconds = 0.0
        self.ended = ""
        self.n_workers: int | None = None

    @classmethod
    def begin(
        cls,
        model: Model,
        plan: Plan,
        seed: int | np.random.SeedSequence | None,
        work: Work | None = None,
    ) -> Self:
        """Put chains at their starts; shards advance on an engine, if there is one."""
        workers = _workers(model, plan, seed, work)
        run = cls(model, plan, workers, _settings(model, plan, seed))
        run.n_workers = None if work is None else work.engine.n_workers
        return run

    @property
    def kept(self) -> int:
        """The number of draws that every chain has made."""
        return min(len(worker.draws) for worker in self.workers)

    def go_on(
        self,
        *,
        enough: Callable[[], bool] | None = None,
        most_draws: int | None = None,
        growth: float = 1.05,
        cores: int | None = None,
        report: Callable[[Progress], None] = lambda state: None,
        pause: Callable[[], bool] = lambda: False,
    ) -> None:
        """Draw until there are enough; ``pause`` is called between moments and may stop it."""
        stop = Event()
        self.ended = ""
        began = time.monotonic() - self.seconds
        n_cores = cores or self.n_workers or threads.n_cores()
        # On an engine, chains that wait for their workers cost nothing.
        with ThreadPoolExecutor(max(n_cores, len(self.workers) * bool(self.n_workers))) as pool:
            try:
                while not self._has_ended(enough, most_draws, growth):
                    if pause():
                        self.ended = "stopped"
                        break
                    at_work = [w for w in self.workers if len(w.draws) < self.wanted]
                    # Chains beside each other come first; cores that they leave go to shards.
                    shared = -(-n_cores // len(at_work))
                    for future in [
                        pool.submit(worker.advance, stop, self.wanted, shared) for worker in at_work
                    ]:
                        future.result()
                    self.seconds = time.monotonic() - began
                    report(self.progress())
            except KeyboardInterrupt:
                self.ended = "interrupted"
            finally:
                stop.set()

    def _has_ended(
        self, enough: Callable[[], bool] | None, most_draws: int | None, growth: float
    ) -> bool:
        """Tell whether all is drawn; raise the number of draws while they are too few."""
        if self.kept < self.wanted:
            return False
        if enough is None or (most_draws and self.wanted >= most_draws):
            self.ended = "draws"
        elif enough():
            self.ended = "enough"
        else:
            more = int(np.ceil(growth * self.wanted))
            self.wanted = min(more, most_draws or more)
        return bool(self.ended)

    def progress(self) -> Progress:
        """Say how far the run is."""
        workers, plan = self.workers, self.plan
        steps = sum(worker.steps for worker in workers)
        return Progress(
            share=steps / (len(workers) * (plan.warmup + self.wanted * plan.thin)),
            warming_up=any(worker.steps < plan.warmup for worker in workers),
            draws=sum(len(worker.draws) for worker in workers),
            total_draws=len(workers) * self.wanted,
            n_clusters=np.array([worker.draws.n_clusters[: self.kept] for worker in workers]),
            now=float(np.mean([worker.chain.n_clusters for worker in workers])),
            seconds=self.seconds,
        )

    def posterior(self) -> Posterior:
        """Collect what every chain has drawn."""
        if self.kept == 0:
            raise SamplerError(
                "Sampling was stopped before the first draw of every chain: nothing to keep. "
                "A shorter warm-up (warmup=) or fewer chains get there sooner."
            )
        return recorded([worker.draws for worker in self.workers], self.settings_now())

    def provisional(self) -> Posterior:
        """Return where the chains are now, as one draw of each: all there is during warm-up."""
        records = []
        for worker in self.workers:
            record = worker.recorder()
            record.add(*worker.chain.draw())
            records.append(record)
        return recorded(records, self.settings_now() | {"draws": 1})

    def traces(self) -> Traces:
        """Collect what convergence is judged by, of draws whose partitions are held or not."""
        return traces([worker.draws for worker in self.workers], self.settings)

    @property
    def settings_of_draws(self) -> dict[str, object]:
        """How draws are made, now as at any time after warm-up."""
        return self.settings | {"moves": [worker.moves for worker in self.workers]}

    def settings_now(self) -> dict[str, object]:
        """Say how the draws so far were made."""
        return self.settings_of_draws | {
            "draws": self.kept,
            "interrupted": self.ended == "interrupted",
        }


def sample(
    model: Model,
    chains: int = 4,
    draws: int = 1000,
    seed: int | np.random.SeedSequence | None = None,
    *,
    warmup: int | None = None,
    thin: int = 2,
    moves: int | None = None,
    enough: Callable[[Traces], bool] | None = None,
    most_draws: int | None = None,
    start: str | Sequence[str] = STARTS,
    cores: int | None = None,
    engine: Any = None,
    progress: bool | Callable[[Progress], None] | None = None,
) -> Posterior:
    """Draw from the posterior of a model by chaperones moves.

    Parameters
    ----------
    model
        Records, prior and likelihood.
    chains, draws
        Number of chains, and of kept draws of each.
    seed
        The same seed gives the same draws, on any number of cores.
    warmup
        Steps before the first kept draw, while pair proposals are learnt; by default half as
        many as ``draws`` and at least 400, or 60 to 150 where fields are compared. A step is some
        moves and an update of all parameters.
    thin
        Steps between two kept draws.
    moves
        Chaperones moves of a step; learnt by default, so that undecided pairs are visited a few
        times.
    enough, most_draws
        After ``draws`` draws, and whenever there are a twentieth more, ``enough`` looks at
        parameters and statistics so far; sampling ends when it says so, or at ``most_draws``.
    start
        ``"singletons"``, ``"random"`` (pairs), ``"blocks"`` (all likely links), or several of
        them, which chains take in turn.
    cores
        How many cores to use, all by default: for chains beside each other, and those that are left
        for the shards of each.
    engine
        Where shards advance: None for threads of this process, or as in :func:`kolchin.resolve`.
    progress
        True shows a progress bar, False none; None shows one on a terminal. A function is
        called with the state of the run about four times a second.

    Notes
    -----
    Ctrl-C ends sampling early and keeps what was drawn.

    Examples
    --------
    >>> from kolchin.records import Records
    >>> records = Records.from_codes([[0, 0], [0, 0], [1, 1], [2, 1]])
    >>> posterior = sample(Model(records), chains=2, draws=50, seed=1, progress=False)
    >>> posterior.labels.shape
    (2, 50, 4)
    """
    others = {"most_draws": most_draws, "cores": cores, "seed": seed}
    n_compared = 0 if model.compared is None else model.n_records
    plan = checked_plan(chains, draws, warmup, thin, moves, start, n_compared, **others)
    with (
        engine_for(engine) as running,
        workplace(running) as work,
        shown(progress) as report,
    ):
        run = Run.begin(model, plan, seed, work)
        look = None if enough is None else lambda: enough(run.traces())
        run.go_on(enough=look, most_draws=most_draws, cores=cores, report=report)
    return run.posterior()


def _settings(model: Model, plan: Plan, seed: object) -> dict[str, object]:
    return {
        "prior": repr(model.prior),
        "delta": repr(model.likelihood.delta),
        "tied": model.likelihood.tied,
        "coordinates": model.coordinates,
        **plan._asdict(),
        "seed": int(seed) if isinstance(seed, int | np.integer) else None,
    }


def _workers(
    model: Model,
    plan: Plan,
    seed: int | np.random.SeedSequence | None,
    work: Work | None = None,
) -> list[Worker]:
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(seed)
    pairs, scores = candidate_pairs(model, work)
    even = float(np.log(model.n_records))
    layout = Layout.single(model.n_records)
    pairs, scores = with_tied(model.answers, pairs, scores)
    if can_be_sharded(model):
        layout = arranged(model.n_records, pairs, scores, even)
    # Other answers may come later: where records are laid out must not depend on them.
    pairs, scores = with_answered(model.answers, pairs, scores)
    pairs = layout.moved(pairs)
    ground = ground_of(model, layout, work)
    layout = ground.layout
    # Pairs beside each other are about records beside each other.
    order = np.lexsort([pairs[:, 1], pairs[:, 0]])
    pairs, scores = pairs[order], scores[order]
    likely = pairs[scores > even]
    del order, scores
    tasks = work if layout.n_blocks > 1 else None
    if tasks is not None:
        tasks.store.put(CANDIDATES, pairs)
        pairs = tasks.store.get(CANDIDATES)
    picks = None
    if layout.n_blocks == 1 and can_be_forested(model):
        picks = list_proposals(model.n_records, pairs)
    workers = []
    for number, child in enumerate(seed.spawn(plan.chains)):
        rng = np.random.Generator(np.random.SFC64(child))
        kind = plan.starts[number % len(plan.starts)]
        constraints = ground.data.source, ground.data.answers
        labels = start_labels(rng, kind, model.n_records, likely, *constraints, layout)
        hands: Hands = OnThreads(ground)
        if tasks is not None:
            hands = OnEngine(tasks.engine, tasks.store, layout, f"chain-{number}")
        chain = Chain(model, rng, labels, layout=layout, data=ground.data, hands=hands, picks=picks)
        workers.append(Worker(chain, Proposals(pairs), plan))
    return workers

"""Chains beside each other: warm-up, kept draws, progress, and an end at any moment."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Self

import numpy as np

from kolchin import threads
from kolchin.engines import open_engine
from kolchin.errors import SamplerError
from kolchin.model import Model
from kolchin.posterior import Posterior
from kolchin.posterior.recorder import collect_posterior, collect_traces
from kolchin.posterior.traces import Traces
from kolchin.sampling.layout import Layout, Places, lay_out
from kolchin.sampling.moves.forest.weighed_forest import can_be_forested
from kolchin.sampling.problem import Problem
from kolchin.sampling.proposals.answered import add_answered_pairs, add_tied_pairs
from kolchin.sampling.proposals.candidates import find_candidate_pairs
from kolchin.sampling.proposals.link_proposals import list_link_proposals
from kolchin.sampling.proposals.observed_pairs import CANDIDATES, ObservedPairs
from kolchin.sampling.run.chain import Chain
from kolchin.sampling.run.endings import Ending
from kolchin.sampling.run.progress import Progress, show_progress
from kolchin.sampling.run.run_settings import RunSettings, check_run_settings
from kolchin.sampling.run.starts import STARTS, make_start_labels
from kolchin.sampling.shards.executors import EngineExecutor, ShardExecutor, ThreadExecutor
from kolchin.sampling.shards.shared_problem import share_problem
from kolchin.sampling.state import start_state
from kolchin.sampling.weights import can_be_sharded
from kolchin.workplace import Workplace, open_workplace


class Run:
    """The chains of one model side by side: they can be stopped and taken up again.

    ``wanted`` is how many draws of each chain come before the next look; ``ended`` says why the
    run has ended, if it has.
    """

    def __init__(
        self,
        model: Model,
        settings: RunSettings,
        chains: Sequence[Chain],
        description: dict[str, object],
    ) -> None:
        self.model = model
        self.settings = settings
        self.chains = chains
        self.description = description
        self.wanted = settings.draws
        self.seconds = 0.0
        self.ended = Ending.NOT_YET
        self.n_workers: int | None = None

    @classmethod
    def begin(
        cls,
        model: Model,
        settings: RunSettings,
        seed: int | np.random.SeedSequence | None,
        work: Workplace | None = None,
    ) -> Self:
        """Put chains at their starts; shards advance on an engine, if there is one."""
        chains = _build_chains(model, settings, seed, work)
        run = cls(model, settings, chains, _describe(model, settings, seed))
        run.n_workers = None if work is None else work.engine.n_workers
        return run

    @property
    def kept(self) -> int:
        """The number of draws that every chain has made."""
        return min(len(chain.draws) for chain in self.chains)

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
        self.ended = Ending.NOT_YET
        began = time.monotonic() - self.seconds
        n_cores = cores or self.n_workers or threads.count_cores()
        # On an engine, chains that wait for their workers cost nothing.
        with ThreadPoolExecutor(max(n_cores, len(self.chains) * bool(self.n_workers))) as pool:
            try:
                while not self._has_ended(enough, most_draws, growth):
                    if pause():
                        self.ended = Ending.STOPPED
                        break
                    at_work = [c for c in self.chains if len(c.draws) < self.wanted]
                    # Chains beside each other come first; cores that they leave go to shards.
                    shared = -(-n_cores // len(at_work))
                    for future in [
                        pool.submit(chain.advance, stop, self.wanted, shared) for chain in at_work
                    ]:
                        future.result()
                    self.seconds = time.monotonic() - began
                    report(self.progress())
            except KeyboardInterrupt:
                self.ended = Ending.INTERRUPTED
            finally:
                stop.set()

    def _has_ended(
        self, enough: Callable[[], bool] | None, most_draws: int | None, growth: float
    ) -> bool:
        """Tell whether all is drawn; raise the number of draws while they are too few."""
        if self.kept < self.wanted:
            return False
        if enough is None or (most_draws and self.wanted >= most_draws):
            self.ended = Ending.DRAWS
        elif enough():
            self.ended = Ending.ENOUGH
        else:
            more = int(np.ceil(growth * self.wanted))
            self.wanted = min(more, most_draws or more)
        return bool(self.ended)

    def progress(self) -> Progress:
        """Say how far the run is."""
        chains, settings = self.chains, self.settings
        steps = sum(chain.n_steps for chain in chains)
        return Progress(
            share=steps / (len(chains) * (settings.warmup + self.wanted * settings.thin)),
            warming_up=any(chain.n_steps < settings.warmup for chain in chains),
            draws=sum(len(chain.draws) for chain in chains),
            total_draws=len(chains) * self.wanted,
            n_clusters=np.array([chain.draws.n_clusters[: self.kept] for chain in chains]),
            now=float(np.mean([chain.state.n_clusters for chain in chains])),
            seconds=self.seconds,
        )

    def posterior(self) -> Posterior:
        """Collect what every chain has drawn."""
        if self.kept == 0:
            raise SamplerError(
                "Sampling was stopped before the first draw of every chain: nothing to keep. "
                "A shorter warm-up (warmup=) or fewer chains get there sooner."
            )
        return collect_posterior([chain.draws for chain in self.chains], self.describe_settings())

    def collect_provisional(self) -> Posterior:
        """Return where the chains are now, as one draw of each: all there is during warm-up."""
        records = []
        for chain in self.chains:
            record = chain.new_recorder()
            record.add(*chain.snapshot())
            records.append(record)
        return collect_posterior(records, self.describe_settings() | {"draws": 1})

    def collect_traces(self) -> Traces:
        """Collect what convergence is judged by, of draws whose partitions are held or not."""
        return collect_traces([chain.draws for chain in self.chains], self.description)

    @property
    def settings_of_draws(self) -> dict[str, object]:
        """What was asked for, and the moves of a step: how draws are made from warm-up on."""
        return self.description | {"moves": [chain.n_moves for chain in self.chains]}

    def describe_settings(self) -> dict[str, object]:
        """Say how the draws so far were made."""
        return self.settings_of_draws | {
            "draws": self.kept,
            "interrupted": self.ended == Ending.INTERRUPTED,
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
    settings = check_run_settings(
        chains, draws, warmup, thin, moves, start, model.likelihood.n_compared, **others
    )
    with (
        open_engine(engine) as running,
        open_workplace(running) as work,
        show_progress(progress) as report,
    ):
        run = Run.begin(model, settings, seed, work)
        look = None if enough is None else lambda: enough(run.collect_traces())
        run.go_on(enough=look, most_draws=most_draws, cores=cores, report=report)
    return run.posterior()


def _describe(model: Model, settings: RunSettings, seed: object) -> dict[str, object]:
    """Say what was asked for, as it is kept with the draws."""
    return {
        "prior": repr(model.prior),
        **model.likelihood.settings,
        "coordinates": model.coordinates,
        **settings._asdict(),
        "seed": int(seed) if isinstance(seed, int | np.integer) else None,
    }


def _build_chains(
    model: Model,
    settings: RunSettings,
    seed: int | np.random.SeedSequence | None,
    work: Workplace | None = None,
) -> list[Chain]:
    """Put chains at their starts, each with its own stream of random numbers."""
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(seed)
    problem, pairs, likely = _lay_out_problem(model, work)
    layout = problem.layout
    tasks = work if layout.n_blocks > 1 else None
    if tasks is not None:
        tasks.store.put(CANDIDATES, pairs)
        pairs = tasks.store.get(CANDIDATES)
    link_proposals = None
    if layout.n_blocks == 1 and can_be_forested(model):
        link_proposals = list_link_proposals(model.n_records, pairs)
    chains = []
    for number, child in enumerate(seed.spawn(settings.chains)):
        rng = np.random.Generator(np.random.SFC64(child))
        kind = settings.starts[number % len(settings.starts)]
        data = problem.data
        labels = make_start_labels(
            rng, kind, model.n_records, likely, data.source, data.answers, layout
        )
        executor: ShardExecutor = ThreadExecutor(problem)
        if tasks is not None:
            executor = EngineExecutor(tasks.engine, tasks.store, layout, f"chain-{number}")
        state, observed = start_state(rng, problem, labels), ObservedPairs(pairs)
        chains.append(Chain(problem, state, observed, settings, executor, link_proposals))
    return chains


def _lay_out_problem(model: Model, work: Workplace | None) -> tuple[Problem, Places, Places]:
    """Return the problem, its candidate pairs by place, and those of them that are likely links."""
    pairs, scores = find_candidate_pairs(model, work)
    even = float(np.log(model.n_records))
    layout = Layout.single(model.n_records)
    pairs, scores = add_tied_pairs(model.answers, pairs, scores)
    if can_be_sharded(model):
        layout = lay_out(model.n_records, pairs, scores, even)
    # Other answers may come later: where records are laid out must not depend on them.
    pairs, scores = add_answered_pairs(model.answers, pairs, scores)
    places = layout.to_places(pairs)
    problem = share_problem(model, layout, work)
    # Pairs beside each other are about records beside each other.
    order = np.lexsort([places[:, 1], places[:, 0]])
    places, scores = Places(places[order]), scores[order]
    return problem, places, Places(places[scores > even])

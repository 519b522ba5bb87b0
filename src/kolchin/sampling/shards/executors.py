"""Where the shards of a round advance: on threads of this process, or as tasks of an engine.

A task names what it needs; nothing large is sent along. What no round changes is in the store once,
pairs whenever they are learned, and the rings of the blocks in versions that tasks write and nobody
changes. A round counts when all its tasks have answered: only then do their versions take the place
of those before. A task does the same whenever and wherever it is done, so it may be done again.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kolchin.engines import Engine
from kolchin.sampling.layout import Layout, Shard
from kolchin.sampling.problem import Problem
from kolchin.sampling.proposals.learning import LearnedPairs, LearningInput, learn_pairs
from kolchin.sampling.proposals.observed_pairs import CANDIDATES, Observations, ObservedPairs
from kolchin.sampling.shards.advancing import RoundInput, ShardResult, advance_shard
from kolchin.sampling.shards.shared_problem import PROBLEM
from kolchin.store import Store
from kolchin.workplace import fetch_held

Rings = NDArray[np.int32]


class ShardExecutor(Protocol):
    """Somebody to let the shards of a chain's rounds advance, and to learn pairs."""

    def advance(
        self,
        shards: Sequence[Shard],
        given: RoundInput,
        learned: LearnedPairs,
        following: Rings,
        cores: int,
    ) -> list[ShardResult]:
        """Let shards advance, on so many cores; the rings are changed in place."""

    def note_changes(self, *blocks: int) -> None:
        """Take note that somebody else changed the rings of these blocks; of all if none named."""

    def learn(self, observed: ObservedPairs, given: LearningInput) -> LearnedPairs:
        """Learn which pairs moves are to be made on."""


class ThreadExecutor:
    """Threads of this process, which all work on the same rings."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def advance(
        self,
        shards: Sequence[Shard],
        given: RoundInput,
        learned: LearnedPairs,
        following: Rings,
        cores: int,
    ) -> list[ShardResult]:
        """Let shards advance, on so many cores; the rings are changed in place."""
        advance = partial(
            advance_shard,
            given=given,
            problem=self.problem,
            prior=given.condition_prior(self.problem),
            learned=learned,
            following=following,
        )
        if cores == 1:
            return [advance(shard) for shard in shards]
        with ThreadPoolExecutor(cores) as pool:
            return list(pool.map(advance, shards))

    def note_changes(self, *blocks: int) -> None:
        """Nothing to do: the rings are in one place."""

    def learn(self, observed: ObservedPairs, given: LearningInput) -> LearnedPairs:
        """Learn which pairs moves are to be made on."""
        return learn_pairs(self.problem, observed, given)


class BlockRings(NamedTuple):
    """The rings of some blocks after a round, one block after the other."""

    blocks: tuple[int, ...]
    following: Rings

    @classmethod
    def of(cls, layout: Layout, blocks: Iterable[int], following: Rings) -> "BlockRings":
        """Take the rings of some blocks."""
        blocks = tuple(blocks)
        return cls(blocks, np.concatenate([following[layout.find_range(b)] for b in blocks]))

    def write(self, layout: Layout, wanted: Iterable[int], following: Rings) -> None:
        """Write the rings of those of its blocks that are wanted into those of all records."""
        ends = np.cumsum([layout.lengths[b] for b in self.blocks])
        for block in wanted:
            end = ends[self.blocks.index(block)]
            following[layout.find_range(block)] = self.following[end - layout.lengths[block] : end]


class RoundTask(NamedTuple):
    """Shards to let advance, the names of what that takes, and of what is to come of it.

    ``versions`` has a name for each block of the shards.
    """

    store: Store
    problem: str
    learned: str
    given: str
    shards: tuple[tuple[int, ...], ...]
    versions: dict[int, str]
    outcome: str


class RoundOutcome(NamedTuple):
    """What came of a task: new rings, where they are new, and what the shards counted."""

    rings: BlockRings
    places: NDArray[np.int64]
    results: list[ShardResult]


def run_round_task(task: RoundTask) -> str:
    """Let the shards of a task advance, and write down what came of it."""
    store = task.store
    problem: Problem = fetch_held(store, task.problem)
    learned: LearnedPairs = fetch_held(store, task.learned)
    given: RoundInput = store.get(task.given)
    layout = problem.layout
    blocks = tuple(task.versions)
    # Memory that is never touched costs nothing: the rings of other blocks are not there.
    following = np.empty(int(layout.bounds[-1]), dtype=np.int32)
    for name in sorted(set(task.versions.values())):
        wanted = [block for block in blocks if task.versions[block] == name]
        _read_rings(store, name).write(layout, wanted, following)
    before = BlockRings.of(layout, blocks, following)
    prior = given.condition_prior(problem)
    results = [
        advance_shard(layout.make_shard(*shard), given, problem, prior, learned, following)
        for shard in task.shards
    ]
    after = BlockRings.of(layout, blocks, following)
    places = np.flatnonzero(after.following != before.following)
    store.put(task.outcome, RoundOutcome(after, places, results))
    return task.outcome


def _read_rings(store: Store, name: str) -> BlockRings:
    """Return a version of the rings: of a task, or written by the driver."""
    value = store.get(name)
    rings: BlockRings = value.rings if isinstance(value, RoundOutcome) else value
    return rings


class LearningTask(NamedTuple):
    """What a chain observed, by its name in a store, and the name of what is learned from it."""

    store: Store
    observed: str
    name: str


def run_learning_task(task: LearningTask) -> None:
    """Write down what is learned from what a chain observed."""
    store = task.store
    observations: Observations
    given: LearningInput
    observations, given = store.get(task.observed)
    observed = ObservedPairs(fetch_held(store, CANDIDATES))
    observed.take(observations)
    store.put(task.name, learn_pairs(fetch_held(store, PROBLEM), observed, given))


class EngineExecutor:
    """Tasks of an engine; ``name`` is what the chain's objects in the store begin with."""

    def __init__(self, engine: Engine, store: Store, layout: Layout, name: str) -> None:
        self.engine = engine
        self.store = store
        self.layout = layout
        self.name = name
        self._versions: dict[int, str] = {}
        self._written: set[str] = set()
        self._learned: LearnedPairs | None = None
        self._learned_name = ""
        self._n_written = 0

    def advance(
        self,
        shards: Sequence[Shard],
        given: RoundInput,
        learned: LearnedPairs,
        following: Rings,
        cores: int,
    ) -> list[ShardResult]:
        """Let shards advance, in about as many tasks as there are cores; then commit."""
        self._share_learned(learned)
        self._write_lacking(following)
        name = self._new_name("round")
        self.store.put(name, given)
        tasks = [
            self._make_task(f"{name}-{k}", name, shards[k::cores])
            for k in range(min(cores, len(shards)))
        ]
        outcomes: list[RoundOutcome] = [
            self.store.get(answer) for answer in self.engine.run(run_round_task, tasks)
        ]
        self._commit(tasks, outcomes, following)
        self.store.delete(name)
        # In the order of the shards: sums of floating-point numbers depend on it.
        results = [result for outcome in outcomes for result in outcome.results]
        order = [k for first in range(len(tasks)) for k in range(first, len(shards), cores)]
        by_shard = sorted(zip(order, results, strict=True), key=lambda one: one[0])
        return [result for _, result in by_shard]

    def note_changes(self, *blocks: int) -> None:
        """Take note that somebody else changed the rings of these blocks; of all if none named."""
        for block in blocks or tuple(self._versions):
            self._versions.pop(block, None)

    def learn(self, observed: ObservedPairs, given: LearningInput) -> LearnedPairs:
        """Let a task learn which pairs moves are to be made on; they stay in the store."""
        seen, name = self._new_name("observed"), self._new_name("learned")
        self.store.put(seen, (observed.copy_observations(), given))
        self.engine.run(run_learning_task, [LearningTask(self.store, seen, name)])
        self.store.delete(seen)
        return self._keep_learned(self.store.get(name), name)

    def _make_task(self, outcome: str, given: str, shards: Sequence[Shard]) -> RoundTask:
        """Name what a task needs to let some shards advance."""
        blocks = tuple(shard.blocks for shard in shards)
        versions = {block: self._versions[block] for pair in blocks for block in pair}
        return RoundTask(self.store, PROBLEM, self._learned_name, given, blocks, versions, outcome)

    def _commit(
        self, tasks: list[RoundTask], outcomes: list[RoundOutcome], following: Rings
    ) -> None:
        """Let the versions of a round take the place of those before, which are deleted."""
        for task, (rings, places, _) in zip(tasks, outcomes, strict=True):
            self._versions |= dict.fromkeys(rings.blocks, task.outcome)
            following[self.layout.find_places(rings.blocks, places)] = rings.following[places]
        self._written |= {task.outcome for task in tasks}
        old = self._written - set(self._versions.values())
        self.store.delete(*sorted(old))
        self._written -= old

    def _share_learned(self, learned: LearnedPairs) -> None:
        """Put what was learned elsewhere into the store, once."""
        if self._learned is None or any(
            a is not b for a, b in zip(learned, self._learned, strict=True)
        ):
            name = self._new_name("learned")
            self.store.put(name, learned)
            self._keep_learned(learned, name)

    def _keep_learned(self, learned: LearnedPairs, name: str) -> LearnedPairs:
        """Let what was learned take the place of what was known before."""
        if self._learned_name:
            self.store.delete(self._learned_name)
        self._learned, self._learned_name = learned, name
        return learned

    def _write_lacking(self, following: Rings) -> None:
        """Write the rings of those blocks that have no version."""
        lacking = [b for b in range(self.layout.n_blocks) if b not in self._versions]
        if lacking:
            name = self._new_name("rings")
            self.store.put(name, BlockRings.of(self.layout, lacking, following))
            self._versions |= dict.fromkeys(lacking, name)
            self._written.add(name)

    def _new_name(self, kind: str) -> str:
        """Return a name that was not used before."""
        self._n_written += 1
        return f"{self.name}-{self._n_written}-{kind}"

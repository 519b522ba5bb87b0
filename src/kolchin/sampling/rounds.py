"""Where the shards of a round advance: on threads of this process, or as tasks of an engine.

A task names what it needs; nothing large is sent along. What no round changes is in the store once,
pairs whenever they are learnt, and the rings of the blocks in versions that tasks write and nobody
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
from kolchin.sampling.ground import GROUND, Ground
from kolchin.sampling.layout import Layout, Shard
from kolchin.sampling.learning import Learning, Standing, learn, learnt
from kolchin.sampling.proposals import Proposals
from kolchin.sampling.shards import Advance, Learnt, Sent, advance
from kolchin.store import Store
from kolchin.workplace import held

Rings = NDArray[np.int32]


class Hands(Protocol):
    """Somebody to let the shards of a chain's rounds advance."""

    def advance(
        self, shards: Sequence[Shard], sent: Sent, learnt: Learnt, following: Rings, cores: int
    ) -> list[Advance]:
        """Let shards advance, on so many cores; the rings are changed in place."""

    def changed(self, *blocks: int) -> None:
        """Take note that somebody else changed the rings of these blocks; of all if none named."""

    def learn(self, proposals: Proposals, standing: Standing) -> Learnt:
        """Learn which pairs moves are to be made on."""


class OnThreads:
    """Threads of this process, which all work on the same rings."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground

    def advance(
        self, shards: Sequence[Shard], sent: Sent, learnt: Learnt, following: Rings, cores: int
    ) -> list[Advance]:
        """Let shards advance, on so many cores; the rings are changed in place."""
        fields = sent.fields(self.ground.model, self.ground.data)
        prior = sent.prior(fields, self.ground.layout)
        work = partial(
            advance, sent=sent, fields=fields, prior=prior, learnt=learnt, following=following
        )
        if cores == 1:
            return [work(shard) for shard in shards]
        with ThreadPoolExecutor(cores) as pool:
            return list(pool.map(work, shards))

    def changed(self, *blocks: int) -> None:
        """Nothing to do: the rings are in one place."""

    def learn(self, proposals: Proposals, standing: Standing) -> Learnt:
        """Learn which pairs moves are to be made on."""
        return learnt(self.ground, proposals, standing)


class Version(NamedTuple):
    """The rings of some blocks after a round, one block after the other."""

    blocks: tuple[int, ...]
    following: Rings

    @classmethod
    def of(cls, layout: Layout, blocks: Iterable[int], following: Rings) -> "Version":
        """Take the rings of some blocks."""
        blocks = tuple(blocks)
        return cls(blocks, np.concatenate([following[layout.range_of(b)] for b in blocks]))

    def written(self, layout: Layout, wanted: Iterable[int], following: Rings) -> None:
        """Write the rings of those of its blocks that are wanted into those of all records."""
        ends = np.cumsum([layout.lengths[b] for b in self.blocks])
        for block in wanted:
            end = ends[self.blocks.index(block)]
            following[layout.range_of(block)] = self.following[end - layout.lengths[block] : end]


class Task(NamedTuple):
    """Shards to let advance, the names of what that takes, and of what is to come of it.

    ``versions`` has a name for each block of the shards.
    """

    store: Store
    ground: str
    learnt: str
    sent: str
    shards: tuple[tuple[int, ...], ...]
    versions: dict[int, str]
    outcome: str


class Outcome(NamedTuple):
    """What came of a task: new rings, where they are new, and what the shards counted."""

    version: Version
    places: NDArray[np.int64]
    parts: list[Advance]


def advanced(task: Task) -> str:
    """Let the shards of a task advance, and write down what came of it."""
    store = task.store
    ground: Ground = held(store, task.ground)
    learnt: Learnt = held(store, task.learnt)
    sent: Sent = store.get(task.sent)
    layout = ground.layout
    blocks = tuple(task.versions)
    # Memory that is never touched costs nothing: the rings of other blocks are not there.
    following = np.empty(int(layout.bounds[-1]), dtype=np.int32)
    for name in sorted(set(task.versions.values())):
        wanted = [block for block in blocks if task.versions[block] == name]
        _version(store, name).written(layout, wanted, following)
    before = Version.of(layout, blocks, following)
    fields = sent.fields(ground.model, ground.data)
    prior = sent.prior(fields, layout)
    parts = [
        advance(layout.shard(*shard), sent, fields, prior, learnt, following)
        for shard in task.shards
    ]
    after = Version.of(layout, blocks, following)
    places = np.flatnonzero(after.following != before.following)
    store.put(task.outcome, Outcome(after, places, parts))
    return task.outcome


def _version(store: Store, name: str) -> Version:
    """Return a version: of a task, or written by the driver."""
    value = store.get(name)
    version: Version = value.version if isinstance(value, Outcome) else value
    return version


class OnEngine:
    """Tasks of an engine; ``name`` is what the chain's objects in the store begin with."""

    def __init__(self, engine: Engine, store: Store, layout: Layout, name: str) -> None:
        self.engine = engine
        self.store = store
        self.layout = layout
        self.name = name
        self._versions: dict[int, str] = {}
        self._written: set[str] = set()
        self._learnt: Learnt | None = None
        self._learnt_name = ""
        self._n_written = 0

    def advance(
        self, shards: Sequence[Shard], sent: Sent, learnt: Learnt, following: Rings, cores: int
    ) -> list[Advance]:
        """Let shards advance, in about as many tasks as there are cores; then commit."""
        self._tell(learnt)
        self._catch_up(following)
        name = self._named("round")
        self.store.put(name, sent)
        tasks = [
            self._task(f"{name}-{k}", name, shards[k::cores])
            for k in range(min(cores, len(shards)))
        ]
        outcomes: list[Outcome] = [
            self.store.get(answer) for answer in self.engine.run(advanced, tasks)
        ]
        self._commit(tasks, outcomes, following)
        self.store.delete(name)
        # In the order of the shards: sums of floating-point numbers depend on it.
        parts = [part for outcome in outcomes for part in outcome.parts]
        order = [k for first in range(len(tasks)) for k in range(first, len(shards), cores)]
        return [part for _, part in sorted(zip(order, parts, strict=True), key=lambda one: one[0])]

    def changed(self, *blocks: int) -> None:
        """Take note that somebody else changed the rings of these blocks; of all if none named."""
        for block in blocks or tuple(self._versions):
            self._versions.pop(block, None)

    def learn(self, proposals: Proposals, standing: Standing) -> Learnt:
        """Let a task learn which pairs moves are to be made on; they stay in the store."""
        saw, name = self._named("saw"), self._named("learnt")
        self.store.put(saw, (proposals.state(), standing))
        self.engine.run(learn, [Learning(self.store, saw, name)])
        self.store.delete(saw)
        return self._know(self.store.get(name), name)

    def _task(self, outcome: str, sent: str, shards: Sequence[Shard]) -> Task:
        blocks = [shard.blocks for shard in shards]
        versions = {block: self._versions[block] for pair in blocks for block in pair}
        return Task(self.store, GROUND, self._learnt_name, sent, tuple(blocks), versions, outcome)

    def _commit(self, tasks: list[Task], outcomes: list[Outcome], following: Rings) -> None:
        """Let the versions of a round take the place of those before, which are deleted."""
        for task, (version, places, _) in zip(tasks, outcomes, strict=True):
            self._versions |= dict.fromkeys(version.blocks, task.outcome)
            following[self.layout.places(version.blocks, places)] = version.following[places]
        self._written |= {task.outcome for task in tasks}
        old = self._written - set(self._versions.values())
        self.store.delete(*sorted(old))
        self._written -= old

    def _tell(self, learnt: Learnt) -> None:
        """Put what was learnt elsewhere into the store, once."""
        if self._learnt is None or any(
            a is not b for a, b in zip(learnt, self._learnt, strict=True)
        ):
            name = self._named("learnt")
            self.store.put(name, learnt)
            self._know(learnt, name)

    def _know(self, learnt: Learnt, name: str) -> Learnt:
        """Let what was learnt take the place of what was known before."""
        if self._learnt_name:
            self.store.delete(self._learnt_name)
        self._learnt, self._learnt_name = learnt, name
        return learnt

    def _catch_up(self, following: Rings) -> None:
        """Write the rings of those blocks that have no version."""
        lacking = [b for b in range(self.layout.n_blocks) if b not in self._versions]
        if lacking:
            name = self._named("rings")
            self.store.put(name, Version.of(self.layout, lacking, following))
            self._versions |= dict.fromkeys(lacking, name)
            self._written.add(name)

    def _named(self, kind: str) -> str:
        """Return a name that was not used before."""
        self._n_written += 1
        return f"{self.name}-{self._n_written}-{kind}"

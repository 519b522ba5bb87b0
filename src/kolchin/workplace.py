"""Work in parts: an engine for the tasks, and a store by which they find each other's objects."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from kolchin.engines import Engine
from kolchin.engines.here import Here
from kolchin.memory import give_back_arrays
from kolchin.store import DirectoryStore, MemoryStore, Store

Item = TypeVar("Item")
Result = TypeVar("Result")

PREFIX = "store-"
HELD = 48
"""So many objects that tasks have in common are mapped into a worker's memory at the same time."""


class Workplace(NamedTuple):
    """An engine, and the store by which the driver and its workers find each other's objects."""

    engine: Engine
    store: Store

    @property
    def is_here(self) -> bool:
        """Whether all is done in this process, whose memory is the store."""
        return isinstance(self.store, MemoryStore)

    def run(self, task: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return the result for each item, in order; no engine is asked for nothing."""
        return self.engine.run(task, items) if items else []


def work_here() -> Workplace:
    """Return threads of this process, and its memory."""
    return Workplace(Here(), MemoryStore())


def fetch_held(store: Store, name: str) -> Any:
    """Return an object of the store that many tasks need."""
    return store.get(name) if isinstance(store, MemoryStore) else _call_mapped(store, name)


@lru_cache(HELD)
def _call_mapped(store: Any, name: str) -> Any:
    return store.get(name)


@contextmanager
def open_workplace(engine: Engine | None, folder: Path | None = None) -> Iterator[Workplace | None]:
    """Give an engine a store in a folder, or in a temporary one; None without an engine.

    The store is new and has a name of its own: what tasks of a driver that was killed may still
    write does not get in the way. This process holds little itself, and gives back what it does
    not hold.
    """
    if engine is None:
        yield None
        return
    give_back_arrays()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(f"{PREFIX}*"):
            shutil.rmtree(old, ignore_errors=True)
    path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder)).resolve()
    if folder is not None:
        # Workers may be of another user, who sees what the folder lets them see; nobody else does.
        path.chmod(folder.stat().st_mode & 0o777)
    try:
        yield Workplace(engine, DirectoryStore(path))
    finally:
        shutil.rmtree(path, ignore_errors=True)

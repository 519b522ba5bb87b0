"""An engine and a store for the length of a run."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from kolchin.engines import Engine
from kolchin.sampling.layout import Layout
from kolchin.sampling.rounds import Ground, OnEngine
from kolchin.store import Directory, Store

GROUND = "ground"
PREFIX = "store-"


class Workplace(NamedTuple):
    """An engine, and the store by which the driver and its workers find each other's objects."""

    engine: Engine
    store: Store

    def prepared(self, ground: Ground) -> Ground:
        """Put what no round changes into the store, and return it as it is there."""
        model = ground.model
        self.store.put(GROUND, ground._replace(model=model.without_records()))
        stored: Ground = self.store.get(GROUND)
        return stored._replace(model=model)

    def hands(self, layout: Layout, name: str) -> OnEngine:
        """Return somebody for the rounds of one chain."""
        return OnEngine(self.engine, self.store, GROUND, layout, name)


@contextmanager
def workplace(engine: Engine | None, folder: Path | None = None) -> Iterator[Workplace | None]:
    """Give an engine a store in a folder, or in a temporary one; None without an engine.

    The store is new and has a name of its own: what tasks of a driver that was killed may still
    write does not get in the way.
    """
    if engine is None:
        yield None
        return
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(f"{PREFIX}*"):
            shutil.rmtree(old, ignore_errors=True)
    path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder)).resolve()
    if folder is not None:
        # Workers may be of another user, who sees what the folder lets them see; nobody else does.
        path.chmod(folder.stat().st_mode & 0o777)
    try:
        yield Workplace(engine, Directory(path))
    finally:
        shutil.rmtree(path, ignore_errors=True)

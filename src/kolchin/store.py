"""Objects by name on shared storage: what tasks read and write instead of sending it along.

Objects are never changed: a new state is a new name. The arrays of an object stand in its file as
they are in memory and are mapped when it is read, so that a reader pays for what it looks at, and
readers on one machine share it. Whoever can write to a store can run code in those who read it,
as with any engine: it is for the processes of one run, and goes when the run ends.
"""

import io
import mmap
import pickle
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 64
_LENGTH = 8


class Store(Protocol):
    """Where the processes of a run find each other's objects; a store can be pickled and hashed."""

    def put(self, name: str, value: object) -> None:
        """Write an object, whole or not at all; writing the same one again changes nothing."""

    def get(self, name: str) -> Any:
        """Return an object."""

    def delete(self, *names: str) -> None:
        """Delete objects, which may be gone already."""

    def __hash__(self) -> int: ...


class StoreShelf:
    """A store, and the names of what was put there."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.names: list[str] = []

    def put(self, name: str, value: object) -> None:
        """Put something into the store."""
        self.names.append(name)
        self.store.put(name, value)

    def clear(self) -> None:
        """Take all of it away."""
        self.store.delete(*self.names)


class JoinedArray:
    """An array of many parts, of which there is one at a time in memory while it is written."""

    def __init__(self, dtype: Any, parts: Iterable[NDArray[Any]]) -> None:
        self.dtype = np.dtype(dtype)
        self.parts = parts


class MemoryStore:
    """The memory of this process, for its threads: what is put there is what others get."""

    def __init__(self) -> None:
        self._objects: dict[str, Any] = {}

    def put(self, name: str, value: object) -> None:
        """Keep an object."""
        self._objects[name] = value

    def get(self, name: str) -> Any:
        """Return an object."""
        return self._objects[name]

    def delete(self, *names: str) -> None:
        """Delete objects, which may be gone already."""
        for name in names:
            self._objects.pop(name, None)


class _Place(NamedTuple):
    """Where an array is in a file; of arrays that were joined the type too."""

    begin: int
    size: int
    readonly: bool = True
    dtype: Any = None


class _Pickler(pickle.Pickler):
    """Puts joined arrays aside, to be written part by part."""

    def __init__(self, file: io.BytesIO, buffers: list[pickle.PickleBuffer]) -> None:
        super().__init__(file, protocol=5, buffer_callback=buffers.append)
        self.joined: list[JoinedArray] = []

    def persistent_id(self, value: Any) -> int | None:
        """Return the number of a joined array."""
        if not isinstance(value, JoinedArray):
            return None
        self.joined.append(value)
        return len(self.joined) - 1


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, buffers: list[Any], joined: list[Any]) -> None:
        super().__init__(file, buffers=buffers)
        self.joined = joined

    def persistent_load(self, number: int) -> Any:
        """Return a joined array by its number."""
        return self.joined[number]


@dataclass(frozen=True)
class DirectoryStore:
    """A directory that all processes see under the same path."""

    path: Path

    def put(self, name: str, value: object) -> None:
        """Write an object, whole or not at all; writing the same one again changes nothing."""
        buffers: list[pickle.PickleBuffer] = []
        pickled = io.BytesIO()
        pickler = _Pickler(pickled, buffers)
        pickler.dump(value)
        part = self.path / f".{name}.{uuid4().hex}.part"
        try:
            with part.open("xb") as file:
                places = []
                for buffer in buffers:
                    raw = buffer.raw()
                    file.write(bytes(-file.tell() % ALIGNMENT))
                    places.append(_Place(file.tell(), raw.nbytes, raw.readonly))
                    file.write(raw)
                joined = []
                for whole in pickler.joined:
                    file.write(bytes(-file.tell() % ALIGNMENT))
                    begin = file.tell()
                    for array in whole.parts:
                        file.write(np.ascontiguousarray(array, whole.dtype).data)
                    joined.append(_Place(begin, file.tell() - begin, dtype=whole.dtype))
                content = _Place(file.tell(), file.write(pickled.getbuffer()))
                ending = pickle.dumps((places, joined, content), protocol=5)
                file.write(ending)
                file.write(len(ending).to_bytes(_LENGTH, "little"))
            part.replace(self.path / name)
        finally:
            part.unlink(missing_ok=True)

    def get(self, name: str) -> Any:
        """Return an object; its arrays are those of the file, and changes to them are not kept."""
        with (self.path / name).open("rb") as file:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
        length = int.from_bytes(mapped[-_LENGTH:], "little")
        places, joined, content = pickle.loads(mapped[-_LENGTH - length : -_LENGTH])

        def take(place: _Place) -> memoryview:
            view = mapped[place.begin : place.begin + place.size]
            return view.toreadonly() if place.readonly else view

        whole = [np.frombuffer(take(place), place.dtype) for place in joined]
        buffers = [take(one) for one in places]
        return _Unpickler(io.BytesIO(take(content)), buffers, whole).load()

    def delete(self, *names: str) -> None:
        """Delete objects, which may be gone already; who has one open keeps it.

        Windows deletes no file that is mapped: it goes with the whole store.
        """
        for name in names:
            with suppress(PermissionError):
                (self.path / name).unlink(missing_ok=True)

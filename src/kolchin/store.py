"""Objects by name on shared storage: what tasks read and write instead of sending it along.

Objects are never changed: a new state is a new name. The arrays of an object stand in its file as
they are in memory and are mapped when it is read, so that a reader pays for what it looks at, and
readers on one machine share it. Whoever can write to a store can run code in those who read it,
as with any engine: it is for the processes of one run, and goes when the run ends.
"""

import mmap
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

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


@dataclass(frozen=True)
class Directory:
    """A directory that all processes see under the same path."""

    path: Path

    def put(self, name: str, value: object) -> None:
        """Write an object, whole or not at all; writing the same one again changes nothing."""
        buffers: list[pickle.PickleBuffer] = []
        content = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        part = self.path / f".{name}.{uuid4().hex}.part"
        try:
            with part.open("xb") as file:
                places = []
                for buffer in buffers:
                    raw = buffer.raw()
                    file.write(bytes(-file.tell() % ALIGNMENT))
                    places.append((file.tell(), raw.nbytes, raw.readonly))
                    file.write(raw)
                ending = pickle.dumps((places, content), protocol=5)
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
        places, content = pickle.loads(mapped[-_LENGTH - length : -_LENGTH])
        buffers = [mapped[begin : begin + size] for begin, size, _ in places]
        return pickle.loads(
            content,
            buffers=[
                buffer.toreadonly() if readonly else buffer
                for buffer, (_, _, readonly) in zip(buffers, places, strict=True)
            ],
        )

    def delete(self, *names: str) -> None:
        """Delete objects, which may be gone already; who has one open keeps it."""
        for name in names:
            (self.path / name).unlink(missing_ok=True)

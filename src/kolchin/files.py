"""Files that appear whole or not at all, and stay after a power cut."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replace_whole(path: Path) -> Iterator[Path]:
    """Yield a path to write to, which takes the place of the given one when all went well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        _settle(part)
        part.replace(path)
        _settle(path.parent)
    finally:
        part.unlink(missing_ok=True)


def _settle(path: Path) -> None:
    """Wait until a file, or a folder's list of files, is on the disk itself."""
    is_folder = path.is_dir()
    if is_folder and os.name == "nt":  # pragma: no cover
        return
    handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

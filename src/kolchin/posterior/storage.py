"""Draws on disk: NumPy's npz without pickles, written whole or not at all.

A posterior is one file, or a folder of files ``draws-00000.npz``, ``draws-00001.npz``, ... that
follow one another; a long run adds to the folder and never rewrites what it has.
"""

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kolchin.errors import DataError
from kolchin.files import replacing
from kolchin.posterior.packing import Chain

if TYPE_CHECKING:
    from kolchin.posterior.draws import Posterior

FORMAT = 2
EPISODES = ("members", "sizes", "born", "died")
PATTERN = "draws-[0-9][0-9][0-9][0-9][0-9].npz"


def save(posterior: "Posterior", path: Path, first_draw: int = 0) -> None:
    """Write all draws to one file; a file already there is replaced only once all is written."""
    header = {
        "format": FORMAT,
        "n_records": posterior.n_records,
        "n_chains": posterior.n_chains,
        "first_draw": first_draw,
        "parameters": list(posterior.parameters),
        "settings": posterior.settings,
    }
    arrays: dict[str, NDArray[Any]] = {
        "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        "log_joint": posterior.log_joint,
    }
    for k, values in enumerate(posterior.parameters.values()):
        arrays[f"parameter-{k}"] = values
    for c, chain in enumerate(posterior.chains):
        for name in EPISODES:
            arrays[f"chain-{c}-{name}"] = _narrow(getattr(chain, name))
    _write(path, arrays)


def append(posterior: "Posterior", folder: Path) -> Path:
    """Add draws to a folder, after those that it holds, and return the new file."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = _parts(folder)
    first_draw, number = 0, 0
    if parts:
        header, log_joint = _peek(parts[-1])
        first_draw = int(header["first_draw"]) + log_joint.shape[1]
        number = int(parts[-1].stem.removeprefix("draws-")) + 1
    path = part_path(folder, number)
    save(posterior, path, first_draw)
    return path


def part_path(folder: Path, number: int) -> Path:
    """Return where a folder's part of a given number is."""
    return folder / f"draws-{number:05d}.npz"


def load(path: Path) -> "Posterior":
    """Read a posterior from a file or a folder."""
    if not path.is_dir():
        return _load_file(path)[0]
    parts = _parts(path)
    if not parts:
        raise DataError(
            f"The folder {path} must hold files of draws, draws-00000.npz and so on. Got none."
        )
    loaded: list[Posterior] = []
    first = 0
    for part in parts:
        posterior, first_draw = _load_file(part)
        if first_draw != first:
            raise DataError(
                f"{part} must begin at draw {first}. Got {first_draw} instead: "
                "a file before it is missing or was changed."
            )
        first += posterior.n_draws
        loaded.append(posterior)
    return loaded[0].extended(*loaded[1:])


def _parts(folder: Path) -> list[Path]:
    return sorted(folder.glob(PATTERN))


def _narrow(array: NDArray[np.int32]) -> NDArray[Any]:
    """Return numbers from 0 on in as few bytes as they need."""
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def _write(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    with replacing(path) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    if not path.is_file():
        raise DataError(f"There is no file of draws at {path}.")
    if not zipfile.is_zipfile(path):
        raise DataError(f"{path} must be a file of draws. It is another file, or a part of one.")
    try:
        with np.load(path, allow_pickle=False) as data:
            yield data
    except zipfile.BadZipFile as error:
        raise DataError(f"{path} is damaged and cannot be read: {error}.") from error


def _header(path: Path, data: Any) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(bytes(data["header"])) if "header" in data else {}
    if header.get("format") != FORMAT:
        raise DataError(
            f"{path} must be a file of draws in format {FORMAT}. "
            f"Got format {header.get('format')} instead: read it with the version that wrote it."
        )
    return header


def _peek(path: Path) -> tuple[dict[str, Any], NDArray[np.float64]]:
    with _open(path) as data:
        return _header(path, data), data["log_joint"]


def _load_file(path: Path) -> tuple["Posterior", int]:
    from kolchin.posterior.draws import Posterior

    with _open(path) as data:
        header = _header(path, data)
        names, log_joint = header["parameters"], data["log_joint"]
        chains = [
            [data[f"chain-{c}-{name}"].astype(np.int32) for name in EPISODES]
            for c in range(header["n_chains"])
        ]
        posterior = Posterior(
            n_records=header["n_records"],
            chains=tuple(Chain._make([*chain, log_joint.shape[1]]) for chain in chains),
            parameters={name: data[f"parameter-{k}"] for k, name in enumerate(names)},
            log_joint=log_joint,
            settings=header["settings"],
        )
    return posterior, int(header["first_draw"])

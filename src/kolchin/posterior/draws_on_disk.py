"""Draws on disk: NumPy's npz without pickles, written whole or not at all.

A posterior is one file, or a folder of files ``draws-00000.npz``, ``draws-00001.npz``, ... that
follow one another; a long run adds to the folder and never rewrites what it has.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kolchin.errors import DataError
from kolchin.files import replace_whole
from kolchin.posterior.episodes import ClusterEpisodes, join_chains

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
            arrays[f"chain-{c}-{name}"] = _narrow_type(getattr(chain, name))
    _write(path, arrays)


def append(posterior: "Posterior", folder: Path) -> Path:
    """Add draws to a folder, after those that it holds, and return the new file."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = _list_parts(folder)
    first_draw, number = 0, 0
    if parts:
        header, log_joint = _read_numbers(parts[-1])
        first_draw = int(header["first_draw"]) + log_joint.shape[1]
        number = int(parts[-1].stem.removeprefix("draws-")) + 1
    path = name_part(folder, number)
    save(posterior, path, first_draw)
    return path


def name_part(folder: Path, number: int) -> Path:
    """Return where a folder's part of a given number is."""
    return folder / f"draws-{number:05d}.npz"


def load(path: Path) -> "Posterior":
    """Read a posterior from a file or a folder."""
    parts = _list_parts(path) if path.is_dir() else [path]
    if not parts:
        raise DataError(
            f"The folder {path} must hold files of draws, draws-00000.npz and so on. Got none."
        )
    heads: list[Posterior] = []
    first = 0
    for part in parts:
        head, first_draw = _load_head(part)
        if first_draw != first and path.is_dir():
            raise DataError(
                f"{part} must begin at draw {first}. Got {first_draw} instead: "
                "a file before it is missing or was changed."
            )
        first += head.n_draws
        heads.append(head)
    whole = heads[0].join(*heads[1:])
    # Chain by chain: what parts have in common is then in memory once, and not for all chains.
    return replace(whole, chains=tuple(_load_chain(parts, c) for c in range(whole.n_chains)))


def _list_parts(folder: Path) -> list[Path]:
    return sorted(folder.glob(PATTERN))


def _narrow_type(array: NDArray[np.int32]) -> NDArray[Any]:
    """Return numbers from 0 on in as few bytes as they need."""
    return array.astype(np.min_scalar_type(int(array.max(initial=0))))


def _write(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    # As np.savez_compressed does it, but several times faster for nearly the same size.
    fast = {"compress_type": zipfile.ZIP_DEFLATED, "compresslevel": 1}
    with replace_whole(path) as part, zipfile.ZipFile(part, "w") as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getbuffer(), **fast)


def write_arrays(path: Path, arrays: Iterable[tuple[str, NDArray[Any]]]) -> None:
    """Write arrays as np.savez does, one after the other, as they are given."""
    with replace_whole(path) as part, zipfile.ZipFile(part, "w") as archive:
        for name, array in arrays:
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    if not path.is_file():
        raise DataError(f"There is no file of draws at {path}.")
    if not zipfile.is_zipfile(path):
        raise DataError(f"{path} must be a file of draws. It is another file, or a part of one.")
    try:
        with np.load(path, allow_pickle=False) as data:
            yield data
    except (zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{path} is damaged and cannot be read: {error}.") from error


def _read_header(path: Path, data: Any) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(bytes(data["header"])) if "header" in data else {}
    if header.get("format") != FORMAT:
        raise DataError(
            f"{path} must be a file of draws in format {FORMAT}. "
            f"Got format {header.get('format')} instead: read it with the version that wrote it."
        )
    return header


def _read_numbers(path: Path) -> tuple[dict[str, Any], NDArray[np.float64]]:
    with _open(path) as data:
        return _read_header(path, data), data["log_joint"]


def _load_head(path: Path) -> tuple["Posterior", int]:
    """Read all but the partitions, and the number of the first draw."""
    from kolchin.posterior.draws import Posterior

    with _open(path) as data:
        header = _read_header(path, data)
        names, log_joint = header["parameters"], data["log_joint"]
        nothing = [np.empty(0, dtype=np.int32)] * len(EPISODES)
        posterior = Posterior(
            n_records=header["n_records"],
            chains=(ClusterEpisodes._make([*nothing, log_joint.shape[1]]),) * header["n_chains"],
            parameters={name: data[f"parameter-{k}"] for k, name in enumerate(names)},
            log_joint=log_joint,
            settings=header["settings"],
        )
    return posterior, int(header["first_draw"])


def _load_chain(paths: Sequence[Path], number: int) -> ClusterEpisodes:
    """Read one chain's partitions from parts that follow one another."""
    parts = []
    for path in paths:
        with _open(path) as data:
            arrays = [data[f"chain-{number}-{name}"].astype(np.int32) for name in EPISODES]
            parts.append(ClusterEpisodes._make([*arrays, data["log_joint"].shape[1]]))
    return join_chains(parts)

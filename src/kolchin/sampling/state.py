"""The state of a run as plain data: JSON and arrays, no pickles.

A run that is taken up again goes on to the bit as if it had not been stopped: streams of random
bits, partitions, parameters and what the proposals have learnt from are all there.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.errors import DataError
from kolchin.posterior import Draw
from kolchin.posterior.packing import Chain as Store
from kolchin.posterior.packing import pack_chain
from kolchin.sampling.runner import Run, Worker

FORMAT = 1
TUPLES = {kind.__name__: kind for kind in (kernels.Weights, Store)}

Arrays = dict[str, NDArray[Any]]


def run_state(run: Run, first_draw: int) -> Arrays:
    """Return the state of a run; of its draws, those from ``first_draw`` on."""
    workers = [
        {**worker.state(), "draws": _pack_draws(worker.draws[first_draw:])}
        for worker in run.workers
    ]
    arrays: Arrays = {}
    header = {
        "format": FORMAT,
        "first_draw": first_draw,
        "kept": run.kept,
        "wanted": run.wanted,
        "ended": run.ended,
        "seconds": run.seconds,
        "workers": _pack(workers, "", arrays),
    }
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    return arrays


def header_of(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return what a state says of the run as a whole."""
    header: dict[str, Any] = json.loads(bytes(arrays["header"])) if "header" in arrays else {}
    if header.get("format") != FORMAT:
        raise DataError(
            f"The state of a run must be in format {FORMAT}. Got format {header.get('format')} "
            "instead: go on with the version that wrote it."
        )
    return header


def restore(run: Run, arrays: Mapping[str, NDArray[Any]], earlier: list[list[Draw]]) -> None:
    """Bring a run, new or not, to a saved state; ``earlier`` are the draws saved before."""
    header = header_of(arrays)
    workers = _unpack(header["workers"], arrays)
    if len(workers) != len(run.workers) or any(
        state["now"]["proposals"]["n_candidates"] != len(worker.proposals.candidates)
        for worker, state in zip(run.workers, workers, strict=True)
    ):
        raise DataError("The saved state is of another model: its chains or pairs differ.")
    run.wanted, run.ended, run.seconds = (header[name] for name in ("wanted", "ended", "seconds"))
    for worker, state, before in zip(run.workers, workers, earlier, strict=True):
        worker.restore(state)
        _give_draws(worker, [*before, *_unpack_draws(state["draws"])], run.model.n_records)


def _give_draws(worker: Worker, draws: list[Draw], n_records: int) -> None:
    worker.draws = draws
    worker.n_clusters = [n_records - draw.members.size + draw.sizes.size for draw in draws]


def _pack_draws(draws: list[Draw]) -> dict[str, Any]:
    names = draws[0].parameters if draws else {}
    return {
        "store": pack_chain(draws),
        "log_joint": np.array([draw.log_joint for draw in draws], dtype=np.float64),
        "parameters": {
            name: np.array([draw.parameters[name] for draw in draws], dtype=np.float64)
            for name in names
        },
    }


def _unpack_draws(packed: dict[str, Any]) -> list[Draw]:
    draws = []
    for t, log_joint in enumerate(packed["log_joint"]):
        members, sizes = packed["store"].at(t)
        parameters = {name: values[t] for name, values in packed["parameters"].items()}
        draws.append(Draw(members, sizes, parameters, float(log_joint)))
    return draws


def _pack(value: Any, name: str, arrays: Arrays) -> Any:
    """Return a value as JSON, with its arrays put aside under names that say where they belong."""
    if isinstance(value, np.ndarray | np.generic):
        arrays[name] = np.asarray(value)
        return {"array": name, "scalar": isinstance(value, np.generic)}
    if isinstance(value, np.random.Generator):
        return {"generator": _pack(dict(value.bit_generator.state), name, arrays)}
    if isinstance(value, tuple):
        items = [_pack(v, f"{name}/{k}", arrays) for k, v in enumerate(value)]
        return {"tuple": type(value).__name__, "items": items}
    if isinstance(value, dict):
        return {"mapping": {k: _pack(v, f"{name}/{k}", arrays) for k, v in value.items()}}
    if isinstance(value, list):
        return [_pack(v, f"{name}/{k}", arrays) for k, v in enumerate(value)]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"A state cannot hold a {type(value).__name__} ({name}).")


def _unpack(packed: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Turn what ``_pack`` made back into the value."""
    if isinstance(packed, list):
        return [_unpack(item, arrays) for item in packed]
    if not isinstance(packed, dict):
        return packed
    if "array" in packed:
        array = arrays[packed["array"]]
        return array[()] if packed["scalar"] else array
    if "tuple" in packed:
        items = [_unpack(item, arrays) for item in packed["items"]]
        return TUPLES[packed["tuple"]](*items) if packed["tuple"] in TUPLES else tuple(items)
    if "generator" in packed:
        state = _unpack(packed["generator"], arrays)
        generator = np.random.Generator(getattr(np.random, state["bit_generator"])())
        generator.bit_generator.state = state
        return generator
    return {name: _unpack(item, arrays) for name, item in packed["mapping"].items()}

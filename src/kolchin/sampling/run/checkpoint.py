"""The state of a run as plain data: JSON and arrays, no pickles.

A run that is taken up again goes on to the bit as if it had not been stopped: streams of random
bits, partitions, parameters and what the proposals have learnt from are all there.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kolchin import kernels
from kolchin.errors import DataError
from kolchin.posterior import Posterior, Recorder
from kolchin.posterior.episodes import ClusterEpisodes
from kolchin.posterior.recorder import collect_posterior
from kolchin.sampling.proposals.observed_pairs import Observations
from kolchin.sampling.run.chain import Checkpoint, Moment
from kolchin.sampling.run.endings import Ending
from kolchin.sampling.run.runner import Run
from kolchin.sampling.state import State

FORMAT = 4
TUPLES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Checkpoint,
        Moment,
        State,
        Observations,
        kernels.Partition,
        kernels.Evidence,
        kernels.Weights,
        kernels.Opening,
        ClusterEpisodes,
    )
}
"""Named tuples of a checkpoint, by the names that they have there."""

Arrays = dict[str, NDArray[Any]]


def pack_run(run: Run, first_draw: int) -> Iterator[tuple[str, NDArray[Any]]]:
    """Give the state of a run chain by chain; of its draws, those from ``first_draw`` on.

    What it says of the run as a whole comes last.
    """
    chains = []
    for number, chain in enumerate(run.chains):
        arrays: Arrays = {}
        saved = {"checkpoint": chain.checkpoint(), "draws": _draws_from(chain.draws, first_draw)}
        chains.append(_pack(saved, f"/{number}", arrays))
        del saved
        yield from arrays.items()
    header = {
        "format": FORMAT,
        "first_draw": first_draw,
        "kept": run.kept,
        "wanted": run.wanted,
        "ended": run.ended,
        "answers": run.model.answers.stamp,
        "seconds": run.seconds,
        "chains": chains,
    }
    yield "header", np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)


def read_header(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return what a state says of the run as a whole."""
    header: dict[str, Any] = json.loads(bytes(arrays["header"])) if "header" in arrays else {}
    if header.get("format") != FORMAT:
        raise DataError(
            f"The state of a run must be in format {FORMAT}. Got format {header.get('format')} "
            "instead: go on with the version that wrote it."
        )
    return header


def restore(
    run: Run, arrays: Mapping[str, NDArray[Any]], earlier: Iterable[Posterior] = ()
) -> None:
    """Bring a run, new or not, to a saved state; ``earlier`` are the draws saved before.

    Of those, the partitions are not held.
    """
    header = read_header(arrays)
    saved = _unpack(header["chains"], arrays)
    if len(saved) != len(run.chains) or any(
        state["checkpoint"].now.observations.n_candidates != len(chain.observed.candidates)
        for chain, state in zip(run.chains, saved, strict=True)
    ):
        raise DataError("The saved state is of another model: its chains or pairs differ.")
    run.wanted, run.seconds = header["wanted"], header["seconds"]
    run.ended = Ending(header["ended"])
    n_records = run.model.n_records
    for chain, state in zip(run.chains, saved, strict=True):
        chain.restore(state["checkpoint"])
        chain.draws = chain.new_recorder()
    for part in earlier:
        for number, chain in enumerate(run.chains):
            chain.draws.take(part, number)
    for chain, state in zip(run.chains, saved, strict=True):
        chain.draws.take(Posterior(n_records, **state["draws"], settings={}), 0)


def take_chains(run: Run, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Let the chains of a new run go on from where those of a saved one are.

    The runs differ in what is said of pairs with an error rate, which no partition contradicts.
    What was learned and drawn is left behind.
    """
    saved = _unpack(read_header(arrays)["chains"], arrays)
    for chain, state in zip(run.chains, saved, strict=True):
        chain.take_state(state["checkpoint"].now.state)


def _draws_from(draws: Recorder, first_draw: int) -> dict[str, Any]:
    """Return the draws of one chain from one on, as the posterior that they are."""
    own = collect_posterior([draws], {}, first_draw)
    return {"chains": own.chains, "parameters": own.parameters, "log_joint": own.log_joint}


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

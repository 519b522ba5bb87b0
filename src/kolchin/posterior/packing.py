"""The sparse store of one chain, and what goes in and out of it."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kolchin.errors import DataError
from kolchin.partitions import Labels

if TYPE_CHECKING:
    from kolchin.posterior.draws import Draw, Posterior

MOST_FAULTS = 5
"""Faults that a message lists before it says 'and more'."""


class Chain(NamedTuple):
    """Draws one after another: draw t has ``members[member_offsets[t]:member_offsets[t + 1]]``.

    ``sizes`` with ``cluster_offsets`` says likewise how those members fall into clusters.
    """

    members: NDArray[np.int32]
    sizes: NDArray[np.int32]
    member_offsets: NDArray[np.int64]
    cluster_offsets: NDArray[np.int64]

    def at(self, draw: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return members and sizes of one draw."""
        inside = slice(self.member_offsets[draw], self.member_offsets[draw + 1])
        return self.members[inside], self.sizes[self.clusters_of(draw)]

    def clusters_of(self, draw: int) -> slice:
        """Return where the clusters of one draw are in ``sizes``."""
        return slice(int(self.cluster_offsets[draw]), int(self.cluster_offsets[draw + 1]))

    def labels(self, draw: int, n_records: int) -> Labels:
        """Return the canonical labels of one draw."""
        members, sizes = self.at(draw)
        first = np.arange(n_records)
        if sizes.size:
            starts = np.concatenate(([0], np.cumsum(sizes[:-1], dtype=np.int64)))
            first[members] = np.repeat(np.minimum.reduceat(members, starts), sizes)
        opens = first == np.arange(n_records)
        labels: Labels = (np.cumsum(opens) - 1)[first]
        return labels

    def select(self, draws: Sequence[int]) -> Self:
        """Keep some draws."""
        kept = [self.at(draw) for draw in draws]
        return type(self)(*_pack(kept))


def _pack(
    draws: Sequence[tuple[NDArray[np.int32], NDArray[np.int32]]],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    empty = np.empty(0, dtype=np.int32)
    members = np.concatenate([empty, *(m for m, _ in draws)], dtype=np.int32, casting="same_kind")
    sizes = np.concatenate([empty, *(s for _, s in draws)], dtype=np.int32, casting="same_kind")
    member_offsets = np.cumsum([0, *(len(m) for m, _ in draws)], dtype=np.int64)
    cluster_offsets = np.cumsum([0, *(len(s) for _, s in draws)], dtype=np.int64)
    return members, sizes, member_offsets, cluster_offsets


def pack_chain(draws: Sequence["Draw"]) -> Chain:
    """Store the draws of one chain."""
    return Chain(*_pack([(np.asarray(d.members), np.asarray(d.sizes)) for d in draws]))


def join_chains(parts: Sequence[Chain]) -> Chain:
    """Put the draws of several stores one after another."""
    return Chain(
        np.concatenate([part.members for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        _join_offsets([part.member_offsets for part in parts]),
        _join_offsets([part.cluster_offsets for part in parts]),
    )


def _join_offsets(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    reached = np.cumsum([0, *(part[-1] for part in parts)])
    moved = [part[1:] + start for part, start in zip(parts, reached, strict=False)]
    return np.concatenate([np.zeros(1, dtype=np.int64), *moved])


def concatenate(
    posteriors: Sequence["Posterior"],
) -> tuple[tuple[Chain, ...], dict[str, NDArray[np.float64]], NDArray[np.float64]]:
    """Return chains, parameters and log joint of posteriors one after another."""
    for other in posteriors[1:]:
        _check_alike(posteriors[0], other)
    # A posterior without draws does not know its parameters' shapes.
    full = [posterior for posterior in posteriors if posterior.n_draws] or posteriors[:1]
    parameters = {
        name: np.concatenate([posterior.parameters[name] for posterior in full], axis=1)
        for name in full[0].parameters
    }
    stores = zip(*(posterior.chains for posterior in posteriors), strict=True)
    log_joint = np.concatenate([posterior.log_joint for posterior in posteriors], axis=1)
    return tuple(map(join_chains, stores)), parameters, log_joint


def _check_alike(one: "Posterior", two: "Posterior") -> None:
    faults = []
    if one.n_records != two.n_records:
        faults.append(f"records: {one.n_records} and {two.n_records}")
    if one.n_chains != two.n_chains:
        faults.append(f"chains: {one.n_chains} and {two.n_chains}")
    if one.n_draws and two.n_draws:
        shapes = [{k: v.shape[2:] for k, v in p.parameters.items()} for p in (one, two)]
        if shapes[0] != shapes[1]:
            faults.append(f"shapes of parameters: {shapes[0]} and {shapes[1]}")
    if faults:
        raise DataError(
            "Draws can only be extended by draws of the same model. These differ in "
            + "; ".join(faults)
            + "."
        )


def check_draws(n_records: int, chains: Sequence[Sequence["Draw"]]) -> None:
    """Raise one error that lists the first faults found in the draws."""
    if n_records < 1 or not chains:
        raise DataError(
            "A posterior needs at least one record and one chain. "
            f"Got {n_records} records and {len(chains)} chains instead."
        )
    lengths = [len(chain) for chain in chains]
    faults = []
    if len(set(lengths)) > 1:
        faults.append(f"Chains must have equally many draws. Got {lengths} instead.")
    place = np.empty(n_records, dtype=np.int64)
    shapes = next((_shapes(draw) for chain in chains for draw in chain), {})
    for c, chain in enumerate(chains):
        for t, draw in enumerate(chain):
            fault = _partition_fault(n_records, draw, place)
            if fault is None and _shapes(draw) != shapes:
                fault = f"parameters must be as in the first draw, {shapes}. Got {_shapes(draw)}"
            if fault is not None:
                faults.append(f"Chain {c}, draw {t}: {fault} instead.")
            if len(faults) >= MOST_FAULTS:
                raise DataError("\n".join([*faults, "There may be more."]))
    if faults:
        raise DataError("\n".join(faults))


def _shapes(draw: "Draw") -> dict[str, tuple[int, ...]]:
    return {name: np.shape(value) for name, value in draw.parameters.items()}


def _partition_fault(n_records: int, draw: "Draw", place: NDArray[np.int64]) -> str | None:
    members, sizes = np.asarray(draw.members), np.asarray(draw.sizes)
    if members.size == 0 and sizes.size == 0:
        return None
    if members.dtype.kind not in "iu" or sizes.dtype.kind not in "iu":
        return f"members and sizes must be integers. Got {members.dtype} and {sizes.dtype}"
    if sizes.sum() != members.size or np.any(sizes < 2):
        return (
            f"sizes must be 2 or more and add up to the {members.size} members. "
            f"Got a smallest of {min(sizes, default=0)} and a sum of {sizes.sum()}"
        )
    if members.min() < 0 or members.max() >= n_records:
        return (
            f"members must be records 0 to {n_records - 1}. Got {members.min()} to {members.max()}"
        )
    order = np.arange(members.size)
    place[members] = order
    twice = place[members] != order
    if np.any(twice):
        return f"a record must be in one cluster. Got record {members[np.argmax(twice)]} twice"
    return None


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as they come back from JSON, so that saving them changes nothing."""
    text = json.dumps(dict(settings), default=_plain_value)
    result: dict[str, Any] = json.loads(text)
    return result


def _plain_value(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise DataError(
        "settings must be plain data: numbers, strings, lists and mappings. "
        f"Got {type(value).__name__} instead."
    )

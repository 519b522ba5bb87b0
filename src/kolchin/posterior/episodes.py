"""The store of one chain: what changes from draw to draw, and what goes in and out of it."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.errors import DataError
from kolchin.partitions import Labels

if TYPE_CHECKING:
    from kolchin.posterior.draws import Draw, Posterior

MOST_FAULTS = 5
"""Faults that a message lists before it says 'and more'."""


class ClusterEpisodes(NamedTuple):
    """Episodes: clusters of two or more records, each with the draws that have it.

    Cluster k is in the draws ``born[k] <= t < died[k]``, and so costs as much for many draws as
    for one. Members ascend inside a cluster. Clusters come in the order of their births, and of
    their first members where births are equal; none ends in the draw in which it begins again.
    """

    members: NDArray[np.int32]
    sizes: NDArray[np.int32]
    born: NDArray[np.int32]
    died: NDArray[np.int32]
    n_draws: int

    def at(self, draw: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return members and sizes of one draw, clusters in the order of their first members."""
        alive = (self.born <= draw) & (draw < self.died)
        members, sizes = self.members[np.repeat(alive, self.sizes)], self.sizes[alive]
        firsts = members[np.cumsum(sizes) - sizes]
        by_first = np.argsort(firsts)
        return members[np.argsort(np.repeat(firsts, sizes), kind="stable")], sizes[by_first]

    def labels(self, draw: int, n_records: int) -> Labels:
        """Return the canonical labels of one draw."""
        from kolchin.posterior.summary_kernels.cluster_episodes import read_labels

        labels: Labels = read_labels(draw, *self[:4], n_records)
        return labels

    def sums(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Add up a value of each episode over the clusters of each draw."""
        begun = np.bincount(self.born, values, self.n_draws + 1)
        ended = np.bincount(self.died, values, self.n_draws + 1)
        sums: NDArray[np.float64] = np.cumsum(begun - ended)[: self.n_draws]
        return sums

    def thin(self, step: int) -> "ClusterEpisodes":
        """Keep every ``step``-th draw."""
        born, died = (-(-when // step) for when in (self.born, self.died))
        return arrange_episodes(self.members, self.sizes, born, died, -(-self.n_draws // step))


def arrange_episodes(
    members: NDArray[Any],
    sizes: NDArray[Any],
    born: NDArray[Any],
    died: NDArray[Any],
    n_draws: int,
) -> ClusterEpisodes:
    """Store episodes in order: empty ones are left out, and those that follow at once joined."""
    from kolchin.posterior.summary_kernels.cluster_episodes import join_episodes
    from kolchin.posterior.summary_kernels.sorted_sets import sort_sets

    kept = born < died
    members, sizes = members[np.repeat(kept, sizes)].astype(np.int32, copy=False), sizes[kept]
    born, died = (when[kept].astype(np.int32, copy=False) for when in (born, died))
    offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    sort_sets(members, offsets)
    order = np.lexsort((members[offsets[:-1]], born))
    n_records = int(members.max(initial=-1)) + 1
    whole = join_episodes(order, members, offsets, born, died, n_records)
    return ClusterEpisodes._make([*whole, int(n_draws)])


def pack_chain(draws: Sequence["Draw"]) -> ClusterEpisodes:
    """Store the draws of one chain."""
    empty = np.empty(0, dtype=np.int32)
    members = np.concatenate([empty, *(np.asarray(draw.members) for draw in draws)])
    sizes = np.concatenate([empty, *(np.asarray(draw.sizes) for draw in draws)])
    born = np.repeat(np.arange(len(draws)), [len(draw.sizes) for draw in draws])
    return arrange_episodes(members, sizes, born, born + 1, len(draws))


def join_chains(parts: Sequence[ClusterEpisodes]) -> ClusterEpisodes:
    """Put the draws of several stores one after another."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(part.n_draws for part in parts)], dtype=np.int32)
    return arrange_episodes(
        np.concatenate([part.members for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.born + start for part, start in zip(parts, starts, strict=False)]),
        np.concatenate([part.died + start for part, start in zip(parts, starts, strict=False)]),
        starts[-1],
    )


def concatenate(
    posteriors: Sequence["Posterior"],
) -> tuple[tuple[ClusterEpisodes, ...], dict[str, NDArray[np.float64]], NDArray[np.float64]]:
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
    shapes = next((_list_shapes(draw) for chain in chains for draw in chain), {})
    for c, chain in enumerate(chains):
        for t, draw in enumerate(chain):
            fault = _find_partition_fault(n_records, draw, place)
            if fault is None and _list_shapes(draw) != shapes:
                fault = (
                    f"parameters must be as in the first draw, {shapes}. Got {_list_shapes(draw)}"
                )
            if fault is not None:
                faults.append(f"Chain {c}, draw {t}: {fault} instead.")
            if len(faults) >= MOST_FAULTS:
                raise DataError("\n".join([*faults, "There may be more."]))
    if faults:
        raise DataError("\n".join(faults))


def _list_shapes(draw: "Draw") -> dict[str, tuple[int, ...]]:
    return {name: np.shape(value) for name, value in draw.parameters.items()}


def _find_partition_fault(n_records: int, draw: "Draw", place: NDArray[np.int64]) -> str | None:
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


def make_plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as they come back from JSON, so that saving them changes nothing."""
    text = json.dumps(dict(settings), default=_make_plain_value)
    result: dict[str, Any] = json.loads(text)
    return result


def _make_plain_value(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise DataError(
        "settings must be plain data: numbers, strings, lists and mappings. "
        f"Got {type(value).__name__} instead."
    )

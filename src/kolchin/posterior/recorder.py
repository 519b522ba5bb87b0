"""What a chain draws, as it runs: clusters that end are put aside, the others cost nothing."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.errors import DataError
from kolchin.posterior.draws import Posterior
from kolchin.posterior.episodes import ClusterEpisodes, arrange_episodes, make_plain
from kolchin.posterior.size_statistics import NAMES, summarise_sizes
from kolchin.posterior.traces import Traces

Int32s = NDArray[np.int32]


class Snapshot(NamedTuple):
    """A chain at one moment: ``following[n]`` is the record after n in the ring of its cluster."""

    following: Int32s
    parameters: Mapping[str, float | NDArray[np.float64]]
    log_joint: float


class Recorder:
    """The draws of one chain, of which those before ``first`` have been forgotten.

    Parameters, log joint and statistics of sizes are kept of all draws. With ``order``, the
    chain's record n is the user's record ``order[n]``.
    """

    def __init__(self, n_records: int, order: NDArray[np.integer[Any]] | None = None) -> None:
        self.n_records = n_records
        self.order = order
        self.first = 0
        self.following: Int32s = np.arange(n_records, dtype=np.int32)
        self.born: Int32s = np.zeros(n_records, dtype=np.int32)
        self.ended: list[tuple[Int32s, Int32s, Int32s, Int32s]] = []
        self.counts = np.array([0, n_records])
        self.parameters: list[Mapping[str, float | NDArray[np.float64]]] = []
        self.log_joint: list[float] = []
        self.statistics: list[tuple[float, ...]] = []

    def __len__(self) -> int:
        return len(self.log_joint)

    @property
    def n_clusters(self) -> list[float]:
        """The number of clusters of each draw."""
        return [numbers[0] for numbers in self.statistics]

    def add(
        self,
        following: Int32s,
        parameters: Mapping[str, float | NDArray[np.float64]],
        log_joint: float,
    ) -> None:
        """Record one more draw, a :class:`Snapshot`; the rings may change afterwards."""
        from kolchin.posterior.summary_kernels.recorded_rings import renew_rings

        ended, begun = renew_rings(self.following, following, self.born, len(self))
        self._end(*ended)
        self._count(begun, ended[1])
        self.parameters.append(dict(parameters))
        self.log_joint.append(float(log_joint))

    def _end(self, members: Int32s, sizes: Int32s, born: Int32s) -> None:
        """Put aside clusters that the draw to come no longer has."""
        died = np.full(sizes.size, len(self), dtype=np.int32)
        self.ended.append((self._name_parameters(members), sizes, born, died))

    def _count(self, begun: Int32s, ended: Int32s) -> None:
        """Keep the histogram of sizes, and what it says of the draw."""
        room = max(self.counts.size, int(begun.max(initial=0)) + 1)
        counts = np.bincount(begun, minlength=room) - np.bincount(ended, minlength=room)
        counts[: self.counts.size] += self.counts
        counts[1] = self.n_records - np.arange(2, room) @ counts[2:]
        self.counts = counts[: np.flatnonzero(counts)[-1] + 1]
        numbers = summarise_sizes(np.arange(1, self.counts.size), self.counts[None, 1:])
        self.statistics.append(tuple(float(number[0]) for number in numbers))

    def _name_parameters(self, members: Int32s) -> Int32s:
        return members if self.order is None else self.order[members].astype(np.int32)

    def forget(self, before: int) -> None:
        """Let go of the partitions of draws before one; what they share with later draws stays."""
        self.first = max(self.first, before)
        self.ended = [block for block in self.ended if block[3].max(initial=0) > self.first]

    def chain(self, first: int = 0, last: int | None = None) -> ClusterEpisodes:
        """Return the draws from ``first`` on, and before ``last``."""
        from kolchin.posterior.summary_kernels.recorded_rings import open_rings

        if first < self.first:
            raise DataError(f"Draws before {self.first} are no longer held. Got {first} as first.")
        last = len(self) if last is None else last
        members, sizes, born = open_rings(self.following, self.born)
        still = (
            self._name_parameters(members),
            sizes,
            born,
            np.full(sizes.size, len(self), dtype=np.int32),
        )
        members, sizes, born, died = map(np.concatenate, zip(*self.ended, still, strict=True))
        born, died = (np.clip(when, first, last) - first for when in (born, died))
        return arrange_episodes(members, sizes, born, died, last - first)

    def take(self, posterior: Posterior, number: int) -> None:
        """Go on after the draws of one of a posterior's chains; those before are forgotten."""
        from kolchin.posterior.summary_kernels.recorded_rings import close_rings

        chain, start = posterior.chains[number], len(self)
        self.forget(start)
        born, died = chain.born + np.int32(start), chain.died + np.int32(start)
        lives = chain.died == chain.n_draws
        of_living = np.repeat(lives, chain.sizes)
        self.ended = [(chain.members[~of_living], chain.sizes[~lives], born[~lives], died[~lives])]
        members = chain.members[of_living]
        if self.order is not None:
            members = np.argsort(self.order)[members].astype(np.int32)
        self.following = np.arange(self.n_records, dtype=np.int32)
        close_rings(members, chain.sizes[lives], born[lives], self.following, self.born)
        counts = np.bincount(chain.sizes[lives], minlength=2)
        counts[1] = self.n_records - np.count_nonzero(of_living)
        self.counts = counts
        for t in range(chain.n_draws):
            self.parameters.append({k: v[number, t] for k, v in posterior.parameters.items()})
            self.statistics.append(tuple(float(posterior.statistics[k][number, t]) for k in NAMES))
        self.log_joint += posterior.log_joint[number].tolist()


def collect_posterior(
    recorders: Sequence[Recorder],
    settings: Mapping[str, Any],
    first: int = 0,
    last: int | None = None,
) -> Posterior:
    """Return the draws that all chains have, from ``first`` on and before ``last``."""
    last = min(map(len, recorders)) if last is None else last
    parameters, log_joint, _, _ = collect_traces(recorders, {}, first, last)
    chains = tuple(recorder.chain(first, last) for recorder in recorders)
    return Posterior(recorders[0].n_records, chains, parameters, log_joint, make_plain(settings))


def collect_traces(
    recorders: Sequence[Recorder],
    settings: Mapping[str, Any],
    first: int = 0,
    last: int | None = None,
) -> Traces:
    """Return what is known of the draws that all chains have, forgotten or not."""
    last = min(map(len, recorders)) if last is None else last
    kept = slice(first, last)
    names = recorders[0].parameters[first].keys() if last > first else ()
    parameters = {
        name: np.array([[values[name] for values in r.parameters[kept]] for r in recorders], float)
        for name in names
    }
    log_joint = np.array([r.log_joint[kept] for r in recorders], dtype=np.float64)
    table = np.array([r.statistics[kept] for r in recorders]).reshape(*log_joint.shape, len(NAMES))
    statistics = {name: np.ascontiguousarray(table[..., k]) for k, name in enumerate(NAMES)}
    return Traces(parameters, log_joint, settings, statistics)

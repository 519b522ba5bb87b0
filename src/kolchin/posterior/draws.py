"""The draws of a posterior, stored as what changes: clusters that stay cost nothing more."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from kolchin.errors import DataError
from kolchin.partitions import NO_SOURCES, Labels, Sources
from kolchin.posterior import convergence as _diagnostics
from kolchin.posterior import draws_on_disk as _storage
from kolchin.posterior import links as _links
from kolchin.posterior import point_estimate as _point_estimate
from kolchin.posterior import scores as _scores
from kolchin.posterior import size_statistics as _statistics
from kolchin.posterior.distinct_clusters import DistinctClusters, collect_distinct
from kolchin.posterior.episodes import (
    ClusterEpisodes,
    check_draws,
    concatenate,
    make_plain,
    pack_chain,
)

LARGEST_LABELS = 4 * 2**30
"""Bytes of labels that are built at once; beyond, draws are taken one by one."""


class Draw(NamedTuple):
    """One draw: the clusters of two or more records, one after another, and the parameters."""

    members: NDArray[np.int32]
    sizes: NDArray[np.int32]
    parameters: Mapping[str, float | NDArray[np.float64]]
    log_joint: float


@dataclass(frozen=True, eq=False, repr=False)
class Posterior:
    """The kept draws of all chains.

    Build one with :meth:`from_draws` or :meth:`load`. Methods that look at many draws work on
    the distinct clusters ever drawn, so they cost little when the posterior is concentrated.

    Attributes
    ----------
    n_records : number of records.
    chains : one store of episodes a chain.
    parameters : mapping of name to array (chain, draw, ...).
    log_joint : array (chain, draw).
    settings : plain data that says how the draws were made. Its entry ``coordinates``, when
        there is one, names the entries of vector parameters: ``{"delta": ["sex", "year"]}``.
    """

    n_records: int
    chains: tuple[ClusterEpisodes, ...]
    parameters: Mapping[str, NDArray[np.float64]]
    log_joint: NDArray[np.float64]
    settings: Mapping[str, Any]

    @classmethod
    def from_draws(
        cls,
        n_records: int,
        chains: Sequence[Sequence[Draw]],
        settings: Mapping[str, Any] | None = None,
    ) -> Self:
        """Collect draws; all chains have equally many, all draws the same parameters."""
        check_draws(n_records, chains)
        some = next((draw for chain in chains for draw in chain), None)
        shape = (len(chains), len(chains[0]))
        parameters = {
            name: np.array([[d.parameters[name] for d in c] for c in chains], dtype=np.float64)
            for name in (some.parameters if some else ())
        }
        log_joint = np.array([[d.log_joint for d in c] for c in chains], dtype=np.float64)
        return cls(
            n_records=int(n_records),
            chains=tuple(pack_chain(chain) for chain in chains),
            parameters=parameters,
            log_joint=log_joint.reshape(shape),
            settings=make_plain(settings or {}),
        )

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return len(self.chains)

    @property
    def n_draws(self) -> int:
        """Number of draws of each chain."""
        return int(self.log_joint.shape[1])

    def __len__(self) -> int:
        return self.n_chains * self.n_draws

    def __repr__(self) -> str:
        return f"<Posterior: {self.n_chains} x {self.n_draws} draws of {self.n_records} records>"

    def __iter__(self) -> Iterator[Labels]:
        """Yield the canonical labels of every draw, chain after chain."""
        return (self.partition(c, t) for c in range(self.n_chains) for t in range(self.n_draws))

    def draw(self, chain: int, draw: int) -> Draw:
        """Return one draw; its clusters, and the members of each, in ascending order."""
        # Negative numbers count from the end, as in any sequence.
        chain, draw = range(self.n_chains)[chain], range(self.n_draws)[draw]
        members, sizes = self.chains[chain].at(draw)
        parameters = {name: array[chain, draw] for name, array in self.parameters.items()}
        return Draw(members, sizes, parameters, float(self.log_joint[chain, draw]))

    def partition(self, chain: int, draw: int) -> Labels:
        """Return the canonical labels of one draw."""
        chain, draw = range(self.n_chains)[chain], range(self.n_draws)[draw]
        return self.chains[chain].labels(draw, self.n_records)

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The canonical labels of all draws, (chain, draw, record), built on demand."""
        size = 4 * len(self) * self.n_records
        if size > LARGEST_LABELS:
            raise DataError(
                f"The labels of all {len(self)} draws would take {size / 2**30:.1f} GiB. "
                "Use posterior.partition(chain, draw) for one draw at a time, iterate over the "
                "posterior, or take fewer draws with posterior.thin(step)."
            )
        out = np.empty((self.n_chains, self.n_draws, self.n_records), dtype=np.int32)
        for c, chain in enumerate(self.chains):
            for t in range(self.n_draws):
                out[c, t] = chain.labels(t, self.n_records)
        return out

    @cached_property
    def statistics(self) -> dict[str, NDArray[np.float64]]:
        """Sizes of the partitions' clusters: name -> (chain, draw)."""
        return _statistics.compute_size_statistics(self)

    def thin(self, step: int) -> Self:
        """Keep every ``step``-th draw of each chain."""
        if step < 1:
            raise DataError(f"The 'step' parameter must be at least 1. Got {step} instead.")
        return type(self)(
            n_records=self.n_records,
            chains=tuple(chain.thin(step) for chain in self.chains),
            parameters={name: array[:, ::step] for name, array in self.parameters.items()},
            log_joint=self.log_joint[:, ::step],
            settings=self.settings,
        )

    def join(self, *more: "Posterior") -> Self:
        """Return these draws followed, chain by chain, by more of the same model."""
        chains, parameters, log_joint = concatenate([self, *more])
        return type(self)(self.n_records, chains, parameters, log_joint, self.settings)

    @cached_property
    def distinct(self) -> DistinctClusters:
        """The distinct clusters of two or more that were ever drawn, with their counts."""
        return collect_distinct(self)

    def sums(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Add up a value of each distinct cluster over the clusters of each draw."""
        chains = zip(self.chains, self.distinct.ids, strict=True)
        return np.array([chain.sums(values[ids]) for chain, ids in chains])

    def links(self, min_probability: float = 0.01) -> pl.DataFrame:
        """Return the pairs probably linked: record_a < record_b, probability."""
        return _links.tabulate_links(self, min_probability)

    def confidence(self, labels: ArrayLike) -> NDArray[np.float64]:
        """Return, for each record, the probability that its cluster is exactly the one given."""
        return _links.measure_confidence(self, labels)

    def point_estimate(self, loss: str = "vi", sources: Sources = NO_SOURCES) -> Labels:
        """Return the partition of least posterior expected loss: "vi", "binder" or "paper".

        Where no draw has two records of one source in a cluster, nor has the partition (but by
        the paper's rule, which links all that hangs together).
        """
        return _point_estimate.find_point_estimate(self, loss, sources)

    def expected_loss(self, labels: ArrayLike, loss: str = "vi") -> float:
        """Return the mean loss over the draws: VI in nats, or Binder's number of wrong pairs."""
        return _point_estimate.compute_expected_loss(self, labels, loss)

    def diagnostics(self) -> pl.DataFrame:
        """Return mean, sd, quantiles, R-hat and effective sizes, one row a quantity."""
        return _diagnostics.tabulate_diagnostics(self)

    def converged(self) -> bool:
        """Tell whether every monitored quantity has R-hat below 1.01 and 400 effective draws."""
        return _diagnostics.has_converged(self.diagnostics())

    def to_arviz(self) -> Any:
        """Return the parameters and statistics as ArviZ's InferenceData, or DataTree since 1.0."""
        return _diagnostics.make_arviz(self)

    def evaluate(self, truth: ArrayLike | Sequence[Any]) -> dict[str, Any]:
        """Compare the point estimates and the draws with the true entities."""
        return _scores.evaluate_posterior(self, truth)

    def save(self, path: str | Path) -> None:
        """Write all draws to one file, whole or not at all."""
        _storage.save(self, Path(path))

    def append(self, folder: str | Path) -> Path:
        """Add these draws to a folder of draws, after those it holds, and return the new file."""
        return _storage.append(self, Path(folder))

    @classmethod
    def load(cls, path: str | Path) -> "Posterior":
        """Read draws from a file of :meth:`save`, or from a folder of such files in order."""
        return _storage.load(Path(path))

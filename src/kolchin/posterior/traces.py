"""What looks at convergence need of a posterior: a few numbers a draw, and no partitions."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class TraceSource(Protocol):
    """A posterior, or the traces of one."""

    @property
    def parameters(self) -> Mapping[str, NDArray[np.float64]]:
        """Name -> array (chain, draw, ...)."""
        ...

    @property
    def log_joint(self) -> NDArray[np.float64]:
        """Array (chain, draw)."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """How the draws were made."""
        ...

    @property
    def statistics(self) -> Mapping[str, NDArray[np.float64]]:
        """Sizes of the partitions' clusters: name -> (chain, draw)."""
        ...


class Traces(NamedTuple):
    """The traces of draws whose partitions are elsewhere."""

    parameters: Mapping[str, NDArray[np.float64]]
    log_joint: NDArray[np.float64]
    settings: Mapping[str, Any]
    statistics: Mapping[str, NDArray[np.float64]]

    @property
    def n_draws(self) -> int:
        """Number of draws of each chain."""
        return int(self.log_joint.shape[1])

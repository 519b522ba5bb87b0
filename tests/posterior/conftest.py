"""Small posteriors to test with."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike

from kolchin.partitions import list_clusters
from kolchin.posterior import Draw, Posterior


def make_draw(labels: Sequence[int], log_joint: float = 0.0, **parameters) -> Draw:
    """Turn labels into a draw; its clusters and members come in no particular order."""
    rng = np.random.default_rng(len(labels))
    groups = [rng.permutation(group) for group in list_clusters(labels) if len(group) > 1]
    rng.shuffle(groups)
    members = np.concatenate([np.empty(0, dtype=np.int64), *groups]).astype(np.int32)
    sizes = np.array([len(group) for group in groups], dtype=np.int32)
    return Draw(members, sizes, parameters, log_joint)


def make_posterior(labels: ArrayLike, **settings) -> Posterior:
    """Turn labels (chain, draw, record) into a posterior without parameters."""
    chains = [[make_draw(draw) for draw in chain] for chain in labels]
    return Posterior.from_draws(np.shape(labels)[2], chains, settings)


def random_labels(seed: int, n_chains: int, n_draws: int, n_records: int, n_clusters: int):
    return np.random.default_rng(seed).integers(0, n_clusters, (n_chains, n_draws, n_records))


@pytest.fixture(scope="session")
def draw_of() -> Callable[..., Draw]:
    return make_draw


@pytest.fixture(scope="session")
def posterior_of() -> Callable[..., Posterior]:
    return make_posterior


@pytest.fixture
def posterior() -> Posterior:
    """Two chains of six draws of ten records, with a scalar and a vector parameter."""
    labels = random_labels(3, 2, 6, 10, 6)
    rng = np.random.default_rng(4)
    chains = [
        [make_draw(x, rng.normal(), delta=rng.random(), mu=rng.random(3)) for x in chain]
        for chain in labels
    ]
    return Posterior.from_draws(10, chains, {"seed": 1, "coordinates": {"mu": ["x", "y", "z"]}})

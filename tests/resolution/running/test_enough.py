"""What must be known well before a run ends by itself."""

import numpy as np

import kolchin as kp
from kolchin.posterior import Draw
from kolchin.resolution.results.summary import tabulate_all_diagnostics, tabulate_monitored


def posterior(seed=1):
    """Forty pairs, and one cluster of three in the draws of one chain alone."""
    rng = np.random.default_rng(seed)
    chains = []
    for chain in range(2):
        sizes = np.array([2] * 40 + [3] * chain, dtype=np.int32)
        members = np.arange(sizes.sum(), dtype=np.int32)
        n_clusters = 100 - members.size + sizes.size
        shares = np.array([n_clusters - sizes.size, 40, chain]) / n_clusters
        draws = [Draw(members, sizes, {"mu": shares * rng.normal(1, 0.01)}, 0.0) for _ in range(50)]
        chains.append(draws)
    return kp.Posterior.from_draws(100, chains)


def test_parameters_are_described_but_not_waited_for():
    drawn = posterior()
    names = set(tabulate_all_diagnostics(drawn)["quantity"])
    assert {"mu[1]", "mu[2]", "mu[3]", "log_joint", "largest"} <= names
    assert set(tabulate_monitored(drawn)["quantity"]) == {"n_clusters", "singletons"}

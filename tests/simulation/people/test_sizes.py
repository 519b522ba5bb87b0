"""Sizes drawn directly follow the prior as exactly as the prior's own draws."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from kolchin.parameters import Beta
from kolchin.partitions import cluster_sizes
from kolchin.priors import ESCD, ESCNB, NBNB, DirichletProcess, KolchinPartition, Prior
from kolchin.simulation.people import sizes as module
from kolchin.simulation.people.sizes import draw_sizes

N_RECORDS = 5
DRAWS = 3000
TRIED = [
    ESCNB(r=1.0, p=1 / 3),
    ESCNB(r=0.5, p=0.6),
    NBNB(a=2.0, q=0.3, r=1.0, p=0.5),
    NBNB(r=2.0, p=0.3),
    KolchinPartition(mu=[0.2, 0.5, 0.3]),
    KolchinPartition(kappa=[0.1, 0.2, 0.4, 0.2, 0.1], mu=[0.6, 0.2, 0.1, 0.05, 0.05]),
]


def shape(sizes: np.ndarray) -> tuple[int, ...]:
    return tuple(sorted(sizes.tolist()))


@pytest.mark.statistical
@pytest.mark.parametrize("prior", TRIED, ids=repr)
def test_sizes_are_those_of_the_prior(prior: Prior, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    own = Counter(shape(cluster_sizes(prior.draw(N_RECORDS, seed=rng))) for _ in range(DRAWS))
    monkeypatch.setattr(type(prior), "draw", None)
    tried = Counter(shape(draw_sizes(rng, N_RECORDS, prior)) for _ in range(DRAWS))
    shapes = [known for known in own | tried if own[known] + tried[known] > 10]
    table = [[counts[known] for known in shapes] for counts in (own, tried)]
    assert chi2_contingency(table).pvalue > 1e-3


@pytest.mark.parametrize(
    "prior", [NBNB(q=Beta(1, 1)), ESCD(), DirichletProcess(theta=2.0)], ids=repr
)
def test_other_priors_draw_themselves(prior: Prior) -> None:
    own = np.sort(cluster_sizes(prior.draw(20, seed=np.random.default_rng(3))))
    assert np.array_equal(np.sort(draw_sizes(np.random.default_rng(3), 20, prior)), own)


def test_the_prior_draws_itself_where_trying_is_hopeless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TRIES", 3)
    few = KolchinPartition(kappa=[1.0], mu=[0.5, 0.3, 0.1, 0.05, 0.05])
    assert draw_sizes(np.random.default_rng(1), 5, few).tolist() == [5]


def test_a_million_records_are_divided() -> None:
    sizes = draw_sizes(np.random.default_rng(1), 10**6)
    assert sizes.sum() == 10**6
    assert abs((sizes == 1).mean() - 2 / 3) < 0.003

"""What priors say of numbers of clusters and of their sizes, in closed form."""

import numpy as np
import pytest

from kolchin.priors.counts import NegativeBinomialCount
from kolchin.priors.sizes import DirichletSizes


@pytest.mark.parametrize(("n_records", "q"), [(1, 0.5), (2, 0.5), (3, 1 / 3), (10, 0.8)])
def test_half_as_many_clusters_as_records_are_expected(n_records, q):
    count = NegativeBinomialCount("NBNB", 1.0, None)
    assert count.list_parameters(n_records)["q"] == pytest.approx(q)


@pytest.mark.exact
@pytest.mark.parametrize("rho", [0.3, 0.5, 0.9])
def test_the_base_of_sizes_is_geometric(rho):
    sizes, values = np.arange(1, 7), {"base": rho}
    base = DirichletSizes("NBD", 1.0, base=rho)
    chance = np.exp(base.log_base(sizes, values))
    assert chance == pytest.approx(rho * (1 - rho) ** (sizes - 1))
    assert chance.sum() + np.exp(base.log_base_tail(6, values)) == pytest.approx(1)

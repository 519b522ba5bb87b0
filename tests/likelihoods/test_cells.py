"""What delta depends on adds up over shards, whichever fields there are."""

import numpy as np
import pytest

from kolchin.kernels import collect_agreement_cells
from kolchin.likelihoods import DirichletCategorical
from kolchin.parameters import Gamma
from kolchin.records import Records


@pytest.mark.parametrize("n_fields", [0, 1, 3])
@pytest.mark.parametrize("larger_first", [False, True])
def test_cells_of_shards_add_up(n_fields, larger_first):
    """Shards whose largest clusters differ in size, also where no field is categorical."""
    codes = np.random.default_rng(1).integers(0, 2, (7, 3))
    parts = [[[0, 1]], [[2, 3, 4, 5, 6]]]
    if larger_first:
        parts.reverse()
    records = Records.from_codes(codes).select(range(n_fields))
    likelihood = DirichletCategorical(records, Gamma(1, 1), True)

    def of(groups):
        members = np.concatenate(groups).astype(np.int32)
        sizes = np.array([len(group) for group in groups], dtype=np.int32)
        return likelihood.count_cells(*collect_agreement_cells(members, sizes, likelihood.codes))

    added, whole = of(parts[0]).add(of(parts[1])), of([*parts[0], *parts[1]])
    np.testing.assert_array_equal(added.observed, whole.observed)
    np.testing.assert_array_equal(added.n_cells, whole.n_cells)
    delta = np.full(n_fields, 0.3)
    assert likelihood.log_evidence(added, delta) == pytest.approx(
        likelihood.log_evidence(whole, delta)
    )

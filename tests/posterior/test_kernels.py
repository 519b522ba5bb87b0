"""What is compiled, against NumPy."""

import numpy as np
import pytest

from kolchin.posterior.summary_kernels.sorted_sets import sort_run


@pytest.mark.parametrize("size", [0, 1, 2, 4, 5, 13, 41, 1000])
def test_a_run_is_sorted_and_nothing_else(size: int) -> None:
    values = np.random.default_rng(size).integers(0, 500, size + 7)
    wanted = values.copy()
    wanted[3 : 3 + size] = np.sort(values[3 : 3 + size])
    sort_run(values, 3, 3 + size)
    assert values.tolist() == wanted.tolist()

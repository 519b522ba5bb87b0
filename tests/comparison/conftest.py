"""Small helpers of the tests of comparisons."""

import numpy as np
import pytest

from kolchin.comparison.kinds.preparing import prepare
from kolchin.comparison.levels.pair_levels import compare_codes


def level_of(field, first, second) -> str:
    """Return the name of the level of two values."""
    prepared = prepare(field, np.array([0, 1], dtype=np.int32), [first, second])
    (level,) = compare_codes(prepared.comparing, prepared.codes[:1], prepared.codes[1:])
    return prepared.comparing.names[level]


@pytest.fixture(scope="session")
def level():
    return level_of

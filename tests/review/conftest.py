"""Let the tests of this folder import their helpers by name."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def desk(tmp_path):
    from runs import desk_in

    return desk_in(tmp_path)

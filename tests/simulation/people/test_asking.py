"""What may be asked of simulated people, and what is said when it cannot be."""

import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from kolchin.errors import MissingExtraError, ModelError
from kolchin.simulation.people import simulate_people
from kolchin.simulation.people.names import read_names


class Halves:
    """A prior that puts the records in two clusters."""

    def draw(
        self, n_records: int, seed: int | np.random.Generator | None = None
    ) -> NDArray[np.int64]:
        return np.arange(n_records) % 2


def test_any_prior_will_do() -> None:
    table = simulate_people(11, 1, prior=Halves())
    assert table["ent_id"].value_counts()["count"].sort().to_list() == [5, 6]


def test_all_faults_are_told_together() -> None:
    with pytest.raises(ModelError) as error:
        simulate_people(10, family=0.1, moved=2, typos={"name": 0.1, "email": -1}, gaps="no")  # type: ignore[arg-type]
    message = str(error.value)
    assert "no parameter 'family'" in message
    assert "'moved' parameter must be a share from 0 to 1. Got 2" in message
    assert "names no column 'name'" in message
    assert "'typos of email' parameter must be a share" in message
    assert "'gaps' parameter must be a share" in message
    with pytest.raises(ModelError, match="must not add up to more than 1"):
        simulate_people(10, households=0.8, twins=0.3)
    with pytest.raises(
        ModelError, match=r"'n' parameter must be a whole number, 1 or more\. Got 0"
    ):
        simulate_people(0)


def test_a_missing_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    read_names.cache_clear()
    monkeypatch.setitem(sys.modules, "nicknames", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'kolchin\[people\]'"):
        simulate_people(10)

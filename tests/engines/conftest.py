"""Small tables that are sampled in shards."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sharding import N_RECORDS, Inline, drawn

import kolchin as kp
from kolchin.sampling import layout
from kolchin.simulation.people import simulate_people


@pytest.fixture
def inline():
    return Inline()


@pytest.fixture
def sharded(monkeypatch):
    """Let small tables be sampled in shards."""
    monkeypatch.setattr(layout, "SMALLEST_SHARDED", 50)
    monkeypatch.setattr(layout, "RECORDS_A_BLOCK", 12)
    monkeypatch.setattr(layout, "MOST_CUT", 1.0)


@pytest.fixture(scope="session")
def model():
    """A few persons, most of them several times."""
    people = simulate_people(N_RECORDS, seed=3)
    fields = ["first_name", "last_name", "sex", "birth_date", "city", "postcode"]
    records = kp.Records.from_table(people, fields)
    return kp.Model(records, likelihood=kp.compare(records))


@pytest.fixture
def serial(model, sharded):
    """What threads of this process draw."""
    return drawn(model)

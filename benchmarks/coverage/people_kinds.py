"""Persons: kolchin's simulated people, with one kind of dependence each, and vocabularies."""

from typing import Any

import numpy as np
import polars as pl
from accuracy.germans import simulate_germans
from corrupting import spoil_evenly
from entities import as_table, draw_entities, geometric, repeat
from vocabulary import Rng, draw_dates, invent_words, pick

from kolchin.simulation.people import simulate_people


def draw_people(rng: Rng, n_records: int, **options: Any) -> pl.DataFrame:
    """Draw simulated people with some kinds of dependence."""
    return simulate_people(n_records, rng, **options)


def draw_one_error(rng: Rng, n_records: int) -> pl.DataFrame:
    """Draw German names and birth dates; every duplicate has exactly one error."""
    return simulate_germans(n_records, int(rng.integers(2**31)))


def draw_with_vocabulary(
    rng: Rng, n_records: int, n_first: int, n_last: int, power: float = 1.0, share: float = 0.08
) -> pl.DataFrame:
    """Draw names of a vocabulary of some size, birth years and towns; values fail independently."""
    entity = draw_entities(rng, n_records, geometric(1.6))
    n = int(entity[-1]) + 1
    persons = {
        "first_name": pick(rng, invent_words(rng, n_first), n, flatness=1, power=power),
        "last_name": pick(rng, invent_words(rng, n_last), n, flatness=1, power=power),
        "birth_year": np.array([day[:4] for day in draw_dates(rng, n)], dtype=object),
        "town": pick(rng, invent_words(rng, 40), n),
    }
    return as_table(rng, spoil_evenly(rng, repeat(persons, entity), share), entity)

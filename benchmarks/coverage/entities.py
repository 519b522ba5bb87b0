"""How many records entities have, and how their rows become a table."""

from collections.abc import Callable

import numpy as np
import polars as pl
from corrupting import Flags
from numpy.typing import NDArray
from vocabulary import Fields, Rng, Texts

Ints = NDArray[np.int64]
Sizes = Callable[[Rng, int], Ints]
"""Draws the sizes of so many entities."""


def geometric(mean: float) -> Sizes:
    """Return sizes of which most are small and some large."""
    return lambda rng, n: rng.geometric(1 / mean, n)


def poisson(mean: float) -> Sizes:
    """Return sizes around their mean: one, and a Poisson number more."""
    return lambda rng, n: 1 + rng.poisson(mean - 1, n)


def fixed(mean: float) -> Sizes:
    """Return sizes all of the mean, or of the two whole numbers beside it."""
    return lambda rng, n: int(mean) + (rng.random(n) < mean - int(mean)).astype(np.int64)


def in_pairs(share: float) -> Sizes:
    """Return entities of one and of two records; a share of records is in pairs."""
    return lambda rng, n: 1 + (rng.random(n) < share / (2 - share)).astype(np.int64)


def draw_entities(rng: Rng, n_records: int, sizes: Sizes) -> Ints:
    """Return the entity of each record, in order; the last entity may be cut."""
    return np.repeat(np.arange(n_records), sizes(rng, n_records))[:n_records]


def is_first(entity: Ints) -> Flags:
    """Tell which records are the first ones of their entities."""
    return np.diff(entity, prepend=-1) != 0


def repeat(fields: Fields, entity: Ints) -> Fields:
    """Copy the values of entities to their records."""
    return {name: values[entity] for name, values in fields.items()}


def as_table(rng: Rng, fields: Fields, entity: Ints, source: Texts | None = None) -> pl.DataFrame:
    """Return a table of records in random order, with ids and true entities."""
    order = rng.permutation(entity.size)
    number = np.unique(entity, return_inverse=True)[1]
    columns: dict[str, object] = {
        "rec_id": np.arange(1, entity.size + 1),
        "ent_id": rng.permutation(int(number.max()) + 1)[number][order] + 1,
    }
    if source is not None:
        columns["source"] = source[order].tolist()
    texts = {name: pl.Series(v[order].tolist(), dtype=pl.String) for name, v in fields.items()}
    return pl.DataFrame({**columns, **texts})

"""kolchin's own models: where they hold, intervals should hold the truth as often as they say."""

import numpy as np
import polars as pl
from corrupting import ERRORS, Flags, misspell
from entities import Ints, as_table, is_first, repeat
from persons import draw_persons
from vocabulary import Fields, Rng, Texts, falling_weights

import kolchin as kp
from kolchin.simulation import simulate

COLUMNS = ("first_name", "last_name", "birth_date", "city")
LEVELS = {"first_name": (0.1, 0.05), "last_name": (0.08, 0.04), "birth_date": (0.05, 0.03)}
"""How often a record shows its entity's value mistyped, and how often any value at all."""

USUAL_LEVELS = (0.06, 0.06)
CATEGORIES = {"birth_year": 70, "branch": 30, "town": 60, "school": 25, "month": 12}


def draw_exemplars(rng: Rng, n_records: int) -> pl.DataFrame:
    """Draw a partition by a prior; one record shows the values, others err independently."""
    entity = draw_partition(rng, n_records)
    whole = draw_persons(rng, int(entity[-1]) + 1, COLUMNS)
    fields, shown = repeat(whole, entity), is_first(entity)
    for name, values in fields.items():
        near, any_ = LEVELS.get(name, USUAL_LEVELS)
        fields[name] = _at_levels(rng, name, values, whole, ~shown, (near, any_))
    return as_table(rng, fields, entity)


def draw_partition(rng: Rng, n_records: int) -> Ints:
    """Draw entities by the prior that simulated people have, and put them in order."""
    drawn = kp.ESCNB(r=1.0, p=1 / 3).draw(n_records, seed=rng)
    return np.sort(np.unique(np.asarray(drawn), return_inverse=True)[1])


def _at_levels(
    rng: Rng, name: str, values: Texts, whole: Fields, where: Flags, shares: tuple[float, float]
) -> Texts:
    """Show each value exactly, mistyped, or as that of anybody."""
    level = rng.choice(3, values.size, p=(1 - sum(shares), *shares))
    result = values.copy()
    for row in np.flatnonzero(where & (level == 1)):
        result[row] = ERRORS.get(name, misspell)(rng, values[row])
    anybody = np.flatnonzero(where & (level == 2))
    result[anybody] = whole[name][rng.integers(whole[name].size, size=anybody.size)]
    return result


def draw_categories(rng: Rng, n_records: int, delta: float = 0.05) -> pl.DataFrame:
    """Draw categorical records by the equations of the model, entities by its usual prior."""
    table = simulate(
        {name: falling_weights(n, 5) for name, n in CATEGORIES.items()},
        prior=kp.NBD(),
        n_records=n_records,
        delta=delta,
        seed=rng,
    )
    names = pl.col(*CATEGORIES)
    return table.with_columns(names.cast(pl.String))

"""How large entities are, how many fields they have, and how much a single one of them tells."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from corrupting import change_some, misdigit, spoil_evenly
from entities import Sizes, as_table, draw_entities, fixed, repeat
from persons import FEW, draw_records
from vocabulary import Rng, Texts, draw_digits, list_words, pick_evenly

SEXES = ["F", "M"]
REGIONS = list_words("north south east west centre coast islands hills")


def draw_sized(
    rng: Rng, n_records: int, sizes: Sizes, share: float = 0.12, columns: Sequence[str] = FEW
) -> pl.DataFrame:
    """Draw persons of some number of records and fields; values fail independently."""
    fields, entity = draw_records(rng, n_records, sizes, columns)
    return as_table(rng, spoil_evenly(rng, fields, share), entity)


def draw_identified(
    rng: Rng, n_records: int, sizes: Sizes, typos: float = 0.1, changed: float = 0.05
) -> pl.DataFrame:
    """Draw persons with an insurance number, some mistyped, and two fields that tell little."""
    entity = draw_entities(rng, n_records, sizes)
    n = int(entity[-1]) + 1
    persons = {
        "insurance_number": _numbers(rng, n),
        "sex": pick_evenly(rng, SEXES, n),
        "region": pick_evenly(rng, REGIONS, n),
    }
    fields = repeat(persons, entity)
    fields["insurance_number"] = change_some(rng, fields["insurance_number"], typos, misdigit)
    has_moved = rng.random(n_records) < changed
    fields["region"] = np.where(has_moved, pick_evenly(rng, REGIONS, n_records), fields["region"])
    return as_table(rng, fields, entity)


def draw_identifier_alone(rng: Rng, n_records: int, typos: float = 0.03) -> pl.DataFrame:
    """Draw one column in which every number stands twice, but for a few that are mistyped."""
    entity = draw_entities(rng, n_records, fixed(2))
    numbers = _numbers(rng, int(entity[-1]) + 1)[entity]
    fields = {"insurance_number": change_some(rng, numbers, typos, misdigit)}
    return as_table(rng, fields, entity)


def _numbers(rng: Rng, n: int) -> Texts:
    """Draw distinct numbers of nine digits with a letter before them, as insurances give them."""
    letters = pick_evenly(rng, list("ABCDEFGHJK"), n)
    serial = draw_digits(rng, n, 9)
    return np.array(
        [f"{letter}{digits}" for letter, digits in zip(letters, serial, strict=True)], dtype=object
    )

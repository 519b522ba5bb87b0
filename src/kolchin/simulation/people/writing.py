"""How people write records down: with typing errors, exchanged fields and gaps."""

import numpy as np
import polars as pl

from kolchin.simulation.people.coded import CodedTexts
from kolchin.simulation.people.dates import mistype_dates, swap_day_and_month
from kolchin.simulation.people.options import COLUMNS, Options
from kolchin.simulation.people.truth import TruePeople
from kolchin.simulation.people.typos import add_typos


def write_down(rng: np.random.Generator, truth: TruePeople, asked: Options) -> pl.DataFrame:
    """Return the table as people wrote it.

    Every kind of error has its own stream of random numbers: a share of one changes no other.
    """
    typing, leaving_out, swapping = rng.spawn(3)
    table = _mistype_columns(typing, truth, asked)
    swapped = pl.Series("swapped", swapping.random(truth.born.size) < asked.swapped_names)
    first, last = pl.col("first_name"), pl.col("last_name")
    table = table.with_columns(swapped).with_columns(
        first_name=pl.when("swapped").then(last).otherwise(first),
        last_name=pl.when("swapped").then(first).otherwise(last),
    )
    gaps = asked.by_column("gaps")
    return table.with_columns(
        pl.when(pl.Series(stream.random(table.height) >= gaps[name])).then(pl.col(name)).alias(name)
        for name, stream in zip(COLUMNS, leaving_out.spawn(len(COLUMNS)), strict=True)
    ).select(COLUMNS)


def _mistype_columns(rng: np.random.Generator, truth: TruePeople, asked: Options) -> pl.DataFrame:
    """Return all columns as text, mistyped."""
    shares = asked.by_column("typos")
    streams = dict(zip(COLUMNS, rng.spawn(len(COLUMNS)), strict=True))
    days = mistype_dates(streams["birth_date"], truth.born, shares["birth_date"])
    days = swap_day_and_month(rng.spawn(1)[0], days, asked.swapped_dates)
    sex = truth.columns["sex"]
    wrong = streams["sex"].random(sex.codes.size) < shares["sex"]
    table = {
        "sex": CodedTexts(sex.values, np.where(wrong, 1 - sex.codes, sex.codes)).texts(),
        "birth_date": pl.Series(days).cast(pl.Int32).cast(pl.Date).dt.strftime("%Y-%m-%d"),
    }
    for name, column in truth.columns.items():
        if name not in table:
            table[name] = add_typos(streams[name], column, shares[name]).texts()
    return pl.DataFrame(table)

"""Simulated people, from the number of records to the table."""

import numpy as np
import polars as pl

from kolchin.partitions import make_canonical
from kolchin.simulation.categorical import PartitionPrior, Seed
from kolchin.simulation.people.changes import draw_rows
from kolchin.simulation.people.options import COLUMNS, Share, check_options
from kolchin.simulation.people.sizes import draw_sizes
from kolchin.simulation.people.truth import draw_truth
from kolchin.simulation.people.writing import write_down


def simulate_people(
    n: int, seed: Seed = None, *, prior: PartitionPrior | None = None, **options: Share
) -> pl.DataFrame:
    """Draw a table of records of people, with their true entities, rows in random order.

    Needs the extra `people`, for names by their frequencies.

    Parameters
    ----------
    n
        Number of records.
    prior
        How many records a person has: any prior over partitions. By default `ESCNB(r=1, p=1/3)`,
        two thirds of persons with one record and 1.5 records a person.
    options
        Shares of households, twins, people who moved, typos and so on: see `Options`. Where a
        share of errors is another, everything else stays as it was with the same seed.

    Returns
    -------
    Columns `rec_id` (1, 2, ...), `ent_id` (the true entity), then text: `first_name`,
    `last_name`, `sex`, `birth_date`, `street`, `house_number`, `city`, `postcode`, `phone`,
    `email`.
    """
    asked = check_options(options)
    streams = np.random.default_rng(seed).spawn(3)
    sizes = draw_sizes(streams[0], n, prior)
    rows = draw_rows(streams[0], sizes)
    truth = draw_truth(streams[1], rows, asked)
    table = write_down(streams[2], truth, asked)
    return table.select(
        pl.Series("rec_id", np.arange(1, n + 1)),
        pl.Series("ent_id", make_canonical(rows.person) + 1),
        *COLUMNS,
    )

"""The tables: development data where they are there, and simulated people of every kind."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from accuracy.germans import simulate_germans
from kolchin.simulation.people import simulate_people

DEVELOPMENT = (
    "rldata500",
    "febrl1",
    "febrl2",
    "splink_fake1000",
    "restaurant",
    "multilink_dup_data",
    "exchanger_synth_mu1_dist1_n1000",
    "italy_friuli",
    "sipp",
)
LEFT_OUT = ("soc_sec_id", "source")
"""Almost a key, and where a record comes from: neither tool is given them."""

INDEPENDENT = {
    "households": 0.0,
    "twins": 0.0,
    "shared_phones": 0.0,
    "city_from_postcode": 0.0,
    "emails_from_names": 0.0,
    "moved": 0.0,
    "married": 0.0,
}
"""Shares of simulated people without the kinds of dependence that can be switched off."""

KINDS: dict[str, dict[str, Any]] = {
    "people, independent": INDEPENDENT,
    "people, households": {**INDEPENDENT, "households": 0.4, "shared_phones": 0.3},
    "people, twins": {**INDEPENDENT, "twins": 0.05},
    "people, movers": {**INDEPENDENT, "moved": 0.3},
    "people, e-mails from names": {**INDEPENDENT, "emails_from_names": 0.8},
    "people, postcode implies city": {**INDEPENDENT, "city_from_postcode": 1.0},
    "people, all together": {},
}
"""Options of simulated people, by table; the last has all defaults."""

QUICK_RECORDS = 1_000


class Table(NamedTuple):
    """A table to resolve: its name, the description that Splink has of it, and how to make it."""

    name: str
    description: str
    simulated: bool
    make: Callable[[], pl.DataFrame]


def all_tables(data: Path | None, n_records: int, seed: int) -> list[Table]:
    """List the tables that can be made here."""
    files = [] if data is None else [(name, data / f"{name}.csv") for name in DEVELOPMENT]
    found = [
        Table(name, name, False, partial(read_development, file))
        for name, file in files
        if file.is_file()
    ]
    germans = Table(
        "germans, like RLdata", "germans", True, partial(simulate_germans, n_records, seed)
    )
    people = [
        Table(name, "people", True, partial(simulate_people, n_records, seed, **options))
        for name, options in KINDS.items()
    ]
    return [*found, germans, *people]


def read_development(file: Path) -> pl.DataFrame:
    """Read a table as text, without the columns that no tool is given."""
    table = pl.read_csv(file, infer_schema=False)
    return table.drop(name for name in LEFT_OUT if name in table.columns)

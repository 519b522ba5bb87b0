"""The tables: development data where they are there, and simulated entities of every size."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from accuracy.tables import read_development
from entities import geometric
from error_kinds import draw_voters
from field_kinds import draw_identified, draw_sized
from thing_kinds import draw_products

from kolchin.simulation import simulate_paper
from kolchin.simulation.people import simulate_people

TOLD: dict[str, Any] = {"one_per_source": True, "source": "source"}
NUMBERED = {"fields": ["insurance_number", "sex", "region"]}
"""By default, columns that are nearly keys are left out."""

DEVELOPMENT: dict[str, dict[str, Any]] = {
    "italy_friuli": {},
    "italy_paper_synthetic": {},
    "sipp": {},
    "historical3k": {},
    "abt_buy": {},
    "abt_buy, one per source": TOLD,
    "exchanger_synth_mu0.1_dist1_n1000": {},
    "exchanger_synth_mu1_dist1_n1000": {},
    "exchanger_synth_mu8_dist1_n1000": {},
    "exchanger_synth_mu100_dist1_n1000": {},
    "rldata500": {},
    "febrl1": {},
    "febrl2": {},
    "splink_fake1000": {},
    "restaurant": {},
    "multilink_dup_data": {},
    "ncvr5party_500_ocp20": {},
}
"""Settings of `kp.resolve` by file; what stands after a comma tells settings apart."""

Maker = Callable[[int], pl.DataFrame]


class Table(NamedTuple):
    """A table to resolve: how many records it has, how it is made from a seed, and settings."""

    name: str
    n_records: int
    make: Maker
    settings: Mapping[str, Any]


def list_tables(data: Path | None) -> list[Table]:
    """List all tables that can be made here, small ones first."""
    found = [*_development(data), *_simulated()]
    return sorted(found, key=lambda table: table.n_records)


def _development(data: Path | None) -> Iterator[Table]:
    """List the development tables that are there."""
    for name, settings in DEVELOPMENT.items():
        file = Path() if data is None else data / f"{name.split(',')[0]}.csv"
        if data is not None and file.is_file():
            n_records = pl.scan_csv(file, infer_schema=False).select(pl.len()).collect().item()
            yield Table(name, n_records, partial(_read, file, bool(settings)), settings)


def _read(file: Path, with_source: bool, seed: int) -> pl.DataFrame:
    """Read a table; which file a record is from is told where it counts."""
    return pl.read_csv(file, infer_schema=False) if with_source else read_development(file)


def _simulated() -> Iterator[Table]:
    """List simulated tables by what is hard about them."""
    for mean, sizes in SIZES.items():
        for n_records in sizes:
            options = {"sizes": geometric(mean), "share": 0.08, "columns": COLUMNS}
            yield _drawn(f"entities of {mean:g}", n_records, partial(draw_sized, **options))
    for n_records in (2_000, 20_000):
        yield _drawn("voters with many errors", n_records, partial(draw_voters, replaced=0.5))
    options = {"sizes": geometric(1.6)}
    yield _drawn("one identifying field", 3_000, partial(draw_identified, **options), NUMBERED)
    yield _drawn("families of products", 2_000, draw_products)
    for n_records in (1_000, 10_000, 50_000, 100_000):
        yield _named("people", n_records, partial(simulate_people, n_records))
    for name, n_records in PAPER.items():
        make = partial(_paper, name.split(",")[0].lower())
        yield Table(f"{name}, {n_records:,}", n_records, make, {})


COLUMNS = ("first_name", "last_name", "birth_date", "city")
SIZES = {
    1.2: (500, 50_000),
    2: (1_000, 10_000),
    4: (500, 2_000, 10_000, 50_000),
    10: (500, 2_000, 10_000, 50_000),
    20: (1_000, 10_000, 50_000),
}
"""Records in all, by the mean number of records an entity."""

PAPER = {"Italy, simulated": 789, "NLTCS5000, simulated": 5_000}
"""The paper's data, drawn from its model: categories alone."""


def _drawn(
    kind: str,
    n_records: int,
    draw: Callable[[np.random.Generator, int], pl.DataFrame],
    settings: Mapping[str, Any] | None = None,
) -> Table:
    """Return a table of a kind of `benchmarks/coverage`."""

    def make(seed: int) -> pl.DataFrame:
        rng = np.random.default_rng([seed, n_records, zlib.crc32(kind.encode())])
        return draw(rng, n_records).drop("source", strict=False)

    return _named(kind, n_records, make, settings)


def _named(
    kind: str, n_records: int, make: Maker, settings: Mapping[str, Any] | None = None
) -> Table:
    return Table(f"{kind}, {n_records:,}", n_records, make, settings or {})


def _paper(name: str, seed: int) -> pl.DataFrame:
    """Draw a data set of the paper."""
    return simulate_paper(name, delta=0.05, seed=seed)


def choose_tables(every: list[Table], parts: list[str] | None, largest: int | None) -> list[Table]:
    """Return the tables whose names contain one of some parts, up to a number of records."""
    return [
        table
        for table in every
        if (not parts or any(part in table.name for part in parts))
        and (largest is None or table.n_records <= largest)
    ]

"""All tables by kind: a kind is one mechanism, its tables differ in numbers and sizes."""

import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from accuracy.tables import KINDS as PEOPLE
from entities import fixed, geometric, in_pairs, poisson
from error_kinds import (
    draw_clean_and_sloppy,
    draw_distorted,
    draw_files,
    draw_missing_blocks,
    draw_missing_values,
    draw_swapped,
    draw_voters,
)
from field_kinds import draw_identified, draw_identifier_alone, draw_sized
from own_kinds import draw_categories, draw_exemplars
from people_kinds import draw_one_error, draw_people, draw_with_vocabulary
from persons import ALL
from survey_kinds import draw_panel, draw_survey
from text_kinds import draw_catalogues, draw_papers, draw_songs
from thing_kinds import draw_firms, draw_products
from vocabulary import Rng

Maker = Callable[[Rng, int], pl.DataFrame]


class Table(NamedTuple):
    """A table of a kind: its number, its size, how it is drawn, and how it is resolved.

    ``settings`` are given to `kp.resolve`; without a `source` among them, sources are not told.
    """

    kind: str
    number: int
    n_records: int
    make: Maker
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name under which its numbers are kept."""
        return f"{self.kind} {self.number}"

    def draw(self, seed: int, n_records: int | None = None) -> pl.DataFrame:
        """Draw the table, or one of another size; the same seed gives the same table."""
        rng = np.random.default_rng([seed, self.number, zlib.crc32(self.kind.encode())])
        return self.make(rng, self.n_records if n_records is None else n_records)


TOLD = {"source": "source"}
"""Settings of tables whose sources are told."""

Row = tuple[int, dict[str, Any]]
"""The size of a table, and what is asked of its generator."""

Kind = tuple[str, list[Table]]


def _kind(name: str, make: Callable[..., pl.DataFrame], *rows: Row) -> Kind:
    """List the tables of a kind; `settings` are for resolving, the rest for its generator."""
    tables = []
    for number, (n_records, options) in enumerate(rows, start=1):
        asked = {key: value for key, value in options.items() if key != "settings"}
        settings = options.get("settings", {})
        tables.append(Table(name, number, n_records, partial(make, **asked), settings))
    return name, tables


def _of_sizes(mean: float, *n_records: int) -> Kind:
    """List tables of one mean number of records an entity, in three shapes."""
    shapes = (geometric(mean), poisson(mean), fixed(mean))
    rows = [(n, {"sizes": sizes}) for n, sizes in zip(n_records, shapes, strict=True)]
    return _kind(f"entities of {mean:g}", draw_sized, *rows)


def _of_fields(name: str, share: float, *rows: tuple[int, tuple[str, ...]]) -> Kind:
    """List tables of some fields."""
    common = {"sizes": geometric(1.5), "share": share}
    return _kind(name, draw_sized, *((n, {**common, "columns": columns}) for n, columns in rows))


def _people() -> Iterable[Kind]:
    """List kolchin's simulated people: every kind of dependence alone, none, and all."""
    for name, options in PEOPLE.items():
        n_records = (700, 2_500, 10_000) if name == "people, all together" else (400, 1_000, 2_500)
        yield _kind(name, draw_people, *((n, options) for n in n_records))


def _errors() -> Iterable[Kind]:
    """List kinds by how errors come about."""
    yield _kind("one error", draw_one_error, (500, {}), (2_000, {}), (10_000, {}))
    sloppy = ((600, {}), (1_500, {"sloppy": 0.3}), (5_000, {"share": 0.4}))
    yield _kind("clean and sloppy", draw_clean_and_sloppy, *sloppy)
    told = {"present": 0.6, "settings": TOLD}
    yield _kind("one bad file", draw_files, (600, {}), (1_000, told), (2_500, {"present": 0.3}))
    voters = ((500, {}), (2_000, {"linked": 0.2, "replaced": 0.5}), (20_000, {}))
    yield _kind("voters", draw_voters, *voters)
    few = [(600, 0.02, 0.25), (1_500, 0.05, 0.3), (3_000, 0.03, 0.2)]
    rows = [(n, {"sizes": in_pairs(linked), "share": share}) for n, linked, share in few]
    yield _kind("distorted, few links", draw_distorted, *rows)
    many = [(400, geometric(2.5), 0.3), (1_000, poisson(3), 0.25), (2_000, fixed(2), 0.35)]
    rows = [(n, {"sizes": sizes, "share": share}) for n, sizes, share in many]
    yield _kind("distorted, many links", draw_distorted, *rows)
    missing = ((500, {}), (1_000, {"gaps": 0.5}), (2_500, {"gaps": 0.3}))
    yield _kind("many gaps", draw_missing_values, *missing)
    yield _kind("gaps in blocks", draw_missing_blocks, *missing)
    rows = [(n, {"swapped": share}) for n, share in ((400, 0.1), (1_000, 0.2), (2_500, 0.05))]
    yield _kind("swapped columns", draw_swapped, *rows)


def _shapes() -> Iterable[Kind]:
    """List kinds by sizes of entities, numbers of fields, and what a field tells."""
    yield _of_sizes(1.2, 500, 1_000, 3_000)
    yield _of_sizes(2, 400, 1_000, 2_500)
    yield _of_sizes(4, 400, 1_000, 2_000)
    yield _of_sizes(10, 500, 1_000, 2_000)
    names, born, year = ("first_name", "last_name"), "birth_date", "birth_year"
    two = ((300, ("last_name", born)), (800, ("first_name", born)), (1_500, ("last_name", born)))
    yield _of_fields("two fields", 0.08, *two)
    three = ((400, (*names, year)), (1_000, (*names, "postcode")), (3_000, (*names, born)))
    yield _of_fields("three fields", 0.1, *three)
    yield _of_fields("ten fields", 0.15, (400, ALL), (1_000, ALL), (5_000, ALL))
    sizes = (fixed(2), geometric(1.6), poisson(3))
    # By default, columns that are nearly keys are left out.
    named = {"settings": {"fields": ["insurance_number", "sex", "region"]}}
    pairs = zip((400, 1_000, 3_000), sizes, strict=True)
    rows = [(n, {"sizes": each, **named}) for n, each in pairs]
    yield _kind("one identifying field", draw_identified, *rows)
    named = {"settings": {"fields": ["insurance_number"]}}
    pairs = ((300, 0.03), (1_000, 0.05), (3_000, 0.02))
    rows = [(n, {"typos": share, **named}) for n, share in pairs]
    yield _kind("an identifier alone", draw_identifier_alone, *rows)
    small, large = ({"n_first": 200, "n_last": 500}, {"n_first": 20_000, "n_last": 50_000})
    even = {"power": 0.8, "share": 0.12}
    rows = [(400, small), (1_000, {**small, **even}), (3_000, small)]
    yield _kind("few names", draw_with_vocabulary, *rows)
    rows = [(400, large), (1_000, {**large, **even}), (3_000, large)]
    yield _kind("many names", draw_with_vocabulary, *rows)


def _others() -> Iterable[Kind]:
    """List surveys, things, and kolchin's own models."""
    panels = ((300, {}), (600, {"changed": 0.25}), (1_200, {"settings": TOLD}))
    yield _kind("survey, panel", draw_panel, *panels)
    yield _kind("survey, errors", draw_survey, (300, {}), (600, {"share": 0.08}), (1_200, {}))
    firms = ((400, {}), (1_000, {"errors": 0.15}), (3_000, {}))
    yield _kind("firms", draw_firms, *firms)
    products = ((400, {}), (1_000, {"errors": 0.15}), (2_000, {}))
    yield _kind("products", draw_products, *products)
    twice = {"settings": TOLD}
    yield _kind("catalogues", draw_catalogues, (400, twice), (1_000, {}), (2_000, twice))
    yield _kind("bibliographies", draw_papers, (400, {}), (1_000, twice), (2_000, {}))
    yield _kind("songs", draw_songs, (400, {}), (1_000, twice), (2_000, {}))
    yield _kind("own model, compared", draw_exemplars, (400, {}), (1_000, {}), (3_000, {}))
    rows = [(n, {"delta": delta}) for n, delta in ((300, 0.05), (600, 0.1), (1_000, 0.02))]
    yield _kind("own model, categories", draw_categories, *rows)


KINDS: dict[str, list[Table]] = dict([*_people(), *_errors(), *_shapes(), *_others()])
"""The tables of each kind."""


def choose_tables(parts: list[str] | None, largest: int | None) -> list[Table]:
    """List the tables whose names contain one of some parts, up to a number of records."""
    every = [table for tables in KINDS.values() for table in tables]
    return [
        table
        for table in every
        if (not parts or any(part in table.name for part in parts))
        and (largest is None or table.n_records <= largest)
    ]

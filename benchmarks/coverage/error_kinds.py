"""Ways in which errors come about: by record, by file, in pairs, in blocks, and many at once."""

import numpy as np
import polars as pl
from corrupting import (
    choose_columns,
    leave_out,
    spoil,
    spoil_evenly,
    swap_day_and_month,
)
from entities import (
    Sizes,
    as_table,
    fixed,
    geometric,
    in_pairs,
    is_first,
    repeat,
)
from persons import FEW, draw_persons, draw_records
from vocabulary import Fields, Rng, Texts

FILES = np.array(["register", "hospital", "survey"], dtype=object)
CONTACTS = ("phone", "email")
BLOCKS = (*FEW, "street", "postcode", *CONTACTS)
SWAPPED = (("first_name", "last_name"), ("street", "city"))


def draw_clean_and_sloppy(
    rng: Rng, n_records: int, sloppy: float = 0.2, share: float = 0.3
) -> pl.DataFrame:
    """Draw records most of which have no error, and some in a third of their fields."""
    fields, entity = draw_records(rng, n_records, geometric(1.5))
    rate = np.where(rng.random(n_records) < sloppy, share, 0.0)
    return as_table(rng, spoil_evenly(rng, fields, rate), entity)


def draw_files(
    rng: Rng, n_records: int, present: float = 0.5, rates: tuple[float, ...] = (0.02, 0.05, 0.35)
) -> pl.DataFrame:
    """Draw three files without duplicates, one of them bad; a person is in some of them."""
    is_in = rng.random((n_records, FILES.size)) < present
    is_in[np.arange(n_records), rng.integers(FILES.size, size=n_records)] = True
    entity, file = (places[:n_records] for places in np.nonzero(is_in))
    persons = draw_persons(rng, int(entity[-1]) + 1)
    fields = spoil_evenly(rng, repeat(persons, entity), np.array(rates)[file])
    return as_table(rng, fields, entity, FILES[file])


def draw_voters(
    rng: Rng, n_records: int, linked: float = 0.4, spoilt: float = 0.4, replaced: float = 0.25
) -> pl.DataFrame:
    """Draw voters of four fields, two of them dependent; a duplicate has no error or two."""
    columns = ("first_name", "last_name", "city", "postcode")
    fields, entity = draw_records(rng, n_records, in_pairs(linked), columns)
    chosen = choose_columns(rng, n_records, len(columns), 2)
    chosen &= (~is_first(entity) & (rng.random(n_records) < spoilt))[:, None]
    fields = spoil(rng, fields, dict(zip(columns, chosen.T, strict=True)), replaced)
    fields["suburb"] = fields.pop("city")
    return as_table(rng, fields, entity)


def draw_distorted(rng: Rng, n_records: int, sizes: Sizes, share: float) -> pl.DataFrame:
    """Draw persons of whose values a large share is wrong, in every record."""
    columns = ("first_name", "last_name", "birth_date", "street", "postcode")
    fields, entity = draw_records(rng, n_records, sizes, columns)
    return as_table(rng, spoil_evenly(rng, fields, share), entity)


def draw_missing_values(
    rng: Rng, n_records: int, gaps: float = 0.4, share: float = 0.05
) -> pl.DataFrame:
    """Draw persons many of whose values are missing, each by itself."""
    fields, entity = draw_records(rng, n_records, geometric(1.6), BLOCKS)
    fields = spoil_evenly(rng, fields, share)
    fields = {name: leave_out(v, rng.random(n_records) < gaps) for name, v in fields.items()}
    return as_table(rng, fields, entity)


def draw_missing_blocks(
    rng: Rng, n_records: int, gaps: float = 0.4, share: float = 0.05
) -> pl.DataFrame:
    """Draw persons whose address is missing as a whole, or phone and e-mail together."""
    fields, entity = draw_records(rng, n_records, geometric(1.6), BLOCKS)
    fields = spoil_evenly(rng, fields, share)
    for block in (("street", "city", "postcode"), CONTACTS):
        where = rng.random(n_records) < gaps
        fields |= {name: leave_out(fields[name], where) for name in block}
    return as_table(rng, fields, entity)


def draw_swapped(rng: Rng, n_records: int, swapped: float = 0.1) -> pl.DataFrame:
    """Draw persons with names, street and city, or day and month exchanged; few typos beside."""
    columns = ("first_name", "last_name", "birth_date", "street", "city")
    fields, entity = draw_records(rng, n_records, fixed(1.7), columns)
    fields = spoil_evenly(rng, fields, 0.02)
    for one, other in SWAPPED:
        where = rng.random(n_records) < swapped
        fields |= _exchanged(fields, one, other, where)
    days = np.array([swap_day_and_month(rng, day) for day in fields["birth_date"]], dtype=object)
    fields["birth_date"] = np.where(rng.random(n_records) < swapped, days, fields["birth_date"])
    return as_table(rng, fields, entity)


def _exchanged(fields: Fields, one: str, other: str, where: np.ndarray) -> dict[str, Texts]:
    return {
        one: np.where(where, fields[other], fields[one]),
        other: np.where(where, fields[one], fields[other]),
    }

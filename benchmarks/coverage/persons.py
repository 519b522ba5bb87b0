"""Persons as several kinds have them: names, dates, addresses and contacts."""

from collections.abc import Sequence

import numpy as np
from entities import Ints, Sizes, draw_entities, repeat
from vocabulary import (
    MAIL_HOSTS,
    Fields,
    Rng,
    Texts,
    draw_dates,
    draw_digits,
    draw_first_names,
    draw_last_names,
    draw_places,
    draw_streets,
    pick_evenly,
)

FEW = ("first_name", "last_name", "birth_year", "city")
"""Fields that hardly tell who a person is once two of them are wrong."""

ADDRESS = ("street", "house_number", "city", "postcode")
ALL = ("first_name", "last_name", "sex", "birth_date", *ADDRESS, "phone", "email")


def draw_persons(rng: Rng, n: int, columns: Sequence[str] = FEW) -> Fields:
    """Draw persons who have nothing to do with each other; a postcode is of one city."""
    born = draw_dates(rng, n)
    first, last = draw_first_names(rng, n), draw_last_names(rng, n)
    city, postcode = draw_places(rng, n)
    whole = {
        "first_name": first,
        "last_name": last,
        "sex": pick_evenly(rng, ["F", "M"], n),
        "birth_date": born,
        "birth_year": np.array([day[:4] for day in born], dtype=object),
        "street": draw_streets(rng, n),
        "house_number": rng.integers(1, 120, n).astype(str).astype(object),
        "city": city,
        "postcode": postcode,
        "phone": _phones(rng, n),
        "email": _emails(rng, first, last),
    }
    return {name: whole[name] for name in columns}


def draw_records(
    rng: Rng, n_records: int, sizes: Sizes, columns: Sequence[str] = FEW
) -> tuple[Fields, Ints]:
    """Draw persons and return their records without an error, and who each is of."""
    entity = draw_entities(rng, n_records, sizes)
    return repeat(draw_persons(rng, int(entity[-1]) + 1, columns), entity), entity


def _phones(rng: Rng, n: int) -> Texts:
    numbers = zip(draw_digits(rng, n, 3), draw_digits(rng, n, 4), strict=True)
    areas = pick_evenly(rng, ["020", "0161", "0121", "0113"], n)
    return np.array([f"{a} {b} {c}" for a, (b, c) in zip(areas, numbers, strict=True)], object)


def _emails(rng: Rng, first: Texts, last: Texts) -> Texts:
    hosts, numbers = pick_evenly(rng, MAIL_HOSTS, first.size), rng.integers(1, 99, first.size)
    parts = zip(first, last, numbers, hosts, strict=True)
    return np.array([f"{f}.{la}{k}@{host}".lower() for f, la, k, host in parts], object)

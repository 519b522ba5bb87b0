"""Phones, shared in some households, and e-mail addresses, most of them made from names."""

import numpy as np
import polars as pl

from kolchin.simulation.people.coded import CodedTexts, Ints
from kolchin.simulation.people.names import Names
from kolchin.simulation.people.persons import Persons

_DOMAINS = ("gmail.com", "yahoo.com", "hotmail.com", "outlook.com", "aol.com", "icloud.com")
_DOMAIN_WEIGHTS = np.array([0.45, 0.2, 0.13, 0.1, 0.07, 0.05])
_FORM_WEIGHTS = np.array([0.35, 0.2, 0.2, 0.15, 0.1])
_SYLLABLES = tuple(consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou")


def draw_phones(
    rng: np.random.Generator, household: Ints, city_of_household: Ints, shared: float
) -> pl.Series:
    """Draw a phone number a person, with the city's area code; in some households all share one."""
    n_households = city_of_household.size
    own = rng.integers(2_000_000, 10_000_000, household.size)
    at_home = rng.integers(2_000_000, 10_000_000, n_households)
    is_shared = rng.random(n_households) < shared
    number = np.where(is_shared[household], at_home[household], own)
    area = 201 + 7 * city_of_household[household] % 790
    digits = pl.Series(area * 10_000_000 + number).cast(pl.String)
    frame = pl.DataFrame({"digits": digits})
    part = pl.col("digits").str
    parts = [part.slice(0, 3), part.slice(3, 3), part.slice(6, 4)]
    return frame.select(pl.concat_str(parts, separator="-")).to_series()


def draw_emails(
    rng: np.random.Generator, persons: Persons, names: Names, share: float, from_names: float
) -> CodedTexts:
    """Draw e-mail addresses of a share of persons, no two of them the same."""
    n_persons = persons.first.size
    domain = pl.Series(_DOMAINS).gather(rng.choice(len(_DOMAINS), n_persons, p=_DOMAIN_WEIGHTS))
    from_name = rng.random(n_persons) < from_names
    frame = pl.DataFrame(
        {
            "handle": _make_handles(rng, persons, names),
            "other": _draw_handles(rng, n_persons),
            "from_name": from_name,
            "domain": domain,
        }
    ).with_columns(handle=pl.when("from_name").then("handle").otherwise("other"))
    earlier = pl.int_range(pl.len()).over("handle", "domain")
    number = (
        pl.when(earlier > 0).then(pl.concat_str(pl.lit("."), earlier + 1)).otherwise(pl.lit(""))
    )
    texts = frame.select(pl.concat_str("handle", number, pl.lit("@"), "domain")).to_series()
    has_one = rng.random(n_persons) < share
    return CodedTexts(texts, np.where(has_one, np.arange(n_persons), -1))


def _make_handles(rng: np.random.Generator, persons: Persons, names: Names) -> pl.Series:
    """Make the part before the @ from names, in one of five usual forms."""
    year = pl.Series(persons.born).cast(pl.Int32).cast(pl.Date).dt.strftime("%y")
    frame = pl.DataFrame(
        {
            "first": names.first.str.to_lowercase().gather(persons.first),
            "last": names.last.str.to_lowercase().gather(persons.last),
            "year": year,
            "form": rng.choice(_FORM_WEIGHTS.size, persons.first.size, p=_FORM_WEIGHTS),
        }
    )
    initial = pl.col("first").str.slice(0, 1)
    forms = [
        pl.concat_str("first", pl.lit("."), "last"),
        pl.concat_str("first", "last"),
        pl.concat_str(initial, "last"),
        pl.concat_str("first", pl.lit("."), "last", "year"),
        pl.concat_str("first", pl.lit("_"), "last"),
    ]
    chosen = forms[0]
    for number, form in enumerate(forms[1:], 1):
        chosen = pl.when(pl.col("form") == number).then(form).otherwise(chosen)
    return frame.select(chosen.alias("handle")).to_series()


def _draw_handles(rng: np.random.Generator, n: int) -> pl.Series:
    """Make handles of three syllables and two digits that say nothing about a name."""
    syllables = pl.Series(_SYLLABLES)
    frame = pl.DataFrame(
        {f"part_{k}": syllables.gather(rng.integers(len(_SYLLABLES), size=n)) for k in range(3)}
        | {"number": pl.Series(rng.integers(10, 100, n)).cast(pl.String)}
    )
    return frame.select(pl.concat_str(pl.all())).to_series()

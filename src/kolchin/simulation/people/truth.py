"""What the records of all persons should say, before anybody writes them down."""

from typing import NamedTuple

import numpy as np

from kolchin.simulation.people.changes import (
    PersonRows,
    draw_addresses,
    draw_first_names,
    draw_surnames,
)
from kolchin.simulation.people.coded import CodedTexts, Ints
from kolchin.simulation.people.contacts import draw_emails, draw_phones
from kolchin.simulation.people.names import SEXES, Names, read_names
from kolchin.simulation.people.options import Options
from kolchin.simulation.people.persons import Persons, draw_persons
from kolchin.simulation.people.places import Addresses, Country, make_country


class TruePeople(NamedTuple):
    """The columns of text, and the birth dates as days since 1970; one entry a record."""

    columns: dict[str, CodedTexts]
    born: Ints


def draw_truth(rng: np.random.Generator, rows: PersonRows, asked: Options) -> TruePeople:
    """Draw the persons, where they live, how to reach them, and what changes in time."""
    names = read_names()
    person_rng, place_rng, home_rng, contact_rng, change_rng = rng.spawn(5)
    persons = draw_persons(person_rng, rows.sizes.size, names, asked.households, asked.twins)
    n_households = int(persons.household.max()) + 1
    country = make_country(place_rng, n_households, names.last)
    homes = country.draw(home_rng, n_households, asked.city_from_postcode)
    naming, moving = change_rng.spawn(2)
    columns = {
        **_draw_names(naming, rows, persons, names, asked),
        "sex": CodedTexts(SEXES, persons.sex[rows.person]),
        **_draw_addresses(moving, rows, persons, country, homes, asked),
        **_draw_contacts(contact_rng, rows, persons, names, homes, asked),
    }
    return TruePeople(columns, persons.born[rows.person])


def _draw_names(
    rng: np.random.Generator, rows: PersonRows, persons: Persons, names: Names, asked: Options
) -> dict[str, CodedTexts]:
    """Return first names, some of them nicknames, and surnames, some of them new."""
    naming, marrying = rng.spawn(2)
    first = draw_first_names(naming, rows, persons, names, asked.nicknames)
    last = draw_surnames(marrying, rows, persons, names, asked.married)
    return {"first_name": CodedTexts(names.first, first), "last_name": CodedTexts(names.last, last)}


def _draw_addresses(
    rng: np.random.Generator,
    rows: PersonRows,
    persons: Persons,
    country: Country,
    homes: Addresses,
    asked: Options,
) -> dict[str, CodedTexts]:
    """Return the parts of each record's address, the old or the new one."""
    n_homes = homes.city.size
    address, n_addresses = draw_addresses(rng, rows, persons.household, n_homes, asked.moved)
    new = country.draw(rng, n_addresses - n_homes, asked.city_from_postcode)
    codes = [np.concatenate(both)[address] for both in zip(homes, new, strict=True)]
    return {
        name: CodedTexts(texts, part)
        for name, texts, part in zip(Addresses._fields, country.texts, codes, strict=True)
    }


def _draw_contacts(
    rng: np.random.Generator,
    rows: PersonRows,
    persons: Persons,
    names: Names,
    homes: Addresses,
    asked: Options,
) -> dict[str, CodedTexts]:
    """Return phones and e-mail addresses, which stay with a person."""
    phone_rng, email_rng = rng.spawn(2)
    phones = draw_phones(phone_rng, persons.household, homes.city, asked.shared_phones)
    emails = draw_emails(email_rng, persons, names, asked.emails, asked.emails_from_names)
    return {
        "phone": CodedTexts(phones, rows.person),
        "email": CodedTexts(emails.values, emails.codes[rows.person]),
    }

"""What changes between the records of one person: an address, a surname, the name they go by."""

from typing import NamedTuple

import numpy as np

from kolchin.simulation.people.coded import Flags, Ints, pick_other
from kolchin.simulation.people.names import FEMALE, Names
from kolchin.simulation.people.persons import GROWN_UP, Persons


class PersonRows(NamedTuple):
    """One entry a record, in random order: its person, and its place among the person's records."""

    person: Ints
    place: Ints
    sizes: Ints

    def later(self, rng: np.random.Generator, persons: Flags) -> Flags:
        """Choose a moment for each person, before the last record, and return what comes after."""
        turn = 1 + (rng.random(self.sizes.size) * (self.sizes - 1)).astype(np.int64)
        return persons[self.person] & (self.place >= turn[self.person])


def draw_rows(rng: np.random.Generator, sizes: Ints) -> PersonRows:
    """Put the records of all persons in random order."""
    order = rng.permutation(int(sizes.sum()))
    person = np.repeat(np.arange(sizes.size), sizes)
    place = np.arange(person.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return PersonRows(person[order], place[order], sizes)


def draw_addresses(
    rng: np.random.Generator, rows: PersonRows, household: Ints, n_households: int, moved: float
) -> tuple[Ints, int]:
    """Return the address of each record, and how many addresses there are.

    Household k has address k; those who move alone get the numbers that follow.
    """
    movers = (rows.sizes > 1) & (rng.random(rows.sizes.size) < moved)
    new = n_households + np.cumsum(movers) - 1
    later = rows.later(rng, movers)
    address = np.where(later, new[rows.person], household[rows.person])
    return address, n_households + int(movers.sum())


def draw_surnames(
    rng: np.random.Generator, rows: PersonRows, persons: Persons, names: Names, married: float
) -> Ints:
    """Return the surname of each record: grown-up women may marry and take another."""
    women = (persons.sex == FEMALE) & (persons.age >= GROWN_UP)
    brides = women & (rows.sizes > 1) & (rng.random(rows.sizes.size) < married)
    later = rows.later(rng, brides)
    new = pick_other(rng, names.last_cumulative, persons.last)
    return np.where(later, new[rows.person], persons.last[rows.person])


def draw_first_names(
    rng: np.random.Generator, rows: PersonRows, persons: Persons, names: Names, nicknames: float
) -> Ints:
    """Return the first name of each record: a share of those with nicknames have one."""
    first = persons.first[rows.person]
    familiar = rng.random(first.size) < nicknames
    return np.where(familiar, names.draw_nickname(rng, first), first)

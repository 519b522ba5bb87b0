"""The persons themselves: sex, birth date and names, as their households have it."""

from typing import NamedTuple

import numpy as np

from kolchin.simulation.people.coded import Floats, Ints, pick
from kolchin.simulation.people.households import ANCHOR, CHILD, SPOUSE, TWIN, Homes, draw_homes
from kolchin.simulation.people.names import FEMALE, MALE, Names

TODAY = int(np.datetime64("2025-01-01").astype(np.int64))
"""The day on which ages are counted, in days since 1970."""

YEAR = 365.25
GROWN_UP = 18

_OLDEST = 100
_FALLING_FROM = 55
_WOMEN = 0.51
_MIXED_COUPLES = 0.97
_TWINS_OF_ONE_SEX = 2 / 3


class Persons(NamedTuple):
    """One entry a person: household, sex, codes of names, birth in days since 1970."""

    household: Ints
    sex: Ints
    first: Ints
    last: Ints
    born: Ints

    @property
    def age(self) -> Floats:
        """Return the age in years."""
        return (TODAY - self.born) / YEAR


def draw_persons(
    rng: np.random.Generator, n_persons: int, names: Names, households: float, twins: float
) -> Persons:
    """Draw persons in random order."""
    homes = draw_homes(rng, n_persons, households, twins)
    sex = _draw_sexes(rng, homes)
    first = names.draw_first(rng, sex)
    twin = np.flatnonzero(homes.role == TWIN)
    while (same := twin[1::2][first[twin[::2]] == first[twin[1::2]]]).size:
        first[same] = names.draw_first(rng, sex[same])
    last = pick(rng, names.last_cumulative, homes.n_households)[homes.household]
    persons = Persons(homes.household, sex, first, last, _draw_births(rng, homes))
    order = rng.permutation(n_persons)
    return Persons(*(array[order] for array in persons))


def _draw_sexes(rng: np.random.Generator, homes: Homes) -> Ints:
    """Draw sexes: most couples are mixed, two thirds of twins are not."""
    sex = np.where(rng.random(homes.role.size) < _WOMEN, FEMALE, MALE)
    spouse = np.flatnonzero(homes.role == SPOUSE)
    mixed = rng.random(spouse.size) < _MIXED_COUPLES
    sex[spouse] = np.where(mixed, FEMALE + MALE - sex[spouse - 1], sex[spouse - 1])
    twin = np.flatnonzero(homes.role == TWIN)
    alike = rng.random(twin.size // 2) < _TWINS_OF_ONE_SEX
    sex[twin[1::2]] = np.where(alike, sex[twin[::2]], FEMALE + MALE - sex[twin[::2]])
    return sex


def _draw_births(rng: np.random.Generator, homes: Homes) -> Ints:
    """Draw birth dates: spouses of about one age, children 20 to 40 years younger."""
    n_persons = homes.role.size
    age = _draw_ages(rng, n_persons, GROWN_UP)
    anchor = homes.role == ANCHOR
    age[anchor] = _draw_ages(rng, int(anchor.sum()), GROWN_UP + 7)
    spouse = np.flatnonzero(homes.role == SPOUSE)
    age[spouse] = np.clip(age[spouse - 1] + rng.normal(0, 3, spouse.size), GROWN_UP, _OLDEST)
    in_family = homes.household < homes.anchors.size
    child = np.flatnonzero(np.isin(homes.role, (CHILD, TWIN)) & in_family)
    parent_age = age[homes.anchors[homes.household[child]]]
    age_at_birth = 20 + rng.random(child.size) * (np.minimum(parent_age, 40) - 20)
    age[child] = parent_age - age_at_birth
    twin = np.flatnonzero(homes.role == TWIN)
    age[twin[1::2]] = age[twin[::2]]
    return TODAY - np.ceil(age * YEAR).astype(np.int64)


def _draw_ages(rng: np.random.Generator, n: int, youngest: int) -> Floats:
    """Draw ages that are all as frequent up to 55 and then fall to none at 100."""
    years = np.arange(youngest, _OLDEST)
    weights = np.minimum((_OLDEST - years) / (_OLDEST - _FALLING_FROM), 1.0)
    ages: Floats = years[pick(rng, np.cumsum(weights), n)] + rng.random(n)
    return ages

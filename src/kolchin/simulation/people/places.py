"""Addresses: a street and a number in a postcode, and the city that the postcode implies."""

from typing import NamedTuple

import numpy as np
import polars as pl

from kolchin.simulation.people.coded import Ints, pick

_STEMS = (
    *("Ash", "Beech", "Birch", "Black", "Bridge", "Brook", "Cedar", "Clear", "Clin", "Cold"),
    *("Deer", "East", "Elm", "Fair", "Frank", "Glen", "Green", "Hart", "Hazel", "High"),
    *("Hol", "King", "Lake", "Lin", "Maple", "Mill", "New", "North", "Oak", "Ox"),
    *("Pine", "Red", "River", "Rock", "South", "Spring", "Stone", "Wake", "West", "Wood"),
)
_ENDINGS = ("borough", "bury", "dale", "field", "ford", "land", "port", "ton", "ville", "wood")
_COMMON_STREETS = (
    *("Second", "Third", "First", "Fourth", "Park", "Fifth", "Main", "Sixth", "Oak", "Seventh"),
    *("Pine", "Maple", "Cedar", "Eighth", "Elm", "View", "Lake", "Hill", "Ninth", "Walnut"),
    *("Spring", "North", "Ridge", "Church", "Willow", "Mill", "Sunset", "Railroad", "Chestnut"),
    *("River", "Cherry", "Meadow", "Forest", "Highland", "School", "Poplar", "College", "Center"),
)
_STREET_KINDS = ("Street", "Avenue", "Road", "Drive", "Lane", "Court", "Way", "Place")
_KIND_WEIGHTS = np.array([30, 20, 16, 14, 8, 5, 4, 3])

HOUSEHOLDS_A_POSTCODE = 150
_POSTCODES_A_CITY = 4
_STREETS_A_POSTCODE = 30
_STREET_NAMES = 500
_MEAN_NUMBER = 90.0
_LARGEST_NUMBER = 1000


class Addresses(NamedTuple):
    """Where households live: codes into the lists of a `Country`."""

    street: Ints
    house_number: Ints
    city: Ints
    postcode: Ints


class Country(NamedTuple):
    """The streets, cities and postcodes that there are."""

    street_texts: pl.Series
    number_texts: pl.Series
    city_texts: pl.Series
    postcode_texts: pl.Series
    city_of_postcode: Ints
    streets_of_postcode: Ints
    crowding: Ints

    @property
    def texts(self) -> tuple[pl.Series, pl.Series, pl.Series, pl.Series]:
        """Return the texts of the parts of an address, in the order of `Addresses`."""
        return self.street_texts, self.number_texts, self.city_texts, self.postcode_texts

    def draw(self, rng: np.random.Generator, n: int, city_from_postcode: float) -> Addresses:
        """Draw addresses; a share of them have the city of their postcode, others any city."""
        postcode = pick(rng, np.cumsum(self.crowding, dtype=float), n)
        slot = (rng.random(n) * _STREETS_A_POSTCODE).astype(np.int64)
        number = np.minimum(rng.exponential(_MEAN_NUMBER, n), _LARGEST_NUMBER - 1)
        elsewhere = pick(rng, np.cumsum(self.crowding, dtype=float), n)
        implied = rng.random(n) < city_from_postcode
        return Addresses(
            street=self.streets_of_postcode[postcode, slot],
            house_number=number.astype(np.int64),
            city=self.city_of_postcode[np.where(implied, postcode, elsewhere)],
            postcode=postcode,
        )


def make_country(rng: np.random.Generator, n_households: int, surnames: pl.Series) -> Country:
    """Make a country for a number of households, its streets named after things and people.

    Postcodes grow with the number of households, so that as many share one in small tables as in
    large ones; larger cities have more postcodes, which lie side by side.
    """
    n_postcodes = int(np.clip(n_households // HOUSEHOLDS_A_POSTCODE, 8, 30_000))
    n_cities = int(np.clip(n_postcodes // _POSTCODES_A_CITY, 3, len(_STEMS) * len(_ENDINGS)))
    cities = np.array([stem + ending for stem in _STEMS for ending in _ENDINGS])
    names = [*_COMMON_STREETS, *surnames[: _STREET_NAMES - len(_COMMON_STREETS)]]
    streets = [f"{name} {kind}" for name in names for kind in _STREET_KINDS]
    by_name = np.cumsum(1 / (3 + np.arange(len(names))))
    shape = n_postcodes * _STREETS_A_POSTCODE
    street = pick(rng, by_name, shape) * len(_STREET_KINDS)
    street += pick(rng, np.cumsum(_KIND_WEIGHTS, dtype=float), shape)
    postcodes = np.sort(rng.choice(90_000, n_postcodes, replace=False)) + 10_000
    return Country(
        street_texts=pl.Series(streets),
        number_texts=pl.Series([str(k) for k in range(1, _LARGEST_NUMBER + 1)]),
        city_texts=pl.Series(rng.permutation(cities)[:n_cities]),
        postcode_texts=pl.Series(postcodes).cast(pl.String),
        city_of_postcode=np.sort(
            pick(rng, np.cumsum(1 / np.arange(1.0, n_cities + 1)), n_postcodes)
        ),
        streets_of_postcode=street.reshape(n_postcodes, _STREETS_A_POSTCODE),
        crowding=1 + (100 * rng.lognormal(0, 0.7, n_postcodes)).astype(np.int64),
    )

"""Names by their frequencies, and nicknames, from the packages of the extra `people`.

First names and surnames have the frequencies of the census of the United States of 1990, which
the package `names` carries; the package `nicknames` says that Robert is also Bob.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from kolchin.errors import MissingExtraError
from kolchin.simulation.people.coded import Floats, Ints, pick

FEMALE, MALE = 0, 1
SEXES = pl.Series(["F", "M"])


class Names(NamedTuple):
    """All names, with cumulative weights, and the nicknames of each first name.

    ``first`` holds female names, then male names from ``first_male`` on, then nicknames. The
    nicknames of name i are ``nickname_codes[nickname_start[i] : nickname_start[i + 1]]``.
    """

    first: pl.Series
    first_male: int
    female_cumulative: Floats
    male_cumulative: Floats
    last: pl.Series
    last_cumulative: Floats
    nickname_start: Ints
    nickname_codes: Ints

    def draw_first(self, rng: np.random.Generator, sex: Ints) -> Ints:
        """Draw a first name for each sex."""
        female = pick(rng, self.female_cumulative, sex.size)
        male = pick(rng, self.male_cumulative, sex.size) + self.first_male
        return np.where(sex == FEMALE, female, male)

    def draw_nickname(self, rng: np.random.Generator, first: Ints) -> Ints:
        """Draw a nickname for each first name, or the name itself where it has none."""
        start = self.nickname_start[first]
        count = self.nickname_start[first + 1] - start
        chosen = start + (rng.random(first.size) * count).astype(np.int64)
        codes = np.append(self.nickname_codes, 0)[chosen]
        return np.where(count > 0, codes, first)


@cache
def read_names() -> Names:
    """Read the lists of names once, or say how to install them."""
    try:
        import names
        from nicknames import name_triplets
    except ImportError as error:
        raise MissingExtraError(
            "Simulated people need lists of names. Install them with: pip install 'kolchin[people]'"
        ) from error
    female, female_cumulative = _read_list(Path(names.FILES["first:female"]))
    male, male_cumulative = _read_list(Path(names.FILES["first:male"]))
    last, last_cumulative = _read_list(Path(names.FILES["last"]))
    short_forms: dict[str, set[str]] = {}
    for name, relation, other in name_triplets():
        if relation == "has_nickname" and other.isascii() and other != name:
            short_forms.setdefault(name.title(), set()).add(other.title())
    nicknames = [sorted(short_forms.get(name, ())) for name in [*female, *male]]
    counts = np.array([len(others) for others in nicknames])
    n_names = counts.size
    start = np.concatenate([[0], np.cumsum(counts), np.full(counts.sum(), counts.sum())])
    return Names(
        first=pl.Series([*female, *male, *(other for others in nicknames for other in others)]),
        first_male=len(female),
        female_cumulative=female_cumulative,
        male_cumulative=male_cumulative,
        last=pl.Series(last),
        last_cumulative=last_cumulative,
        nickname_start=start.astype(np.int64),
        nickname_codes=n_names + np.arange(counts.sum()),
    )


def _read_list(file: Path) -> tuple[list[str], Floats]:
    """Read names and their cumulative percentages, from frequent to rare.

    Percentages have three decimals, so that rare names tie: within a tie all weigh the same.
    """
    rows = [line.split() for line in file.read_text(encoding="ascii").splitlines()]
    rows = [row for row in rows if row]
    percent = np.maximum.accumulate(np.array([float(row[2]) for row in rows]))
    ends = np.flatnonzero(np.append(np.diff(percent) > 0, True))
    cumulative = np.interp(
        np.arange(1, percent.size + 1), np.append(0, ends + 1), np.append(0.0, percent[ends])
    )
    return [row[0].title() for row in rows], cumulative

"""Wrong dates of birth that are still dates: a digit off, two digits or day and month exchanged."""

import numpy as np
from numpy.typing import NDArray

from kolchin.simulation.people.coded import Flags, Ints


def swap_day_and_month(rng: np.random.Generator, days: Ints, share: float) -> Ints:
    """Exchange day and month in a share of dates, where that gives another date."""
    chosen = np.flatnonzero(rng.random(days.size) < share)
    year, month, day = split_dates(days[chosen])
    possible = (day <= 12) & (day != month)
    result = days.copy()
    result[chosen[possible]] = join_dates(year, day, month)[0][possible]
    return result


def mistype_dates(rng: np.random.Generator, days: Ints, share: float) -> Ints:
    """Get one digit of a share of dates wrong, or exchange the last digits of the year."""
    chosen = np.flatnonzero(rng.random(days.size) < share)
    year, month, day = split_dates(days[chosen])
    step = rng.integers(1, 10, chosen.size)
    kind = rng.integers(4, size=chosen.size)
    off_year = year // 10 * 10 + (year + step) % 10
    exchanged = year // 100 * 100 + year % 10 * 10 + year // 10 % 10
    off_day = day // 10 * 10 + (day + step) % 10
    off_month = month // 10 * 10 + (month + step) % 10
    wrong, is_date = join_dates(
        np.where(kind == 0, exchanged, year),
        np.where(kind == 1, off_month, month),
        np.where(kind == 2, off_day, day),
    )
    usable = is_date & (kind < 3) & (wrong != days[chosen])
    simple, _ = join_dates(off_year, month, np.where((month == 2) & (day == 29), 28, day))
    result = days.copy()
    result[chosen] = np.where(usable, wrong, simple)
    return result


def split_dates(days: Ints) -> tuple[Ints, Ints, Ints]:
    """Return year, month and day of dates in days since 1970."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    number = months.astype(np.int64)
    day = (dates - months.astype("datetime64[D]")).astype(np.int64) + 1
    return 1970 + number // 12, number % 12 + 1, day


def join_dates(year: Ints, month: Ints, day: Ints) -> tuple[Ints, Flags]:
    """Return dates in days since 1970, and which of them exist."""
    months: NDArray[np.datetime64] = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]").astype(np.int64) + day - 1
    exists = (month >= 1) & (month <= 12) & (day >= 1)
    exists &= days.astype("datetime64[D]").astype("datetime64[M]") == months
    return days, exists

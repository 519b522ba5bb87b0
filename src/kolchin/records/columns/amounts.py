"""Numbers as people and catalogues write them: '$1,299.00', 'track 16', '5.1 pounds', '3m 40sec'.

Lists write one amount each in a form of its own. A number among few words that come again and
again is that number; lengths of time become seconds, and years of two digits whole ones.
"""

from typing import NamedTuple

import polars as pl

PLAIN = r"^[+-]?\d*[.,]?\d+$"
AMOUNT = r"^((?:[^\d.,+-]*[^\pL\d.,+-]|\pL+\. ?)?)([+-]?\d+(?:[.,]\d+)?)\s*([^\d]*)$"
"""Letters are not joined to the number that follows: those of a model are."""

THOUSANDS = r"(\d),(\d{3})(,\d{3})*\.(\d)"
CLOCK = r"^(?:(\d+):)?(\d{1,3}):(\d\d)$"
UNITS_OF_TIME = r"^(?:(\d+)\s*h[a-z.]*)?\s*(?:(\d+)\s*m[a-z.]*)?\s*(?:(\d+)\s*s[a-z.]*)?$"
YEAR = r"^(?:1[5-9]|20)\d\d$"

MOST_UNITS = 3
"""At most so many different words stand beside the numbers of a column."""

ENOUGH = 0.8
"""This share of the different values must be numbers, beside words or not."""

TIMES = 0.1
"""Where so many are times such as 4:13, the others are lengths of time as well."""

YEARS, SLACK = 0.25, 10
"""Numbers of two digits are years where this share of the values is, if they are then no earlier
than others by more than so many years."""

MILLISECONDS_FROM, MINUTES_BELOW = 10_000.0, 60.0


class Read(NamedTuple):
    """The numbers that values are, null where they are none; whether all were plain numbers."""

    numbers: pl.Series
    are_plain: bool


def read_amounts(values: pl.Series) -> Read | None:
    """Read the values of a column as numbers; None if most of them are none.

    >>> read_amounts(pl.Series(["16", "track 3", "007"])).numbers.to_list()
    [16.0, 3.0, 7.0]
    >>> read_amounts(pl.Series(["3m 40sec", "04:13", "221000", "2.5"])).numbers.to_list()
    [220.0, 253.0, 221.0, 150.0]
    >>> read_amounts(pl.Series(["2008", "'08", "1999"])).numbers.to_list()
    [2008.0, 2008.0, 1999.0]
    >>> read_amounts(pl.Series(["DSC-120", "KX 4", "Z3"])) is None
    True
    """
    texts = values.str.to_lowercase().str.strip_chars()
    if not texts.len():
        return None
    plain = texts.str.contains(PLAIN)
    times = _seconds(texts)
    if times.is_not_null().mean() >= TIMES:  # type: ignore[operator]
        numbers = _lengths_of_time(texts, times)
    else:
        numbers = _read_beside_words(texts)
    if numbers.is_not_null().mean() < ENOUGH:  # type: ignore[operator]
        return None
    return Read(_whole_years(texts, numbers), bool(plain.all()))


def _read_beside_words(texts: pl.Series) -> pl.Series:
    """Read numbers that stand alone, or beside one of a few words."""
    texts = texts.str.replace_all(THOUSANDS, "$1$2$3.$4")
    groups = texts.str.extract_groups(AMOUNT).struct.unnest()
    before, number, after = (groups.to_series(k) for k in range(3))
    words = (before + " " + after).str.strip_chars()
    counts = words.filter(words != "").value_counts(sort=True)
    # A letter beside a number tells houses apart, and models.
    usual = counts.filter(~counts.to_series().str.contains(r"^\pL$"))
    known = usual.to_series() if usual.height <= MOST_UNITS else usual.to_series().head(0)
    fits = ((words == "") | words.is_in(known.implode())).fill_null(value=False)
    read = number.str.replace(",", ".").cast(pl.Float64, strict=False)
    return read.set(~fits, None)


def _seconds(texts: pl.Series) -> pl.Series:
    """Read times such as 4:13 and 3m 40sec, in seconds; null for all others."""
    result = pl.Series([None] * texts.len(), dtype=pl.Float64)
    for pattern in (CLOCK, UNITS_OF_TIME):
        groups = texts.str.extract_groups(pattern).struct.unnest()
        hours, minutes, seconds = (groups.to_series(k).cast(pl.Float64) for k in range(3))
        given = minutes.is_not_null() & seconds.is_not_null()
        total = 3_600 * hours.fill_null(0.0) + 60 * minutes + seconds
        result = result.fill_null(total.set(~given, None))
    return result


def _lengths_of_time(texts: pl.Series, times: pl.Series) -> pl.Series:
    """Bring lengths of time to whole seconds: plain numbers may be milliseconds or minutes."""
    number = texts.str.replace(r"\s*(sec|seconds|s|ms|min|minutes)\.?$", "")
    number = number.cast(pl.Float64, strict=False)
    fraction = texts.str.contains(r"\d\.\d")
    scale = pl.select(
        pl.when(number >= MILLISECONDS_FROM)
        .then(1 / 1_000)
        .when(fraction & (number < MINUTES_BELOW))
        .then(60.0)
        .otherwise(1.0)
    ).to_series()
    return times.fill_null(number * scale).round()


def _whole_years(texts: pl.Series, numbers: pl.Series) -> pl.Series:
    """Write years of two digits as whole ones, where most others are years."""
    years = texts.str.contains(YEAR)
    short = texts.str.contains(r"^'?\d\d$").fill_null(value=False)
    if not short.any() or int(years.sum()) < YEARS * texts.len():
        return numbers
    earliest, latest = numbers.filter(years).min(), numbers.filter(years).max()
    assert isinstance(earliest, float)
    assert isinstance(latest, float)
    whole = numbers + (latest - latest % 100)
    whole = whole.zip_with(whole <= latest, whole - 100)
    fits = (whole.filter(short) >= earliest - SLACK).mean()
    return whole.zip_with(short, numbers) if fits >= ENOUGH else numbers  # type: ignore[operator]

"""What goes wrong when values are written down: one error a value, by kind of value."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from vocabulary import NICKNAMES, Fields, Rng, Texts

Flags = NDArray[np.bool_]
Error = Callable[[Rng, str], str]

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _read_pairs(text: str) -> dict[str, str]:
    """Read what stands for what: 'm/rn d/cl'."""
    return dict(pair.split("/") for pair in text.split())


LOOKALIKES = _read_pairs("m/rn w/vv d/cl l/1 o/0 i/l e/c g/q h/b u/v s/5 b/6 n/ri t/f")
SOUNDS = _read_pairs(
    "ph/f f/ph ck/k k/c c/k ei/ai ie/ee y/i z/s th/t sch/sh ee/ea v/w ou/u tz/z ll/l"
)
MOST_TRIES = 20


def misspell(rng: Rng, text: str) -> str:
    """Return a text with one error of a typist, a scanner or somebody who listens."""
    kinds = (_insert, _delete, _substitute, _transpose, _misread, _mishear)
    for _ in range(MOST_TRIES):
        kind = kinds[rng.choice(len(kinds), p=(0.15, 0.2, 0.25, 0.15, 0.1, 0.15))]
        wrong = kind(rng, text)
        if wrong != text and wrong.strip():
            return wrong
    return f"{text}{_letter(rng)}"


def _letter(rng: Rng) -> str:
    return LETTERS[rng.integers(len(LETTERS))]


def _insert(rng: Rng, text: str) -> str:
    at = rng.integers(1, len(text) + 1)
    return f"{text[:at]}{_letter(rng)}{text[at:]}"


def _delete(rng: Rng, text: str) -> str:
    at = rng.integers(len(text))
    return text[:at] + text[at + 1 :] if len(text) > 2 else text


def _substitute(rng: Rng, text: str) -> str:
    at = rng.integers(len(text))
    if text[at].isdigit():
        return misdigit(rng, text)
    return f"{text[:at]}{_letter(rng)}{text[at + 1 :]}"


def _transpose(rng: Rng, text: str) -> str:
    if len(text) < 3:
        return text
    at = rng.integers(1, len(text) - 1)
    return f"{text[:at]}{text[at + 1]}{text[at]}{text[at + 2 :]}"


def _misread(rng: Rng, text: str) -> str:
    return _exchange_part(rng, text, LOOKALIKES)


def _mishear(rng: Rng, text: str) -> str:
    return _exchange_part(rng, text, SOUNDS)


def _exchange_part(rng: Rng, text: str, others: dict[str, str]) -> str:
    """Exchange one part of a text for one that looks or sounds like it."""
    places = [(at, part) for part in others if (at := text.find(part)) >= 0]
    if not places:
        return text
    at, part = places[rng.integers(len(places))]
    return f"{text[:at]}{others[part]}{text[at + len(part) :]}"


def misdigit(rng: Rng, text: str) -> str:
    """Return a text with one digit wrong, or two that stand side by side exchanged."""
    places = [k for k, letter in enumerate(text) if letter.isdigit()]
    if not places:
        return misspell(rng, text)
    at = places[rng.integers(len(places))]
    if at + 1 in places and text[at] != text[at + 1] and rng.random() < 0.3:
        return f"{text[:at]}{text[at + 1]}{text[at]}{text[at + 2 :]}"
    other = (int(text[at]) + rng.integers(1, 10)) % 10
    return f"{text[:at]}{other}{text[at + 1 :]}"


def misname(rng: Rng, name: str) -> str:
    """Return a nickname where there is one, mostly, or the name misspelt."""
    known = NICKNAMES.get(name.lower(), "").split()
    if known and rng.random() < 0.6:
        return known[rng.integers(len(known))].capitalize()
    return misspell(rng, name)


def misdate(rng: Rng, date: str) -> str:
    """Return another day: a digit wrong, day and month exchanged, the next year, or 1 January."""
    year, month, day = date.split("-")
    for _ in range(MOST_TRIES):
        kind = rng.choice(4, p=(0.5, 0.2, 0.15, 0.15))
        if kind == 0:
            wrong = _mistyped_date(rng, year, month, day)
        elif kind == 1:
            wrong = swap_day_and_month(rng, date)
        elif kind == 2:
            wrong = f"{int(year) + rng.choice((-1, 1))}-{month}-{min(int(day), 28):02d}"
        else:
            wrong = f"{year}-01-01"
        if wrong != date:
            return wrong
    return f"{int(year) + 1}-{month}-01"


def _mistyped_date(rng: Rng, year: str, month: str, day: str) -> str:
    """Mistype a digit of a date, so that it stays one."""
    part = rng.integers(3)
    if part == 0:
        return f"{year[:2]}{misdigit(rng, year[2:])}-{month}-{min(int(day), 28):02d}"
    if part == 1:
        return f"{year}-{rng.integers(1, 13):02d}-{min(int(day), 28):02d}"
    return f"{year}-{month}-{rng.integers(1, 29):02d}"


def swap_day_and_month(rng: Rng, date: str) -> str:
    """Exchange day and month, where that is a day."""
    year, month, day = date.split("-")
    return f"{year}-{day}-{month}" if int(day) <= 12 else date


ERRORS: dict[str, Error] = {
    "first_name": misname,
    "birth_date": misdate,
    "postcode": misdigit,
    "house_number": misdigit,
    "phone": misdigit,
    "birth_year": misdigit,
    "insurance_number": misdigit,
}
"""How a column goes wrong; others are misspelt."""

EXCHANGED = ("sex", "region")
"""Columns of few values: a wrong one is another one."""

REPLACED = 0.25
"""Share of errors that put another value altogether: somebody moved, or took the wrong line."""


def change(rng: Rng, values: Texts, where: Flags, error: Error) -> Texts:
    """Return the values with an error where it is asked for; missing ones stay so."""
    result = values.copy()
    for row in np.flatnonzero(where):
        if result[row] is not None:
            result[row] = error(rng, result[row])
    return result


def change_some(rng: Rng, values: Texts, share: float, error: Error) -> Texts:
    """Return the values, a share of them with an error."""
    return change(rng, values, rng.random(values.size) < share, error)


def spoil(rng: Rng, fields: Fields, wrong: dict[str, Flags], replaced: float = REPLACED) -> Fields:
    """Return the columns with errors of their own kinds where it is asked for.

    A share of errors is another value of the column altogether.
    """
    result = dict(fields)
    for name, where in wrong.items():
        other = exchange_among([value for value in fields[name] if value is not None])
        is_other = rng.random(where.size) < (1.0 if name in EXCHANGED else replaced)
        mistyped = change(rng, fields[name], where & ~is_other, ERRORS.get(name, misspell))
        result[name] = change(rng, mistyped, where & is_other, other)
    return result


def exchange_among(known: Sequence[str]) -> Error:
    """Return an error that puts another one of some values."""

    def exchange(rng: Rng, value: str) -> str:
        for _ in range(MOST_TRIES):
            other = known[rng.integers(len(known))]
            if other != value:
                return other
        return value

    return exchange


def spoil_evenly(
    rng: Rng,
    fields: Fields,
    share: float | NDArray[np.float64],
    replaced: float = REPLACED,
) -> Fields:
    """Spoil a share of the values of every column, the same for all records or one for each."""
    n = next(iter(fields.values())).size
    return spoil(rng, fields, {name: rng.random(n) < share for name in fields}, replaced)


def leave_out(values: Texts, where: Flags) -> Texts:
    """Return the values with gaps."""
    result = values.copy()
    result[where] = None
    return result


def choose_columns(rng: Rng, n: int, n_columns: int, n_chosen: int) -> Flags:
    """Choose exactly so many columns of each of n records."""
    order = np.argsort(rng.random((n, n_columns)), axis=1)
    chosen = np.zeros((n, n_columns), dtype=bool)
    np.put_along_axis(chosen, order[:, :n_chosen], True, axis=1)
    return chosen

"""Typing errors: each text has exactly one, of a kind that people make."""

import numpy as np
import polars as pl
import pytest

from kolchin.simulation.people.dates import join_dates, mistype_dates, split_dates
from kolchin.simulation.people.typos import mistype


def is_one_error(before: str, after: str) -> bool:
    """Tell whether two texts are one substitution, exchange, dropped or added letter apart."""
    a, b = before.lower(), after.lower()
    if a == b:
        return False
    if len(a) == len(b):
        apart = [k for k in range(len(a)) if a[k] != b[k]]
        exchanged = len(apart) == 2 and [a[k] for k in apart] == [b[k] for k in apart[::-1]]
        return len(apart) == 1 or (exchanged and apart[1] == apart[0] + 1)
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    return any(longer[:k] + longer[k + 1 :] == shorter for k in range(len(longer)))


@pytest.mark.parametrize(
    "text", ["Smith", "Lee", "Oak Street", "7", "94110", "201-555-1234", "a.b@gmail.com", "Aa"]
)
def test_each_text_has_one_error(text: str) -> None:
    wrong = mistype(np.random.default_rng(1), pl.Series([text] * 2000))
    assert all(is_one_error(text, after) for after in wrong)
    kept = [character for character in text if not character.isalnum()]
    assert all([c for c in after if not c.isalnum()] == kept for after in wrong)
    assert wrong.str.slice(0, 1).str.contains(r"^[A-Z]").all() == text[0].isupper()
    assert wrong.n_unique() > 1


def test_all_kinds_of_errors_happen() -> None:
    wrong = set(mistype(np.random.default_rng(1), pl.Series(["Martin"] * 5000)))
    assert {"Matrin", "Mrtin", "Marrtin", "Martim", "Nartin", "Amrtin"} <= wrong


def test_texts_of_all_lengths_are_mistyped_apart() -> None:
    texts = pl.Series(["Li", "Montgomery", "Ng", "Featherstonehaugh"] * 500)
    wrong = mistype(np.random.default_rng(2), texts)
    assert all(map(is_one_error, texts, wrong))


def test_dates_are_split_and_joined() -> None:
    days = np.arange(-20_000, 20_000)
    year, month, day = split_dates(days)
    again, exists = join_dates(year, month, day)
    assert exists.all()
    assert np.array_equal(again, days)
    date = np.datetime64("1970-01-01") + days[[0, -1]]
    assert [f"{y}-{m:02d}-{d:02d}" for y, m, d in zip(year, month, day, strict=True)][
        :: days.size - 1
    ] == [str(d) for d in date]
    _, exists = join_dates(
        np.array([2023, 2023, 2024]), np.array([2, 13, 2]), np.array([29, 1, 29])
    )
    assert exists.tolist() == [False, False, True]


def test_wrong_dates_are_dates_with_one_error() -> None:
    days = np.random.default_rng(1).integers(-17_000, 20_000, 5000)
    wrong = mistype_dates(np.random.default_rng(2), days, 1.0)
    assert (wrong != days).all()
    before = (np.datetime64("1970-01-01") + days).astype(str)
    after = (np.datetime64("1970-01-01") + wrong).astype(str)
    off = [not is_one_error(a, b) for a, b in zip(before, after, strict=True)]
    leap = np.char.endswith(before, "02-29")
    assert not np.any(np.array(off) & ~leap)

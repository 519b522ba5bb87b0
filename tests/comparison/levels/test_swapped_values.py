"""Values in each other's column are one fact, counted once."""

from functools import cache

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.comparison import compare
from kolchin.comparison.kinds.preparing import prepare_all
from kolchin.comparison.kinds.short_texts import TextComparer
from kolchin.comparison.levels.possible_pairs import Possible
from kolchin.comparison.levels.swapped_values import choose_couples, estimate_swapped_chance

FIELD_NAMES = ["first", "last"]
FIELDS = [kp.Text(name) for name in FIELD_NAMES]
# Some stand in both columns, some are one letter away from others.
FIRST = ["martin", "james", "jamse", "grant", "grants", "thomas", "li", "maria anna", "olga", None]
LAST = ["martin", "martyn", "james", "grant", "tomas", "thomas", "lo", "anna maria", "smith", None]


def names(n: int, seed: int = 1) -> pl.DataFrame:
    """Draw first and last names independently, some of them missing."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "first": rng.choice(np.array(FIRST, dtype=object), n).tolist(),
            "last": rng.choice(np.array(LAST, dtype=object), n).tolist(),
        }
    )


def pair(first: tuple, second: tuple):
    """Compare two records of a table whose columns have names in common."""
    rows = [first, second, ("grant", "james"), ("james", "grant"), ("martin", "li")]
    table = pl.DataFrame(rows, schema={"first": pl.String, "last": pl.String}, orient="row")
    compared = compare(kp.Records.from_table(table, FIELDS))
    assert compared.swappable == ((0, 1),)
    assert compared.pairs[0].tolist() == [0, 1]
    return [
        names[level] if level >= 0 else None
        for names, level in zip(compared.level_names, compared.levels[0], strict=True)
    ]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("anna", "berg"), ("berg", "anna"), ["swapped", None]),
        (("Anna", "O'Berg"), ("oberg", "ANNA"), ["swapped", None]),
        (("anna", "steinberg"), ("steinbreg", "anna"), ["swapped", None]),
        (("steinbreg", "anna"), ("anna", "steinberg"), ["swapped", None]),
        (("anna", "stein berg"), ("berg stein", "anna"), ["swapped", None]),
        # Both mistyped, a short one mistyped, only one found again.
        (("annamaria", "steinberg"), ("steinbreg", "anamaria"), ["different", "different"]),
        (("anna", "li"), ("lo", "anna"), ["different", "different"]),
        (("anna", "berg"), ("otto", "anna"), ["different", "different"]),
        # They agree as they stand.
        (("anna", "anna"), ("anna", "anna"), ["exact", "exact"]),
        (("anna", "anne"), ("anne", "anna"), ["mistyped", "mistyped"]),
        # A missing value is none that could have been swapped.
        (("anna", None), (None, "anna"), [None, None]),
        (("anna", None), ("berg", "anna"), ["different", None]),
        (("anna", "berg"), ("berg", None), ["different", None]),
    ],
)
def test_examples(first, second, expected):
    assert pair(first, second) == expected
    assert pair(second, first) == expected


@cache
def slow_level(a: str | None, b: str | None) -> int:
    """Compare two texts."""
    if a is None or b is None:
        return -1
    if a == b:
        return 0
    comparing = TextComparer(kp.Text("x"), pl.Series([a, b]))
    zero, one = np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)
    return int(comparing.levels(zero, one)[0])


def slow_levels(first: tuple, second: tuple) -> tuple[int, int]:
    """Say what swapped means once more in plain words, for one pair of records."""
    straight = [slow_level(first[0], second[0]), slow_level(first[1], second[1])]
    across = sorted([slow_level(first[0], second[1]), slow_level(first[1], second[0])])
    if min(straight) > 1 and across in ([0, 0], [0, 1]):
        return 4, -1
    return straight[0] + (straight[0] == 4), straight[1]


def test_levels_are_those_of_a_slow_loop_over_pairs():
    table = names(200)
    compared = compare(kp.Records.from_table(table, FIELDS))
    rows = table.rows()
    expected = [slow_levels(rows[i], rows[j]) for i, j in compared.pairs]
    assert compared.level_names[0][4:] == ("swapped", "different")
    assert "swapped" not in compared.level_names[1]
    assert np.count_nonzero(compared.levels[:, 0] == 4) > 40
    assert np.array_equal(compared.levels, np.array(expected))


def test_the_chance_of_swapped_is_that_of_independent_columns():
    rows = [(first, last) for first in FIRST for last in LAST] * 8
    compared = compare(kp.Records.from_table(pl.DataFrame(rows, FIELD_NAMES, orient="row"), FIELDS))
    assert compared.report.keys[0].key == "all pairs"
    (u, _), present = compared.u, compared.levels[:, 0] >= 0
    counted = np.count_nonzero(compared.levels[:, 0] == 4) / np.count_nonzero(present)
    assert u[4] == pytest.approx(counted, rel=0.05)
    assert u.sum() == pytest.approx(1)
    assert (u > 0).all()
    assert u[0] == pytest.approx(1 / 9)


def test_a_chance_too_small_to_see_is_that_of_frequencies():
    """Of 300,000 random pairs hardly one is swapped."""
    rng = np.random.default_rng(3)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    forms = np.array([a + b + "x" + a for a in syllables for b in syllables], dtype=object)
    table = {"first": rng.choice(forms, 20_000), "last": rng.choice(forms, 20_000)}
    (couple,) = choose_couples(prepare_all(kp.Records.from_table(table, FIELDS), None))
    chance = estimate_swapped_chance(couple, Possible.of(20_000).random_pairs(rng), rng)
    # One letter of the second syllable may be another: 11 + 4 forms, in either of the two values.
    q = 1 / len(forms)
    assert chance == pytest.approx(q**2 + 2 * q * 15 * q, rel=0.1)


def test_no_value_in_common_is_no_couple():
    table = {"first": ["anna", "otto", "ida"], "last": ["berg", "stein", "wald"]}
    compared = compare(kp.Records.from_table(table, FIELDS))
    assert compared.swappable == ()
    assert all("swapped" not in names for names in compared.level_names)


def test_a_field_is_in_one_couple_that_with_the_most_values_in_common():
    table = {
        "a": ["v", "w", "x", "y", "z"],
        "b": ["v", "w", "k", "l", "m"],
        "c": ["v", "w", "x", "y", "n"],
        "d": ["m", "n", "o", "p", "q"],
    }
    fields = [kp.Text(column) for column in table]
    compared = compare(kp.Records.from_table(table, fields))
    assert compared.swappable == ((0, 2), (1, 3))


def test_only_texts_with_the_same_rule_are_couples():
    table = {"first": ["anna", "berg"], "last": ["berg", "anna"]}
    own = kp.Text("last", comparator=lambda a, b: 0.0)
    assert compare(kp.Records.from_table(table, [FIELDS[0], own])).swappable == ()
    name = kp.Name("last")
    assert compare(kp.Records.from_table(table, [FIELDS[0], name])).swappable == ()


def test_columns_without_any_value_stay_finite():
    table = {"first": [None, None, "anna"], "last": ["anna", None, None]}
    compared = compare(kp.Records.from_table(table, FIELDS))
    assert compared.swappable == ((0, 1),)
    for u in compared.u:
        assert u.sum() == pytest.approx(1)
        assert (u > 0).all()


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (kp.Text("x"), ["exact", "mistyped", "similarity 0.88"]),
        (kp.Text("x", cuts=()), ["exact", "mistyped"]),
        (kp.Name("x"), ["exact", "other order", "mistyped", "initials"]),
        (kp.Date("x"), ["exact", "mistyped", "swapped"]),
        (kp.Number("x"), ["exact", "mistyped"]),
        (kp.Email("x"), ["exact", "mistyped", "same user"]),
        (kp.Phone("x"), ["exact", "same ending", "1 wrong"]),
        (kp.Code("x"), ["exact", "mistyped"]),
        (kp.Text("x", comparator=lambda a, b: 0.0), ["exact", "similarity 0.88"]),
        (kp.Text("x", comparator=lambda a, b: 1, levels=("same", "other")), ["same"]),
        (kp.Text("x", comparator=lambda a, b: 1, levels=("same", "near", "far")), ["same", "near"]),
    ],
)
def test_which_levels_mean_agreement(field, expected):
    compared = compare(kp.Records.from_table({"x": ["1", "2"]}, [field]))
    (names,), (agrees,) = compared.level_names, compared.agrees
    assert agrees.shape == compared.u[0].shape
    assert [name for name, one in zip(names, agrees, strict=True) if one] == expected


def test_swapped_means_agreement():
    compared = compare(kp.Records.from_table(names(50), FIELDS))
    assert compared.agrees[0].tolist() == [True, True, True, False, True, False]
    assert compared.agrees[1].tolist() == [True, True, True, False, False]


def test_few_exchanged_values_are_enough():
    """Two lines of an address have hardly a value in common, unless some stand in either order."""
    streets = [
        f"{letter * 4} street {k}" for k, letter in enumerate("abcdefghijklmnopqrstuvwxyz" * 4)
    ]
    houses = [
        f"{letter * 5} house {k}" for k, letter in enumerate("zyxwvutsrqponmlkjihgfedcba" * 4)
    ]
    for n_exchanged, found in ((2, ()), (3, ((0, 1),))):
        table = {
            "first": streets + houses[:n_exchanged],
            "last": houses + streets[:n_exchanged],
        }
        assert compare(kp.Records.from_table(table, FIELDS)).swappable == found

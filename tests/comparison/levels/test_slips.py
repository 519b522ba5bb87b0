"""Values that are probably slips are found."""

import numpy as np
import polars as pl

from kolchin.comparison import compare
from kolchin.records import Records, Text

FIELDS = ("name", "town", "street")
N_PEOPLE = 40


def spoil(rng, value):
    """Put a letter in place of one within, which no name has."""
    place = rng.integers(1, len(value) - 1)
    return value[:place] + "xyzq"[rng.integers(4)] + value[place + 1 :]


def draw_people(n_copies, share=0.1, seed=1):
    """Records of people, so many each, and which of their values have a slip."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("aeioumnrstlkbd"))
    true = {f: ["".join(rng.choice(letters, 9)) for _ in range(N_PEOPLE)] for f in FIELDS}
    person = np.repeat(np.arange(N_PEOPLE), n_copies)
    is_spoilt = rng.random((person.size, len(FIELDS))) < share
    columns = {
        f: [
            spoil(rng, true[f][p]) if spoilt else true[f][p]
            for p, spoilt in zip(person, of_field, strict=True)
        ]
        for f, of_field in zip(FIELDS, is_spoilt.T, strict=True)
    }
    return pl.DataFrame(columns), is_spoilt


def compare_people(table):
    records = Records.from_table(table, fields=FIELDS)
    return compare(records, [Text(field) for field in FIELDS])


def test_slips_are_the_rare_values_that_are_near_to_frequent_ones():
    table, is_spoilt = draw_people(12)
    found = compare_people(table).slips
    assert not (found & ~is_spoilt).any()
    assert (found & is_spoilt).sum() > 0.95 * is_spoilt.sum()


def test_of_two_records_neither_shows_a_slip():
    table, _ = draw_people(2, share=0.3)
    assert not compare_people(table).slips.any()

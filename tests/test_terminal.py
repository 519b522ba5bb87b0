"""Tables that fit a terminal."""

from kolchin.terminal import table_text

ROWS = [("field", "why", "bits"), ("a" * 40, "b" * 90, "1.00"), ("c", "d", "12.00")]


def test_a_table_fits_and_numbers_stay_whole():
    lines = table_text(ROWS, width=60, right=[2]).split("\n")
    assert max(map(len, lines)) == 60
    assert lines[1].endswith(" 1.00")
    assert lines[2].endswith("12.00")


def test_what_fits_is_not_cut():
    assert "…" not in table_text(ROWS, width=200)
    assert table_text([]) == ""


def test_a_table_that_cannot_fit_goes_beyond_the_edge():
    assert len(table_text([["x" * 10] * 5], width=20)) == 5 * 6 + 4 * 2

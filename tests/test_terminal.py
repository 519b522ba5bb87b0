"""Tables that fit a terminal."""

from kolchin.terminal import write_table

ROWS = [("field", "why", "bits"), ("a" * 40, "b" * 90, "1.00"), ("c", "d", "12.00")]


def test_a_table_fits_and_numbers_stay_whole():
    lines = write_table(ROWS, width=60, right=[2]).split("\n")
    assert max(map(len, lines)) == 60
    assert lines[1].endswith(" 1.00")
    assert lines[2].endswith("12.00")


def test_what_fits_is_not_cut():
    assert "…" not in write_table(ROWS, width=200)
    assert write_table([]) == ""


def test_what_must_be_whole_is_never_cut():
    lines = write_table(ROWS, width=60, right=[2], whole=[0]).split("\n")
    assert max(map(len, lines)) == 60
    assert lines[1].startswith("a" * 40 + "  b")


def test_a_table_that_cannot_fit_goes_beyond_the_edge():
    assert len(write_table([["x" * 10] * 5], width=20)) == 5 * 6 + 4 * 2

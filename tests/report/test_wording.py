"""Numbers as people read them."""

import pytest

from kolchin.report import wording


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (4.0, "4"), (0.1234, "0.123"), (1234567.8, "1,234,568"), (-2.5, "−2.5"),
     (1e-9, "<0.0001"), (float("nan"), "–"), (float("inf"), "–"), (None, "–")],
)  # fmt: skip
def test_number(value, text):
    assert wording.write_number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0%"), (1, "100%"), (0.999, ">99%"), (0.004, "<1%"), (0.505, "50%")]
)
def test_percent_never_rounds_to_none_or_all(value, text):
    assert wording.write_percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(2.04, "+2.0"), (-2.04, "−2.0"), (-0.01, "0.0"), (None, "–")]
)
def test_signed(value, text):
    assert wording.write_signed(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.2, "0.2 s"), (75.3, "1 min 15 s"), (3921, "1 h 5 min"), (None, "–")]
)
def test_duration(value, text):
    assert wording.write_duration(value) == text


def test_text_is_short_and_has_no_control_characters():
    assert wording.write_text("a\x00b\x7f") == "a␀b␡"
    assert len(wording.write_text("x" * 1_000_000)) == wording.LONGEST_VALUE
    assert wording.write_text({"a": [1, "b"]}) == '{"a": [1, "b"]}'

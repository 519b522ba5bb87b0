"""Numbers beside words, lengths of time, and years of two digits."""

import polars as pl
import pytest

from kolchin.comparison.kinds.numbers import write_numbers_alike
from kolchin.records.columns.amounts import read_amounts
from kolchin.records.columns.column_kinds import Kind, infer_kind

LENGTHS = [220, 253, 90, 411, 187, 305]
AS_WRITTEN = (
    "{0}",
    "{1}000",
    "{2}m {3}sec",
    "{2:02d}:{3:02d}",
)


def lengths_of_time():
    return [
        form.format(seconds, seconds, *divmod(seconds, 60))
        for form in AS_WRITTEN
        for seconds in LENGTHS
    ]


def test_lengths_of_time_are_seconds():
    assert write_numbers_alike(lengths_of_time()).to_list() == [str(s) for s in LENGTHS] * 4


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["$1,299.00", "$12.50", "7"], [1299.0, 12.5, 7.0]),
        (["5.1 pounds", "6 pounds", "0.2 pounds"], [5.1, 6.0, 0.2]),
        (["3", "003", "track 3"], [3.0, 3.0, 3.0]),
        (["1998", "'98", "2004", "07", "2011"], [1998.0, 1998.0, 2004.0, 2007.0, 2011.0]),
    ],
)
def test_numbers_beside_words(values, expected):
    assert read_amounts(pl.Series(values)).numbers.to_list() == expected


@pytest.mark.parametrize(
    "values",
    [
        ["12a", "12b", "14c", "9d"],
        ["KX100", "DSC200", "SL300", "AB400"],
        ["1971-02-03", "1980-12-24"],
        ["anna", "berta"],
        [],
    ],
)
def test_what_is_no_amount(values):
    assert read_amounts(pl.Series(values, dtype=pl.String)) is None


def test_short_numbers_are_no_years_without_years():
    assert read_amounts(pl.Series(["12", "14", "2008"])).numbers.to_list() == [12, 14, 2008]


def test_columns_of_amounts_are_numbers():
    assert infer_kind("length", pl.Series(lengths_of_time())) is Kind.NUMBER
    weights = pl.Series([f"{k / 10} pounds" for k in range(60)])
    assert infer_kind("weight", weights) is Kind.NUMBER
    assert infer_kind("house", pl.Series([f"{k}{'abc'[k % 3]}" for k in range(60)])) is Kind.CODE
    models = pl.Series([f"KX-{k}" for k in range(60)] + [f"{c}X-{c}" for c in "abcdef"])
    assert infer_kind("model", models) is not Kind.NUMBER

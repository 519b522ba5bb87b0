"""The values of a field are like a tuple of them."""

from datetime import date

import polars as pl
import pytest

from kolchin.records.fields.vocabulary import Vocabulary

VALUES = [("a", "b", "c"), (1, 5), (0.5, 2.0), (date(2020, 1, 1), date(2021, 1, 1))]


@pytest.mark.parametrize("values", VALUES, ids=repr)
def test_values_are_like_a_tuple(values):
    vocabulary = Vocabulary(pl.Series("*", values))
    assert vocabulary == values
    assert vocabulary != values[1:]
    assert vocabulary == Vocabulary(pl.Series(values))
    assert len({vocabulary, values}) == 1
    assert repr(vocabulary) == repr(values)
    assert (len(vocabulary), *vocabulary) == (len(values), *values)
    assert vocabulary[1:] == values[1:]
    assert [vocabulary[0], vocabulary[-1]] == [values[0], values[-1]]
    assert type(vocabulary[0]) is type(values[0])

"""Records themselves, and those made from codes."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kolchin.errors import DataError
from kolchin.records import Categorical, Records


@pytest.fixture
def records() -> Records:
    return Records.from_table({"sex": ["f", "m", None, "f"], "year": [1970, 1980, 1980, 1990]})


def test_shape(records):
    assert (records.n_records, records.n_fields, len(records)) == (4, 2, 4)
    assert records.fields == (Categorical("sex"), Categorical("year"))
    assert records.codes.dtype == np.int32
    assert records.codes.flags.c_contiguous
    assert all(weights.dtype == np.float64 for weights in records.frequencies)


def test_frequencies_are_shares_of_the_values_present(records):
    assert_allclose(records.frequencies[0], [2 / 3, 1 / 3])
    assert_allclose(records.frequencies[1], [0.25, 0.5, 0.25])


def test_immutable(records):
    with pytest.raises(dataclasses.FrozenInstanceError):
        records.codes = None
    with pytest.raises(ValueError, match="read-only"):
        records.codes[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        records.frequencies[0][0] = 1


def test_the_source_is_left_as_it_was():
    codes = np.array([[0], [1]], dtype=np.int32)
    weights = np.array([0.5, 0.5])
    made = Records.from_codes(codes, [weights])
    codes[0, 0], weights[0] = 1, 9
    assert made.codes.tolist() == [[0], [1]]
    assert made.frequencies[0].tolist() == [0.5, 0.5]


def test_repr(records):
    assert repr(records) == (
        "Records: 4 records, 2 fields\n"
        "  field  values  missing\n"
        "  sex         2    25.0%\n"
        "  year        3     0.0%"
    )


@pytest.mark.parametrize("again", [copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_copies_for_worker_processes(records, again):
    other = again(records)
    assert_array_equal(other.codes, records.codes)
    assert other.vocabularies == records.vocabularies


def test_categorical_is_hashable():
    assert hash(Categorical("sex", {"f": 1})) == hash(Categorical("sex"))
    assert Categorical("sex", {"f": 1}) != Categorical("sex")


class TestFromCodes:
    def test_shares_by_default(self):
        records = Records.from_codes([[0, 1], [1, -1], [1, 0], [1, 0]])
        assert_array_equal(records.codes, [[0, 1], [1, -1], [1, 0], [1, 0]])
        assert_allclose(records.frequencies[0], [0.25, 0.75])
        assert_allclose(records.frequencies[1], [2 / 3, 1 / 3])
        assert records.names == ("field_0", "field_1")

    def test_gaps_are_closed_without_frequencies(self):
        records = Records.from_codes([[9], [4], [-1], [9]])
        assert records.vocabularies == ((4, 9),)
        assert records.codes[:, 0].tolist() == [1, 0, -1, 1]

    def test_given_frequencies_keep_the_codes(self):
        records = Records.from_codes([[9], [4], [-1]], [np.ones(20)], ["*"])
        assert records.codes[:, 0].tolist() == [9, 4, -1]
        assert records.vocabularies == (tuple(range(20)),)
        assert_allclose(records.frequencies[0], 0.05)
        assert records.names == ("*",)

    def test_a_field_may_be_all_missing_when_frequencies_are_given(self):
        records = Records.from_codes([[0, -1], [1, -1]], [[1, 1], [1, 1, 1]])
        assert (records.codes[:, 1] == -1).all()

    @pytest.mark.parametrize("codes", [[1, 2], [[]], [[0.5]], [["a"]], [[True]]])
    def test_wrong_arrays(self, codes):
        with pytest.raises(DataError, match="two-dimensional array of integers"):
            Records.from_codes(codes)

    def test_all_missing(self):
        with pytest.raises(DataError, match="'field_1' has no values"):
            Records.from_codes([[0, -1], [1, -1]])

    def test_faults_come_together(self):
        with pytest.raises(DataError) as caught:
            Records.from_codes([[0, -2], [-3, 1]], [[1, 1]], ["a", "a", "b"])
        assert str(caught.value).split("\n")[1:] == [
            "- codes must be -1 (missing) or more. Got -2 in row 0, field 1 instead.",
            "- codes must be -1 (missing) or more. Got -3 in row 1, field 0 instead.",
            "- frequencies must have 2 entries, one a field. Got 1 instead.",
            "- names must have 2 entries, one a field. Got 3 instead.",
            "- names must differ from each other. Got ['a', 'a', 'b'] instead.",
        ]

    def test_frequency_faults_come_together(self):
        with pytest.raises(DataError) as caught:
            Records.from_codes([[0, 1, 0], [2, 1, 0]], [[1, 1], [1, 0], ["a"]], ["a", "b", "c"])
        assert str(caught.value).split("\n")[1:] == [
            "- the codes of 'a' must be below 2, the number of its frequencies. "
            "Got 2 in row 1 instead.",
            "- the frequencies of 'b' must be positive and finite. Got [1, 0] instead.",
            "- the frequencies of 'c' must be positive and finite. Got ['a'] instead.",
        ]

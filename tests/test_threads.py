import pytest

import kolchin as kp
from kolchin.threads import call_over_ranges, count_cores


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_results_come_in_the_order_of_fixed_ranges(threads):
    expected = [(0, 4), (4, 8), (8, 10)]
    assert call_over_ranges(lambda first, last: (first, last), 10, 4, threads) == expected


def test_nothing_to_do_is_no_range():
    assert call_over_ranges(lambda first, last: first, 0) == []


def test_there_is_a_core():
    assert count_cores() >= 1


def test_an_error_in_a_range_is_raised():
    def work(first, last):
        raise ValueError(f"{first}")

    with pytest.raises(ValueError, match="0"):
        call_over_ranges(work, 3, 1, 2)


@pytest.mark.parametrize("cores", [0, -1, 1.5])
def test_less_than_a_core_is_refused(cores):
    people = {"name": ["ann", "ann", "bob", "eve"] * 3, "year": [1, 1, 2, 3] * 3}
    with pytest.raises(kp.ModelError, match="'cores' parameter must be a whole number of at least"):
        kp.resolve(people, cores=cores)

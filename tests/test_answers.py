"""Known answers as a value: what is said, what follows, and what cannot hold."""

import numpy as np
import pytest

import kolchin as kp
from kolchin.answers import Answers, KnownAnswer, find_contradictions
from kolchin.partitions import NO_SOURCES, list_partitions
from kolchin.records import Records

RECORDS = Records.from_codes([[0, 0], [0, 0], [1, 1], [2, 1], [1, 1]])


def of(*known, n_records=5):
    return Answers.of(n_records, [KnownAnswer(*one) for one in known])


def test_a_partition_has_the_probability_that_all_was_said():
    answers = of((0, 1, "same", 0.1), (3, 2, "different", 0.2), (2, 3, "different", 0.3))
    assert answers.log_probability(np.array([0, 0, 1, 2, 3])) == pytest.approx(
        np.log(0.9 * 0.8 * 0.7)
    )
    assert answers.log_probability(np.array([0, 1, 2, 2, 3])) == pytest.approx(
        np.log(0.1 * 0.2 * 0.3)
    )


def test_certain_answers_forbid():
    answers = of((0, 1, "same"), (2, 3, "different"))
    assert answers.log_probability(np.array([0, 0, 1, 2, 1])) == 0.0
    assert answers.log_probability(np.array([0, 1, 2, 3, 4])) == -np.inf
    assert answers.log_probability(np.array([0, 0, 1, 1, 2])) == -np.inf


def test_the_log_joint_is_that_without_answers_and_their_probability():
    said = [(0, 1, "different", 0.05), (1, 4, "same", 0.2), (2, 4, "same")]
    model, free = kp.Model(RECORDS, delta=0.5, answers=said), kp.Model(RECORDS, delta=0.5)
    for labels in list_partitions(5):
        factor = 0.05 if labels[0] == labels[1] else 0.95
        factor *= 0.8 if labels[1] == labels[4] else 0.2
        slow = free.log_joint(labels) + np.log(factor)
        expected = slow if labels[2] == labels[4] else -np.inf
        assert model.log_joint(labels) == pytest.approx(expected)


def test_records_that_are_the_same_as_a_third_are_the_same():
    answers = of((4, 1, "same"), (1, 3, "same"), (0, 2, "same", 0.1))
    np.testing.assert_array_equal(answers.groups, [0, 1, 2, 1, 1])


def test_lists_have_every_pair_twice_but_what_is_tied():
    said = (0, 1, "same"), (1, 2, "same", 0.1), (0, 1, "different", 0.2), (3, 1, "different")
    lists = of(*said).lists()
    np.testing.assert_array_equal(lists.starts, [0, 0, 2, 3, 4, 4])
    np.testing.assert_array_equal(lists.others, [2, 3, 1, 1])
    np.testing.assert_allclose(lists.log_factor, [np.log(9), -np.inf, np.log(9), -np.inf])
    np.testing.assert_array_equal(lists.group, [0, 0, -1, -1, -1])


def test_lists_in_the_order_of_a_layout():
    order = np.array([4, 2, 0, 1, 3])
    lists = of((0, 1, "same"), (4, 2, "same", 0.1)).lists(order)
    np.testing.assert_array_equal(lists.starts, [0, 1, 2, 2, 2, 2])
    np.testing.assert_array_equal(lists.others, [1, 0])
    np.testing.assert_array_equal(lists.group, [-1, -1, 0, 0, -1])


def test_some_records_have_what_is_said_of_them_alone():
    some = of((0, 1, "same"), (1, 3, "same", 0.1), (4, 3, "different")).among(np.array([1, 3, 4]))
    assert some.n_records == 3
    np.testing.assert_array_equal(some.pairs, [[0, 1], [1, 2]])
    np.testing.assert_allclose(some.log_factor, [np.log(9), -np.inf])


def test_nothing_said_is_nothing_listed():
    assert not Answers.none(5)
    assert all(array.size == 0 for array in Answers.none(5).lists())
    assert Answers.none(5).stamp == ""


def test_the_stamp_tells_answers_apart():
    stamps = {of((0, 1, "same")).stamp, of((0, 1, "same", 0.1)).stamp, of((0, 2, "same")).stamp}
    assert len(stamps) == 3


def test_all_contradictions_are_named_together():
    said = (0, 1, "same"), (1, 2, "same"), (0, 2, "different"), (3, 4, "same"), (3, 4, "different")
    faults = find_contradictions(of(*said), NO_SOURCES)
    assert faults == [
        "3 and 4 are said to be the same and to be different.",
        "0 and 2 are different, but the same by 0 = 1 and 1 = 2.",
    ]


def test_very_many_contradictions_are_named_to_the_last():
    said = [(2 * k, 2 * k + 1, answer) for k in range(200) for answer in ("same", "different")]
    with pytest.raises(kp.ModelError) as caught:
        kp.Model(Records.from_codes(np.zeros((400, 1), dtype=int)), answers=said)
    for k in range(200):
        assert f"{2 * k} and {2 * k + 1}" in str(caught.value)
    assert str(caught.value).count("\n") == 20


def test_uncertain_answers_never_contradict():
    said = (0, 1, "same"), (0, 1, "different", 0.01), (1, 2, "same"), (0, 2, "different", 0.1)
    assert find_contradictions(of(*said), NO_SOURCES) == []


def test_one_source_cannot_have_what_is_the_same():
    sources = np.array([0, 1, 0, -1, -1], dtype=np.int32)
    (fault,) = find_contradictions(of((0, 1, "same"), (1, 2, "same"), (3, 4, "same")), sources)
    assert fault.startswith("0 and 2 are of one source")


def test_a_model_refuses_all_that_is_wrong_at_once():
    wrong = [(0, 9, "same"), (1, 1, "same"), (0, 1, "maybe"), (0, 1, "same", 0.7), (0,)]
    with pytest.raises(kp.ModelError) as caught:
        kp.Model(RECORDS, answers=wrong)
    for words in ("no record 9", "named twice", "'maybe'", "Got 0.7", "(0,)"):
        assert words in str(caught.value)
    with pytest.raises(kp.ModelError, match="the same and to be different"):
        kp.Model(RECORDS, answers=[(0, 1, "same"), (0, 1, "different")])

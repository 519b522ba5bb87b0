"""Measures against truth, by the definition over all pairs and by hand."""

import math
import time
from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kolchin.errors import DataError
from kolchin.evaluation import Evaluation, encode, evaluate

two_partitions = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
    )
)


def entropy(values):
    shares = [count / len(values) for count in Counter(values).values()]
    return -sum(share * math.log(share) for share in shares)


@given(two_partitions)
def test_pairwise_measures_count_pairs(partitions):
    found, truth = partitions
    pairs = list(combinations(range(len(found)), 2))
    linked = {(a, b) for a, b in pairs if found[a] == found[b]}
    true = {(a, b) for a, b in pairs if truth[a] == truth[b]}
    result = evaluate(found, truth)
    assert result.linked_pairs == len(linked)
    assert result.true_pairs == len(true)
    assert result.correct_pairs == len(linked & true)
    assert result.fdr == pytest.approx(len(linked - true) / len(linked) if linked else 0)
    assert result.fnr == pytest.approx(len(true - linked) / len(true) if true else 0)
    assert result.precision == pytest.approx(1 - result.fdr)
    assert result.recall == pytest.approx(1 - result.fnr)
    both = result.precision + result.recall
    assert result.f1 == pytest.approx(2 * result.precision * result.recall / both if both else 0)


@given(two_partitions)
def test_adjusted_rand_is_hubert_and_arabie(partitions):
    found, truth = partitions
    choose = math.comb
    index = sum(choose(c, 2) for c in Counter(zip(found, truth, strict=True)).values())
    rows = sum(choose(c, 2) for c in Counter(found).values())
    columns = sum(choose(c, 2) for c in Counter(truth).values())
    expected = rows * columns / max(choose(len(found), 2), 1)
    spread = (rows + columns) / 2 - expected
    value = (index - expected) / spread if spread else 1.0
    assert evaluate(found, truth).adjusted_rand == pytest.approx(value)


@given(two_partitions)
def test_variation_of_information_is_two_conditional_entropies(partitions):
    found, truth = partitions
    joint = entropy(list(zip(found, truth, strict=True)))
    value = 2 * joint - entropy(found) - entropy(truth)
    assert evaluate(found, truth).variation_of_information == pytest.approx(value, abs=1e-12)


@given(two_partitions)
def test_bcubed_is_a_mean_over_records(partitions):
    found, truth = partitions
    records = range(len(found))
    precision, recall = [], []
    for n in records:
        mine = {m for m in records if found[m] == found[n]}
        right = {m for m in records if truth[m] == truth[n]}
        precision.append(len(mine & right) / len(mine))
        recall.append(len(mine & right) / len(right))
    result = evaluate(found, truth)
    assert result.bcubed_precision == pytest.approx(np.mean(precision))
    assert result.bcubed_recall == pytest.approx(np.mean(recall))


@given(two_partitions)
def test_cluster_rates_count_clusters_that_are_an_entity(partitions):
    found, truth = ({tuple(np.flatnonzero(np.equal(p, v))) for v in set(p)} for p in partitions)
    result = evaluate(*partitions)
    assert result.cluster_precision == pytest.approx(len(found & truth) / len(found))
    assert result.cluster_recall == pytest.approx(len(found & truth) / len(truth))
    assert result.cluster_f1 == pytest.approx(2 * len(found & truth) / (len(found) + len(truth)))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_a_partition_agrees_with_itself(labels):
    result = evaluate(labels, [f"entity {label}" for label in labels])
    assert result.precision == result.recall == result.f1 == result.adjusted_rand == 1
    assert result.bcubed_precision == result.bcubed_recall == result.bcubed_f1 == 1
    assert result.fnr == result.fdr == result.variation_of_information == 0
    assert result.n_clusters == result.n_true_clusters == len(set(labels))


def test_a_case_by_hand():
    result = evaluate([0, 0, 0, 1, 1, 2], ["a", "a", "b", "b", "b", "c"])
    assert (result.linked_pairs, result.true_pairs, result.correct_pairs) == (4, 4, 2)
    assert result.precision == result.recall == result.f1 == 0.5
    assert result.adjusted_rand == pytest.approx((2 - 16 / 15) / (4 - 16 / 15))
    assert result.bcubed_precision == pytest.approx((2 * 2 / 3 + 1 / 3 + 2 + 1) / 6)
    assert (result.n_clusters, result.n_true_clusters, result.n_records) == (3, 3, 6)


def test_nothing_linked_and_nothing_true():
    apart, together = [0, 1, 2], ["x", "x", "x"]
    assert evaluate(apart, together).fdr == 0
    assert evaluate(apart, together).fnr == 1
    assert evaluate(together, apart).fnr == 0
    assert evaluate(together, apart).fdr == 1
    assert evaluate(apart, together).f1 == evaluate(together, apart).f1 == 0
    assert evaluate(apart, apart).f1 == 1


@pytest.mark.parametrize(
    "truth",
    [
        ["a", None, "a", "b"],
        [1.0, float("nan"), 1.0, 2.0],
        np.array([1.0, np.nan, 1.0, 2.0]),
        np.array(["a", None, "a", "b"], dtype=object),
        pl.Series(["a", None, "a", "b"]),
        (("a", 1), None, ("a", 1), ("b", 2)),
    ],
)
def test_records_without_truth_are_left_out(truth):
    result = evaluate([0, 0, 0, 1], truth)
    assert (result.n_records, result.n_unknown) == (3, 1)
    assert (result.n_clusters, result.n_true_clusters) == (2, 2)
    assert (result.linked_pairs, result.true_pairs, result.f1) == (1, 1, 1)


@pytest.mark.parametrize(
    "values", [[5, 0, 5, 2], [5, -1, 7], [9**9, 3, 3], [0.5, 2, 0.5], [2.0, 4]]
)
def test_numbers_keep_their_order(values):
    """Whether they are so small and whole that they need not be sorted, or not."""
    ranks = [sorted(set(values)).index(value) for value in values]
    assert encode(np.array(values)).tolist() == ranks
    assert encode(np.array([*values, np.nan])).tolist() == [*ranks, -1]


def test_a_series_of_text_is_numbered_like_a_list():
    values = ["b", None, "a", "b", "", "c", None, "a"]
    assert encode(pl.Series(values)).tolist() == encode(values).tolist()
    assert encode(pl.Series(values).drop_nulls()[:0]).tolist() == []


def test_pandas_missing_values_are_known():
    pandas = pytest.importorskip("pandas")
    truth = pandas.Series([7, None, 7, 8], dtype="Int64")
    assert encode(truth).tolist() == [0, -1, 0, 2]


def test_faults_are_told_together():
    with pytest.raises(DataError) as raised:
        evaluate([0, None, 1], [None, None])
    message = str(raised.value)
    assert "3 records. Got 2 values instead" in message
    assert "Got one at record 1" in message
    assert "known for at least one record" in message


def test_unfit_values_are_refused():
    with pytest.raises(DataError, match="hashable"):
        evaluate([0, 1], [["a"], ["b"]])
    with pytest.raises(DataError, match="one-dimensional"):
        evaluate(np.zeros((2, 2)), [0, 1])


def test_as_dict_is_plain():
    result = evaluate([0, 0, 1], [0, 0, 1])
    assert set(result.as_dict()) == set(Evaluation.__dataclass_fields__)
    assert all(type(value) in (int, float) for value in result.as_dict().values())


def test_a_million_records():
    rng = np.random.default_rng(1)
    found, truth = rng.integers(0, 600_000, size=(2, 1_000_000))
    begin = time.perf_counter()
    result = evaluate(found, truth)
    assert time.perf_counter() - begin < 10  # about half a second; the bound only catches N^2
    assert result.adjusted_rand == pytest.approx(0, abs=1e-3)

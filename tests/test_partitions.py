"""Partitions: labels, clusters, sizes and enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kolchin.errors import DataError
from kolchin.partitions import (
    cluster_sizes,
    list_clusters,
    list_partitions,
    make_canonical,
    size_counts,
)

some_labels = st.lists(st.integers(-5, 5), max_size=12)


@given(some_labels)
def test_canonical_numbers_clusters_by_first_record(labels):
    numbers: dict[int, int] = {}
    expected = [numbers.setdefault(label, len(numbers)) for label in labels]
    assert make_canonical(labels).tolist() == expected


@given(some_labels)
def test_canonical_is_idempotent_and_blind_to_names(labels):
    once = make_canonical(labels)
    assert make_canonical(once).tolist() == once.tolist()
    assert make_canonical([-label for label in labels]).tolist() == once.tolist()


def test_canonical_takes_strings():
    assert make_canonical(["b", "a", "b"]).tolist() == [0, 1, 0]


@pytest.mark.parametrize("labels", [3, [[0, 1]]])
def test_canonical_refuses_other_dimensions(labels):
    with pytest.raises(DataError, match="one-dimensional"):
        make_canonical(labels)


@given(some_labels.filter(len))
def test_clusters_and_sizes_agree(labels):
    groups = list_clusters(labels)
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(labels)))
    assert [len(group) for group in groups] == cluster_sizes(labels).tolist()
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)
    for group in groups:
        assert len({labels[n] for n in group}) == 1
    counts = size_counts(labels)
    assert counts.sum() == len(groups)
    assert counts @ np.arange(counts.size) == len(labels)


@pytest.mark.parametrize(
    ("n", "bell"), [(0, 1), (1, 1), (2, 2), (3, 5), (4, 15), (5, 52), (6, 203)]
)
def test_all_partitions_are_bell_many_distinct_and_canonical(n, bell):
    found = [tuple(p.tolist()) for p in list_partitions(n)]
    assert len(found) == len(set(found)) == bell
    assert all(make_canonical(p).tolist() == list(p) for p in found if p)


def test_all_partitions_yields_separate_arrays():
    found = list(list_partitions(3))
    found[0][:] = 9
    assert found[1].tolist() == [0, 0, 1]

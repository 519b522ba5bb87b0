"""Pair probabilities and confidence against counting."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kolchin.errors import DataError
from kolchin.partitions import make_canonical
from kolchin.posterior import Posterior

many_labels = st.tuples(st.integers(1, 2), st.integers(1, 12), st.integers(1, 9)).flatmap(
    lambda shape: st.integers(0, 2**32).map(
        lambda seed: np.random.default_rng(seed).integers(0, 5, shape)
    )
)


def pair_counts(labels):
    flat = labels.reshape(-1, labels.shape[2])
    pairs = combinations(range(labels.shape[2]), 2)
    return {(a, b): int(np.sum(flat[:, a] == flat[:, b])) for a, b in pairs}


@given(labels=many_labels, least=st.sampled_from([0.0, 0.01, 0.25, 0.5, 1.0]))
def test_links_are_shares_of_draws(posterior_of, labels, least):
    posterior = posterior_of(labels)
    expected = [
        (a, b, count / len(posterior))
        for (a, b), count in pair_counts(labels).items()
        if count and count / len(posterior) >= least
    ]
    table = posterior.links(least)
    assert table.columns == ["record_a", "record_b", "probability"]
    assert table.rows() == expected


def test_a_pair_exactly_on_the_bound_is_listed(posterior_of):
    labels = np.tile(np.arange(2), (1, 1000, 1))
    labels[0, :290] = 0  # 0.29 * 1000 rounds to 290.00000000000006 or so
    assert posterior_of(labels).links(0.29).height == 1


@pytest.mark.parametrize("bound", [-0.1, 1.1])
def test_bounds_outside_0_1_are_refused(posterior, bound):
    with pytest.raises(DataError, match="'min_probability' parameter must be from 0 to 1"):
        posterior.links(bound)


@given(labels=many_labels)
def test_confidence_is_the_share_of_draws_with_exactly_that_cluster(posterior_of, labels):
    posterior = posterior_of(labels)
    flat = labels.reshape(-1, labels.shape[2])
    shown = flat[0]
    expected = [
        np.mean([np.array_equal(draw == draw[n], shown == shown[n]) for draw in flat])
        for n in range(shown.size)
    ]
    assert posterior.confidence(shown) == pytest.approx(expected)


def test_confidence_wants_one_label_a_record(posterior):
    with pytest.raises(DataError, match=r"each of the 10 records. Got 3 entries instead"):
        posterior.confidence([0, 1, 2])


@given(labels=many_labels)
def test_distinct_clusters_and_their_counts(posterior_of, labels):
    posterior = posterior_of(labels)
    expected: dict[tuple[int, ...], int] = {}
    for draw in labels.reshape(-1, labels.shape[2]):
        for label in np.unique(draw):
            cluster = tuple(np.flatnonzero(draw == label).tolist())
            if len(cluster) > 1:
                expected[cluster] = expected.get(cluster, 0) + 1
    drawn = posterior.distinct
    members = np.split(drawn.members, drawn.offsets[1:-1])
    found = {tuple(m.tolist()): int(k) for m, k in zip(members, drawn.counts, strict=False)}
    assert found == expected
    assert drawn.counts.size == len(expected)


def test_many_distinct_clusters_outgrow_the_first_table(posterior_of):
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 400, (2, 20, 1000))
    posterior = posterior_of(labels)
    clusters = {
        tuple(np.flatnonzero(draw == label).tolist())
        for draw in labels.reshape(-1, 1000)
        for label in range(400)
    }
    assert posterior.distinct.counts.size == sum(len(cluster) > 1 for cluster in clusters)
    counts = {pair: count for pair, count in pair_counts(labels[:, :, :60]).items() if count}
    table = posterior.links(0).filter(pl.col("record_b") < 60)
    assert {(a, b): round(share * 40) for a, b, share in table.rows()} == counts


def test_a_stray_cluster_of_thousands(draw_of):
    apart = [0, 0, *range(1, 2_999)]
    one = draw_of(np.where(np.arange(3_000) < 2_500, 0, np.arange(3_000)))
    posterior = Posterior.from_draws(3_000, [[draw_of(apart)] * 199 + [one]])
    assert posterior.links(0.01).rows() == [(0, 1, 1.0)]
    assert posterior.links(0.005).height == 2_500 * 2_499 // 2
    estimate = posterior.point_estimate()
    assert estimate.tolist() == make_canonical(apart).tolist()
    assert posterior.confidence(estimate)[:2] == pytest.approx(0.995)


def test_pairs_of_giant_clusters_are_left_out(posterior_of, monkeypatch):
    from kolchin.posterior import links

    giant = [0] * 30 + [1, 1, 2, 3]
    posterior = posterior_of([[giant, giant]])
    assert links.find_largest_listed(posterior) is None
    assert posterior.links().height == 30 * 29 // 2 + 1
    monkeypatch.setattr(links, "PAIRS_BUDGET", 100)
    monkeypatch.setattr(links, "PAIRS_A_RECORD", 1)
    assert links.find_largest_listed(posterior) == 29
    assert posterior.links().rows() == [(30, 31, 1.0)]

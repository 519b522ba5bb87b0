"""Chains start at partitions spread wide, and end at the same place."""

import numpy as np
import pytest

import kolchin as kp
from kolchin.partitions import cluster_sizes, has_clash, make_canonical
from kolchin.sampling.layout import Layout
from kolchin.sampling.proposals.candidates import find_candidate_pairs
from kolchin.sampling.run.starts import LARGEST_START, STARTS, make_start_labels


@pytest.fixture(scope="module")
def likely(medium_model):
    pairs, scores = find_candidate_pairs(medium_model)
    return pairs[scores > np.log(medium_model.n_records)]


@pytest.mark.parametrize("kind", STARTS)
def test_starts_are_canonical_partitions(kind, likely):
    labels = make_start_labels(np.random.default_rng(1), kind, 300, likely)
    assert labels.shape == (300,)
    assert np.array_equal(labels, make_canonical(labels))
    assert cluster_sizes(labels).max() <= LARGEST_START


@pytest.mark.parametrize("kind", STARTS)
def test_starts_keep_records_of_one_source_apart(kind, likely):
    sources = np.random.default_rng(2).integers(-1, 3, 300).astype(np.int32)
    labels = make_start_labels(np.random.default_rng(1), kind, 300, likely, sources)
    assert not has_clash(labels, sources)
    free = make_start_labels(np.random.default_rng(1), kind, 300, likely)
    assert has_clash(free, sources) == (kind != "singletons")
    assert (cluster_sizes(labels).max() > 1) == (kind != "singletons")


def test_starts_lie_on_both_sides_of_the_truth(likely, simulate_records):
    n_true = np.unique(simulate_records(300)[1]).size
    numbers = {
        kind: cluster_sizes(make_start_labels(np.random.default_rng(1), kind, 300, likely)).size
        for kind in STARTS
    }
    assert numbers["singletons"] == 300
    assert numbers["random"] == 225 < n_true
    assert numbers["blocks"] < 0.85 * 300


def test_random_starts_depend_on_the_generator(likely):
    one, other = (
        make_start_labels(np.random.default_rng(s), "random", 300, likely) for s in (1, 2)
    )
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("kind", STARTS)
def test_two_records_can_start(kind):
    records = kp.Records.from_codes([[0, 0], [0, 1]])
    posterior = kp.sample(
        kp.Model(records), chains=1, draws=20, warmup=5, seed=1, start=kind, progress=False
    )
    assert set(posterior.statistics["n_clusters"].ravel()) <= {1, 2}


@pytest.mark.statistical
def test_all_starts_lead_to_the_same_posterior(medium_model):
    posterior = kp.sample(
        medium_model, chains=3, draws=400, warmup=150, thin=1, seed=2, start=STARTS, progress=False
    )
    rows = {row["quantity"]: row for row in posterior.diagnostics().to_dicts()}
    for quantity in ("n_clusters", "singletons", "largest", "delta"):
        assert rows[quantity]["rhat"] < 1.05, quantity


def test_random_pairs_stay_in_their_blocks():
    layout = Layout(np.array([0, 31, 100, 260, 300]))
    none = np.empty((0, 2), np.int32)
    labels = make_start_labels(np.random.default_rng(1), "random", 300, none, layout=layout)
    blocks = layout.find_blocks(np.arange(300, dtype=np.int32))
    assert len({*zip(labels.tolist(), blocks.tolist(), strict=True)}) == labels.max() + 1
    assert np.count_nonzero(np.bincount(labels) == 2) >= 300 // 4 - 3

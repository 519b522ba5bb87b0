"""Synthetic records must follow the model exactly, whatever the sizes and fields."""

from itertools import product
from math import lgamma

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from kolchin.errors import ModelError
from kolchin.partitions import cluster_sizes, size_counts
from kolchin.simulation import simulate

GAMMA = np.array([0.2, 0.5, 0.3])


class AllPairs:
    """A prior that puts records 0 and 1, 2 and 3, ... together."""

    def draw(
        self, n_records: int, seed: int | np.random.Generator | None = None
    ) -> NDArray[np.int64]:
        assert isinstance(seed, np.random.Generator)
        return np.arange(n_records) // 2


def log_cluster_marginal(values: tuple[int, ...], delta: float) -> float:
    """Return the closed form of one field's marginal (model reference, section 3)."""
    log_marginal = lgamma(delta) - lgamma(delta + len(values))
    for value, gamma in enumerate(GAMMA):
        log_marginal += lgamma(delta * gamma + values.count(value)) - lgamma(delta * gamma)
    return log_marginal


def counts_of_clusters(table: pl.DataFrame, size: int) -> NDArray[np.int64]:
    """Count each ordered sequence of values of the clusters of the given size."""
    lists = table.group_by("ent_id").agg(pl.col("x")).filter(pl.col("x").list.len() == size)
    codes = np.array(lists["x"].to_list()) @ 3 ** np.arange(size)[::-1]
    return np.bincount(codes, minlength=3**size)


@pytest.mark.exact
@pytest.mark.parametrize("delta", [0.05, 0.7, 5.0])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_clusters_follow_the_closed_form_marginal(delta: float, size: int) -> None:
    table = simulate({"x": GAMMA}, sizes={size: 20_000, 1: 100}, delta=delta, seed=size)
    observed = counts_of_clusters(table.sample(fraction=1, shuffle=True, seed=1), size)
    sequences = list(product(range(3), repeat=size))
    expected = np.exp([log_cluster_marginal(values, delta) for values in sequences])
    assert expected.sum() == pytest.approx(1)
    assert chisquare(observed, expected * observed.sum()).pvalue > 1e-3


@pytest.mark.exact
def test_a_wrong_delta_is_noticed() -> None:
    table = simulate({"x": GAMMA}, sizes={3: 20_000}, delta=0.7, seed=3)
    expected = np.exp([log_cluster_marginal(v, 0.8) for v in product(range(3), repeat=3)])
    assert chisquare(counts_of_clusters(table, 3), expected * 20_000).pvalue < 1e-3


@pytest.mark.statistical
def test_values_follow_the_base_frequencies_and_pairs_the_agreement_rate() -> None:
    delta = 0.4
    table = simulate({"x": GAMMA}, sizes={2: 50_000}, delta=delta, seed=4)
    pairs = np.array(table.group_by("ent_id").agg("x")["x"].to_list())
    firsts = np.bincount(pairs[:, 0], minlength=3)
    assert chisquare(firsts, GAMMA * firsts.sum()).pvalue > 1e-3
    agreement = (1 + delta * (GAMMA**2).sum()) / (1 + delta)
    equal = int((pairs[:, 0] == pairs[:, 1]).sum())
    assert (
        chisquare([equal, 50_000 - equal], [50_000 * agreement, 50_000 * (1 - agreement)])[1] > 1e-3
    )


def test_records_of_an_entity_are_equal_without_distortion() -> None:
    table = simulate({"x": np.ones(50)}, sizes={5: 40}, delta=0, seed=5)
    assert table.group_by("ent_id").agg(pl.col("x").n_unique())["x"].unique().to_list() == [1]


def test_the_table_has_the_sizes_asked_for() -> None:
    table = simulate({"x": GAMMA}, sizes={1: 30, 2: 20, 7: 1}, seed=6)
    assert table.columns == ["rec_id", "ent_id", "x"]
    assert table["rec_id"].to_list() == list(range(1, 78))
    assert size_counts(table["ent_id"]).tolist() == [0, 30, 20, 0, 0, 0, 0, 1]
    same = simulate({"x": GAMMA}, sizes=[1] * 30 + [2] * 20 + [7], seed=6)
    assert table.equals(same)


def test_rows_come_in_random_order() -> None:
    table = simulate({"x": GAMMA}, sizes={2: 500}, seed=7)
    neighbours = (table["ent_id"].diff() == 0).sum()
    assert neighbours < 20


def test_sizes_can_come_from_a_prior() -> None:
    table = simulate({"x": GAMMA}, prior=AllPairs(), n_records=10, seed=8)
    assert cluster_sizes(table["ent_id"]).tolist() == [2] * 5


def test_the_same_seed_gives_the_same_table() -> None:
    def draw(seed: int | np.random.Generator) -> pl.DataFrame:
        return simulate({"x": GAMMA, "y": {"a": 1, "b": 3}}, sizes={3: 50}, missing=0.2, seed=seed)

    assert draw(1).equals(draw(1))
    assert draw(1).equals(draw(np.random.default_rng(1)))
    assert not draw(1).equals(draw(2))


def test_missing_values_and_distortion_by_field() -> None:
    fields = {"x": GAMMA, "y": {"a": 0.5, "b": 0.5}}
    table = simulate(
        fields, sizes={2: 5_000}, delta={"x": 0.0, "y": 50}, missing={"x": 0.0, "y": 0.3}, seed=9
    )
    assert table["x"].null_count() == 0
    assert 2_800 < table["y"].null_count() < 3_200
    different = table.drop_nulls().group_by("ent_id").agg(pl.all().n_unique())
    assert different["x"].max() == 1
    assert different["y"].max() == 2


def test_every_fault_is_reported_at_once() -> None:
    with pytest.raises(ModelError) as raised:
        simulate(
            {"rec_id": GAMMA, "x": [-1.0, 2.0], "y": [0.0], "z": {"a": 1, 2: 1}},
            sizes=[1],
            delta=-1,
            missing={"x": 1.0},
        )
    message = str(raised.value)
    for part in (
        "cannot be called 'rec_id'",
        "field 'x' must be finite and not negative",
        "field 'y' must not all be zero",
        "field 'z' must all be of one type",
        "'delta' parameter must be 0 or more. Got -1 instead",
        "'missing' parameter must be one number, or one for each",
        "'missing' parameter must be 0 or more and below 1. Got 1.0 instead",
    ):
        assert part in message


@pytest.mark.parametrize("sizes", [[], [0], [1.5], {2: -1}, {1: 0}, [[1, 2]]])
def test_sizes_that_cannot_be_are_refused(sizes: object) -> None:
    with pytest.raises(ModelError, match="'sizes' parameter must be whole numbers"):
        simulate({"x": GAMMA}, sizes=sizes)  # type: ignore[arg-type]


def test_sizes_or_a_prior_but_not_both() -> None:
    with pytest.raises(ModelError, match="Got none of them instead"):
        simulate({"x": GAMMA})
    with pytest.raises(ModelError, match="Got sizes, prior instead"):
        simulate({"x": GAMMA}, sizes=[1], prior=AllPairs())
    with pytest.raises(ModelError, match="'n_records' parameter must be 1 or more"):
        simulate({"x": GAMMA}, prior=AllPairs(), n_records=0)
    with pytest.raises(ModelError, match="at least one field"):
        simulate({}, sizes=[1])

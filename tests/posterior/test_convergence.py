"""Diagnostics against ArviZ, and where ArviZ has no answer."""

import math

import numpy as np
import polars as pl
import pytest

from kolchin.posterior import Draw, Posterior
from kolchin.posterior.convergence import (
    _import_arviz,
    has_converged,
    list_quantities,
    measure_convergence,
)

NONE = np.empty(0, dtype=np.int32)


def posterior_with(**parameters):
    """Build a posterior of unlinked records with these parameters (chain, draw, ...)."""
    n_chains, n_draws = next(iter(parameters.values())).shape[:2]
    chains = [
        [
            Draw(NONE, NONE, {k: v[c, t] for k, v in parameters.items()}, float(t % 7))
            for t in range(n_draws)
        ]
        for c in range(n_chains)
    ]
    return Posterior.from_draws(4, chains)


def autocorrelated(seed, shape, shift=0.0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape)
    for t in range(1, shape[1]):
        values[:, t] += 0.7 * values[:, t - 1]
    values[0] += shift
    return values


@pytest.mark.parametrize("shift", [0.0, 1.0])
@pytest.mark.parametrize("n_draws", [5, 50, 51])
@pytest.mark.parametrize("change", [lambda x: x, np.exp, np.round])
def test_numbers_are_those_of_arviz(shift, n_draws, change):
    values = change(autocorrelated(1, (4, n_draws), shift))
    arviz = _import_arviz()
    rhat, bulk, tail = measure_convergence(values)
    assert rhat == pytest.approx(float(arviz.rhat(values)))
    assert bulk == pytest.approx(float(arviz.ess(values, method="bulk")))
    assert tail == pytest.approx(float(arviz.ess(values, method="tail", prob=(0.05, 0.95))))


@pytest.mark.parametrize("keep", [-0.8, 0.0, 0.95])
@pytest.mark.parametrize("n_chains", [1, 2, 5])
def test_effective_sizes_are_those_of_arviz(n_chains, keep):
    """However short chains are, and whatever ends the sum of their autocorrelations."""
    rng, arviz = np.random.default_rng(3), _import_arviz()
    for n_draws in range(4, 60):
        values = rng.normal(size=(n_chains, n_draws))
        for t in range(1, n_draws):
            values[:, t] += keep * values[:, t - 1]
        if n_draws % 3 == 0:
            values = np.round(values)
        _, bulk, _ = measure_convergence(values)
        assert bulk == pytest.approx(float(arviz.ess(values, method="bulk")))


def test_a_single_chain_is_split():
    steady, drifting = autocorrelated(2, (1, 1000)), np.linspace(0, 1, 100)[None]
    assert measure_convergence(steady)[0] < 1.05
    assert measure_convergence(drifting)[0] > 1.5


def test_quantities_that_never_change():
    assert measure_convergence(np.full((3, 10), 2.0)) == (1.0, 30.0, 30.0)


def test_chains_stuck_at_different_values():
    values = np.repeat([[1.0], [1.0], [2.0]], 10, axis=1)
    assert measure_convergence(values) == (math.inf, 3.0, 3.0)
    assert measure_convergence(np.repeat([[1.0, 2.0]], 5, axis=1)) == (math.inf, 2.0, 2.0)


def test_two_values_equally_often_have_no_spread_to_fold():
    values = np.tile([2.0, 3.0, 3.0, 2.0], (4, 25))
    rhat, bulk, tail = measure_convergence(values)
    assert rhat == pytest.approx(1, abs=0.02)
    assert math.isfinite(bulk)
    assert math.isfinite(tail)


@pytest.mark.parametrize("n_draws", [0, 1, 2, 3])
def test_short_runs_have_no_diagnostics_but_no_error_either(n_draws):
    posterior = posterior_with(delta=np.ones((2, n_draws)))
    table = posterior.diagnostics()
    assert table.height == 5 if n_draws else 4
    assert table["rhat"].is_nan().all()
    assert table["ess_bulk"].is_nan().all()
    assert not posterior.converged()


def test_values_that_are_no_numbers():
    values = autocorrelated(3, (2, 20))
    values[0, 0] = np.nan
    assert all(math.isnan(x) for x in measure_convergence(values))


def test_the_table(posterior):
    table = posterior.diagnostics()
    assert table.columns == [
        "quantity", "mean", "sd", "q05", "q50", "q95", "rhat", "ess_bulk", "ess_tail",
    ]  # fmt: skip
    assert table["quantity"].to_list() == [
        "n_clusters", "singletons", "largest", "log_joint", "delta", "mu[x]", "mu[y]", "mu[z]",
    ]  # fmt: skip
    row = table.row(by_predicate=pl.col("quantity") == "mu[y]", named=True)
    values = posterior.parameters["mu"][..., 1]
    assert row["mean"] == pytest.approx(values.mean())
    assert row["sd"] == pytest.approx(values.std(ddof=1))
    assert row["q05"] == pytest.approx(np.quantile(values, 0.05))
    assert row["q95"] == pytest.approx(np.quantile(values, 0.95))


def test_entries_are_numbered_from_one():
    posterior = posterior_with(mu=np.zeros((1, 2, 2)), table=np.zeros((1, 2, 2, 1)))
    names = list(list_quantities(posterior))
    assert names[4:] == ["mu[1]", "mu[2]", "table[1,1]", "table[2,1]"]


def test_converged_wants_every_quantity():
    good = np.random.default_rng(5).normal(size=(4, 500))
    posterior = posterior_with(delta=good)
    assert posterior.converged()
    bad = good + np.arange(4)[:, None]
    assert not posterior_with(delta=good, r=bad).converged()
    assert not posterior_with(delta=good).thin(10).converged()
    table = pl.DataFrame({"rhat": [1.0, math.nan], "ess_bulk": [500.0, math.nan]})
    assert not has_converged(table)
    assert has_converged(table.head(1))


def test_to_arviz(posterior):
    data = posterior.to_arviz()
    group = data["posterior"]
    assert group["delta"].dims == ("chain", "draw")
    assert group["mu"].dims == ("chain", "draw", "mu_entry")
    assert group["mu"].coords["mu_entry"].values.tolist() == ["x", "y", "z"]
    assert group["mu"].values.tolist() == posterior.parameters["mu"].tolist()
    assert group["n_clusters"].values.tolist() == posterior.statistics["n_clusters"].tolist()
    assert data["sample_stats"]["lp"].values.tolist() == posterior.log_joint.tolist()

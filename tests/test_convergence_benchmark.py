"""The parts of benchmarks/convergence that are easily wrong and never look it."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kolchin import Model
from kolchin.partitions import make_canonical
from kolchin.records import Records
from kolchin.sampling.run.run_settings import check_run_settings
from kolchin.sampling.run.runner import Run

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def load(monkeypatch):
    # `coverage` has flat names: a package of that name would hide the one that measures tests.
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.syspath_prepend(str(BENCHMARKS / "coverage"))
    return lambda name: importlib.import_module(f"convergence.{name}")


def drawn(n_clusters):
    """Return what stands for a posterior with numbers of clusters, (chain, draw)."""
    return SimpleNamespace(statistics={"n_clusters": n_clusters, "singletons": n_clusters + 1.0})


@pytest.fixture
def run():
    rng = np.random.default_rng(1)
    entity = np.repeat(np.arange(20), 3)
    codes = np.stack([entity, entity % 7, rng.integers(4, size=60)], axis=1)
    model = Model(Records.from_codes(codes.tolist()))
    begun = Run.begin(model, check_run_settings(2, 10, 20, 1, None, ("singletons", "blocks")), 1)
    begun.go_on(cores=1)
    return begun


def test_tables_have_the_records_that_they_say(load):
    tables = load("tables").list_tables(None)
    assert len({table.name for table in tables}) == len(tables)
    for table in tables:
        if table.n_records <= 1_000:
            made = table.make(1)
            assert made.height == made["rec_id"].n_unique() == table.n_records
            assert made.equals(table.make(1))
            assert not made.equals(table.make(2))


def test_chains_are_below_a_bound_from_when_they_meet(load):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(4, 400))
    first_below = load("looking").first_below
    assert first_below(drawn(values), 1.2) == load("looking").FEWEST_DRAWS
    values[0, :100] += 30.0  # far away for the first hundred draws
    assert first_below(drawn(values), 1.2) > 150
    values[1] += 30.0
    assert first_below(drawn(values), 1.2) is None


def test_moments_are_found_by_their_draws(load):
    looks = load("looking").Looks()
    for n in (0, 0, 5, 9):
        looks.look(SimpleNamespace(n_clusters=np.zeros((2, n)), seconds=0.0))
    assert looks.seconds_of(1) == looks.seconds_of(5) == looks.seconds[2]
    assert looks.seconds_of(6) == looks.seconds[3]
    assert looks.seconds_of(10) is None
    assert looks.cpu_seconds_of(None) is None


def test_a_run_ends_after_some_seconds_of_all_cores(load):
    looks = load("looking").Looks(most_cpu=5.0)
    looks.look(SimpleNamespace(n_clusters=np.zeros((2, 0)), seconds=9.0))
    looks.sampling_cpu -= 6.0
    looks.look(SimpleNamespace(n_clusters=np.zeros((2, 0)), seconds=9.0))  # nothing to keep
    with pytest.raises(KeyboardInterrupt):
        looks.look(SimpleNamespace(n_clusters=np.zeros((2, 1)), seconds=9.0))


def test_a_state_is_put_at_the_truth(load, run):
    diagnosing, moving = load("diagnosing"), load("moving")
    chain = run.chains[0]
    before = chain.state.following.copy()
    truth = np.random.default_rng(2).permutation(np.repeat(np.arange(15), 4))
    state = diagnosing.put(chain.problem, chain.state, truth)
    state, log_joint = diagnosing.follow(chain.problem, state)
    assert np.array_equal(make_canonical(moving.labels_of(state.following)), make_canonical(truth))
    assert state.n_clusters == state.partition.size_counts[4] == 15
    assert np.isfinite(log_joint)
    assert np.array_equal(chain.state.following, before)


def test_moves_are_timed_where_the_chain_stays(load, run):
    before = run.chains[0].state.following.copy()
    costs = load("moving").costs_by_size(run)
    assert np.array_equal(run.chains[0].state.following, before)
    assert sum(cost["moves"] for cost in costs) == pytest.approx(1)
    assert sum(cost["time"] for cost in costs) == pytest.approx(1)
    assert all(cost["seconds"] > 0 for cost in costs)


def test_mixing_is_told_from_the_model(load):
    diagnosing = load("diagnosing")
    at, better, worse = (diagnosing.Found(100, joint) for joint in (-50.0, -20.0, -90.0))
    verdict = diagnosing.verdict
    assert verdict(at, worse, at, 1.0, 1.0, True) == "fine"
    assert verdict(at, worse, at, 1.0, 1.0, False).startswith("model")
    assert verdict(at, worse, at, 2.0, 1.0, True).startswith("mixing")
    assert verdict(at, better, better, 1.0, 3.0, False).startswith("mixing")
    assert verdict(at, worse, worse, 1.0, 3.0, False).startswith("model")


def test_the_page_has_every_table(load, run, tmp_path, monkeypatch):
    telling, looking = load("telling"), load("looking")
    few = load("diagnosing").diagnose(run, run.posterior(), np.arange(60) // 3, 0.5)
    assert few == {"words": "unknown: 10 draws"}
    monkeypatch.setattr(load("diagnosing"), "FEWEST_DRAWS", 1)
    posterior = run.posterior()
    usual = {
        "seed": 1,
        "limit": 20.0,
        "cores": 2,
        "commit": "abc",
        "n_records": 60,
        "n_entities": 20,
        "mean": 20.5,
        "q05": 19.0,
        "q95": 22.0,
        "rhat": 1.004,
        "converged": True,
        "first_draw": 1.0,
        "below": {"1.05": 2.0, "1.01": None},
        "cpu": {"first draw": 1.0, "1.05": 2.0, "1.01": None},
        "whole_seconds": 4.0,
        "worst": looking.worst_quantity(posterior),
        "ess_a_cpu_second": 12.0,
        "costs": load("moving").costs_by_size(run),
        "verdict": load("diagnosing").diagnose(run, posterior, np.arange(60) // 3, 0.5),
    }
    rows = [
        {**usual, "name": "one", "checkout": "here"},
        {**usual, "name": "one", "checkout": "beside", "below": {"1.05": 2.0, "1.01": 3.5}},
        {"name": "two", "checkout": "here", "error": "it broke", **dict.fromkeys(("seed",), 1)}
        | {name: usual[name] for name in ("limit", "cores", "commit", "n_records", "n_entities")},
    ]
    page = telling.write_page(rows, ["here", "beside"], "command", tmp_path).read_text()
    assert "first draw within 20 s on 1 of 2 tables" in page
    assert "R-hat below 1.01 within 120 s on 1 of 1" in page  # of the checkout beside
    assert "it broke" in page
    assert page.count("| one |") == 3
    assert usual["verdict"]["words"] in page
    assert "3.5" in telling.tell_row(rows[1])

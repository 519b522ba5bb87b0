"""A posterior is measured as the paper's table and figure do."""

from dataclasses import replace

import numpy as np
import pytest

import kolchin
from kolchin import kernels
from kolchin.paper import experiment
from kolchin.paper.experiment import box, execute, measure, rehearse
from kolchin.paper.run import Box, Effort, ExperimentRun
from kolchin.posterior import Draw, Posterior

RUN = ExperimentRun("italy", 0.02, "NBD", 0, 1, Effort())


def draw(sets: list[list[int]], delta: float) -> Draw:
    members = np.array([record for group in sets for record in group], dtype=np.int32)
    sizes = np.array([len(group) for group in sets], dtype=np.int32)
    return Draw(members, sizes, {"delta": delta}, 0.0)


@pytest.fixture
def posterior() -> Posterior:
    # Records 0 and 1 are linked in three draws of four, 2 and 3 in one of four.
    rng = np.random.default_rng(1)
    chain = [
        draw([[0, 1], [2, 3]] if t % 4 == 0 else ([[0, 1]] if t % 4 < 3 else []), rng.random())
        for t in range(400)
    ]
    return Posterior.from_draws(6, [chain, chain[::-1]])


def test_rates_by_the_papers_rule_and_as_posterior_means(posterior: Posterior) -> None:
    result = measure(RUN, posterior, [0, 0, 1, 1, 2, 3])
    assert (result.fnr, result.fdr) == (0.5, 0.0)
    assert result.fnr_posterior == pytest.approx((0 + 0.5 + 0.5 + 1) / 4)
    assert result.fdr_posterior == 0.0


def test_false_links_count_among_the_linked(posterior: Posterior) -> None:
    result = measure(RUN, posterior, [0, 1, 2, 2, 3, 3])
    assert (result.fnr, result.fdr) == (1.0, 1.0)
    assert result.fdr_posterior == pytest.approx((0.5 + 1 + 1 + 0) / 4)


def test_k_delta_and_boxes(posterior: Posterior) -> None:
    result = measure(RUN, posterior, [0, 0, 1, 1, 2, 3])
    assert result.k_mean == pytest.approx((4 + 5 + 5 + 6) / 4)
    assert result.k_sd == pytest.approx(np.sqrt(0.5), rel=0.01)
    assert result.delta_mean == pytest.approx(posterior.parameters["delta"].mean())
    assert result.draws == 400
    assert result.boxes["singletons"] == Box(2.0, 3.5, 4.0, 4.5, 6.0)
    assert set(result.boxes) == {"singletons", "largest", "mean_size", "q90_size"}


def test_boxes_are_those_of_a_box_plot() -> None:
    from matplotlib.cbook import boxplot_stats

    draws = np.random.default_rng(1).standard_t(3, size=(4, 250))
    (expected,) = boxplot_stats(draws.ravel())
    ours = box(draws)
    assert (ours.low, ours.high) == (expected["whislo"], expected["whishi"])
    assert (ours.q1, ours.median, ours.q3) == pytest.approx(
        (expected["q1"], expected["med"], expected["q3"])
    )


def test_a_run_is_the_same_however_often_it_is_made() -> None:
    effort = Effort(chains=2, warmup=20, draws=10, max_draws=20)
    run = ExperimentRun("italy", 0.02, "NBD", 0, 1, effort)
    first, second = execute(run), execute(run)
    assert replace(first, seconds=0.0) == replace(second, seconds=0.0)
    assert first.draws == 20
    assert not first.converged
    assert 500 < first.k_mean < 789
    assert first.version == kolchin.__version__


def test_a_stop_while_sampling_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = Posterior.from_draws(6, [[draw([[0, 1]], 0.1)]], {"interrupted": True})
    monkeypatch.setattr("kolchin.sampling.sample", lambda *_args, **_options: stopped)
    with pytest.raises(KeyboardInterrupt):
        execute(RUN)


def test_a_rehearsal_does_what_comes_last_and_no_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []

    def noted(owner: object, name: str) -> None:
        what = getattr(owner, name)

        def note(*given: object) -> object:
            done.append(name)
            return what(*given)

        monkeypatch.setattr(owner, name, note)

    for name in (
        "make_chaperones_moves",
        "regroup_records",
        "pick_units",
        "grow_forest",
        "sum_forest",
        "link_forest",
    ):
        noted(kernels, name)
    noted(experiment, "measure")
    rehearse(RUN)
    assert set(done) == {
        *("regroup_records", "pick_units", "grow_forest", "sum_forest", "link_forest", "measure")
    }

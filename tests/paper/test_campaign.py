"""Runs are planned, made, kept and found again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kolchin.errors import ModelError
from kolchin.paper.campaign import complete, plan_runs
from kolchin.paper.run import Effort, ExperimentRun

EFFORT = Effort()


def test_a_plan_has_every_row_and_starts_with_the_longest() -> None:
    runs = plan_runs(["italy", "syriasizes"], [0.02, 0.1], 2, seed=1, effort=EFFORT)
    assert len(runs) == len({run.name for run in runs}) == 2 * 2 * 4 * 2
    assert [run.dataset for run in runs[:8]] == ["syriasizes"] * 8
    assert [run.replicate for run in runs] == [0] * 16 + [1] * 16


def test_a_plan_needs_a_data_set() -> None:
    with pytest.raises(ModelError, match=r"'replicates' parameter must be 1 or more. Got 0"):
        plan_runs(["italy"], [0.02], 0, seed=1, effort=EFFORT)


def test_models_share_data_and_nothing_else_shares_a_seed() -> None:
    runs = plan_runs(["italy", "syria2000"], [0.02, 0.05], 3, seed=1, effort=EFFORT)
    data_seeds = {(run.dataset, run.delta, run.replicate): run.data_seed for run in runs}
    assert len(set(data_seeds.values())) == len(data_seeds)
    assert all(run.data_seed == data_seeds[run.dataset, run.delta, run.replicate] for run in runs)
    assert len({run.sampler_seed for run in runs}) == len(runs)
    assert runs[0].data_seed != replace(runs[0], seed=2).data_seed


def test_finished_runs_are_not_made_again(tmp_path: Path, pretended: list[ExperimentRun]) -> None:
    runs = plan_runs(["italy"], [0.02, 0.05], 1, seed=1, effort=EFFORT)
    told: list[tuple[int, int]] = []
    first = complete(runs[:3], tmp_path, cores=1)
    second = complete(
        runs, tmp_path, cores=1, progress=lambda done, total, _: told.append((done, total))
    )
    assert pretended == runs
    assert second[:3] == first
    assert told == [(done, 8) for done in range(3, 9)]


def test_other_settings_damaged_files_and_other_versions_are_made_again(
    tmp_path: Path, pretended: list[ExperimentRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = plan_runs(["italy"], [0.02], 1, seed=1, effort=EFFORT)[:1]
    complete(runs, tmp_path, cores=1)
    complete([replace(runs[0], seed=2)], tmp_path, cores=1)
    (tmp_path / f"{runs[0].name}.json").write_text("{")
    complete(runs, tmp_path, cores=1)
    assert len(pretended) == 3
    monkeypatch.setattr("kolchin.paper.run.current_version", lambda: "later")
    complete(runs, tmp_path, cores=1)
    assert len(pretended) == 4
    assert json.loads((tmp_path / f"{runs[0].name}.json").read_text())["format"] == 1


def test_a_stop_keeps_what_is_finished(tmp_path: Path, pretended: list[ExperimentRun]) -> None:
    runs = plan_runs(["italy"], [0.02], 1, seed=1, effort=EFFORT)

    def stop(done: int, _total: int, _what: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        complete(runs, tmp_path, cores=1, progress=stop)
    assert len(list(tmp_path.glob("*.json"))) == 2
    complete(runs, tmp_path, cores=1)
    assert pretended == runs


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    effort = Effort(chains=2, warmup=20, draws=10, max_draws=10)
    runs = plan_runs(["italy"], [0.02], 1, seed=1, effort=effort)
    alone = complete(runs, tmp_path / "alone", cores=1)
    together = complete(runs, tmp_path / "together", cores=2)
    assert [replace(r, seconds=0.0) for r in alone] == [replace(r, seconds=0.0) for r in together]

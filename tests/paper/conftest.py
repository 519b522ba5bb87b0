"""Runs of table 1 that cost nothing: the printed values with a little noise."""

from collections.abc import Callable

import numpy as np
import pytest

from kolchin.paper.printed import STATISTICS, printed_figure2, printed_table1
from kolchin.paper.run import Box, ExperimentRun, RunResult


def pretend(run: ExperimentRun) -> RunResult:
    """Return the printed values, moved by noise that depends on the data set alone."""
    noise = np.random.default_rng(run.data_seed).normal(size=5)
    row = printed_table1().filter(dataset=run.dataset, delta=run.delta, model=run.model)
    printed = row.row(0, named=True)
    boxes = printed_figure2().filter(dataset=run.dataset, delta=run.delta, model=run.model)
    names = ["low", "q1", "median", "q3", "high"]
    return RunResult(
        run=run,
        version="test",
        k_mean=printed["k_mean"] + noise[0],
        k_sd=printed["k_sd"] + 0.1 * noise[1],
        fnr=printed["fnr"] + 0.001 * noise[2],
        fdr=printed["fdr"] + 0.001 * noise[3],
        fnr_posterior=printed["fnr"] + 0.02,
        fdr_posterior=printed["fdr"] + 0.05,
        delta_mean=printed["delta_mean"] + 0.001 * noise[4],
        delta_sd=0.005,
        rhat_k=1.002,
        rhat_delta=1.003,
        ess_k=800.0,
        ess_delta=700.0,
        draws=1000,
        converged=run.model != "DP" or run.dataset != "italy",
        seconds=1.0,
        boxes={
            statistic: Box(*boxes.filter(statistic=statistic).select(names).row(0))
            for statistic in STATISTICS
        },
    )


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> list[ExperimentRun]:
    """Let runs return pretended results at once; the list tells which were made."""
    made: list[ExperimentRun] = []

    def execute(run: ExperimentRun) -> RunResult:
        made.append(run)
        return pretend(run)

    monkeypatch.setattr("kolchin.paper.campaign.execute", execute)
    monkeypatch.setattr("kolchin.paper.run.current_version", lambda: "test")
    return made


@pytest.fixture
def pretend_run() -> Callable[[ExperimentRun], RunResult]:
    return pretend

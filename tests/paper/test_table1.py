"""Table 1 is summarised, judged and written."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, t

from kolchin.paper import printed_figure2, printed_table1, reproduce_table1
from kolchin.paper.campaign import plan_runs
from kolchin.paper.claims import CLAIMS, judge_claims
from kolchin.paper.run import Effort, ExperimentRun, RunResult
from kolchin.paper.summary import agreement, run_table, summarise
from kolchin.simulation import PAPER_DATASETS

SHARED = Path(__file__).parents[3] / "shared" / "data"


def lines_of(pretend: Callable[[ExperimentRun], RunResult], replicates: int = 4) -> pl.DataFrame:
    runs = plan_runs(PAPER_DATASETS, [0.02, 0.05, 0.1], replicates, 1, Effort())
    return run_table([pretend(run) for run in runs])


def test_the_printed_table_is_whole() -> None:
    table = printed_table1()
    assert table.height == 48
    assert table.select("dataset", "delta", "model").is_unique().all()
    assert printed_figure2().height == 48 * 4


def test_printed_values_equal_the_reference() -> None:
    if not SHARED.is_dir():
        pytest.skip("the development data are not here")
    with (SHARED / "paper_table1.csv").open(encoding="utf-8") as file:
        reference = list(csv.DictReader(file))
    names = {
        "E_K": "k_mean",
        "std_err": "k_sd",
        "FNR": "fnr",
        "FDR": "fdr",
        "E_delta": "delta_mean",
    }
    for row, known in zip(printed_table1().iter_rows(named=True), reference, strict=True):
        assert (row["dataset"], row["model"]) == (known["dataset"].lower(), known["model"])
        assert all(row[ours] == float(known[theirs]) for theirs, ours in names.items())


def test_printed_boxes_equal_the_reference() -> None:
    if not SHARED.is_dir():
        pytest.skip("the development data are not here")
    with (SHARED / "paper_figure2_boxplots.csv").open(encoding="utf-8") as file:
        reference = list(csv.DictReader(file))
    names = {"low": "whisker_low", "q1": "q1", "median": "median", "high": "whisker_high"}
    for row, known in zip(printed_figure2().iter_rows(named=True), reference, strict=True):
        assert row["statistic"] == known["statistic"].replace("max_size", "largest")
        for ours, theirs in names.items():
            assert row[ours] == pytest.approx(float(known[theirs]), abs=0.11)


def test_the_summary_has_means_spreads_and_places(
    pretend_run: Callable[[ExperimentRun], RunResult],
) -> None:
    lines = lines_of(pretend_run)
    summary = summarise(lines)
    assert summary.height == 48
    assert summary["dataset"].unique(maintain_order=True).to_list() == list(PAPER_DATASETS)
    assert summary["model"][:4].to_list() == ["DP", "PYP", "NBNB", "NBD"]
    row = summary.row(3, named=True)
    draws = lines.filter(dataset="italy", delta=0.02, model="NBD")["k_mean"].to_numpy()
    assert row["k_mean"] == pytest.approx(draws.mean())
    assert row["k_mean_spread"] == pytest.approx(draws.std(ddof=1))
    variance = draws.var(ddof=1) * 1.25 + 0.1**2 / 12
    student = (590.5 - draws.mean()) / np.sqrt(variance)
    assert row["k_mean_place"] == pytest.approx(norm.ppf(t.cdf(student, 3)))
    assert row["true_k"] == 587


def test_printed_values_that_are_one_more_draw_are_found_inside(
    pretend_run: Callable[[ExperimentRun], RunResult],
) -> None:
    counts = agreement(summarise(lines_of(pretend_run)))
    assert counts["rows"].to_list() == [12] * 4
    assert (counts["k_mean"] >= 8).all()


def test_one_data_set_has_no_spread(pretend_run: Callable[[ExperimentRun], RunResult]) -> None:
    summary = summarise(lines_of(pretend_run, replicates=1))
    assert summary["k_mean_place"].null_count() == 48
    assert agreement(summary).height == 0


def test_claims_are_judged_on_the_printed_table(
    pretend_run: Callable[[ExperimentRun], RunResult],
) -> None:
    verdicts = judge_claims(lines_of(pretend_run))
    assert [verdict.claim for verdict in verdicts] == list(CLAIMS)
    printed = {verdict.claim.name: verdict.printed for verdict in verdicts}
    # The printed K of NBNB is nearer to the truth than that of NBD on NLTCS5000.
    assert [name for name, holds in printed.items() if not holds] == ["nbd-best-k-nltcs5000"]
    assert all(verdict.ours == verdict.printed for verdict in verdicts)
    assert all(0 <= verdict.replicates_holding <= verdict.replicates == 4 for verdict in verdicts)


def test_claims_about_data_sets_that_were_not_run_are_left_out(
    pretend_run: Callable[[ExperimentRun], RunResult],
) -> None:
    verdicts = judge_claims(lines_of(pretend_run).filter(dataset="syria2000"))
    assert {verdict.claim.datasets for verdict in verdicts} == {("syria2000",)}


def test_a_claim_can_fail(pretend_run: Callable[[ExperimentRun], RunResult]) -> None:
    better = pl.when(model="DP").then(587.0).otherwise("k_mean").alias("k_mean")
    lines = lines_of(pretend_run).filter(dataset="italy").with_columns(better)
    verdicts = {verdict.claim.name: verdict for verdict in judge_claims(lines)}
    assert not verdicts["nbd-best-k-italy"].ours
    assert not verdicts["processes-overestimate-italy"].ours


def test_table1_is_written(
    tmp_path: Path, pretended: list[ExperimentRun], capsys: pytest.CaptureFixture[str]
) -> None:
    result = reproduce_table1(tmp_path, replicates=2, cores=1)
    assert len(pretended) == 96
    names = {file.name for file in result.files}
    assert names == {"table1.csv", "table1_runs.csv", "table1_claims.csv", "table1.md"}
    assert pl.read_csv(tmp_path / "table1.csv").height == 48
    assert pl.read_csv(tmp_path / "table1_runs.csv").height == 96
    page = (tmp_path / "table1.md").read_text()
    assert "| Italy | 587 | 0.02 | DP |" in page
    assert "nbd-best-pairs-italy" in page
    assert "6 of 96 runs did not converge" in page
    result.show()
    shown = capsys.readouterr().out
    assert "(594.0)" in shown
    assert "E[delta]" in shown
    assert "The paper's claims" in shown


def test_the_quick_table_says_what_it_leaves_out(
    tmp_path: Path, pretended: list[ExperimentRun]
) -> None:
    result = reproduce_table1(tmp_path, quick=True, cores=1)
    assert any("leaves out" in note and "SyriaSizes" in note for note in result.notes)
    assert (tmp_path / "table1_quick.md").exists()
    assert not (tmp_path / "table1.csv").exists()
    assert len(pretended) < 48


def test_the_order_of_making_does_not_change_the_table(
    tmp_path: Path, pretended: list[ExperimentRun]
) -> None:
    reproduce_table1(tmp_path / "whole", replicates=1, cores=1)
    reproduce_table1(tmp_path / "parts", replicates=1, cores=1, seed=1)
    for path in sorted((tmp_path / "parts" / "runs").glob("*NBD*")):
        path.unlink()
    reproduce_table1(tmp_path / "parts", replicates=1, cores=1)
    assert (tmp_path / "whole/table1.csv").read_text() == (
        tmp_path / "parts/table1.csv"
    ).read_text()

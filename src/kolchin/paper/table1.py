"""Table 1 of the paper, run again: 48 rows, several simulated data sets each."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from kolchin.files import replace_whole
from kolchin.paper.campaign import complete, plan_runs
from kolchin.paper.claims import ClaimVerdict, judge_claims
from kolchin.paper.printed import DELTAS, MODELS
from kolchin.paper.rendering import claims_grid, summary_grid, table1_markdown
from kolchin.paper.result import Progress, Reproduction, ignore
from kolchin.paper.run import Effort, ExperimentRun
from kolchin.paper.summary import agreement, run_table, summarise
from kolchin.simulation import PAPER_DATASETS, paper_dataset
from kolchin.simulation.files import write_table


@dataclass(frozen=True)
class Plan:
    """How much of the table is made, and how thoroughly."""

    datasets: tuple[str, ...]
    replicates: int
    effort: Effort
    suffix: str


FULL = Plan(PAPER_DATASETS, replicates=2, effort=Effort(), suffix="")

QUICK = Plan(
    ("italy",),
    replicates=2,
    effort=Effort(warmup=60, draws=100, max_draws=400, max_rhat=1.05, min_ess=100),
    suffix="_quick",
)


def reproduce_table1(
    out: Path | str,
    *,
    quick: bool = False,
    replicates: int | None = None,
    cores: int | None = None,
    seed: int = 1,
    progress: Progress = ignore,
) -> Reproduction:
    """Write table 1 as CSV and Markdown into a directory, beside the printed values.

    Parameters
    ----------
    out
        The directory. Finished runs are kept in it: another call goes on from there.
    quick
        A smaller version, in under a minute; the notes say what it leaves out.
    replicates
        Simulated data sets per row.
    cores
        Worker processes, by default as many as there are cores. The result does not depend on it.
    """
    out, plan = Path(out), QUICK if quick else FULL
    runs = planned_runs(plan, replicates, seed)
    results = complete(runs, runs_directory(out, plan), cores, progress)
    lines = run_table(results)
    summary, verdicts = summarise(lines), judge_claims(lines)
    notes = describe(plan, runs, lines)
    files = _write(out, plan.suffix, lines, summary, verdicts, notes)
    return Reproduction(files, notes, (summary_grid(summary), claims_grid(verdicts)))


def planned_runs(plan: Plan, replicates: int | None, seed: int) -> list[ExperimentRun]:
    """Return the runs of a plan, with another number of replicates if wanted."""
    wanted = plan.replicates if replicates is None else replicates
    return plan_runs(plan.datasets, DELTAS, wanted, seed, plan.effort)


def runs_directory(out: Path, plan: Plan) -> Path:
    """Return where the finished runs of a plan are kept."""
    return out / f"runs{plan.suffix}"


def describe(plan: Plan, runs: Sequence[ExperimentRun], lines: pl.DataFrame) -> list[str]:
    """Say what was run, what was left out and which runs did not converge."""
    effort = plan.effort
    replicates = 1 + max(run.replicate for run in runs)
    rows = lines.select("dataset", "delta", "model").n_unique()
    notes = [
        f"{rows} rows, {replicates} simulated data sets each, {effort.chains} chains each, sampled "
        f"until R-hat < {effort.max_rhat:g} and effective sample size >= {effort.min_ess:g} "
        f"for K and delta, at most {effort.max_draws} draws a chain."
    ]
    left_out = [paper_dataset(name).title for name in PAPER_DATASETS if name not in plan.datasets]
    if left_out:
        notes.append(
            f"This is the quick version: it leaves out {', '.join(left_out)} "
            f"({len(left_out) * len(DELTAS) * len(MODELS)} rows), and the claims about them."
        )
    failed = lines.filter(~pl.col("converged"))
    if failed.height:
        names = [
            f"{d} {delta:g} {m} ({r})"
            for d, delta, m, r in failed.select(
                "dataset", "delta", "model", "replicate"
            ).iter_rows()
        ]
        notes.append(
            f"{failed.height} of {lines.height} runs did not converge within the limit: "
            f"{', '.join(names)}."
        )
    return notes


def _write(
    out: Path,
    suffix: str,
    lines: pl.DataFrame,
    summary: pl.DataFrame,
    verdicts: Sequence[ClaimVerdict],
    notes: Sequence[str],
) -> list[Path]:
    """Write the table, its runs, the claims and a page with all of them."""
    claims = pl.DataFrame(
        [
            {
                "claim": verdict.claim.name,
                "statement": verdict.claim.statement,
                "printed": verdict.printed,
                "ours": verdict.ours,
                "replicates_holding": verdict.replicates_holding,
                "replicates": verdict.replicates,
                "evidence": verdict.evidence,
            }
            for verdict in verdicts
        ]
    )
    tables = {"table1": summary, "table1_runs": lines, "table1_claims": claims}
    files = [out / f"{name}{suffix}.csv" for name in tables]
    for file, table in zip(files, tables.values(), strict=True):
        write_table(table, file)
    page = out / f"table1{suffix}.md"
    with replace_whole(page) as part:
        text = table1_markdown(summary, verdicts, agreement(summary), notes)
        part.write_text(text, encoding="utf-8")
    return [*files, page]

"""What a run found, in numbers: the content of summary.json."""

import math
from typing import Any

import numpy as np
import polars as pl

from kolchin.posterior import Posterior
from kolchin.posterior.convergence import has_converged, tabulate_diagnostics
from kolchin.posterior.scores import summarise_spread
from kolchin.posterior.size_statistics import count_sizes_by_draw
from kolchin.posterior.traces import TraceSource
from kolchin.report.wording import write_counted
from kolchin.sampling.run.endings import Ending

MONITORED = ("n_clusters", "singletons")

SIZES = {"singletons": "singletons", "largest": "largest", "mean": "mean_size", "q90": "q90_size"}

ENDINGS = {
    Ending.ENOUGH: "the diagnostics say that it is enough",
    Ending.DRAWS: "all draws that were asked for are made",
    Ending.TIME: "the time limit was reached",
    Ending.WARM_UP: "the time limit was reached before the first draw",
    Ending.INTERRUPTED: "it was interrupted",
    Ending.UPDATED: "records were added given the parameters of an earlier run",
    Ending.NOT_YET: "it was stopped from outside",
}
"""Why a run ended, in words."""


def describe(posterior: Posterior) -> dict[str, Any]:
    """Return entities, sizes, parameters and diagnostics of a posterior."""
    statistics = posterior.statistics
    own = {"n_clusters", "singletons", "largest", "log_joint"}
    parameters = tabulate_all_diagnostics(posterior).filter(~pl.col("quantity").is_in(list(own)))
    return {
        "n_records": posterior.n_records,
        "n_entities": summarise_spread(statistics["n_clusters"]),
        "sizes": {name: summarise_spread(statistics[key]) for name, key in SIZES.items()},
        "parameters": {
            row["quantity"]: {name: row[name] for name in ("mean", "sd", "q05", "q50", "q95")}
            for row in parameters.iter_rows(named=True)
        },
        "diagnostics": _summarise_diagnostics(tabulate_monitored(posterior)),
    }


def tabulate_all_diagnostics(posterior: TraceSource) -> pl.DataFrame:
    """Return the diagnostics of all quantities; of the size distribution mu, the sizes that occur.

    Beyond, it is as the prior has it.
    """
    largest = int(posterior.statistics["largest"].max())
    size = pl.col("quantity").str.extract(r"^mu\[(\d+)\]$").cast(pl.Int64)
    return tabulate_diagnostics(posterior).filter((size <= largest).fill_null(True))


def tabulate_monitored(posterior: TraceSource) -> pl.DataFrame:
    """Return the diagnostics of what a run must know well before it ends: what users read.

    Those are the numbers of entities and of singletons. Parameters and the log joint density are
    reported, not waited for: a parameter that no link hangs on may creep, and creeps in both.
    """
    return tabulate_diagnostics(posterior, MONITORED)


def is_enough(posterior: TraceSource) -> bool:
    """Tell whether every monitored quantity has converged; nothing but the draws decides."""
    return has_converged(tabulate_monitored(posterior))


def _summarise_diagnostics(table: pl.DataFrame) -> dict[str, Any]:
    """Return the worst R-hat and effective size, and those of every quantity."""
    named = table.with_columns(pl.col("quantity").replace("n_clusters", "n_entities"))
    rhat = dict(named.select("quantity", "rhat").iter_rows())
    ess = dict(named.select("quantity", "ess_bulk").iter_rows())
    return {
        "rhat": max(rhat.values(), key=_replace_unknown),
        "ess": min(ess.values(), key=lambda size: -_replace_unknown(-size)),
        "converged": has_converged(table),
        "quantities": {name: {"rhat": rhat[name], "ess": ess[name]} for name in rhat},
    }


def _replace_unknown(value: float) -> float:
    return math.inf if math.isnan(value) else value


def tabulate_sizes(posterior: Posterior) -> pl.DataFrame:
    """Return size, mean, q05, q95: how many entities have so many records."""
    tables = [count_sizes_by_draw(chain, posterior.n_records) for chain in posterior.chains]
    occurring = np.unique(np.concatenate([sizes for sizes, _ in tables]))
    rows = np.zeros((len(posterior), occurring.size), dtype=np.int32)
    for (sizes, counts), own in zip(tables, np.split(rows, len(tables)), strict=True):
        own[:, np.searchsorted(occurring, sizes)] = counts
    q05, q95 = np.quantile(rows, [0.05, 0.95], axis=0)
    table = pl.DataFrame({"size": occurring, "mean": rows.mean(axis=0), "q05": q05, "q95": q95})
    return table.filter(pl.col("mean") > 0)


def write_headline(summary: dict[str, Any]) -> list[str]:
    """Say in a few lines what a summary holds."""
    found, checks = summary["n_entities"], summary["diagnostics"]
    lines = [
        *summary.get("cautions", ()),
        f"{write_counted(round(found['mean']), 'entity', 'entities')} "
        f"(90% interval {found['q05']:,.0f} to {found['q95']:,.0f}) "
        f"among {summary['n_records']:,} records; the list has {summary['entities_shown']:,}.",
        f"Sampling ended because {ENDINGS[summary['ended']]}: "
        f"{write_counted(summary['settings']['chains'], 'chain')} of "
        f"{write_counted(summary['draws'], 'draw')}, R-hat {_write_number(checks['rhat'], '.3f')}, "
        f"effective sample size {_write_number(checks['ess'], ',.0f')}, "
        f"{summary['seconds']['sampling']:,.0f} s.",
        *([f"The seed was {summary['seed']}."] if "seed" in summary else []),
        *_describe_answers(summary["settings"].get("answers")),
    ]
    lines += [f"Open: {doubt['sentence']}" for doubt in summary.get("doubts", ())]
    if "evaluation" in summary:
        measures = summary["evaluation"]["point_estimate"]
        rates = ", ".join(f"{name} {measures[name]:.3f}" for name in ("precision", "recall", "f1"))
        known = "" if not measures["n_unknown"] else f" ({measures['n_unknown']:,} have none)"
        lines.append(f"Against the truth of {measures['n_records']:,} records{known}: {rates}.")
    return lines


def _describe_answers(told: dict[str, Any] | None) -> list[str]:
    """Say which answers of people a run is conditioned on."""
    if told is None:
        return []
    reviewed = ""
    if told["reviewed"]:
        reviewed = f"; {told['reviewed']:,} are of a review and err at a rate of "
        reviewed += f"{told['error_rate']:.3f}"
    return [
        f"All of it is given {told['same'] + told['different']:,} known answers: "
        f"{told['same']:,} same, {told['different']:,} different{reviewed}."
    ]


def _write_number(value: float | None, form: str) -> str:
    return "unknown" if value is None else format(value, form)


def make_finite(value: Any) -> Any:
    """Return plain data in which numbers that JSON does not know are None."""
    if isinstance(value, dict):
        return {name: make_finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [make_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value

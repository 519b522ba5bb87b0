"""Whether the answer is stable, in words for people who do not sample for a living."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kolchin.options import command
from kolchin.posterior.convergence import ESS_BOUND, RHAT_BOUND
from kolchin.report.report_content import ENTITY_COUNT_NAMES, ReportContent
from kolchin.report.wording import is_number, write_count, write_decimals, write_text

FEWEST_DRAWS = 4
"""With fewer, nothing can be said of R-hat."""

NEARLY = 1.05
"""Chains with an R-hat below are near to agreeing."""

MOST_ROWS = 40
MOST_TRACES = 12
MOST_CHAINS = 8
MOST_POINTS = 1000
"""Points of one trace plot, all chains together."""

_NAMES = dict.fromkeys(ENTITY_COUNT_NAMES, "number of entities") | {
    "singletons": "records on their own",
    "largest": "records in the largest group",
    "log_joint": "fit of model and data (log joint density)",
}


class Verdict(NamedTuple):
    """Whether the chains have converged, why that is thought, and what to do."""

    converged: bool
    title: str
    reasons: list[str]
    advice: list[str]
    rows: list[tuple[str, str, str]]


class Trace(NamedTuple):
    """A trace plot: its chart's name and its title."""

    name: str
    title: str
    data: list[dict[str, Any]]
    chains: list[str]


def make_verdict(content: ReportContent) -> Verdict:
    """Return the verdict on the chains."""
    given = content.summary.get("diagnostics") or {}
    worst, least = _read_number(given.get("rhat")), _read_number(given.get("ess"))
    if worst is None and _count_draws(content) >= FEWEST_DRAWS:
        # JSON has no infinity: runs that are each stuck at a value of their own.
        worst = float("inf")
    converged = bool(given.get("converged", False))
    return Verdict(
        converged=converged,
        title=_write_title(converged, bool(content.summary.get("cautions"))),
        reasons=[_describe_agreement(worst), _describe_worth(least)],
        advice=[] if converged else _write_advice(worst, least),
        rows=_make_rows(given),
    )


def _write_title(converged: bool, has_cautions: bool) -> str:
    """Say whether the numbers can be relied on; agreeing runs may agree on something doubtful."""
    if not converged:
        return "Not stable yet: take the numbers as a draft"
    if has_cautions:
        return "The runs agree, but see the cautions on top"
    return "The result is stable"


def make_traces(content: ReportContent) -> list[Trace]:
    """Return the trace plots, thinned so that their size does not depend on the run's length."""
    return [
        Trace(
            f"trace-{k}", _NAMES.get(name, write_text(name, 60)), *_thin_traces(np.asarray(draws))
        )
        for k, (name, draws) in enumerate(list(content.traces.items())[:MOST_TRACES])
        if np.asarray(draws).size
    ]


def _thin_traces(draws: NDArray[Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a row a draw, with a column a chain."""
    chains = draws.reshape(draws.shape[0], draws.shape[1], -1)[:MOST_CHAINS, :, 0]
    most = MOST_POINTS // len(chains)
    kept = np.unique(np.linspace(0, chains.shape[1] - 1, min(most, chains.shape[1])).astype(int))
    names = [f"run {c + 1}" for c in range(len(chains))]
    rows = [
        {"draw": int(t) + 1}
        | {name: _round_number(x) for name, x in zip(names, chains[:, t], strict=True)}
        for t in kept
    ]
    return rows, names


def _round_number(value: Any) -> float | None:
    return float(f"{value:.5g}") if np.isfinite(value) else None


def _describe_agreement(rhat: float | None) -> str:
    if rhat is None:
        return "There are too few draws to tell whether the independent runs agree."
    if rhat < RHAT_BOUND:
        return (
            f"The independent runs agree (R-hat {write_decimals(rhat)}; below "
            f"{RHAT_BOUND} is good): "
            "each started elsewhere and all arrived at the same answer."
        )
    if rhat < NEARLY:
        return (
            f"The independent runs nearly agree (R-hat {write_decimals(rhat)}; it should be below "
            f"{RHAT_BOUND}): each started elsewhere, and what is left of that is small."
        )
    size = f"R-hat {write_decimals(rhat)}" if is_number(rhat) else "R-hat without bound"
    return (
        f"The independent runs do not agree yet ({size}; it should be below {RHAT_BOUND}): they "
        "started apart, and each still tells a story of its own."
    )


def _describe_worth(ess: float | None) -> str:
    if ess is None:
        return "How precise the numbers are cannot be told from so few draws."
    enough = ess >= ESS_BOUND
    return (
        f"The draws are worth {write_count(ess)} independent ones (effective sample size; "
        f"{ESS_BOUND} or more is good), which is "
        + (
            "enough for the intervals shown."
            if enough
            else "few: intervals and probabilities may still shift by a few percent."
        )
    )


def _write_advice(rhat: float | None, ess: float | None) -> list[str]:
    advice = [
        f"Draw more: {command('resume')} goes on where a run that was kept stopped; "
        "nothing is lost. Twice as many draws is a sensible next step.",
    ]
    if rhat is not None and rhat >= RHAT_BOUND:
        advice.append(
            "If the runs still disagree after that, look at the fields: one that is nearly unique, "
            "or almost a copy of another, makes groupings that are hard to leave."
        )
    if ess is not None and ess < ESS_BOUND and (rhat is None or rhat < RHAT_BOUND):
        advice.append("The runs agree, so more draws are all that is missing.")
    return advice


def _make_rows(given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return quantity, R-hat and effective size where they are given by quantity."""
    quantities = given.get("quantities") or {}
    return [
        (
            _NAMES.get(name, write_text(name, 60)),
            write_decimals(each.get("rhat")),
            write_count(each.get("ess")),
        )
        for name, each in list(quantities.items())[:MOST_ROWS]
    ]


def _count_draws(content: ReportContent) -> int:
    return max((np.asarray(draws).shape[1] for draws in content.traces.values()), default=0)


def _read_number(value: Any) -> float | None:
    return float(value) if is_number(value) else None

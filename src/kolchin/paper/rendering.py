"""Table 1 and the claims as text: Markdown for pages, rich tables for the terminal."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from kolchin.paper.claims import ClaimVerdict
from kolchin.simulation import paper_dataset

if TYPE_CHECKING:
    from rich.table import Table

_DIGITS = {"k_mean": 1, "k_sd": 2, "fnr": 2, "fdr": 2, "delta_mean": 3}
_PRINTED_DIGITS = {"k_mean": 1, "k_sd": 2, "fnr": 2, "fdr": 2, "delta_mean": 2}
_HEADINGS = ["E[K]", "sd of K", "FNR", "FDR", "E[delta]"]
_SUMMARY_HEADINGS = [
    "data set",
    "true K",
    "delta",
    "model",
    *_HEADINGS,
    "FNR, FDR posterior",
    "R-hat K, delta",
    "ESS K, delta",
]
_TERMINAL_HEADINGS = [
    "data set",
    "delta",
    "model",
    "E[K]",
    "printed",
    "place",
    "sd of K",
    "FNR",
    "FDR",
    "E[delta]",
    "R-hat",
    "ESS",
]
_CLAIM_HEADINGS = ["claim", "statement", "printed", "ours", "data draws", "evidence"]

LEGEND = (
    "Each cell: ours, the mean over simulated data sets, ± the spread between them [printed; its "
    "place among ours, see below]. FNR and FDR are by the paper's rule; "
    "their posterior means stand beside. R-hat is the largest, ESS the smallest of the data sets."
)
PLACE = (
    "The place of a printed value is its difference from our mean, in standard deviations of one "
    "more data set's value (with the uncertainty of a spread of few data sets taken into "
    "account): within ±2 it is what another data draw would give."
)


def summary_grid(summary: pl.DataFrame) -> "Table":
    """Return table 1 for the terminal: ours, and the printed values in brackets."""
    grid = _terminal_table("Table 1, run again", _TERMINAL_HEADINGS)
    grid.caption = (
        "In brackets: printed. Place: of the printed E[K] among ours; ±2 is another data draw."
    )
    last = None
    for row in summary.iter_rows(named=True):
        variant = (row["dataset"], row["delta"])
        if last not in (None, variant):
            grid.add_section()
        last = variant
        grid.add_row(*_terminal_cells(row))
    return grid


def claims_grid(verdicts: Sequence[ClaimVerdict]) -> "Table":
    """Return the verdicts for the terminal."""
    grid = _terminal_table("The paper's claims", ["claim", *_CLAIM_HEADINGS[2:]])
    for verdict in verdicts:
        name, _, *rest = _claim_cells(verdict)
        grid.add_row(name, *rest)
    return grid


def _terminal_table(title: str, headings: Sequence[str]) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    grid = Table(title=title, box=SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        # As text, since square brackets in a plain string would be taken for a style.
        grid.add_column(Text(heading))
    return grid


def _terminal_cells(row: Mapping[str, Any]) -> list[str]:
    """Return a row of table 1 as short texts."""
    spread, place = row["k_mean_spread"], row["k_mean_place"]
    return [
        paper_dataset(row["dataset"]).title,
        f"{row['delta']:g}",
        row["model"],
        f"{row['k_mean']:.1f}" + ("" if spread is None else f" ± {spread:.1f}"),
        f"({row['k_mean_printed']:.1f})",
        "" if place is None else f"{place:+.1f}",
        *(
            f"{row[name]:.2f} ({row[f'{name}_printed']:.2f})"
            for name in ("k_sd", "fnr", "fdr", "delta_mean")
        ),
        f"{max(row['rhat_k'], row['rhat_delta']):.3f}",
        f"{min(row['ess_k'], row['ess_delta']):.0f}",
    ]


def table1_markdown(
    summary: pl.DataFrame,
    verdicts: Sequence[ClaimVerdict],
    counts: pl.DataFrame,
    notes: Sequence[str],
) -> str:
    """Return a page with the table, how many printed values agree, and the claims."""
    rows = [_summary_cells(row) for row in summary.iter_rows(named=True)]
    parts = ["# Table 1, run again", *notes, LEGEND, PLACE, _grid(_SUMMARY_HEADINGS, rows)]
    if counts.height:
        agreeing = [
            [paper_dataset(name).title, *(f"{count} of {n_rows}" for count in inside)]
            for name, n_rows, *inside in counts.iter_rows()
        ]
        parts += [
            "## Printed values that another data draw could give",
            "How many of the printed values lie inside the 95% prediction interval of ours.",
            _grid(["data set", *_HEADINGS], agreeing),
        ]
    parts += [
        "## The paper's claims",
        "Each is judged on the printed table, on our means, and on each data draw alone.",
        _grid(_CLAIM_HEADINGS, [_claim_cells(verdict) for verdict in verdicts]),
    ]
    return "\n\n".join(parts) + "\n"


def _summary_cells(row: Mapping[str, Any]) -> list[str]:
    """Return a row of table 1 as text."""
    return [
        paper_dataset(row["dataset"]).title,
        str(row["true_k"]),
        f"{row['delta']:g}",
        row["model"],
        *(_compare_printed(row, name) for name in _DIGITS),
        f"{row['fnr_posterior']:.2f}, {row['fdr_posterior']:.2f}",
        f"{row['rhat_k']:.3f}, {row['rhat_delta']:.3f}",
        f"{row['ess_k']:.0f}, {row['ess_delta']:.0f}",
    ]


def _compare_printed(row: Mapping[str, Any], name: str) -> str:
    """Return ours ± spread [printed; place]."""
    digits = _DIGITS[name]
    printed = f"{row[f'{name}_printed']:.{_PRINTED_DIGITS[name]}f}"
    if row[f"{name}_place"] is None:
        return f"{row[name]:.{digits}f} [{printed}]"
    spread, place = row[f"{name}_spread"], row[f"{name}_place"]
    return f"{row[name]:.{digits}f} ± {spread:.{digits}f} [{printed}; {place:+.1f}]"


def _claim_cells(verdict: ClaimVerdict) -> list[str]:
    return [
        verdict.claim.name,
        verdict.claim.statement,
        _word(verdict.printed),
        _word(verdict.ours),
        f"{verdict.replicates_holding} of {verdict.replicates}",
        verdict.evidence,
    ]


def _word(holds: bool) -> str:
    return "holds" if holds else "does not"


def _grid(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

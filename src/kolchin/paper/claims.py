"""The paper's claims about table 1, each checked by name.

Every check runs on the printed table, on our means and on every simulated data set alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from kolchin.paper.printed import DELTAS, MODELS, printed_table1
from kolchin.simulation import paper_dataset


class TableCell(NamedTuple):
    """What a claim looks at in one row of table 1."""

    k_mean: float
    k_sd: float
    fnr: float
    fdr: float


Table = Mapping[tuple[str, float, str], TableCell]
Check = Callable[[Table], tuple[bool, str]]


@dataclass(frozen=True)
class Claim:
    """A statement of the paper about some data sets, and how it is judged."""

    name: str
    statement: str
    datasets: tuple[str, ...]
    check: Check


@dataclass(frozen=True)
class ClaimVerdict:
    """Whether a claim holds in the printed table, in our means and in how many data draws."""

    claim: Claim
    printed: bool
    ours: bool
    replicates_holding: int
    replicates: int
    evidence: str


def judge_claims(runs: pl.DataFrame) -> list[ClaimVerdict]:
    """Check every claim whose rows are all among the runs."""
    printed = _cells(printed_table1())
    means = _cells(runs.group_by("dataset", "delta", "model").mean())
    single = [_cells(runs.filter(replicate=number)) for number in runs["replicate"].unique()]
    verdicts = []
    for claim in CLAIMS:
        if not _covers(means, claim):
            continue
        holds, evidence = claim.check(means)
        whole = [table for table in single if _covers(table, claim)]
        verdicts.append(
            ClaimVerdict(
                claim=claim,
                printed=claim.check(printed)[0],
                ours=holds,
                replicates_holding=sum(claim.check(table)[0] for table in whole),
                replicates=len(whole),
                evidence=evidence,
            )
        )
    return verdicts


def _cells(table: pl.DataFrame) -> Table:
    columns = ["dataset", "delta", "model", *TableCell._fields]
    return {
        (row[0], row[1], row[2]): TableCell(*row[3:]) for row in table.select(columns).iter_rows()
    }


def _covers(table: Table, claim: Claim) -> bool:
    return all(
        (dataset, delta, model) in table
        for dataset in claim.datasets
        for delta in DELTAS
        for model in MODELS
    )


# --- measures ------------------------------------------------------------------------------


def _k_error(table: Table, dataset: str, delta: float, model: str) -> float:
    """Return how far the posterior mean of K is from the truth."""
    return abs(table[dataset, delta, model].k_mean - paper_dataset(dataset).n_entities)


def _pair_error(table: Table, dataset: str, delta: float, model: str) -> float:
    """Return FNR + FDR."""
    cell = table[dataset, delta, model]
    return cell.fnr + cell.fdr


_ERRORS = {"K": _k_error, "pairs": _pair_error}


# --- checks --------------------------------------------------------------------------------


def _nbd_best(dataset: str, measure: str) -> Check:
    """Check that NBD has the smallest error on average over the distortions."""

    def check(table: Table) -> tuple[bool, str]:
        error = _ERRORS[measure]
        means = {
            model: sum(error(table, dataset, delta, model) for delta in DELTAS) / len(DELTAS)
            for model in MODELS
        }
        best = min(means, key=lambda model: means[model])
        return best == "NBD", ", ".join(f"{model} {means[model]:.3g}" for model in MODELS)

    return check


def _kolchin_beats_processes(datasets: tuple[str, ...]) -> Check:
    """Check that NBNB and NBD have less FNR + FDR than DP and PYP in all variants but one."""

    def check(table: Table) -> tuple[bool, str]:
        won = 0
        for dataset in datasets:
            for delta in DELTAS:
                errors = {m: _pair_error(table, dataset, delta, m) for m in MODELS}
                won += max(errors["NBNB"], errors["NBD"]) < min(errors["DP"], errors["PYP"])
        n_variants = len(datasets) * len(DELTAS)
        return won >= n_variants - 1, f"{won} of {n_variants} variants"

    return check


def _differences_grow(dataset: str, measure: str) -> Check:
    """Check that the range of the models is wider at the largest delta than at the smallest."""

    def check(table: Table) -> tuple[bool, str]:
        ranges = []
        for delta in DELTAS:
            if measure == "K":
                values = [table[dataset, delta, model].k_mean for model in MODELS]
            else:
                values = [_pair_error(table, dataset, delta, model) for model in MODELS]
            ranges.append(max(values) - min(values))
        return ranges[-1] > ranges[0], " to ".join(f"{width:.3g}" for width in ranges)

    return check


def _processes_overestimate(dataset: str) -> Check:
    """Check that DP and PYP exceed the true K by two posterior sd at the largest delta."""

    def check(table: Table) -> tuple[bool, str]:
        truth = paper_dataset(dataset).n_entities
        excess = {
            model: (table[dataset, DELTAS[-1], model].k_mean - truth)
            / table[dataset, DELTAS[-1], model].k_sd
            for model in ("DP", "PYP")
        }
        return min(excess.values()) > 2, ", ".join(f"{m} {x:+.1f} sd" for m, x in excess.items())

    return check


def _no_consistent_order(dataset: str) -> Check:
    """Check that the order of the models by error in K is not the same at all distortions."""

    def check(table: Table) -> tuple[bool, str]:
        orders = []
        for delta in DELTAS:
            errors = {model: _k_error(table, dataset, delta, model) for model in MODELS}
            orders.append(sorted(errors, key=errors.__getitem__))
        told = "; ".join(" < ".join(order) for order in orders)
        return any(order != orders[0] for order in orders), told

    return check


def _poor_rates(dataset: str) -> Check:
    """Check that every model misses more than half of the true pairs."""

    def check(table: Table) -> tuple[bool, str]:
        rates = [table[dataset, delta, model].fnr for delta in DELTAS for model in MODELS]
        return min(rates) > 0.5, f"FNR {min(rates):.2f} to {max(rates):.2f}"

    return check


_SURVEYS = ("italy", "nltcs5000")
_SYRIA = ("syria2000", "syriasizes")

CLAIMS = (
    *(
        Claim(
            f"nbd-best-{measure.lower()}-{name}",
            f"NBD is the best of the four on {paper_dataset(name).title}, by its error in "
            + ("K" if measure == "K" else "pairs (FNR + FDR)"),
            (name,),
            _nbd_best(name, measure),
        )
        for name in _SURVEYS
        for measure in ("K", "pairs")
    ),
    Claim(
        "kolchin-beats-processes",
        "NBNB and NBD beat DP and PYP on almost all variants of Italy and NLTCS5000 (FNR + FDR)",
        _SURVEYS,
        _kolchin_beats_processes(_SURVEYS),
    ),
    *(
        Claim(
            f"differences-grow-{measure.lower()}-{name}",
            f"Differences between the models grow with delta on {paper_dataset(name).title}, in "
            + ("E[K]" if measure == "K" else "FNR + FDR"),
            (name,),
            _differences_grow(name, measure),
        )
        for name in _SURVEYS
        for measure in ("K", "pairs")
    ),
    *(
        Claim(
            f"processes-overestimate-{name}",
            f"DP and PYP overestimate K on {paper_dataset(name).title} at delta 0.1",
            (name,),
            _processes_overestimate(name),
        )
        for name in (*_SURVEYS, "syriasizes")
    ),
    *(
        Claim(
            f"no-consistent-order-{name}",
            f"The order of the models is not consistent on {paper_dataset(name).title}",
            (name,),
            _no_consistent_order(name),
        )
        for name in _SYRIA
    ),
    *(
        Claim(
            f"poor-rates-{name}",
            f"All models miss more than half of the pairs of {paper_dataset(name).title}",
            (name,),
            _poor_rates(name),
        )
        for name in _SYRIA
    ),
)

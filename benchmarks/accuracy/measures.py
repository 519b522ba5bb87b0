"""How good links are: rates against the truth, calibration, and what wrong links have in common."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from kolchin.evaluation import evaluate

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

N_BINS = 10
LEAST_PROBABILITY = 0.01
WEIGHTS = np.arange(-10.0, 60.25, 0.25)
"""The thresholds, in bits, among which the best is looked for with the truth."""

RATES = ("f1", "precision", "recall", "n_clusters")


def rates(labels: Ints, truth: Ints) -> dict[str, float]:
    """Return the pairwise rates of a partition, and its number of clusters."""
    measured = evaluate(labels, truth).as_dict()
    return {name: measured[name] for name in RATES}


def components(n_records: int, left: Ints, right: Ints) -> Ints:
    """Number the connected components of linked records."""
    graph = coo_matrix((np.ones(left.size), (left, right)), shape=(n_records, n_records))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def linked_above(scores: pl.DataFrame, n_records: int, column: str, threshold: float) -> Ints:
    """Cluster the records by all pairs whose score reaches a threshold."""
    kept = scores.filter(pl.col(column) >= threshold)
    return components(n_records, kept["a"].to_numpy(), kept["b"].to_numpy())


def best_threshold(
    scores: pl.DataFrame, truth: Ints, weights: Floats = WEIGHTS
) -> tuple[float, Ints]:
    """Return the match weight whose components have the best F1, and those components."""
    tried = (
        (float(weight), linked_above(scores, truth.size, "weight", weight)) for weight in weights
    )
    return max(tried, key=lambda one: rates(one[1], truth)["f1"])


def truly_linked(links: pl.DataFrame, ids: pl.Series, truth: Ints) -> NDArray[np.bool_]:
    """Tell of each link (record_a, record_b) whether both records are of one entity."""
    entity_of = pl.DataFrame({"id": ids, "entity": truth})
    left, right = (
        pl.DataFrame({"id": links[name]}).join(
            entity_of, on="id", how="left", maintain_order="left"
        )["entity"]
        for name in ("record_a", "record_b")
    )
    return (left == right).to_numpy()


def reliability(probability: Floats, is_true: NDArray[np.bool_]) -> list[dict[str, float]]:
    """Compare probabilities with shares of true pairs, in ten bins of equal width."""
    kept = probability >= LEAST_PROBABILITY
    probability, is_true = probability[kept], is_true[kept]
    place = np.minimum((probability * N_BINS).astype(np.int64), N_BINS - 1)
    rows = []
    for k in np.unique(place):
        inside = place == k
        rows.append(
            {
                "bin": int(k),
                "pairs": int(inside.sum()),
                "said": float(probability[inside].mean()),
                "true": float(is_true[inside].mean()),
            }
        )
    return rows


def calibration_error(rows: Sequence[dict[str, float]]) -> float | None:
    """Return the mean distance of said and true, weighted by pairs; None without pairs."""
    pairs = sum(row["pairs"] for row in rows)
    gap = sum(row["pairs"] * abs(row["said"] - row["true"]) for row in rows)
    return gap / pairs if pairs else None


def added(reliabilities: Sequence[list[dict[str, float]]]) -> list[dict[str, float]]:
    """Put the bins of several tables together."""
    result = []
    for k in range(N_BINS):
        rows = [row for one in reliabilities for row in one if row["bin"] == k]
        pairs = sum(row["pairs"] for row in rows)
        if pairs:
            means = {
                name: sum(row["pairs"] * row[name] for row in rows) / pairs
                for name in ("said", "true")
            }
            result.append({"bin": k, "pairs": pairs, **means})
    return result


def wrong_links(labels: Ints, truth: Ints, table: pl.DataFrame) -> dict[str, int]:
    """Count links of two persons: all, at one address, and born on one day at one address.

    The last two are members of a household and twins, where nobody moved and nothing is mistyped.
    """
    rows = table.select("street", "house_number", "postcode", "birth_date").with_columns(
        label=labels, person=truth, row=np.arange(truth.size)
    )
    pairs = rows.join(rows, on="label", suffix="_b").filter(
        (pl.col("row") < pl.col("row_b")) & (pl.col("person") != pl.col("person_b"))
    )
    at_home = pl.all_horizontal(
        pl.col(name) == pl.col(f"{name}_b") for name in ("street", "house_number", "postcode")
    ).fill_null(False)
    of_a_day = (pl.col("birth_date") == pl.col("birth_date_b")).fill_null(False)
    counts: dict[str, Any] = pairs.select(
        links=pl.len(), one_address=at_home.sum(), twins=(at_home & of_a_day).sum()
    ).row(0, named=True)
    return counts

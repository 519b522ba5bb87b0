"""How close a partition is to the true entities.

Everything is computed from the table of cluster x entity overlaps, so a million records take
about a second. Conventions at the edges: when nothing is linked there is no false link, so the
false discovery rate is 0 and precision 1; when there is no true pair none can be missed, so the
false negative rate is 0 and recall 1.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from kolchin.errors import DataError
from kolchin.partitions import are_small, make_canonical

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Evaluation:
    """The agreement of a partition with the true entities.

    Attributes
    ----------
    precision, recall, f1 : pairwise; ``fdr = 1 - precision`` and ``fnr = 1 - recall``.
    bcubed_precision, bcubed_recall, bcubed_f1 : means over records instead of pairs.
    cluster_precision, cluster_recall, cluster_f1 : of clusters that are exactly an entity.
    variation_of_information : in nats, 0 for equal partitions.
    adjusted_rand : 1 for equal partitions, 0 on average by chance.
    n_clusters, n_true_clusters : among the records evaluated.
    linked_pairs, true_pairs, correct_pairs : the counts behind the pairwise rates.
    n_records : records evaluated; n_unknown : records left out because their truth is missing.
    """

    precision: float
    recall: float
    f1: float
    fnr: float
    fdr: float
    bcubed_precision: float
    bcubed_recall: float
    bcubed_f1: float
    cluster_precision: float
    cluster_recall: float
    cluster_f1: float
    variation_of_information: float
    adjusted_rand: float
    n_clusters: int
    n_true_clusters: int
    linked_pairs: int
    true_pairs: int
    correct_pairs: int
    n_records: int
    n_unknown: int

    def as_dict(self) -> dict[str, float | int]:
        """Return the measures as plain data, ready for JSON."""
        return asdict(self)


def evaluate(labels: ArrayLike | Sequence[Any], truth: ArrayLike | Sequence[Any]) -> Evaluation:
    """Compare a partition with the true entities; records without truth (None, NaN) are left out.

    >>> evaluate([0, 0, 1, 2], ["ann", "ann", "bob", "bob"]).recall
    0.5
    """
    found, actual = encode(labels), encode(truth)
    _check(found, actual)
    known = actual >= 0
    found, actual = _renumber(found[known]), _renumber(actual[known])
    overlaps, rows, columns = _count_overlaps(found, actual)
    sizes, true_sizes = np.bincount(found), np.bincount(actual)
    linked, true, correct = _count_pairs(sizes), _count_pairs(true_sizes), _count_pairs(overlaps)
    precision, recall, f1 = compute_pairwise_rates(linked, true, correct)
    shares, true_shares = overlaps / sizes[rows], overlaps / true_sizes[columns]
    n_exact = int(np.sum((shares == 1) & (true_shares == 1)))
    bcubed_precision = float(overlaps @ shares) / found.size
    bcubed_recall = float(overlaps @ true_shares) / found.size
    return Evaluation(
        precision=float(precision),
        recall=float(recall),
        f1=float(f1),
        fnr=float(1 - recall),
        fdr=float(1 - precision),
        bcubed_precision=bcubed_precision,
        bcubed_recall=bcubed_recall,
        bcubed_f1=2 * bcubed_precision * bcubed_recall / (bcubed_precision + bcubed_recall),
        cluster_precision=n_exact / sizes.size,
        cluster_recall=n_exact / true_sizes.size,
        cluster_f1=2 * n_exact / (sizes.size + true_sizes.size),
        variation_of_information=_measure_information(shares, true_shares, overlaps),
        adjusted_rand=_measure_adjusted_rand(linked, true, correct, found.size),
        n_clusters=int(sizes.size),
        n_true_clusters=int(true_sizes.size),
        linked_pairs=linked,
        true_pairs=true,
        correct_pairs=correct,
        n_records=int(found.size),
        n_unknown=int(known.size - found.size),
    )


def compute_pairwise_rates(
    linked: ArrayLike, true: ArrayLike, correct: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return precision, recall and F1 from counts of pairs, by the conventions above."""
    hits = np.asarray(correct, dtype=np.float64)

    def share(whole: ArrayLike) -> NDArray[np.float64]:
        size = np.asarray(whole, dtype=np.float64)
        return np.where(size > 0, hits / np.maximum(size, 0.5), 1.0)

    return share(linked), share(true), share(np.add(linked, true) / 2)


def encode(values: ArrayLike | Sequence[Any]) -> Codes:
    """Give hashable values numbers 0, 1, ..., and missing ones (None, NaN) -1."""
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise DataError(f"labels must be one-dimensional. Got {values.ndim} dimensions instead.")
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        return _encode_numbers(values)
    if isinstance(values, pl.Series) and values.dtype == pl.String:
        # As below, but without an object a value.
        return np.where(values.is_null(), -1, make_canonical(values.rank("dense").fill_null(0)))
    listed = values.tolist() if hasattr(values, "tolist") else list(values)  # type: ignore[arg-type]
    numbers: dict[Any, int] = {}
    try:
        codes = np.fromiter(
            (numbers.setdefault(value, len(numbers)) for value in listed),
            dtype=np.int64,
            count=len(listed),
        )
    except TypeError as error:
        raise DataError(
            f"entities must be hashable values such as numbers or strings. {error}."
        ) from error
    missing = np.fromiter((_is_missing(v) for v in numbers), dtype=bool, count=len(numbers))
    return np.where(missing[codes], -1, codes) if codes.size else codes


def write_as_numbers(values: ArrayLike | Sequence[Any]) -> NDArray[np.float64]:
    """Return entities as numbers, missing ones as NaN: text is slow to encode more than once."""
    codes = encode(values)
    return np.where(codes < 0, np.nan, codes)


def _encode_numbers(values: NDArray[Any]) -> Codes:
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.size, dtype=bool)
    known = values[~missing]
    if known.size and known.min() >= 0 and known.max() < 4 * known.size:
        whole = known.astype(np.int64)
        known = whole if np.array_equal(whole, known) else known
    codes = np.full(values.size, -1, dtype=np.int64)
    # The same numbers, but what is small and whole needs no sorting.
    codes[~missing] = (
        _renumber(known) if are_small(known) else np.unique(known, return_inverse=True)[1]
    )
    return codes


def _is_missing(value: Any) -> bool:
    # pandas.NA refuses to be compared, and pandas need not be there: know it by its type's name.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _check(found: Codes, actual: Codes) -> None:
    faults = []
    if found.size != actual.size:
        faults.append(
            f"The truth must have one value a record: {found.size} records. "
            f"Got {actual.size} values instead."
        )
    if np.any(found < 0):
        row = int(np.argmax(found < 0))
        faults.append(f"labels must have no missing values. Got one at record {row}.")
    if not np.any(actual >= 0):
        faults.append("The truth must be known for at least one record. Got none.")
    if faults:
        raise DataError("\n".join(faults))


def _renumber(codes: Codes) -> Codes:
    """Renumber without gaps."""
    used = np.bincount(codes) > 0
    return (np.cumsum(used) - 1)[codes]


def _count_overlaps(found: Codes, actual: Codes) -> tuple[Codes, Codes, Codes]:
    """Return the non-zero cells of the contingency table and their rows and columns."""
    width = int(actual.max()) + 1
    cells, counts = np.unique(found * width + actual, return_counts=True)
    return counts, cells // width, cells % width


def _count_pairs(sizes: Codes) -> int:
    return int(np.sum(sizes * (sizes - 1)) // 2)


def _measure_information(
    shares: NDArray[np.float64], true_shares: NDArray[np.float64], overlaps: Codes
) -> float:
    """Sum cell by cell, so that equal partitions give exactly 0."""
    return abs(float(np.sum(overlaps * np.log(shares * true_shares)))) / int(overlaps.sum())


def _measure_adjusted_rand(linked: int, true: int, correct: int, n_records: int) -> float:
    expected = linked * true / max(n_records * (n_records - 1) // 2, 1)
    spread = (linked + true) / 2 - expected
    # No spread: both partitions are all singletons or both one cluster, hence equal.
    return 1.0 if spread == 0 else (correct - expected) / spread

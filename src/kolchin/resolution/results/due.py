"""When parameters are due to be drawn again, after records were added: what was learnt is old."""

import math
from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.comparison import Comparisons
from kolchin.options import command
from kolchin.resolution.running.grown_models import find_base_rows
from kolchin.resolution.tables.input_table import InputTable

MUCH_NEW = 0.1
"""When so many of the records were added, parameters are due to be drawn again."""

FEWEST = 30
"""Of fewer values, or links, nothing is said."""

SIGMAS, TIMES, POINTS = 4.0, 1.5, 0.05
"""A share is another one if it is so many standard errors, so many times and so much larger."""


def due_notes(given: InputTable, links: pl.DataFrame, comparisons: Comparisons | None) -> list[str]:
    """Say when parameters should be drawn again: much is new, or new records are of another kind.

    ``links`` are pairs of rows with their probabilities.
    """
    is_added = find_base_rows(given) < 0
    if not is_added.any():
        return []
    reasons = [*_much_is_new(is_added), *_new_values(given, is_added)]
    if comparisons is not None:
        reasons += _other_errors(links, comparisons, is_added)
    if not reasons:
        return []
    return [
        f"{'; '.join(reasons)}: {command('resume')} draws the parameters of the run "
        "again, with all records."
    ]


def _much_is_new(is_added: NDArray[np.bool_]) -> Iterator[str]:
    share = float(is_added.mean())
    if share >= MUCH_NEW:
        yield f"{share:.0%} of the records were added since parameters were drawn"


def _new_values(given: InputTable, is_added: NDArray[np.bool_]) -> Iterator[str]:
    """Say of which fields added records have more values that nobody had than was to be expected.

    That a record has such a value is as probable as that one of the table has one of its own
    (Good and Turing's estimate).
    """
    records = given.records
    for name, codes, values in zip(
        records.names, records.codes.T, records.vocabularies, strict=True
    ):
        counts = np.bincount(codes[~is_added & (codes >= 0)], minlength=len(values))
        added = codes[is_added & (codes >= 0)]
        expected = (counts == 1).sum() / max(int(counts.sum()), 1)
        found = float((counts[added] == 0).mean()) if added.size else 0.0
        if _is_larger(found, added.size, expected, int(counts.sum())):
            yield (
                f"{found:.0%} of the added values of {name!r} are new to the table, "
                f"{expected:.0%} were to be expected"
            )


def _other_errors(
    links: pl.DataFrame, comparisons: Comparisons, is_added: NDArray[np.bool_]
) -> Iterator[str]:
    """Say which fields differ more often in links of added records than in others."""
    pairs = links.select("record_a", "record_b").to_numpy()
    weight = links["probability"].to_numpy()
    with_added = is_added[pairs].any(axis=1)
    levels = comparisons.levels_of(pairs)
    for field, own in zip(comparisons.fields, levels.T, strict=True):
        shares, numbers = [], []
        for group in (with_added, ~with_added):
            shown = weight[group & (own >= 0)]
            wrong = weight[group & (own > 0)]
            numbers.append(float(shown.sum()))
            shares.append(float(wrong.sum() / max(shown.sum(), 1.0)))
        if _is_larger(shares[0], numbers[0], shares[1], numbers[1]):
            yield (
                f"{field.column!r} differs in {shares[0]:.0%} of the links of added records, in "
                f"{shares[1]:.0%} of others"
            )


def _is_larger(found: float, n_found: float, usual: float, n_usual: float) -> bool:
    """Tell whether a share is so much larger than the usual one that it is no chance."""
    if min(n_found, n_usual) < FEWEST or found < max(TIMES * usual, usual + POINTS):
        return False
    whole = (found * n_found + usual * n_usual) / (n_found + n_usual)
    error = math.sqrt(whole * (1 - whole) * (1 / n_found + 1 / n_usual))
    return found - usual > SIGMAS * error

"""How much each field says for a pair of records, where fields move together."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kolchin.likelihoods.compared_patterns import UnmergedPatterns
from kolchin.likelihoods.evidence_kernels.class_mixtures import multiply_kept_gains
from kolchin.likelihoods.pattern_evidence import NO_SETS
from kolchin.parameters import FloatArray, Values

if TYPE_CHECKING:
    from kolchin.likelihoods.exemplar import Exemplar

DRAWS_FOR_EVIDENCE, WORK_FOR_EVIDENCE = 100, 2e9
"""Draws of the parameters over which evidence is a mean; fewer where each takes long."""

SMALLEST_RATIO = 1e-300


def divide_evidence(
    exemplar: "Exemplar", pairs: NDArray[Any], draws: Mapping[str, FloatArray]
) -> FloatArray:
    """Return each field's log Bayes factor that two records are one, (pair, field).

    It is the mean over draws of the parameters, each with the draws along its first axis. Where
    fields move together, a field's part is what it adds to those before it and to those
    after it, on average; the parts always add up to the whole.
    """
    told = exemplar._unmerged
    if told is None:
        told = UnmergedPatterns(exemplar.place, exemplar.constant, exemplar._pattern)
    numbers = exemplar._number_pairs(
        pairs, told.pattern, len(told.place) - (1 << exemplar.n_fields)
    )
    patterns, place = np.unique(numbers, return_inverse=True)
    rows = told.place[patterns].astype(np.int32), told.constant[patterns].astype(float)
    drawn = _pick_draws(exemplar, draws, patterns.size)

    def mean_ratio(place: NDArray[np.int32], constant: FloatArray) -> FloatArray:
        linked = _mean_log_linked(exemplar, drawn, place, constant)
        return linked - _mean_log_unlinked(exemplar, drawn, place, constant)

    return _divide_among_fields(exemplar, *rows, mean_ratio)[place]


def _pick_draws(
    exemplar: "Exemplar", draws: Mapping[str, FloatArray], n_patterns: int
) -> list[Values]:
    """Return the parameters of some draws, spread over all."""
    start = exemplar.start()
    if exemplar.fixed:
        return [start]
    n_draws = len(draws["m"]) if "m" in draws else 1
    cost = n_patterns * len(exemplar.kept) * exemplar.n_fields**2
    wanted = int(np.clip(WORK_FOR_EVIDENCE / max(cost, 1), 5, DRAWS_FOR_EVIDENCE))
    picks = np.unique(np.linspace(0, n_draws - 1, wanted).astype(int))
    return [
        exemplar.complete_values({**start, **{name: array[pick] for name, array in draws.items()}})
        for pick in picks
    ]


def _divide_among_fields(
    exemplar: "Exemplar",
    places: NDArray[np.int32],
    constants: FloatArray,
    log_ratio: Callable[[NDArray[np.int32], FloatArray], FloatArray],
) -> FloatArray:
    """Divide the log ratio of patterns among the fields.

    A field has what it adds to those before it, on average over both orders of the fields.
    """
    total = np.zeros(places.shape)
    for order in (range(exemplar.n_fields), range(exemplar.n_fields - 1, -1, -1)):
        place = np.full_like(places, exemplar.offsets[-1])
        constant = np.zeros_like(constants)
        before = log_ratio(place, constant)
        for f in order:
            place[:, f], constant[:, f] = places[:, f], constants[:, f]
            after = log_ratio(place, constant)
            total[:, f] += (after - before) / 2
            before = after
    return total


def _mean_log_linked(
    exemplar: "Exemplar", drawn: list[Values], place: NDArray[np.int32], constant: FloatArray
) -> FloatArray:
    """Log chance of levels in an entity, over independent fields of unrelated records."""
    gains = multiply_kept_gains(place, constant, exemplar._replaced, int(exemplar.offsets[-1]))
    total = np.zeros(len(place))
    for values in drawn:
        ratio = (exemplar._compute_class_weights(values, place) * gains).sum(axis=1)
        total += np.log(np.maximum(ratio, SMALLEST_RATIO))
    return total / len(drawn)


def _mean_log_unlinked(
    exemplar: "Exemplar", drawn: list[Values], place: NDArray[np.int32], constant: FloatArray
) -> FloatArray:
    """Log chance of levels between unrelated records, over independent fields."""
    total = np.zeros(len(place))
    if exemplar.unrelated is None:
        return total
    base, parts = exemplar.unrelated.divide(place, constant)  # the same for all draws
    for values in drawn:
        total += np.log(base + parts @ values.get("shared", NO_SETS))
    return total / len(drawn)

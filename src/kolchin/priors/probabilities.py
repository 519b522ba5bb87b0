"""Distributions on 1, 2, ... that a user may give for kappa, mu or a base measure."""

import math
from typing import Any

import numpy as np
from scipy.special import betainc, gammaln

from kolchin.errors import ModelError
from kolchin.parameters import FloatArray, IntArray


class Probabilities:
    """Probabilities of 1, 2, ..., given as a list or as a frozen SciPy distribution.

    A SciPy distribution is cut to 1, 2, ... and normalised; a list ends where it ends.
    """

    def __init__(self, name: str, given: Any) -> None:
        self.given = given
        self._frozen = given if hasattr(given, "logpmf") else None
        if self._frozen is not None:
            self._log_kept = float(np.log1p(-self._frozen.cdf(0)))
        else:
            self._log_table = _log_table(name, given)

    def log(self, number: IntArray) -> FloatArray:
        """Log probability of each number."""
        if self._frozen is not None:
            return np.asarray(self._frozen.logpmf(number) - self._log_kept)
        table = self._log_table
        last = np.minimum(number, table.size) - 1
        return np.where(number <= table.size, table[last], -np.inf)

    def log_beyond(self, number: int) -> float:
        """Log probability of all larger numbers."""
        if self._frozen is not None:
            return float(self._frozen.logsf(number) - self._log_kept)
        with np.errstate(divide="ignore"):
            return float(np.log(np.exp(self._log_table[number:]).sum()))


def _log_table(name: str, given: Any) -> FloatArray:
    try:
        table = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 1 or not table.size or not np.all(table >= 0) or not 0 < table.sum() < np.inf:
        raise ModelError(
            f"The {name!r} parameter must be the probabilities of 1, 2, ... or a discrete SciPy "
            f"distribution such as scipy.stats.geom(0.5). Got {given!r} instead."
        )
    with np.errstate(divide="ignore"):
        result: FloatArray = np.log(table / table.sum())
    return result


def log_some(log_none: float) -> float:
    """Log of 1 - exp(x) for x <= 0, finite for the smallest x."""
    return math.log(max(-math.expm1(log_none), 5e-324))


def log_negative_binomial(number: IntArray, r: float, p: float) -> FloatArray:
    """Log probability of NegBin(r, p) cut to 1, 2, ... (model section 1)."""
    log_none = r * math.log1p(-p)
    constant = log_none - log_some(log_none) - math.lgamma(r)
    result: FloatArray = (
        gammaln(number + r) - gammaln(number + 1.0) + number * math.log(p) + constant
    )
    return result


def log_negative_binomial_tail(last: int, r: float, p: float) -> float:
    """Log probability that NegBin(r, p), cut to 1, 2, ..., exceeds a size."""
    beyond = float(betainc(last + 1, r, p))
    if beyond > 1e-290:
        return math.log(beyond) - log_some(r * math.log1p(-p))
    # So far out the terms fall geometrically, by the ratio of the first two.
    first, second = log_negative_binomial(np.array([last + 1, last + 2]), r, p)
    return float(first) - math.log(-math.expm1(min(second - first, -1e-9)))

"""The number of clusters K in a Kolchin partition model: the distribution kappa on 1, 2, ..."""

import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from kolchin.parameters import (
    POSITIVE,
    UNIT,
    FloatArray,
    Hyper,
    IntArray,
    Range,
    Values,
    check_parameters,
)
from kolchin.priors.base import OpeningTerms
from kolchin.priors.probabilities import Probabilities, log_negative_binomial


class Count(Protocol):
    """A part of a Kolchin partition model: log kappa_K, and the weight of one cluster more."""

    @property
    def ranges(self) -> Mapping[str, Range]:
        """Range of each parameter."""

    @property
    def given(self) -> Mapping[str, Hyper]:
        """What the user gave for each parameter."""

    def list_parameters(self, n_records: int) -> dict[str, Hyper]:
        """Return what each parameter is, defaults filled in."""

    def log_kappa(self, number: IntArray, values: Values) -> FloatArray:
        """Log of kappa_K for an array of K."""

    def weigh_opening(self, n_records: int, values: Values) -> OpeningTerms:
        """Weight of one cluster more, but for its size."""


class NegativeBinomialCount:
    """K ~ NegBin(a, q) on 1, 2, ...; by default a = 1 and q = 1 - 2/N (model section 1)."""

    ranges: Mapping[str, Range] = {"a": POSITIVE, "q": UNIT}

    def __init__(self, owner: str, a: Hyper, q: Hyper | None) -> None:
        self.given = check_parameters(owner, self.ranges, {"a": a, "q": q})

    def list_parameters(self, n_records: int) -> dict[str, Hyper]:
        """Return a and q."""
        default = 1 - 2 / n_records if n_records > 2 else 0.5
        return {"a": self.given["a"], "q": self.given.get("q", default)}

    def log_kappa(self, number: IntArray, values: Values) -> FloatArray:
        """Log of NegBin(a, q) at K, cut to 1, 2, ...."""
        return log_negative_binomial(number, values["a"], values["q"])

    def weigh_opening(self, n_records: int, values: Values) -> OpeningTerms:
        """Weight q (K + a)."""
        return OpeningTerms(math.log(values["q"]), 1.0, values["a"])


class FlatCount:
    """No opinion on K, as in the ESC models: K! alone."""

    ranges: Mapping[str, Range] = {}
    given: Mapping[str, Hyper] = {}

    def list_parameters(self, n_records: int) -> dict[str, Hyper]:
        """No parameters."""
        return {}

    def log_kappa(self, number: IntArray, values: Values) -> FloatArray:
        """Log of 1."""
        return np.zeros(number.size)

    def weigh_opening(self, n_records: int, values: Values) -> OpeningTerms:
        """Weight K + 1."""
        return OpeningTerms(0.0, 1.0, 1.0)


class TableCount:
    """Any fixed distribution of K on 1, 2, ..."""

    ranges: Mapping[str, Range] = {}
    given: Mapping[str, Hyper] = {}

    def __init__(self, kappa: Probabilities) -> None:
        self.kappa = kappa

    def list_parameters(self, n_records: int) -> dict[str, Hyper]:
        """No parameters."""
        return {}

    def log_kappa(self, number: IntArray, values: Values) -> FloatArray:
        """Log of kappa_K."""
        return self.kappa.log(number)

    def weigh_opening(self, n_records: int, values: Values) -> OpeningTerms:
        """Weight (K + 1) kappa_{K+1} / kappa_K, as a table."""
        number = np.arange(1, n_records + 1)
        log_weight: FloatArray = gammaln(number + 1) + self.kappa.log(number)
        return OpeningTerms(0.0, 0.0, 1.0, np.concatenate([log_weight[:1], np.diff(log_weight)]))

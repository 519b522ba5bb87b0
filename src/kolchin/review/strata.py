"""Precision and recall from a stratified sample of pairs, whatever the model believes.

Strata are sampled at random without replacement, so that shares in them are estimated without any
model (Cochran, *Sampling Techniques*, 3rd edition 1977, chapters 5 and 5A). Each share has
Jeffreys' interval (Brown, Cai and DasGupta, *Statistical Science* 2001, with their change at none
and all), narrowed by the part of the stratum that was seen; sums of strata and ratios of sums have
intervals by the method of variance estimates recovery (Zou and Donner, *Statistics in Medicine*
2008; Donner and Zou, *Statistical Methods in Medical Research* 2012).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy.stats import beta

LEVEL = 0.9


class Stratum(NamedTuple):
    """So many pairs, of which some were answered, of which some are the same."""

    size: int
    answered: int
    same: int


class Estimate(NamedTuple):
    """A number and its interval."""

    value: float
    low: float
    high: float


def estimate_share(stratum: Stratum) -> Estimate:
    """Estimate the share of a stratum's pairs that are the same; unknown if none was answered."""
    size, n, x = stratum
    if n == 0:
        return Estimate(0.0, 0.0, 1.0)
    tail = (1 - LEVEL) / 2
    found = x / n
    low = 0.0 if x == 0 else float(beta.ppf(tail, x + 0.5, n - x + 0.5))
    high = 1.0 if x == n else float(beta.ppf(1 - tail, x + 0.5, n - x + 0.5))
    unseen = math.sqrt(1 - n / size)
    return Estimate(
        found,
        max(found - (found - min(low, found)) * unseen, x / size),
        min(found + (max(high, found) - found) * unseen, 1 - (n - x) / size),
    )


def estimate_total(strata: Sequence[Stratum]) -> Estimate:
    """Estimate how many pairs of some strata are the same."""
    shares = [estimate_share(one) for one in strata]
    value = sum(one.size * own.value for one, own in zip(strata, shares, strict=True))
    below = sum(
        (one.size * (own.value - own.low)) ** 2 for one, own in zip(strata, shares, strict=True)
    )
    above = sum(
        (one.size * (own.high - own.value)) ** 2 for one, own in zip(strata, shares, strict=True)
    )
    most = sum(one.size for one in strata)
    return Estimate(
        value, max(value - math.sqrt(below), 0.0), min(value + math.sqrt(above), float(most))
    )


def estimate_precision(listed: Sequence[Stratum]) -> Estimate | None:
    """Estimate the share of listed pairs that are the same; None if none are listed."""
    size = sum(one.size for one in listed)
    if not size:
        return None
    return Estimate(*(one / size for one in estimate_total(listed)))


def estimate_recall(listed: Sequence[Stratum], apart: Sequence[Stratum]) -> Estimate | None:
    """Estimate the share of all pairs that are the same which is listed; None if there are none."""
    found, missed = estimate_total(listed), estimate_total(apart)
    if found.value + missed.value == 0:
        return None
    high = 1 / (1 + find_ratio_limit(missed, found, upper=False))
    low = 1 / (1 + find_ratio_limit(missed, found, upper=True))
    value = found.value / (found.value + missed.value)
    return Estimate(value, min(low, value), max(high, value))


def find_ratio_limit(one: Estimate, two: Estimate, upper: bool) -> float:
    """Return a limit of the ratio of two independent numbers from their own intervals.

    It solves for the ratio r at which the interval of ``one - r two`` ends at zero.
    """
    near, far = (one.high, two.low) if upper else (one.low, two.high)
    a = two.value**2 - (two.value - far) ** 2
    b = one.value * two.value
    c = one.value**2 - (one.value - near) ** 2
    if a <= 0:
        return math.inf if upper else 0.0
    root = math.sqrt(max(b * b - a * c, 0.0))
    return max((b + root) / a if upper else (b - root) / a, 0.0)

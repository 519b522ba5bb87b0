"""Parameters of a model: a number fixes one, a distribution gives it a prior.

Every parameter has a range; it is sampled on the scale that makes the range the whole line
(log or logit). A distribution that reaches beyond the range is cut to it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln

from kolchin.errors import ModelError

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Values: TypeAlias = dict[str, Any]
"""Current values of the parameters of a model, by name: floats and arrays of floats."""


@dataclass(frozen=True)
class Gamma:
    """Gamma distribution with a shape and a rate: the mean is shape / rate.

    >>> Gamma(2, 4).mean
    0.5
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        require_positive("Gamma", shape=self.shape, rate=self.rate)

    @property
    def mean(self) -> float:
        """Expected value."""
        return self.shape / self.rate

    def log_density(self, x: float) -> float:
        """Log density at x > 0."""
        constant = self.shape * math.log(self.rate) - math.lgamma(self.shape)
        return constant + (self.shape - 1) * math.log(x) - self.rate * x

    def draw(self, rng: np.random.Generator) -> float:
        """Draw one value."""
        return float(rng.gamma(self.shape, 1 / self.rate))


@dataclass(frozen=True)
class Beta:
    """Beta distribution on (0, 1) with density proportional to x^(u-1) (1-x)^(v-1).

    >>> Beta(1, 3).mean
    0.25
    """

    u: float
    v: float

    def __post_init__(self) -> None:
        require_positive("Beta", u=self.u, v=self.v)

    @property
    def mean(self) -> float:
        """Expected value."""
        return self.u / (self.u + self.v)

    def log_density(self, x: float) -> float:
        """Log density at 0 < x < 1, and minus infinity elsewhere."""
        if not 0 < x < 1:
            return -math.inf
        terms = (self.u - 1) * math.log(x) + (self.v - 1) * math.log1p(-x)
        return terms - float(betaln(self.u, self.v))

    def draw(self, rng: np.random.Generator) -> float:
        """Draw one value."""
        return float(rng.beta(self.u, self.v))


Hyper: TypeAlias = float | Gamma | Beta
"""What a user gives for a parameter: a number (fixed) or a distribution (sampled)."""


def is_sampled(hyper: Hyper) -> bool:
    """Tell whether a parameter has a prior."""
    return isinstance(hyper, Gamma | Beta)


@dataclass(frozen=True)
class Range:
    """An open interval, and the scale on which it is the whole line."""

    words: str
    scale: Literal["log", "logit"]
    zero_allowed: bool = False

    def __contains__(self, x: float) -> bool:
        """Tell whether a value lies in the range."""
        above = x >= 0 if self.zero_allowed else x > 0
        return math.isfinite(x) and above and (self.scale == "log" or x < 1)

    def to_line(self, x: float) -> float:
        """Map a value to the whole line."""
        return math.log(x) if self.scale == "log" else math.log(x) - math.log1p(-x)

    def from_line(self, y: float) -> float:
        """Map back from the whole line."""
        if self.scale == "log":
            return math.exp(min(y, 700.0))
        return 1 / (1 + math.exp(-y)) if y > -700 else math.exp(y)

    def log_jacobian(self, x: float) -> float:
        """Log of dx/dy at a value."""
        return math.log(x) if self.scale == "log" else math.log(x) + math.log1p(-x)


POSITIVE = Range("a number greater than 0", "log")
UNIT = Range("a number between 0 and 1", "logit")
UNIT_OR_ZERO = Range("a number from 0 up to, but not including, 1", "logit", zero_allowed=True)


MOST_STEPS_TO_MODE, LARGEST_STEP_TO_MODE = 5, 1.0
CLOSE_TO_MODE = 0.1
"""How far the mode of a parameter's density is looked for: a small step, squared and in units of
the variance, is the last.
"""


def require_positive(owner: str, **values: float) -> None:
    """Refuse values that are not numbers greater than 0."""
    faults = [
        f"The {name!r} parameter of {owner} must be {POSITIVE.words}. Got {value!r} instead."
        for name, value in values.items()
        if not is_number(value) or value not in POSITIVE
    ]
    if faults:
        raise ModelError("\n".join(faults))


def is_number(value: object) -> bool:
    """Tell whether a value is a real number (and no truth value)."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def check_parameters(
    owner: str, ranges: Mapping[str, Range], given: Mapping[str, Any]
) -> dict[str, Hyper]:
    """Check the parameters of a prior; every fault is told in one message.

    ``None`` stands for a default that depends on the number of records, and stays out.
    """
    faults = []
    result: dict[str, Hyper] = {}
    for name, value in given.items():
        allowed = ranges[name]
        if value is None:
            continue
        if isinstance(value, Gamma | Beta):
            result[name] = value
        elif is_number(value) and float(value) in allowed:
            result[name] = float(value)
        else:
            faults.append(
                f"The {name!r} parameter of {owner} must be {allowed.words}, or a "
                f"kp.Gamma or kp.Beta prior. Got {value!r} instead."
            )
    if faults:
        raise ModelError("\n".join(faults))
    return result


def start_value(rng: np.random.Generator, hyper: Hyper, allowed: Range) -> float:
    """Return a fixed value, or a draw from the prior that lies in the range."""
    if not isinstance(hyper, Gamma | Beta):
        return hyper
    for _ in range(1000):
        value = hyper.draw(rng)
        if value in allowed and value > 1e-12 and (allowed.scale == "log" or value < 1 - 1e-12):
            return value
    return 0.5


def slice_sample(
    rng: np.random.Generator,
    log_density: Callable[[float], float],
    x: float,
    allowed: Range,
    width: float = 1.0,
    most_steps: int = 50,
) -> float:
    """Take one slice-sampling step from x on the scale of its range (Neal 2003).

    Stepping out and shrinking; the density is that of x itself, the Jacobian is added here.
    """
    log_target = _on_line(log_density, allowed)
    here = allowed.to_line(x)
    level = log_target(here) - rng.exponential()
    left = here - width * rng.random()
    right = left + width
    left_steps = int(rng.random() * most_steps)
    right_steps = most_steps - 1 - left_steps
    while left_steps > 0 and log_target(left) > level:
        left -= width
        left_steps -= 1
    while right_steps > 0 and log_target(right) > level:
        right += width
        right_steps -= 1
    while True:
        there = left + (right - left) * rng.random()
        if log_target(there) > level:
            return allowed.from_line(there)
        if there < here:
            left = there
        else:
            right = there
        if right - left < 1e-12:
            return x


def reflect(
    rng: np.random.Generator,
    log_density: Callable[[float], float],
    x: float,
    allowed: Range,
    start: float,
) -> float:
    """Reflect x at the mode of its density by a Metropolis step.

    Where x is drawn in turn with others that it depends on, it moves twice as far as an
    independent draw would (overrelaxation). The mode is looked for from a start that does not
    depend on x: so the step is its own inverse, wherever the search ends.

    It is reflected on the scale of cube roots (of odds, if it is between 0 and 1), on which gamma
    densities are nearly symmetric, even those of a few observations (Wilson and Hilferty 1931).
    """
    log_on_line = _on_line(log_density, allowed)
    origin = allowed.to_line(start)

    def log_target(root: float) -> float:
        """Take 3 (cube root - 1), in units of the start: about the logarithm, near to it."""
        if not root > -3:
            return -math.inf
        return log_on_line(origin + 3 * math.log1p(root / 3)) - math.log1p(root / 3)

    here = 3 * math.expm1((allowed.to_line(x) - origin) / 3)
    there = 2 * _mode(log_target) - here
    if there > -3 and np.log(rng.random()) < log_target(there) - log_target(here):
        return allowed.from_line(origin + 3 * math.log1p(there / 3))
    return x


def _mode(log_target: Callable[[float], float]) -> float:
    """Take some steps of Newton's from 0 towards the mode of a density on the line.

    What is returned is rounded, so that the last digits of a density do not matter.
    """
    y, apart = 0.0, 0.1
    for _ in range(MOST_STEPS_TO_MODE):
        left, middle, right = log_target(y - apart), log_target(y), log_target(y + apart)
        slope, bend = (right - left) / (2 * apart), (2 * middle - left - right) / apart**2
        if slope == 0 or not math.isfinite(slope + bend):
            break
        step = slope / bend if bend > 0 else math.copysign(LARGEST_STEP_TO_MODE, slope)
        step = min(max(step, -LARGEST_STEP_TO_MODE), LARGEST_STEP_TO_MODE)
        y += step
        if bend > 0:
            apart = min(apart, 1 / math.sqrt(bend))
        if abs(step) < LARGEST_STEP_TO_MODE and step * step * bend < CLOSE_TO_MODE:
            break
    grid = 2.0 ** (math.floor(math.log2(apart)) - 5)
    return round(y / grid) * grid


def _on_line(log_density: Callable[[float], float], allowed: Range) -> Callable[[float], float]:
    """Return the log density on the scale of a range."""

    def log_target(y: float) -> float:
        value = allowed.from_line(y)
        if not value > 0 or (allowed.scale == "logit" and not value < 1):
            return -math.inf
        return log_density(value) + allowed.log_jacobian(value)

    return log_target


def log_rising(x: float, n: int | float) -> float:
    """Log of Gamma(x + n) / Gamma(x), stable for large x and n > 0."""
    return float(gammaln(n) - betaln(x, n)) if n > 0 else 0.0


def hyper_log_density(hypers: Mapping[str, Hyper], values: Mapping[str, Any]) -> float:
    """Sum the log prior densities of the sampled parameters."""
    return sum(
        hyper.log_density(float(values[name]))
        for name, hyper in hypers.items()
        if isinstance(hyper, Gamma | Beta)
    )


NO_PARTS = np.array([0])


def log_dirichlet(values: FloatArray, weights: FloatArray, begins: IntArray = NO_PARTS) -> float:
    """Log density of Dirichlet vectors that stand after each other, each from where it begins.

    >>> round(log_dirichlet(np.array([0.2, 0.8]), np.array([1.0, 2.0])), 4)
    0.47
    """
    log_norm = gammaln(np.add.reduceat(weights, begins)).sum() - gammaln(weights).sum()
    return float(log_norm + ((weights - 1) * np.log(values)).sum())

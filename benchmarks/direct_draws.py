"""Models simulated forwards, plainly: the truth that samplers are compared with.

Parameters come from their priors, then the number of clusters, then the sizes one by one, and
the attempt is thrown away unless the sizes add up to N. That is exactly the prior given N, and
nothing of it is shared with the package but the declarations of the priors.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import nbinom

import kolchin as kp

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

ATTEMPTS_AT_ONCE = 2**21
"""Numbers in the largest array of a batch."""


class State(NamedTuple):
    """A partition and the sampled parameters of its prior."""

    labels: Labels
    parameters: dict[str, Any]


def draw_states(rng: np.random.Generator, prior: Any, n_records: int, number: int) -> list[State]:
    """Draw independent partitions of N records with their parameters."""
    if isinstance(prior, kp.DirichletProcess | kp.PitmanYor):
        return [_urn_of_clusters(rng, prior, n_records) for _ in range(number)]
    found: list[State] = []
    while len(found) < number:
        found += _attempts(rng, prior, n_records)
    return found[:number]


def draws_of(rng: np.random.Generator, hyper: Any, number: int) -> Floats:
    """Draw a parameter from its prior; a number stays what it is."""
    if isinstance(hyper, kp.Gamma):
        return rng.gamma(hyper.shape, 1 / hyper.rate, number)
    if isinstance(hyper, kp.Beta):
        return rng.beta(hyper.u, hyper.v, number)
    return np.full(number, float(hyper))


def _urn_of_clusters(rng: np.random.Generator, prior: Any, n_records: int) -> State:
    """Seat the records one after another (Dirichlet process: discount 0)."""
    hypers = prior.list_parameters(n_records)
    drawn = {name: float(draws_of(rng, hyper, 1)[0]) for name, hyper in hypers.items()}
    theta, discount = drawn["theta"], drawn.get("discount", 0.0)
    labels = np.zeros(n_records, dtype=np.int64)
    sizes: list[int] = []
    for n in range(n_records):
        weights = np.array([*(size - discount for size in sizes), theta + discount * len(sizes)])
        labels[n] = rng.choice(weights.size, p=weights / weights.sum())
        if labels[n] == len(sizes):
            sizes.append(0)
        sizes[labels[n]] += 1
    return State(labels, {name: drawn[name] for name in hypers if _is_sampled(hypers[name])})


def _is_sampled(hyper: Any) -> bool:
    return isinstance(hyper, kp.Gamma | kp.Beta)


def _attempts(rng: np.random.Generator, prior: Any, n_records: int) -> list[State]:
    """Draw numbers of clusters and sizes, and keep those that add up to N."""
    batch = max(ATTEMPTS_AT_ONCE // n_records**2, 100)
    hypers = prior.list_parameters(n_records)
    drawn = {name: draws_of(rng, hyper, batch) for name, hyper in hypers.items()}
    mu = _size_probabilities(rng, drawn, n_records)
    below = np.cumsum(mu, axis=1)
    sizes = 1 + (rng.random((batch, n_records, 1)) > below[:, None, :]).sum(axis=2)
    reached = np.cumsum(sizes, axis=1) == n_records
    if "q" in drawn:
        kappa = _truncated(n_records, drawn["a"], drawn["q"])
        last = (rng.random((batch, 1)) > np.cumsum(kappa, axis=1)).sum(axis=1)
        kept = (last < n_records) & reached[np.arange(batch), np.minimum(last, n_records - 1)]
    else:
        # An exchangeable sequence of clusters has no opinion on K: the sizes reach N or miss it.
        last = reached.argmax(axis=1)
        kept = reached.any(axis=1)
    sampled = {name: drawn[name] for name, hyper in hypers.items() if _is_sampled(hyper)}
    if "alpha" in drawn:
        sampled["mu"] = mu
    states = []
    for k in np.flatnonzero(kept):
        own = sizes[k, : last[k] + 1]
        labels = rng.permutation(np.repeat(np.arange(own.size), own))
        states.append(State(labels, {name: values[k] for name, values in sampled.items()}))
    return states


def _size_probabilities(
    rng: np.random.Generator, drawn: dict[str, Floats], n_records: int
) -> Floats:
    """Return mu_1, ..., mu_N of each attempt; with alpha, mu itself is drawn from a Dirichlet."""
    sizes = np.arange(1, n_records + 1)
    if "base" in drawn:
        base = drawn["base"][:, None] * (1 - drawn["base"][:, None]) ** (sizes - 1)
    else:
        base = _truncated(n_records, drawn["r"], drawn["p"])
    if "alpha" not in drawn:
        return base
    beyond = np.maximum(1 - base.sum(axis=1, keepdims=True), 0)
    parts = rng.standard_gamma(drawn["alpha"][:, None] * np.hstack([base, beyond]))
    return parts[:, :-1] / parts.sum(axis=1, keepdims=True)


def _truncated(n_records: int, r: Floats, p: Floats) -> Floats:
    """Return the probabilities of 1, ..., N under NegBin(r, p) without 0."""
    number = np.arange(1, n_records + 1)
    none = -np.expm1(r * np.log1p(-p))
    mass: Floats = nbinom.pmf(number, r[:, None], 1 - p[:, None]) / none[:, None]
    return mass


def draw_codes(
    rng: np.random.Generator,
    labels: Labels,
    delta: Floats,
    frequencies: list[Floats],
    observed: NDArray[np.bool_],
) -> NDArray[np.int32]:
    """Draw the records of a partition by Polya's urn, -1 where a value is not observed."""
    codes = np.full(observed.shape, -1, dtype=np.int32)
    for f, base in enumerate(frequencies):
        cumulative = np.cumsum(base)
        fresh = np.searchsorted(cumulative / cumulative[-1], rng.random(labels.size), side="right")
        urns: dict[int, list[int]] = {}
        chance, choice = rng.random(labels.size), rng.random(labels.size)
        for n in np.flatnonzero(observed[:, f]):
            urn = urns.setdefault(int(labels[n]), [])
            copies = chance[n] * (delta[f] + len(urn)) < len(urn)
            value = urn[int(choice[n] * len(urn))] if copies else int(fresh[n])
            urn.append(value)
            codes[n, f] = value
    return codes

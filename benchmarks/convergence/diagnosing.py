"""Model or mixing? Chains that start at a known truth, beside those that do not.

The log joint of the truth is that of its partition with parameters fitted to it. Chains from the
truth that stay where the others never come, at a higher log joint, show that the others do not mix.
Chains that all agree, and whose interval does not hold the truth, show that the model prefers
something else: no sampler will help.
"""

import copy
import time
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from convergence.looking import convergence
from kolchin import kernels
from kolchin.partitions import make_canonical, size_counts
from kolchin.sampling.moves.parameters import UpdateParameters
from kolchin.sampling.problem import Problem
from kolchin.sampling.state import State, ensure_statistics, tabulate_weights, take_snapshot

UPDATES = 40
FEWEST_DRAWS = 50
"""Of fewer draws R-hat is above its bound even where chains agree."""
AGREE = 1.1
"""R-hat below which chains are taken to be at the same place."""

Ints = NDArray[np.int64]


class Found(NamedTuple):
    """The number of clusters and the log joint: where chains are, or the truth is."""

    n_clusters: float
    log_joint: float


def diagnose(run: Any, posterior: Any, truth: Ints, seconds: float) -> dict[str, Any]:
    """Compare what chains found with the truth and with where chains from the truth go."""
    usual = np.asarray(posterior.statistics["n_clusters"], dtype=float)
    if usual.shape[1] < FEWEST_DRAWS:
        return {"words": f"unknown: {usual.shape[1]} draws"}
    chains = Found(float(usual.mean()), float(np.median(posterior.log_joint)))
    chain = copy.copy(run.chains[0])
    state, log_joint = follow(chain.problem, put(chain.problem, chain.state, truth))
    known = Found(float(state.n_clusters), log_joint)
    chain.take_state(state)
    chain.draws = chain.new_recorder()
    chain.n_steps = chain.settings.warmup  # nothing is dissolved nor learned from here on
    began, wanted = time.process_time(), 1
    while time.process_time() - began < seconds and len(chain.draws) < usual.shape[1]:
        wanted += 1
        chain.advance(Event(), wanted)
    drawn = np.asarray(chain.draws.n_clusters, dtype=float)
    later = drawn[drawn.size // 2 :]
    if later.size < FEWEST_DRAWS:
        return {"words": f"unknown: {drawn.size} draws of the chain from the truth"}
    joints = np.asarray(chain.draws.log_joint, dtype=float)[drawn.size // 2 :]
    started = Found(float(later.mean()), float(np.median(joints)))
    own, other = _rhat_of(usual), _rhat_with(usual, later)
    low, high = np.quantile(usual, [0.05, 0.95])
    covered = bool(low <= known.n_clusters <= high)
    return {
        "truth": known._asdict(),
        "chains": chains._asdict(),
        "from_truth": {**started._asdict(), "draws": int(drawn.size)},
        "rhat": own,
        "rhat_with_truth": other,
        "words": verdict(chains, known, started, own, other, covered),
    }


def verdict(
    chains: Found, truth: Found, started: Found, rhat: float, rhat_with: float, covered: bool
) -> str:
    """Say in a few words whether model or mixing is at fault.

    >>> at = Found(100, -50.0)
    >>> verdict(at, at, at, 1.0, 1.0, True)
    'fine'
    >>> verdict(at, Found(90, -80.0), at, 1.0, 1.0, False)
    'model: all chains agree on something else'
    >>> verdict(at, Found(90, 0.0), Found(90, 0.0), 1.0, 3.0, False)
    'mixing: chains from the truth are higher'
    >>> verdict(at, Found(90, -80.0), Found(91, -80.0), 1.0, 3.0, False)
    'model: chains from the truth stay, and are lower'
    >>> verdict(at, Found(90, -80.0), Found(100, -50.0), 2.0, 1.0, False)
    'mixing: chains disagree'
    """
    if rhat_with < AGREE and rhat < AGREE:
        return "fine" if covered else "model: all chains agree on something else"
    if rhat_with < AGREE:
        return "mixing: chains disagree"
    if started.log_joint > chains.log_joint:
        return "mixing: chains from the truth are higher"
    return "model: chains from the truth stay, and are lower"


def _rhat_of(values: NDArray[np.float64]) -> float:
    return _known(convergence(values)[0])


def _rhat_with(usual: NDArray[np.float64], later: NDArray[np.float64]) -> float:
    """Return R-hat of the ends of usual chains and of one more."""
    n = min(usual.shape[1], later.size)
    return _known(convergence(np.vstack([usual[:, -n:], later[-n:]]))[0])


def _known(rhat: float) -> float:
    """Return R-hat, 99 where it is larger or nothing is known."""
    return float(min(rhat, 99.0)) if np.isfinite(rhat) else 99.0


def put(problem: Problem, state: State, labels: Ints) -> State:
    """Return a state of a partition of the records, in their own order, with the parameters."""
    state = copy.deepcopy(state)
    order = problem.layout.order
    labels = make_canonical(labels if order is None else labels[order])
    counts = size_counts(labels).astype(np.int64)
    partition = kernels.Partition(
        kernels.make_rings(labels), counts, np.array([counts.sum()]), np.array([-1, -1])
    )
    state = state._replace(partition=partition, statistics=None)
    return tabulate_weights(state.rng, problem, state)


def follow(problem: Problem, state: State) -> tuple[State, float]:
    """Let parameters follow the partition, which stays as it is; return the usual log joint."""
    update, joints = UpdateParameters(), []
    for _ in range(UPDATES):
        state = update.step(state.rng, problem, state)
        state = ensure_statistics(state.rng, problem, state)
        joints.append(take_snapshot(problem, state).log_joint)
        state = state._replace(statistics=None)
    return state, float(np.median(joints[UPDATES // 2 :]))

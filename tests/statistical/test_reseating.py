"""The fast chain against the slow truth: reseating and random-walk updates of the log joint.

The slow chain knows nothing but ``Model.log_joint``: every record is reseated among all
clusters, and every parameter takes Metropolis steps on its own scale. For NBD and ESCD mu is
integrated out there, and sampled in the fast chain.
"""

import math

import numpy as np
import pytest

import kolchin as kp
from kolchin.sampling import reseat

CODES = np.array(
    [
        *([0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 1], [1, 1, 1]),
        *([1, 1, -1], [2, 0, 1], [2, 0, -1], [2, -1, 1], [-1, 2, 0], [1, 2, 0]),
    ]
)
CASES = {
    "NBNB, tied": (kp.NBNB(), True),
    "NBD, by field": (kp.NBD(alpha=kp.Gamma(2, 1)), False),
    "PitmanYor, tied": (kp.PitmanYor(), True),
}
SWEEPS = 360
BATCHES = 24
LARGEST_Z = 4.0


def on_the_line(name, x):
    return math.log(x) - math.log1p(-x) if name in ("p", "discount") else math.log(x)


def from_the_line(name, y):
    return 1 / (1 + math.exp(-y)) if name in ("p", "discount") else math.exp(y)


def log_jacobian(name, x):
    return math.log(x) + (math.log1p(-x) if name in ("p", "discount") else 0.0)


def metropolis(rng, model, labels, values, name, entry=None):
    """Take one random-walk step of a parameter, or of one entry of it."""
    old = values[name] if entry is None else values[name][entry]
    new = from_the_line(name, on_the_line(name, old) + 1.2 * rng.normal())
    trial = dict(values)
    trial[name] = new if entry is None else np.where(np.arange(3) == entry, new, values[name])
    log_ratio = model.log_joint(labels, **trial) - model.log_joint(labels, **values)
    log_ratio += log_jacobian(name, new) - log_jacobian(name, old)
    return trial if math.log(rng.random()) < log_ratio else values


def slow_chain(rng, model, values):
    """Yield the states of the slow chain."""
    labels = np.arange(model.n_records)
    while True:
        labels = reseat(rng, model, labels, **values)
        for name in values:
            entries = range(3) if np.ndim(values[name]) else (None,)
            for entry in (*entries, *entries):
                values = metropolis(rng, model, labels, values, name, entry)
        yield labels, values


def quantities(labels, parameters):
    sizes = np.bincount(labels)
    result = {"n_clusters": sizes.size, "largest": sizes.max(), "singletons": np.sum(sizes == 1)}
    result |= {f"{i} and {j} linked": labels[i] == labels[j] for i, j in [(0, 1), (0, 3), (7, 9)]}
    for name, value in parameters.items():
        if name != "mu":
            result |= {f"log {name}[{k}]": math.log(x) for k, x in enumerate(np.atleast_1d(value))}
    return result


def batch_means(rows, name):
    values = np.array([row[name] for row in rows], dtype=float)
    return values.reshape(BATCHES, -1).mean(axis=1)


@pytest.mark.parametrize(
    "case", [*list(CASES)[:2], pytest.param("PitmanYor, tied", marks=pytest.mark.slow)]
)
def test_chaperones_agree_with_reseating(case):
    prior, tied = CASES[case]
    model = kp.Model(kp.Records.from_codes(CODES), prior, kp.Gamma(2, 4), tied)
    fast = kp.sample(
        model, chains=4, draws=600, warmup=100, thin=1, moves=100, seed=1, cores=1, progress=False
    )
    fast_rows = [
        quantities(fast.partition(c, t), {name: v[c, t] for name, v in fast.parameters.items()})
        for c in range(4)
        for t in range(600)
    ]
    values = {name: v[0, 0] for name, v in fast.parameters.items() if name != "mu"}
    chain = slow_chain(np.random.default_rng(2), model, values)
    slow_rows = [quantities(*next(chain)) for _ in range(SWEEPS)]
    scores = {}
    for name in slow_rows[0]:
        left, right = batch_means(fast_rows, name), batch_means(slow_rows, name)
        error = math.sqrt((left.var(ddof=1) + right.var(ddof=1)) / BATCHES)
        scores[name] = (left.mean() - right.mean()) / error
    assert {name: z for name, z in scores.items() if not abs(z) < LARGEST_Z} == {}

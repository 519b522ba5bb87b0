"""Parameters, partition and pairs are drawn from the model; a chain that goes on keeps them so.

Everything at once: chances of errors and their number, levels, the size of entities, links. Records
come from two files without duplicates, so that the chance of all pairs is that of the model:
linked ones show levels of one entity, all others those of chance.
"""

from itertools import combinations

import numpy as np
from driving import Driver
from enumeration import partitions
from problems import FIXED, log_of_all
from scipy import stats
from test_error_counts import RIGHT, WRONG, chance_of_errors, prior_draws

import kolchin as kp
from kolchin.likelihoods import Exemplar, Outcomes, error_counts
from kolchin.likelihoods.dependence import Dependence
from kolchin.records import Records

SMALLEST_P = 1e-4
SOURCES = np.array([0, 0, 0, 1, 1, 1])
PAIRS = list(combinations(range(6), 2))
U = ([0.3, 0.7], [0.2, 0.3, 0.5])
SHOWN = 0.8
ERRORS = [(a, b) for a in (0, 1) for b in (0, 1)]


def allowed_partitions():
    """Return partitions with no two records of one file together, and their probabilities."""
    rows = np.array(partitions(6))
    fits = [all(row[i] != row[j] for i, j in PAIRS if SOURCES[i] == SOURCES[j]) for row in rows]
    log_prior = log_of_all(FIXED["DirichletProcess"][1], 6)
    weight = np.where(fits, np.exp(log_prior - np.max(log_prior)), 0.0)
    return rows, weight / weight.sum()


def levels_of_pair(rng, linked, wrong, near, tau):
    if not linked:
        return [rng.choice(len(u), p=u) for u in U]
    chance = np.array([chance_of_errors(errors, wrong, tau) for errors in ERRORS])
    first, second = ERRORS[rng.choice(4, p=chance / chance.sum())]
    return [first, 1 + int(rng.random() < near[1]) if second else 0]


def likelihood_of(rng, row, wrong, near, tau, kind):
    """Draw what each pair shows, and return the likelihood that knows it."""
    shows = rng.random((6, 2)) < SHOWN
    levels = np.array(
        [levels_of_pair(rng, row[i] == row[j], wrong, near, tau) for i, j in PAIRS], dtype=np.int8
    )
    both = np.array([shows[i] & shows[j] for i, j in PAIRS])
    chance = np.column_stack([np.array(u)[levels[:, f]] for f, u in enumerate(U)])
    outcomes = Outcomes(
        np.array(PAIRS, dtype=np.int32), np.where(both, levels, -1).astype(np.int8),
        np.where(both, chance, 1.0), (2, 3), np.array([u[-1] for u in U]), shows,
    )  # fmt: skip
    nothing = np.zeros((0, 2))
    dependence = Dependence(
        shared=nothing.astype(bool), n_shared=np.empty(0), n_pairs=15.0, typed=np.full(5, 0.3),
        replaced=np.zeros((1, 2), dtype=bool), rho=np.ones(1), rho_weights=np.ones(1),
        m=np.array([0.8, 0.2, 0.7, 0.2, 0.1]),
        m_weights=np.array([RIGHT[0], WRONG[0], RIGHT[1], 1.2, 0.8]), leak=nothing,
        loose=np.zeros((0, 6)), sampled=np.empty(0, dtype=bool), tau=np.zeros(3),
    )  # fmt: skip
    return kind(outcomes, ["a", "b"], dependence=dependence)


def before_and_after(kind=Exemplar, n_starts=900, n_steps=4):
    """Number of entities, chances of no and of two errors, and of levels."""
    rng = np.random.default_rng(11)
    rows, probability = allowed_partitions()
    records = Records.from_codes(np.zeros((6, 1), dtype=int)).select([])
    before, after = [], []
    for wrong, tau in prior_draws(rng, n_starts):
        near = rng.dirichlet([1.2, 0.8])
        index = rng.choice(len(rows), p=probability)
        likelihood = likelihood_of(rng, rows[index], wrong, near, tau, kind)
        prior = FIXED["DirichletProcess"][0]()
        model = kp.Model(records, prior, delta=0.6, likelihood=likelihood, sources=SOURCES)
        driver = Driver(model, None, int(rng.integers(1 << 30)))
        driver.set_partition(index)
        m = np.array([1 - wrong[0], wrong[0], 1 - wrong[1], *(wrong[1] * near)])
        driver.set_fields({"delta": np.empty(0), "m": m, "tau": tau})
        before.append(seen_of(driver.state, likelihood))
        for _ in range(n_steps):
            driver.move(6)
            driver.update()
        after.append(seen_of(driver.state, likelihood))
    return np.array(before), np.array(after)


def seen_of(state, likelihood):
    values = state.field_values
    spread = error_counts.compute_distribution(likelihood._sum_wrong(values), values["tau"])
    return [state.n_clusters, *spread[[0, 2]], values["m"][1], values["m"][2], values["m"][4]]


def p_values(before, after):
    entities = [[np.sum(part[:, 0] == k) for k in range(3, 7)] for part in (before, after)]
    found = [stats.chi2_contingency(entities).pvalue]
    columns = range(1, before.shape[1])
    return [*found, *(stats.ks_2samp(before[:, c], after[:, c]).pvalue for c in columns)]


def test_a_chain_keeps_the_model():
    assert min(p_values(*before_and_after())) > SMALLEST_P


class TooMuchEvidence(Exemplar):
    """Every link counts four times as much: there are too many, and parameters follow."""

    def compute_ratios(self, values):
        once = super().compute_ratios(values)
        return once._replace(ratio=4 * once.ratio, apart=4 * once.apart)


def test_too_much_evidence_is_caught():
    assert min(p_values(*before_and_after(TooMuchEvidence, 500))) < SMALLEST_P

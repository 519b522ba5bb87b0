"""How many unrelated pairs share a set is sampled with the partition: the joint posterior is kept.

Records come from two files without duplicates, so that clusters have one or two records and the
conditional of nu is that of the joint density exactly. The truth is written in plain loops.
"""

from itertools import combinations

import numpy as np
import pytest
from driving import Driver
from enumeration import index_of_rings, partition_test, partitions, uniform_test
from problems import FIXED, log_of_all

import kolchin as kp
from kolchin.likelihoods import Exemplar, Outcomes
from kolchin.likelihoods.dependence import Dependence
from kolchin.likelihoods.unrelated_pairs import SHAPE, SMALLEST
from kolchin.records import Records

SMALLEST_P = 1e-4
N_RECORDS, N_PAIRS = 6, 15.0
SOURCES = np.array([0, 0, 0, 1, 1, 1])
U = np.array([[0.3, 0.7], [0.4, 0.6], [0.5, 0.5]])
M = np.array([[0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])
TYPED = np.array([[0.9, 0.1], [0.85, 0.15], [0.8, 0.2]])
SHARED = (0, 1)
FAMILY = np.array([[0.5, 0.5], [0.55, 0.45], [0.65, 0.35]])
SCALE = 1.0
N_CELLS = 1500


def levels_of_pairs():
    rng = np.random.default_rng(3)
    return {pair: rng.integers(0, 2, 3) for pair in combinations(range(N_RECORDS), 2)}


LEVELS = levels_of_pairs()


def chance(table, levels):
    return float(np.prod([table[f, level] for f, level in enumerate(levels)]))


def shares(levels, family=False):
    """The chance of levels in a pair that shares the set, or is of one family, over chance."""
    if family:
        return chance(FAMILY, levels) / chance(U, levels)
    return float(np.prod([TYPED[f, levels[f]] / U[f, levels[f]] for f in SHARED]))


def unlinked(levels, nu, family=False):
    return 1 + nu / N_PAIRS * shares(levels, family)


def log_joint(row, nu, family=False):
    """Of pairs, those of one cluster linked, all others not, relative to chance; and of nu."""
    total = (SHAPE - 1) * np.log(nu) - nu * (1 + 1 / SCALE)
    for (i, j), levels in LEVELS.items():
        linked = chance(M, levels) / chance(U, levels)
        total += np.log(linked) if row[i] == row[j] else np.log(unlinked(levels, nu, family))
    return total


def a_likelihood(kind=Exemplar, family=False):
    pairs = np.array(list(LEVELS), dtype=np.int32)
    levels = np.array(list(LEVELS.values()), dtype=np.int8)
    chances = np.column_stack([U[f][levels[:, f]] for f in range(3)])
    shows = np.ones((N_RECORDS, 3), dtype=bool)
    outcomes = Outcomes(pairs, levels, chances, (2, 2, 2), U[:, 1], shows)
    dependence = Dependence(
        shared=np.array([[True, True, family]]), n_shared=np.ones(1), n_pairs=N_PAIRS,
        typed=TYPED.ravel(), replaced=np.zeros((1, 3), dtype=bool), rho=np.ones(1),
        rho_weights=np.ones(1), m=M.ravel(), m_weights=1e9 * M.ravel(), leak=np.zeros((1, 3)),
        loose=np.zeros((1, 7)), sampled=np.ones(1, dtype=bool),
        family=FAMILY.ravel() if family else None,
    )  # fmt: skip
    return kind(outcomes, "abc", dependence=dependence)


def p_values(kind=Exemplar, n_starts=4000, family=False):
    """Of the partition and of nu given it, started from exact draws."""
    rows = np.array(partitions(N_RECORDS))
    allowed = [
        all(row[i] != row[j] for i, j in combinations(range(6), 2) if SOURCES[i] == SOURCES[j])
        for row in rows
    ]
    edges = np.exp(np.linspace(np.log(SMALLEST), 3.5, N_CELLS + 1))
    middle = np.sqrt(edges[1:] * edges[:-1])
    own = np.where(allowed, log_of_all(FIXED["DirichletProcess"][1], 6), -np.inf)
    log_weight = np.array(
        [own[k] + log_joint(row, middle, family) if allowed[k] else np.full(N_CELLS, -np.inf)
         for k, row in enumerate(rows)]
    )  # fmt: skip
    weight = np.exp(log_weight - log_weight.max()) * np.diff(edges)
    weight /= weight.sum()
    likelihood = a_likelihood(kind, family)
    records = Records.from_codes(np.zeros((6, 1), dtype=int)).select([])
    model = kp.Model(
        records, FIXED["DirichletProcess"][0](), delta=0.6, likelihood=likelihood, sources=SOURCES
    )
    rng = np.random.default_rng(7)
    driver = Driver(model, None, 5)
    rings, finals = [], []
    for cell in rng.choice(weight.size, n_starts, p=weight.ravel()):
        index, place = divmod(cell, N_CELLS)
        driver.set_partition(index)
        nu = edges[place] * (edges[place + 1] / edges[place]) ** rng.random()
        fields = {"delta": np.empty(0), "shared": np.array([nu])}
        driver.set_fields(likelihood.start() | fields)
        for _ in range(2):
            driver.move(4)
            driver.update()
        rings.append(driver.state.following.copy())
        finals.append(driver.state.field_values["shared"][0])
    found = index_of_rings(np.array(rings))
    below = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(weight, axis=1)], axis=1)
    below /= np.maximum(below[:, -1:], 1e-300)
    uniform = [np.interp(nu, edges, below[k]) for k, nu in zip(found, finals, strict=True)]
    probability = weight.sum(axis=1)
    return partition_test(found, probability, 6), uniform_test(np.array(uniform))


@pytest.mark.parametrize("family", [False, True])
def test_the_likelihood_is_the_formula(family):
    likelihood = a_likelihood(family=family)
    for nu in (0.01, 2.0):
        values = likelihood.start() | {"shared": np.array([nu])}
        ratios = likelihood.compute_ratios(values)
        found = ratios.ratio[likelihood.find_patterns(np.array(list(LEVELS)))]
        slow = [
            chance(M, levels) / chance(U, levels) / unlinked(levels, nu, family)
            for levels in LEVELS.values()
        ]
        np.testing.assert_allclose(found, slow, rtol=1e-12)


def test_the_density_of_nu_is_that_of_all_pairs_unlinked():
    likelihood = a_likelihood()
    apart = np.arange(N_RECORDS)
    one, two = (log_joint(apart, nu) for nu in (0.3, 4.0))
    slow, fast = two - one, [likelihood.unrelated.log_density(np.array([nu])) for nu in (0.3, 4.0)]
    assert fast[1] - fast[0] == pytest.approx(slow)


@pytest.mark.parametrize("family", [False, True])
def test_nu_and_the_partition_keep_their_joint_posterior(family):
    assert min(p_values(family=family)) > SMALLEST_P


class LinksCountAsShared(Exemplar):
    """Pairs of one cluster stay among those that may share the set."""

    def update(self, rng, values, counts, **others):
        counts = counts._replace(inside=0 * counts.inside)
        return super().update(rng, values, counts, **others)


def test_links_that_stay_among_the_unrelated_are_caught():
    assert min(p_values(LinksCountAsShared)) < 1e-6

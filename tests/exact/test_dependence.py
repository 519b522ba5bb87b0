"""Fields that move together: the likelihood is its formula, and the kernels keep its posterior.

The truth is written in plain loops from the formulas (model section 6); nothing of it comes from
the package. Where m and rho are sampled, their posterior given a partition is a finite mixture of
Dirichlet distributions, one for each choice of exemplars and of what was replaced: no grid.
"""

from itertools import combinations, product
from math import exp, lgamma, log

import enumeration as by_hand
import numpy as np
import pytest
from driving import PAIRS, Driver
from enumeration import partition_test, partitions, uniform_test
from problems import FIXED, FREQUENCIES, codes, log_of_all
from scipy import stats

import kolchin as kp
from kolchin.likelihoods import Exemplar, Outcomes
from kolchin.likelihoods.dependence import Dependence, log_mixture
from kolchin.likelihoods.exemplar import MORE_SHOWN
from kolchin.records import Records

SMALLEST_P = 1e-4

# --- the truth -------------------------------------------------------------------------------


def unlinked(levels, chances, pi, c):
    """Return u(levels); ``chances[f]`` is that of the level shown, of exact ones by the value."""
    total = 0.0
    for shared, share in pi.items():
        term = share
        for f, level in enumerate(levels):
            if level >= 0:
                term = term * (c[f][level] if f in shared else chances[f])
        total = total + term
    return total


def linked(levels, chances, rho, m):
    """Return m(levels)."""
    total = 0.0
    for replaced, share in rho.items():
        term = share
        for f, level in enumerate(levels):
            if level >= 0:
                term = term * (chances[f] if f in replaced else m[f][level])
        total = total + term
    return total


def cluster_ratio(members, evidence, weights):
    """The mean over e, by weights, of the product of the others' evidence against e."""
    total = 0.0
    for e in members:
        term = weights[e]
        for n in members:
            if n != e:
                term = term * evidence[min(n, e), max(n, e)]
        total = total + term
    return total / weights[members].sum()


def clusters_of(row):
    return [[n for n in range(len(row)) if row[n] == c] for c in sorted(set(row))]


def log_evidence(row, problem):
    evidence, weights = problem.evidence(), problem.weights
    return sum(log(cluster_ratio(members, evidence, weights)) for members in clusters_of(row))


# --- a problem -------------------------------------------------------------------------------


class Problem:
    """Levels of pairs of a few records, all parameters, and the same as the package takes them."""

    def __init__(self, n_levels, pi, rho, n_records=6, seed=11, not_compared=((0, 3), (2, 5))):
        rng = np.random.default_rng(seed)
        n_fields = len(n_levels)
        self.n_levels, self.n_records, self.pi, self.rho = n_levels, n_records, pi, rho
        # Not far from each other, so that many partitions are likely.
        self.u = [list(rng.dirichlet(10.0 + 4 * np.arange(n))) for n in n_levels]
        self.m = [list(rng.dirichlet(10.0 + 4 * np.arange(n)[::-1])) for n in n_levels]
        self.c = [list(rng.dirichlet(6.0 * np.arange(n, 0, -1))) for n in n_levels]
        self.shows = rng.random((n_records, n_fields)) > 0.12
        self.levels, self.chances, self.listed = {}, {}, []
        for i, j in combinations(range(n_records), 2):
            is_compared = (i, j) not in not_compared
            if is_compared:
                self.listed.append((i, j))
            self._compare(rng, i, j, is_compared)

    def _compare(self, rng, i, j, is_compared):
        levels, chances = [], []
        for f, n in enumerate(self.n_levels):
            level = n - 1
            if is_compared:
                level = min(int(rng.geometric(0.5 / (1 + (j - i) // 3))) - 1, n - 1)
            rarity = float(rng.choice([0.4, 1.0, 1.9])) if level == 0 else 1.0
            if not (self.shows[i, f] and self.shows[j, f]):
                level = -1
            levels.append(level)
            chances.append(self.u[f][level] * rarity if level >= 0 else 1.0)
        self.levels[i, j], self.chances[i, j] = levels, chances

    def ratio(self, pair, m=None, rho=None):
        levels, chances = self.levels[pair], self.chances[pair]
        above = linked(levels, chances, self.rho if rho is None else rho, m or self.m)
        return above / unlinked(levels, chances, self.pi, self.c)

    @property
    def weights(self):
        """Of records as exemplars: those that show more are likelier."""
        return MORE_SHOWN ** self.shows.sum(axis=1)

    def evidence(self):
        return {pair: self.ratio(pair) for pair in self.levels}

    @property
    def outcomes(self):
        return Outcomes(
            np.array(self.listed, dtype=np.int32),
            np.array([self.levels[pair] for pair in self.listed], dtype=np.int8),
            np.array([self.chances[pair] for pair in self.listed]),
            tuple(self.n_levels),
            np.array([one[-1] for one in self.u]),
            self.shows,
        )

    def dependence(self, m_weights=None, rho_weights=None):
        n_fields = len(self.n_levels)
        shared = [s for s in self.pi if s]
        n_pairs = 400.0
        m = np.concatenate(self.m)
        rho = np.array(list(self.rho.values()))
        return Dependence(
            shared=masks(shared, n_fields),
            n_shared=np.array([n_pairs * self.pi[s] for s in shared]),
            n_pairs=n_pairs,
            typed=np.concatenate(self.c),
            replaced=masks(self.rho, n_fields),
            rho=rho,
            rho_weights=np.ones(len(rho)) if rho_weights is None else rho_weights,
            m=m,
            m_weights=np.ones(len(m)) if m_weights is None else m_weights,
            leak=np.zeros((len(shared), n_fields)),
            loose=np.zeros((len(shared), len(m) + 1)),
            sampled=np.zeros(len(shared), dtype=bool),
        )

    def likelihood(self, kind=Exemplar, **weights):
        names = [f"field {f}" for f in range(len(self.n_levels))]
        given = self.dependence(**weights)
        return kind(self.outcomes, names, fixed=not weights, dependence=given)


def masks(sets, n_fields):
    rows = [[f in one for f in range(n_fields)] for one in sets]
    return np.array(rows, dtype=bool).reshape(len(rows), n_fields)


NONE = frozenset()
ONE_EACH = ({NONE: 0.9, frozenset({0, 1}): 0.1}, {NONE: 0.8, frozenset({2, 3}): 0.2})
TWO_EACH = (
    {NONE: 0.8, frozenset({0, 1}): 0.15, frozenset({1, 2, 3}): 0.05},
    {NONE: 0.7, frozenset({2, 3}): 0.2, frozenset({0, 1, 2}): 0.1},
)
SHARED_ALONE = (TWO_EACH[0], {NONE: 1.0})
REPLACED_ALONE = ({NONE: 1.0}, TWO_EACH[1])
SETS = {
    "one each": ONE_EACH,
    "two each": TWO_EACH,
    "shared": SHARED_ALONE,
    "replaced": REPLACED_ALONE,
    "none": ({NONE: 1.0}, {NONE: 1.0}),
}
N_LEVELS = (3, 2, 4, 2)


def random_problem(seed, n_records=6):
    """Any fields, sets and shares."""
    rng = np.random.default_rng(seed)
    n_fields = int(rng.integers(1, 7))
    sets = []
    for concentration in (5.0, 2.0):
        chosen = {
            frozenset(np.flatnonzero(rng.random(n_fields) < 0.5).tolist())
            for _ in range(rng.integers(0, 4))
        }
        chosen = [NONE, *sorted(chosen - {NONE}, key=sorted)]
        weights = np.append(concentration, np.ones(len(chosen) - 1))
        sets.append(dict(zip(chosen, rng.dirichlet(weights).tolist(), strict=True)))
    n_levels = [int(n) for n in rng.integers(2, 6, n_fields)]
    return Problem(n_levels, *sets, n_records, seed)


# --- the formula -----------------------------------------------------------------------------


@pytest.mark.parametrize("sets", SETS)
def test_the_likelihood_is_the_formula(sets):
    problem = Problem(N_LEVELS, *SETS[sets])
    likelihood = problem.likelihood()
    values = likelihood.start()
    slow = [likelihood.log_likelihood(row, values) for row in partitions(6)]
    truth = [log_evidence(row, problem) for row in partitions(6)]
    np.testing.assert_allclose(slow, truth, atol=1e-11)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_for_any_fields_and_sets(seed):
    problem = random_problem(seed)
    likelihood = problem.likelihood()
    values = likelihood.start()
    for row in partitions(6)[:: 1 + seed % 5]:
        slow = likelihood.log_likelihood(row, values)
        assert slow == pytest.approx(log_evidence(row, problem), abs=1e-10)


def test_the_problem_has_all_that_is_to_be_tested():
    problem = Problem(N_LEVELS, *TWO_EACH)
    assert len(problem.listed) == 13
    assert not problem.shows.all()
    seen = {level for levels in problem.levels.values() for level in levels}
    assert seen == {-1, 0, 1, 2, 3}
    exact = [
        (f, chances[f])
        for pair, chances in problem.chances.items()
        for f in range(4)
        if problem.levels[pair][f] == 0
    ]
    assert len(set(exact)) > 4, "values of one field differ in frequency"


@pytest.mark.parametrize("seed", range(10))
def test_chances_of_all_patterns_add_up_to_one(seed):
    """Whichever fields both records show; the formula's and the package's alike."""
    problem = random_problem(100 + seed)
    dependence, rng = problem.dependence(), np.random.default_rng(seed)
    n_levels, offsets = problem.n_levels, np.cumsum([0, *problem.n_levels])
    shown = rng.random(len(n_levels)) < 0.8
    of_field = [range(n) if s else [-1] for n, s in zip(n_levels, shown, strict=True)]
    patterns = list(product(*of_field))
    chances = [[problem.u[f][k] if k >= 0 else 1.0 for f, k in enumerate(p)] for p in patterns]
    by_truth = [
        (unlinked(p, chance, problem.pi, problem.c), linked(p, chance, problem.rho, problem.m))
        for p, chance in zip(patterns, chances, strict=True)
    ]
    np.testing.assert_allclose(np.sum(by_truth, axis=0), 1.0, rtol=1e-12)
    levels = np.array(patterns)
    place = np.where(levels >= 0, levels + offsets[:-1], offsets[-1])
    constant = -np.log(chances)
    log_m = np.append(np.log(dependence.m), 0.0)[place] + constant
    ratios = (
        dependence.log_unlinked(place, constant),
        log_mixture(log_m, ~dependence.replaced, dependence.rho),
    )
    found = np.exp(np.column_stack(ratios)) * np.prod(chances, axis=1)[:, None]
    np.testing.assert_allclose(found, by_truth, rtol=1e-10)


def test_a_missing_value_is_no_evidence():
    """A pair in which a field is missing says what its other fields say, summed over that one."""
    problem = Problem(N_LEVELS, *TWO_EACH)
    levels, chances = [0, 1, 2, 0], [problem.u[f][k] for f, k in enumerate([0, 1, 2, 0])]
    for f, n in enumerate(N_LEVELS):
        without = [-1 if g == f else level for g, level in enumerate(levels)]
        for chance_of, sets, table in (
            (unlinked, problem.pi, problem.c),
            (linked, problem.rho, problem.m),
        ):
            total = 0.0
            for level in range(n):
                at = [level if g == f else k for g, k in enumerate(levels)]
                by_level = [problem.u[f][level] if g == f else x for g, x in enumerate(chances)]
                total += chance_of(at, by_level, sets, table)
            assert total == pytest.approx(chance_of(without, chances, sets, table))


# --- evidence by field -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_evidence_by_field_adds_up(seed):
    """To the log of the whole ratio, on average over draws of m and rho; missing says nothing."""
    problem = random_problem(200 + seed)
    rng = np.random.default_rng(seed)
    draws_m = [[rng.dirichlet(np.ones(n)) for n in problem.n_levels] for _ in range(3)]
    draws_rho = rng.dirichlet(np.ones(len(problem.rho)), 3)
    likelihood = problem.likelihood(m_weights=np.ones(sum(problem.n_levels)))
    pairs = list(problem.levels)
    draws = {"m": np.array([np.concatenate(m) for m in draws_m])}
    if len(problem.rho) > 1:
        draws["rho"] = draws_rho
    parts = likelihood.weigh_pairs(np.array(pairs), draws)
    for pair, found in zip(pairs, parts, strict=True):
        whole = 0.0
        for m, rho in zip(draws_m, draws_rho, strict=True):
            whole += log(problem.ratio(pair, m, dict(zip(problem.rho, rho, strict=True)))) / 3
        assert found.sum() == pytest.approx(whole, abs=1e-10)
        assert np.all(found[np.array(problem.levels[pair]) < 0] == 0)


def test_evidence_of_independent_fields_is_their_own():
    problem = Problem(N_LEVELS, *SETS["none"])
    likelihood = problem.likelihood()
    parts = likelihood.weigh_pairs(np.array(list(problem.levels)), {})
    for (pair, levels), found in zip(problem.levels.items(), parts, strict=True):
        chances = problem.chances[pair]
        own = [log(problem.m[f][k] / chances[f]) if k >= 0 else 0.0 for f, k in enumerate(levels)]
        np.testing.assert_allclose(found, own, atol=1e-12)


# --- the chain, parameters given -------------------------------------------------------------


def posterior_of(problem, name, likelihood=None):
    """A model of a categorical field and compared ones, and the probability of all partitions."""
    make, probability = FIXED[name]
    n_records = problem.n_records
    data = codes(True, n_records)[:, :1]
    records = Records.from_codes(data, FREQUENCIES[:1])
    compared = likelihood or problem.likelihood()
    model = kp.Model(records, make(), delta=0.6, likelihood=compared)
    own = log_of_all(probability, n_records)
    own = own + by_hand.log_evidence_of_all(data, FREQUENCIES[:1], 0.6).sum(axis=1)
    return model, own


def normalised(log_probability):
    probability = np.exp(log_probability - log_probability.max())
    return probability / probability.sum()


def moved(problem, name, pairs="uniform", likelihood=None, n_starts=6000):
    """P-value of the chain's partitions, started from exact draws."""
    model, own = posterior_of(problem, name, likelihood)
    n_records = problem.n_records
    log_joint = own + [log_evidence(row, problem) for row in partitions(n_records)]
    probability = normalised(log_joint)
    start = np.random.default_rng(1).choice(probability.size, n_starts, p=probability)
    found = Driver(model, PAIRS[pairs](n_records), 1).moved(start, 30)
    return partition_test(found, probability, n_records)


@pytest.mark.parametrize("sets", ["one each", "two each"])
@pytest.mark.parametrize("name", ["NBNB", "DirichletProcess", "ESCNB"])
def test_moves_keep_the_posterior(name, sets):
    pairs = "unequal" if sets == "one each" else "uniform"
    assert moved(Problem(N_LEVELS, *SETS[sets]), name, pairs) > SMALLEST_P


@pytest.mark.parametrize("seed", range(3))
def test_moves_keep_the_posterior_of_any_problem(seed):
    assert moved(random_problem(300 + seed, 5), "PitmanYor") > SMALLEST_P


def test_the_posterior_is_spread_over_many_partitions():
    problem = Problem(N_LEVELS, *TWO_EACH)
    _, own = posterior_of(problem, "DirichletProcess")
    probability = normalised(own + [log_evidence(row, problem) for row in partitions(6)])
    assert exp(by_hand.entropy(probability)) > 20


def test_sharing_left_out_is_caught():
    problem = Problem(N_LEVELS, *TWO_EACH)
    likelihood = problem.likelihood()
    likelihood.unrelated = None
    assert moved(problem, "DirichletProcess", likelihood=likelihood) < 1e-6


def test_replacing_left_out_is_caught():
    problem = Problem(N_LEVELS, *TWO_EACH)
    likelihood = problem.likelihood()
    likelihood.kept = np.ones_like(likelihood.kept)
    assert moved(problem, "DirichletProcess", likelihood=likelihood, n_starts=12_000) < 1e-6


# --- m and rho sampled -----------------------------------------------------------------------


def log_beta(weights):
    return sum(lgamma(w) for w in weights) - lgamma(sum(weights))


def grouped(vector, n_levels):
    """Cut m and rho, all after each other, into fields and rho."""
    cuts = np.cumsum(n_levels)
    return np.split(vector, cuts, axis=-1)


class Augmented:
    """All choices of exemplars and of what was replaced, each with its Dirichlet posterior."""

    def __init__(self, problem, m_weights, rho_weights):
        self.problem, self.prior = problem, np.concatenate([m_weights, rho_weights])
        self.classes = list(problem.rho)
        self.offsets = np.cumsum([0, *problem.n_levels])
        shares = {
            pair: unlinked(levels, problem.chances[pair], problem.pi, problem.c)
            for pair, levels in problem.levels.items()
        }
        self.terms = [self._terms(row, shares) for row in partitions(problem.n_records)]

    def _terms(self, row, shares):
        """The log weights of a partition's choices, and the Dirichlet weights of each."""
        choices = {tuple(np.zeros(self.prior.size, dtype=int)): 1.0}
        for members in clusters_of(row):
            merged = {}
            whole = self.problem.weights[members].sum()
            for counts, weight in choices.items():
                for more, factor in self._choices(members, shares):
                    key = tuple(np.add(counts, more))
                    merged[key] = merged.get(key, 0.0) + weight * factor / whole
            choices = merged
        weights = self.prior + np.array(list(choices))
        log_weight = np.log(list(choices.values()))
        before = [log_beta(part) for part in grouped(self.prior, self.problem.n_levels)]
        for k, row_weights in enumerate(weights):
            after = [log_beta(part) for part in grouped(row_weights, self.problem.n_levels)]
            log_weight[k] += sum(after) - sum(before)
        return log_weight, weights

    def _choices(self, members, shares):
        """For every exemplar, and class of each other member: counts, and all but m and rho."""
        result = []
        for e in members:
            others = [n for n in members if n != e]
            for chosen in product(range(len(self.classes)), repeat=len(others)):
                counts, factor = np.zeros(self.prior.size, dtype=int), self.problem.weights[e]
                for n, r in zip(others, chosen, strict=True):
                    pair = min(n, e), max(n, e)
                    counts[self.offsets[-1] + r] += 1
                    factor /= shares[pair]
                    for f, level in enumerate(self.problem.levels[pair]):
                        if level >= 0 and f in self.classes[r]:
                            factor *= self.problem.chances[pair][f]
                        elif level >= 0:
                            counts[self.offsets[f] + level] += 1
                result.append((counts, factor))
        return result

    @property
    def log_evidence(self):
        return np.array([np.logaddexp.reduce(log_weight) for log_weight, _ in self.terms])

    def draw(self, rng, index):
        """Draw m and rho, all after each other, given a partition."""
        log_weight, weights = self.terms[index]
        term = rng.choice(len(log_weight), p=normalised(log_weight))
        parts = grouped(weights[term], self.problem.n_levels)
        return np.concatenate([rng.dirichlet(part) for part in parts])

    def uniform(self, index, values):
        """The distribution function, given a partition, of each entry of m and rho."""
        log_weight, weights = self.terms[index]
        parts = grouped(weights, self.problem.n_levels)
        totals = np.concatenate(
            [np.broadcast_to(p.sum(axis=1, keepdims=True), p.shape) for p in parts], axis=1
        )
        below = stats.beta.cdf(values[:, None, :], weights, totals - weights)
        return np.einsum("t,vtk->vk", normalised(log_weight), below)


M_WEIGHTS = np.array([3.0, 1.0, 3.0, 1.0, 0.5, 2.0, 1.0])
RHO_WEIGHTS = np.array([3.0, 1.5, 1.0])
SMALL = (
    (2, 3, 2),
    {NONE: 0.8, frozenset({0, 1}): 0.15, frozenset({1, 2}): 0.05},
    {NONE: 0.7, frozenset({1, 2}): 0.2, frozenset({0, 2}): 0.1},
)


class Joint:
    """The problem in which m and rho are sampled with the partition, and its exact answer."""

    def __init__(self):
        self.problem = Problem(*SMALL, n_records=5, seed=8, not_compared=((0, 3), (1, 4)))
        self.truth = Augmented(self.problem, M_WEIGHTS, RHO_WEIGHTS)
        _, own = posterior_of(self.problem, "DirichletProcess")
        self.probability = normalised(own + self.truth.log_evidence)

    def p_values(self, kind=Exemplar, n_starts=3000):
        """P-values of partitions and of m and rho given them, started from exact draws."""
        likelihood = self.problem.likelihood(kind, m_weights=M_WEIGHTS, rho_weights=RHO_WEIGHTS)
        model, _ = posterior_of(self.problem, "DirichletProcess", likelihood)
        rng = np.random.default_rng(4)
        driver = Driver(model, None, 4)
        rings, finals = [], []
        for index in rng.choice(self.probability.size, n_starts, p=self.probability):
            *m, rho = grouped(self.truth.draw(rng, index), self.problem.n_levels)
            driver.set_partition(index)
            driver.set_fields({"delta": np.full(1, 0.6), "m": np.concatenate(m), "rho": rho})
            for _ in range(2):
                driver.move(4)
                driver.update()
            rings.append(driver.state.following.copy())
            values = driver.state.field_values
            finals.append(np.concatenate([values["m"], values["rho"]]))
        found = by_hand.index_of_rings(np.array(rings))
        uniform, finals = np.empty((n_starts, finals[0].size)), np.array(finals)
        for index in np.unique(found):
            own = found == index
            uniform[own] = self.truth.uniform(index, finals[own])
        of_partition = partition_test(found, self.probability, 5)
        return np.array([of_partition, *(uniform_test(column) for column in uniform.T)])


@pytest.fixture(scope="module")
def joint():
    return Joint()


def test_the_mixture_is_the_integral(joint):
    """Over m and rho, of the formula: by drawing them from their prior."""
    rng, problem = np.random.default_rng(6), joint.problem
    n_draws = 200_000
    drawn = [
        rng.dirichlet(part, n_draws).T
        for part in (*grouped(M_WEIGHTS, problem.n_levels)[:-1], RHO_WEIGHTS)
    ]
    m, rho = drawn[:-1], dict(zip(problem.rho, drawn[-1], strict=True))
    evidence = {pair: problem.ratio(pair, m, rho) for pair in problem.levels}
    for index in (1, 7, 20, 33, 51):
        clusters = clusters_of(partitions(5)[index])
        ratios = np.prod(
            [
                cluster_ratio(members, evidence, problem.weights) * np.ones(n_draws)
                for members in clusters
            ],
            axis=0,
        )
        error = ratios.std() / np.sqrt(n_draws)
        assert abs(ratios.mean() - exp(joint.truth.log_evidence[index])) < 4 * error + 1e-12


def test_m_rho_and_the_partition_keep_their_joint_posterior(joint):
    assert joint.p_values().min() > SMALLEST_P


class WithoutClasses(Exemplar):
    """What was replaced is drawn from rho alone, whatever the levels are."""

    def _weigh_classes(self, patterns, values):
        return np.tile(values["rho"], (patterns.size, 1))


class NothingReplaced(Exemplar):
    """Every pair counts as one of which nothing was replaced."""

    def _weigh_classes(self, patterns, values):
        return np.tile(np.eye(len(self.kept))[0], (patterns.size, 1))


@pytest.mark.parametrize("kind", [WithoutClasses, NothingReplaced])
def test_classes_drawn_wrongly_are_caught(joint, kind):
    assert joint.p_values(kind, 1500).min() < 1e-6


def test_sharing_left_out_of_the_updates_is_caught(joint):
    class WithoutSharing(Exemplar):
        def _take_dependence(self, dependence):
            super()._take_dependence(dependence)
            self.unrelated = None

    assert joint.p_values(WithoutSharing, 1500).min() < 1e-6


def test_the_log_joint_of_a_draw_is_that_of_the_model(joint):
    problem = joint.problem
    likelihood = problem.likelihood(m_weights=M_WEIGHTS, rho_weights=RHO_WEIGHTS)
    model, _ = posterior_of(problem, "NBNB", likelihood)
    posterior = kp.sample(model, chains=2, draws=5, warmup=20, seed=1, progress=False)
    assert posterior.parameters["rho"].shape == (2, 5, 3)
    for chain, draw in ((0, 0), (1, 4)):
        parameters = {name: v[chain, draw] for name, v in posterior.parameters.items()}
        slow = model.log_joint(posterior.labels[chain, draw], **parameters)
        assert posterior.log_joint[chain, draw] == pytest.approx(slow)

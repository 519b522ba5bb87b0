"""Known answers: every kernel keeps the posterior that is conditioned on them."""

from itertools import combinations

import enumeration as by_hand
import forced
import numpy as np
import pytest
import test_compared
import test_shards
from driving import Driver
from enumeration import index_of, index_of_rings, partition_test, partitions, sizes_of_all
from invariance import DELTA, SMALLEST_P, Joint, delta_block, fixed_block, fixed_joint
from problems import FIXED, FREQUENCIES, codes, log_of_all, problem
from test_kernel import normalised
from test_paths import FREE
from test_sources import (
    all_but_one,
    compared_problem,
    driver_of,
    is_allowed,
    parts_of,
    starts,
)

import kolchin as kp
from kolchin import kernels
from kolchin.answers import Answers, KnownAnswer
from kolchin.likelihoods import Exemplar
from kolchin.records import Records
from kolchin.sampling.reseating import reseat
from kolchin.sampling.run.starts import STARTS, make_start_labels

CAUGHT = 1e-6
SAID = {
    "uncertain": [(0, 1, "different", 0.1), (5, 2, "same", 0.2), (1, 3, "same", 0.05)],
    "certain": [(0, 4, "same"), (1, 2, "different"), (3, 5, "different")],
    "mixed": [
        *[(0, 3, "same"), (3, 5, "same"), (1, 2, "different")],
        *[(2, 5, "same", 0.1), (0, 1, "different", 0.2)],
    ],
    "contradictory": [
        *[(0, 1, "same", 0.1), (0, 1, "different", 0.2), (1, 0, "same", 0.1)],
        *[(1, 2, "same", 0.1), (0, 2, "different", 0.05), (3, 4, "same", 0.02)],
    ],
}
MIXED = SAID["mixed"]
FEW = [
    pytest.param(said, id=name, marks=[] if name in ("uncertain", "mixed") else pytest.mark.slow)
    for name, said in SAID.items()
]
"""Where all takes long, half of it is for the slow tests."""

SOURCES = [-1, 0, -1, -1, 0, 1]


def log_said(said, n_records=6):
    """Log probability that all was said, of every partition, answer by answer."""
    rows = partitions(n_records)
    total = np.zeros(len(rows))
    for i, j, answer, *error in said:
        e = error[0] if error else 0.0
        right = (rows[:, i] == rows[:, j]) == (answer == "same")
        with np.errstate(divide="ignore"):
            total = total + np.log(np.where(right, 1 - e, e))
    return total


def told(model, said, sources=None):
    """The same model with answers."""
    delta, likelihood = parts_of(model)
    what = {"likelihood": likelihood, "answers": said, "sources": sources}
    return kp.Model(model.records, model.prior, delta, **what)


def categorical(name, said):
    model, log_joint, _ = problem(name, True)
    return told(model, said), normalised(np.array(log_joint) + log_said(said))


def compared(name, said):
    model, log_joint = compared_problem(name)
    return told(model, said), normalised(log_joint + log_said(said))


def of_answers(joint, said):
    """Let a joint posterior know answers."""
    joint.model = told(joint.model, said)
    joint.probability = joint.probability * np.exp(log_said(said))
    joint.probability /= joint.probability.sum()
    return joint


PROBLEMS = {"categorical": categorical, "compared": compared}


# --- the slow truth ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_the_log_joint_has_the_factor(said, kind):
    model, _ = PROBLEMS[kind]("DirichletProcess", said)
    free = told(model, None)
    slow = np.array([model.log_joint(row) for row in partitions(6)])
    without = np.array([free.log_joint(row) for row in partitions(6)])
    np.testing.assert_allclose(slow, without + log_said(said))


def test_reseating_keeps_the_posterior():
    said = [*SAID["uncertain"][:1], (1, 3, "different"), (2, 4, "same", 0.1)]
    model, log_joint, _ = problem("DirichletProcess", True, 5)
    probability = normalised(np.array(log_joint) + log_said(said, 5))
    rng, model = np.random.default_rng(1), told(model, said)
    start = starts(probability, 400)
    found = index_of([reseat(rng, model, partitions(5)[index]) for index in start])
    assert partition_test(found, probability, 5) > SMALLEST_P


# --- the kernels ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
@pytest.mark.parametrize("name", FIXED)
def test_moves_keep_the_posterior(name, said, kind):
    model, probability = PROBLEMS[kind](name, said)
    found = driver_of(model, name, "unequal").moved(starts(probability, 8000), 20)
    assert partition_test(found, probability) > SMALLEST_P


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
@pytest.mark.parametrize("name", ["NBNB", "DirichletProcess", "KolchinPartition"])
def test_weights_on_the_log_scale(name, said, kind):
    model, probability = PROBLEMS[kind](name, said)
    driver = driver_of(model, name)
    driver.set_weights(safe_pairs=False, safe_products=False)
    found = driver.moved(starts(probability, 3000), 8)
    assert partition_test(found, probability) > SMALLEST_P


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
@pytest.mark.parametrize("name", FIXED)
def test_visits_splits_and_attaching_keep_the_posterior(name, said, kind):
    """As in clusters too large to enumerate, and loose links."""
    model, probability = PROBLEMS[kind](name, said)
    driver = driver_of(model, name, seed=2)
    driver.set_weights(largest_enumerated=2)
    result = np.empty((6000, 6), dtype=np.int32)
    for k, index in enumerate(starts(probability, len(result), 2)):
        driver.set_partition(index)
        driver.step(all_but_one())
        driver.move(10)
        result[k] = driver.state.following
    assert partition_test(index_of_rings(result), probability) > SMALLEST_P


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
@pytest.mark.parametrize("name", FREE)
def test_mu_integrated_out(name, said):
    prior, prior_of = FREE[name]
    data = codes(True)
    log_joint = log_of_all(prior_of, 6) + log_said(said)
    log_joint = log_joint + by_hand.log_evidence_of_all(data, FREQUENCIES, 0.6).sum(axis=1)
    probability = normalised(log_joint)
    records = Records.from_codes(data, FREQUENCIES)
    driver = Driver(kp.Model(records, prior, 0.6, answers=said), seed=3)
    assert driver.state.weights.shape.size
    result = np.empty((6000, 6), dtype=np.int32)
    for k, index in enumerate(starts(probability, len(result), 3)):
        driver.set_partition(index)
        driver.move(20)
        driver.step(all_but_one())
        result[k] = driver.state.following
    assert partition_test(index_of_rings(result), probability) > SMALLEST_P


@pytest.mark.parametrize("kind", PROBLEMS)
def test_sources_and_answers(kind):
    """Constraints of both kinds at once."""
    model, probability = PROBLEMS[kind]("NBNB", MIXED)
    probability = normalised(np.log(probability + 1e-300) + np.log(is_allowed(SOURCES) + 1e-300))
    probability[~is_allowed(SOURCES) | np.isneginf(log_said(MIXED))] = 0.0
    driver = driver_of(told(model, MIXED, SOURCES), "NBNB", "unequal")
    found = driver.moved(starts(probability / probability.sum(), 8000), 20)
    assert partition_test(found, probability / probability.sum()) > SMALLEST_P


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_delta_too(said):
    prior_of = FIXED["PitmanYor"][1]
    joint = Joint(FIXED["PitmanYor"][0](), DELTA, [fixed_block(prior_of), delta_block()])
    p_values = of_answers(joint, said).run()
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("visits", [False, True])
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_all_that_is_possible_is_reached(said, visits):
    """From the start that is farthest from most others, chains find the whole posterior."""
    model, probability = categorical("DirichletProcess", said)
    driver = driver_of(model, "DirichletProcess", seed=4)
    if visits:
        driver.set_weights(largest_enumerated=2)
    n_clusters = np.where(probability > 0, [len(sizes) for sizes in sizes_of_all(6)], 7)
    start = np.full(4000, np.argmin(n_clusters))
    assert partition_test(driver.moved(start, 200), probability) > SMALLEST_P


# --- forests, regrouping and shards -----------------------------------------------------------


@pytest.mark.parametrize("said", FEW)
@pytest.mark.parametrize("name", ["NBNB", "PitmanYor", "NBD"])
def test_forests(name, said, monkeypatch):
    forced.let_forests_be_grown(monkeypatch)
    p_values = of_answers(fixed_joint(name, False), said).run(n_draws=1500, rounds=2, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("said", FEW)
@pytest.mark.parametrize("name", ["NBNB", "PitmanYor", "NBD"])
def test_regrouping(name, said, monkeypatch):
    forced.let_equals_regroup(monkeypatch)
    p_values = of_answers(fixed_joint(name, False), said).run(rounds=2, moves=0)
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("bounds", [test_shards.TWO, test_shards.ODD], ids=["two", "odd"])
@pytest.mark.parametrize("said", FEW)
@pytest.mark.parametrize("name", ["NBNB", "NBD", "PitmanYor"])
def test_answers_in_shards(name, said, bounds):
    """Of a pair in two shards nothing changes in a round, so its answer counts all the same."""
    model, probability = test_shards.compared(name)
    with np.errstate(divide="ignore"):
        probability = normalised(np.log(probability) + log_said(said))
    driver = test_shards.in_shards(told(model, said), bounds)
    assert test_shards.p_value(driver, probability) > SMALLEST_P


# --- mistakes made on purpose -----------------------------------------------------------------


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_answers_that_are_forgotten_are_caught(said, kind):
    model, probability = PROBLEMS[kind]("DirichletProcess", said)
    found = driver_of(told(model, None), "").moved(starts(probability, 4000), 20)
    assert partition_test(found, probability) < CAUGHT


@pytest.mark.parametrize("forgets", ["move", "attach"])
@pytest.mark.parametrize("said", ["uncertain", "mixed"])
def test_a_path_without_answers_is_caught(said, forgets):
    model, probability = categorical("DirichletProcess", SAID[said])
    driver = driver_of(model, "DirichletProcess")
    right = driver.problem.data
    wrong = right._replace(answers=kernels.AnswerLists())
    result = np.empty((4000, 6), dtype=np.int32)
    for k, index in enumerate(starts(probability, len(result))):
        driver.set_partition(index)
        driver.problem = driver.problem._replace(data=wrong if forgets == "move" else right)
        driver.move(10)
        driver.problem = driver.problem._replace(data=wrong if forgets == "attach" else right)
        driver.step(all_but_one())
        result[k] = driver.state.following
    assert partition_test(index_of_rings(result), probability) < CAUGHT


def test_a_wrong_rate_is_caught():
    model, probability = categorical("DirichletProcess", SAID["uncertain"])
    wrong = told(model, [(0, 1, "different", 0.15), *SAID["uncertain"][1:]])
    found = driver_of(wrong, "").moved(starts(probability, 20_000), 20)
    assert partition_test(found, probability) < CAUGHT


def test_ties_that_are_strong_but_not_certain_are_caught():
    """Records that may part now and then are not tied."""
    said = SAID["certain"]
    model, _ = categorical("DirichletProcess", said)
    uncertain = [(0, 4, "same", 0.05), *said[1:]]
    probability = normalised(np.array(problem("DirichletProcess", True)[1]) + log_said(uncertain))
    allowed = ~np.isneginf(log_said(said))
    start = starts(probability * allowed / probability[allowed].sum(), 4000)
    found = driver_of(model, "").moved(start, 40)
    assert partition_test(found, probability) < CAUGHT


# --- whole runs -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STARTS)
def test_starts_have_no_partition_that_is_impossible(kind):
    said = [*MIXED, (7, 8, "same"), (6, 8, "different"), (9, 10, "different")]
    answers = Answers.of(40, [KnownAnswer(*one) for one in said])
    rng = np.random.default_rng(1)
    likely = np.array(list(combinations(range(12), 2)), dtype=np.int32)
    for _ in range(200):
        labels = make_start_labels(rng, kind, 40, likely, answers=answers.lists())
        assert answers.log_probability(labels) > -np.inf


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
@pytest.mark.parametrize("compares", [False, True])
def test_a_run_finds_the_posterior(compares, said):
    """Warm-up, proposals, starts and all: the draws have the probabilities of enumeration."""
    records = Records.from_codes(codes(True), FREQUENCIES)
    prior = kp.DirichletProcess(0.8)
    log_joint = log_of_all(lambda sizes: by_hand.dirichlet_process(sizes, 0.8), 6)
    log_joint = log_joint + by_hand.log_evidence_of_all(codes(True), FREQUENCIES, 0.6).sum(axis=1)
    likelihood = None
    if compares:
        m, u = test_compared.M, test_compared.U
        likelihood = Exemplar(test_compared.compared(), "abc", m, fixed=True)
        log_joint = log_joint + np.log(test_compared.evidence_of_all(m, u))
    model = kp.Model(records, prior, 0.6, likelihood=likelihood, answers=said)
    posterior = kp.sample(model, chains=3, draws=2000, warmup=100, seed=1, progress=False)
    labels = posterior.labels.reshape(-1, 6)
    # A step makes hundreds of moves on six records: draws are as good as independent.
    found = index_of(labels)
    assert partition_test(found, normalised(log_joint + log_said(said))) > SMALLEST_P
    parameters = {name: v[0, -1] for name, v in posterior.parameters.items()}
    slow = model.log_joint(posterior.labels[0, -1], **parameters)
    assert posterior.log_joint[0, -1] == pytest.approx(slow)

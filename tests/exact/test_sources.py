"""No two records of one source in a cluster: the kernels keep the restricted posterior."""

from functools import cache
from itertools import combinations

import enumeration as by_hand
import numpy as np
import pytest
import test_compared
from driving import PAIRS, Driver
from enumeration import index_of, index_of_rings, partition_test, partitions, sizes_of_all
from invariance import DELTA, Joint, delta_block, fixed_block
from problems import FIXED, FREQUENCIES, MU, codes, log_of_all, problem
from test_kernel import normalised
from test_paths import FREE

import kolchin as kp
from kolchin.likelihoods import Exemplar, IndependentFields
from kolchin.partitions import NO_SOURCES, has_clash
from kolchin.records import Records
from kolchin.sampling.layout import Layout
from kolchin.sampling.moves.attach import AttachMove
from kolchin.sampling.proposals.attach_lists import build_attach_lists
from kolchin.sampling.reseating import reseat

SMALLEST_P = 1e-4
CAUGHT = 1e-6
SOURCES = {
    "two files": [0, 1, 0, 1, 1, 0],
    "some without": [0, -1, 0, 1, -1, -1],
    "four files": [4, 7, 2, 4, 0, -1],
}
MIXED = SOURCES["some without"]


def is_allowed(sources):
    """Which partitions have no two records of one source in a cluster, pair by pair."""
    rows = partitions(len(sources))
    allowed = np.ones(len(rows), dtype=bool)
    for i, j in combinations(range(len(sources)), 2):
        if sources[i] == sources[j] != -1:
            allowed &= rows[:, i] != rows[:, j]
    return allowed


def restricted(log_joint, sources):
    return normalised(np.where(is_allowed(sources), log_joint, -np.inf))


def parts_of(model):
    """The delta of the categorical fields, and the likelihood of the compared ones, if any."""
    if isinstance(model.likelihood, IndependentFields):
        return model.likelihood.categorical.delta, model.likelihood.compared
    return model.likelihood.delta, None


def with_sources(model, sources):
    """The same model with a constraint."""
    delta, likelihood = parts_of(model)
    return kp.Model(model.records, model.prior, delta, likelihood=likelihood, sources=sources)


def of_sources(joint, sources):
    """Let a joint posterior have a constraint."""
    joint.model = with_sources(joint.model, sources)
    joint.probability = joint.probability * is_allowed(sources)
    joint.probability /= joint.probability.sum()
    return joint


def categorical(name, sources):
    model, log_joint, _ = problem(name, True)
    return with_sources(model, sources), restricted(np.array(log_joint), sources)


compared_problem = cache(test_compared.problem)


def compared(name, sources):
    model, log_joint = compared_problem(name)
    return with_sources(model, sources), restricted(log_joint, sources)


PROBLEMS = {"categorical": categorical, "compared": compared}


def driver_of(model, name, pairs="uniform", seed=1):
    driver = Driver(model, PAIRS[pairs](model.n_records), seed)
    if name in ("NBD", "ESCD"):
        driver.set_parameters(log_mu=np.log(MU))
    return driver


def starts(probability, n_draws, seed=1):
    return np.random.default_rng(seed).choice(probability.size, n_draws, p=probability)


def all_but_one(n_records=6):
    """Loose links: forbidden pairs are listed too, to see that they are refused."""
    listed = np.array(list(combinations(range(n_records), 2))[1:], dtype=np.int32)
    log_odds = np.linspace(-6.0, -2.4, len(listed))
    lists = build_attach_lists(Layout.single(n_records), listed, log_odds)
    return AttachMove(lists._replace(share=4.0, joinings=99.0))


# --- the slow truth ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("sources", SOURCES.values(), ids=SOURCES)
def test_the_log_joint_is_that_without_sources_or_nothing(sources, kind):
    model, _ = PROBLEMS[kind]("DirichletProcess", sources)
    free = with_sources(model, None)
    slow = np.array([model.log_joint(row) for row in partitions(6)])
    without = np.array([free.log_joint(row) for row in partitions(6)])
    np.testing.assert_array_equal(slow, np.where(is_allowed(sources), without, -np.inf))


def test_reseating_keeps_the_posterior():
    sources = MIXED[:5]
    model, log_joint, _ = problem("DirichletProcess", True, 5)
    probability = restricted(np.array(log_joint), sources)
    model = with_sources(model, sources)
    rng = np.random.default_rng(1)
    start = starts(probability, 400)
    found = index_of([reseat(rng, model, partitions(5)[index]) for index in start])
    assert partition_test(found, probability, 5) > SMALLEST_P


# --- the kernels ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("sources", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("name", FIXED)
def test_moves_keep_the_posterior(name, sources, kind):
    model, probability = PROBLEMS[kind](name, sources)
    found = driver_of(model, name, "unequal").moved(starts(probability, 8000), 20)
    assert partition_test(found, probability) > SMALLEST_P


def test_clusters_of_three_and_four_are_common_enough_to_be_tested():
    for kind in PROBLEMS:
        _, probability = PROBLEMS[kind]("DirichletProcess", MIXED)
        largest = np.array([sizes[0] for sizes in sizes_of_all(6)])
        for size in (2, 3, 4):
            assert probability[largest == size].sum() > 0.06
        assert probability[largest == 5].sum() > 0.004


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("name", ["NBNB", "DirichletProcess", "KolchinPartition"])
def test_weights_on_the_log_scale(name, kind):
    """Where products leave the range of doubles, forbidden divisions weigh log 0."""
    model, probability = PROBLEMS[kind](name, MIXED)
    driver = driver_of(model, name)
    driver.set_weights(safe_pairs=False, safe_products=False)
    found = driver.moved(starts(probability, 3000), 8)
    assert partition_test(found, probability) > SMALLEST_P


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("sources", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("name", FIXED)
def test_visits_and_attaching_keep_the_posterior(name, sources, kind):
    """Records one by one, as in clusters too large to enumerate, and loose links."""
    model, probability = PROBLEMS[kind](name, sources)
    driver = driver_of(model, name, seed=2)
    driver.set_weights(largest_enumerated=2)
    result = np.empty((6000, 6), dtype=np.int32)
    for k, index in enumerate(starts(probability, len(result), 2)):
        driver.set_partition(index)
        driver.step(all_but_one())
        driver.move(10)
        result[k] = driver.state.following
    assert partition_test(index_of_rings(result), probability) > SMALLEST_P


@pytest.mark.parametrize("name", FREE)
def test_mu_integrated_out(name):
    prior, prior_of = FREE[name]
    data = codes(True)
    log_joint = log_of_all(prior_of, 6)
    log_joint = log_joint + by_hand.log_evidence_of_all(data, FREQUENCIES, 0.6).sum(axis=1)
    probability = restricted(log_joint, MIXED)
    records = Records.from_codes(data, FREQUENCIES)
    driver = Driver(kp.Model(records, prior, 0.6, sources=MIXED), seed=3)
    assert driver.state.weights.shape.size
    result = np.empty((6000, 6), dtype=np.int32)
    for k, index in enumerate(starts(probability, len(result), 3)):
        driver.set_partition(index)
        driver.move(20)
        driver.step(all_but_one())
        result[k] = driver.state.following
    assert partition_test(index_of_rings(result), probability) > SMALLEST_P


def test_delta_too():
    """Given the partition delta is as without sources: its posterior is restricted alone."""
    prior_of = FIXED["PitmanYor"][1]
    joint = Joint(FIXED["PitmanYor"][0](), DELTA, [fixed_block(prior_of), delta_block()])
    p_values = of_sources(joint, MIXED).run()
    assert min(p_values.values()) > SMALLEST_P, p_values


@pytest.mark.parametrize("visits", [False, True])
@pytest.mark.parametrize("sources", SOURCES.values(), ids=SOURCES)
def test_all_that_is_allowed_is_reached(sources, visits):
    """From the start that is farthest from most others, chains find the whole posterior."""
    model, probability = categorical("DirichletProcess", sources)
    driver = driver_of(model, "DirichletProcess", seed=4)
    if visits:
        driver.set_weights(largest_enumerated=2)
    n_clusters = np.where(probability > 0, [len(sizes) for sizes in sizes_of_all(6)], 7)
    start = np.full(4000, np.argmin(n_clusters))
    assert partition_test(driver.moved(start, 150), probability) > SMALLEST_P


# --- mistakes made on purpose -----------------------------------------------------------------


@pytest.mark.parametrize("forgets", ["move", "attach"])
def test_a_path_without_the_constraint_is_caught(forgets):
    model, probability = categorical("DirichletProcess", MIXED)
    driver = driver_of(model, "DirichletProcess")
    right = driver.problem.data
    wrong = right._replace(source=NO_SOURCES)
    result = np.empty((2000, 6), dtype=np.int32)
    for k, index in enumerate(starts(probability, len(result))):
        driver.set_partition(index)
        driver.problem = driver.problem._replace(data=wrong if forgets == "move" else right)
        driver.move(10)
        driver.problem = driver.problem._replace(data=wrong if forgets == "attach" else right)
        driver.step(all_but_one())
        result[k] = driver.state.following
    assert partition_test(index_of_rings(result), probability) < CAUGHT


@pytest.mark.parametrize("repeats", [False, True])
def test_moves_made_again_until_they_are_allowed_are_caught(repeats):
    """A move without constraint that is taken back keeps the posterior; made again, it does not."""
    model, probability = categorical("DirichletProcess", MIXED)
    driver = driver_of(with_sources(model, None), "DirichletProcess", seed=5)
    allowed = is_allowed(MIXED)
    found = starts(probability, 20_000, 5)
    for _ in range(4):
        moved = driver.moved(found, 1)
        while repeats and not allowed[moved].all():
            again = ~allowed[moved]
            moved[again] = driver.moved(found[again], 1)
        found = np.where(allowed[moved], moved, found)
    p_value = partition_test(found, probability)
    assert p_value < CAUGHT if repeats else p_value > SMALLEST_P


def test_a_source_too_many_is_caught():
    model, probability = categorical("DirichletProcess", MIXED)
    wrong = with_sources(model, [0, -1, 0, 1, 1, -1])
    start = starts(restricted(np.log(probability + 1e-300), [0, -1, 0, 1, 1, -1]), 5000)
    assert partition_test(driver_of(wrong, "").moved(start, 40), probability) < CAUGHT


# --- whole runs -------------------------------------------------------------------------------


def simulated(n_entities=120, n_sources=3):
    """Records of three files that each have most of the entities, and some of no known file."""
    rng = np.random.default_rng(6)
    entity = np.concatenate([rng.permutation(n_entities)[:80] for _ in range(n_sources)])
    source = np.repeat(np.arange(n_sources), 80)
    source[rng.random(source.size) < 0.1] = -1
    values = rng.integers(0, 4, (n_entities, 5))[entity]
    wrong = rng.random(values.shape) < 0.1
    values[wrong] = rng.integers(0, 4, wrong.sum())
    return values, source


def test_no_draw_of_a_run_has_two_records_of_one_source():
    values, source = simulated()
    for sources, clashes in ((source, False), (None, True)):
        model = kp.Model(Records.from_codes(values), sources=sources)
        posterior = kp.sample(model, chains=3, draws=40, warmup=60, seed=1, progress=False)
        found = [has_clash(row, source) for row in posterior.labels.reshape(-1, len(values))]
        assert all(found) if clashes else not any(found)
    largest = np.bincount(posterior.labels[0, -1]).max()
    assert largest > 2


def test_compared_fields_in_a_run():
    likelihood = Exemplar(test_compared.compared(), "abc")
    records = Records.from_codes(codes(True), FREQUENCIES)
    model = kp.Model(records, kp.NBNB(), likelihood=likelihood, sources=MIXED)
    posterior = kp.sample(model, chains=3, draws=100, warmup=50, seed=1, progress=False)
    labels = posterior.labels.reshape(-1, 6)
    assert is_allowed(MIXED)[index_of(labels)].all()
    parameters = {name: v[0, -1] for name, v in posterior.parameters.items()}
    slow = model.log_joint(posterior.labels[0, -1], **parameters)
    assert posterior.log_joint[0, -1] == pytest.approx(slow)

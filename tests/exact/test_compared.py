"""Compared fields: the likelihood is its formula, and the kernels keep its posterior."""

from itertools import combinations

import enumeration as by_hand
import numpy as np
import pytest
from driving import PAIRS, Driver, scratch_for
from enumeration import partition_test, partitions, uniform_test
from problems import FIXED, FREQUENCIES, MU, codes, log_of_all
from scipy import stats

import kolchin as kp
from kolchin import kernels
from kolchin.kernels.visits import visit_all
from kolchin.likelihoods import Exemplar, Outcomes
from kolchin.likelihoods.exemplar import MORE_SHOWN, WITH_SLIP
from kolchin.records import Records
from kolchin.sampling.layout import Layout
from kolchin.sampling.moves.attach import AttachMove
from kolchin.sampling.problem import pose_problem
from kolchin.sampling.proposals.attach_lists import build_attach_lists

SMALLEST_P = 1e-4
N_LEVELS = (3, 2, 4)
M = ([0.6, 0.3, 0.1], [0.8, 0.2], [0.5, 0.2, 0.2, 0.1])
U = ([0.1, 0.2, 0.7], [0.3, 0.7], [0.05, 0.15, 0.2, 0.6])
SHOWS = np.ones((7, 3), dtype=bool)
SHOWS[1, 0] = SHOWS[3, 2] = SHOWS[4, :2] = False
SLIPS = np.zeros((7, 3), dtype=bool)
SLIPS[0, 0] = SLIPS[2, 2] = SLIPS[3, 0] = SLIPS[5, 0] = SLIPS[5, 2] = True
NOT_COMPARED = {(0, 3), (2, 5), (1, 4)}


def outcome(n_records=6, n_levels=N_LEVELS, seed=11):
    """Levels of most pairs: records close in number agree more often than others."""
    rng = np.random.default_rng(seed)
    pairs = [p for p in combinations(range(n_records), 2) if p not in NOT_COMPARED]
    levels = np.array(
        [
            [min(rng.geometric(0.5 / (1 + (j - i) // 3)) - 1, n - 1) for n in n_levels]
            for i, j in pairs
        ]
    )
    fields = len(n_levels)
    both = np.array([SHOWS[i, :fields] & SHOWS[j, :fields] for i, j in pairs])
    return np.array(pairs, dtype=np.int32), np.where(both, levels, -1).astype(np.int8)


def compared(n_records=6, n_levels=N_LEVELS, u=U):
    pairs, levels = outcome(n_records, n_levels)
    chance = np.array([[u[f][k] for f, k in enumerate(row)] for row in levels])
    return Outcomes(
        pairs,
        levels,
        np.where(levels < 0, 1.0, chance),
        tuple(n_levels),
        np.array([one[-1] for one in u]),
        SHOWS[:n_records, : len(n_levels)],
        slips=SLIPS[:n_records, : len(n_levels)],
    )


def ratio(i, j, m, u, pairs, levels):
    """m/u of a pair by the formula."""
    pair = (min(i, j), max(i, j))
    result = 1.0
    for f in range(len(m)):
        if SHOWS[i, f] and SHOWS[j, f]:
            level = len(m[f]) - 1 if pair in NOT_COMPARED else levels[pairs.index(pair)][f]
            result = result * m[f][level] / u[f][level]
    return result


def log_slips(n, e, levels, pairs, n_levels=N_LEVELS):
    """What is left of evidence, on the log scale to the base of ``FROM_SLIP``."""
    pair = (min(n, e), max(n, e))
    if pair in NOT_COMPARED:
        return 0
    row = levels[pairs.index(pair)]
    near = (row > 0) & (row < np.array(n_levels) - 1)
    return max(int(SLIPS[e, : row.size] @ near) - int(SLIPS[n, : row.size] @ near), 0)


def weigh(e, n_fields, more_shown=MORE_SHOWN, with_slip=WITH_SLIP):
    return more_shown ** SHOWS[e, :n_fields].sum() * with_slip ** SLIPS[e, :n_fields].sum()


def evidence_of_all(m, u, n_records=6, n_levels=N_LEVELS, from_slip=kernels.FROM_SLIP, **weighing):
    """The exemplar formula for every partition, cluster by cluster."""
    pairs, levels = outcome(n_records, n_levels)
    pairs = [tuple(pair) for pair in pairs.tolist()]
    result = []
    for row in partitions(n_records):
        total = 1.0
        for cluster in np.unique(row):
            inside = np.flatnonzero(row == cluster).tolist()
            terms, weights = 0.0, 0.0
            for e in inside:
                weight = weigh(e, len(m), **weighing)
                weights += weight
                product = weight
                for n in inside:
                    if n != e:
                        product = product * ratio(n, e, m, u, pairs, levels)
                        product = product * from_slip ** log_slips(n, e, levels, pairs, n_levels)
                terms = terms + product
            total = total * terms / weights
        result.append(total)
    return np.stack(np.broadcast_arrays(*result))


def problem(name, n_records=6):
    """A model of categorical and compared fields, and the log probability of every partition."""
    make, probability = FIXED[name]
    data = codes(True, n_records)[:, :1]
    likelihood = Exemplar(compared(n_records), "abc", M, fixed=True)
    records = Records.from_codes(data, FREQUENCIES[:1])
    model = kp.Model(records, make(), delta=0.6, likelihood=likelihood)
    log_joint = log_of_all(probability, n_records)
    log_joint = log_joint + by_hand.log_evidence_of_all(data, FREQUENCIES[:1], 0.6).sum(axis=1)
    return model, log_joint + np.log(evidence_of_all(M, U, n_records))


def normalised(log_probability):
    probability = np.exp(log_probability - log_probability.max())
    return probability / probability.sum()


def test_the_slow_truth_is_the_formula():
    likelihood = Exemplar(compared(), "abc", M, fixed=True)
    values = likelihood.start()
    slow = [likelihood.log_likelihood(row, values) for row in partitions(6)]
    np.testing.assert_allclose(slow, np.log(evidence_of_all(M, U)), atol=1e-12)


def test_for_two_records_it_is_the_product_of_the_fields():
    likelihood = Exemplar(compared(), "abc", M, fixed=True)
    together = np.array([0, 1, 2, 3, 4, 0])
    pairs, levels = outcome()
    listed = [tuple(pair) for pair in pairs.tolist()]
    weights = [weigh(0, 3), weigh(5, 3)]
    left = [kernels.FROM_SLIP ** log_slips(n, e, levels, listed) for n, e in ((5, 0), (0, 5))]
    expected = ratio(0, 5, M, U, listed, levels) * np.average(left, weights=weights)
    assert likelihood.log_likelihood(together, likelihood.start()) == pytest.approx(
        np.log(expected)
    )


def driver_of(model, name, pairs, seed):
    driver = Driver(model, PAIRS[pairs](model.n_records), seed)
    if name in ("NBD", "ESCD"):
        driver.set_parameters(log_mu=np.log(MU))
    return driver


@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("name", FIXED)
def test_moves_keep_the_posterior(name, pairs):
    model, log_joint = problem(name)
    probability = normalised(log_joint)
    start = np.random.default_rng(1).choice(probability.size, 20_000, p=probability)
    found = driver_of(model, name, pairs, 1).moved(start, 40)
    assert partition_test(found, probability) > SMALLEST_P


def test_clusters_of_three_and_four_are_common_enough_to_be_tested():
    _, log_joint = problem("DirichletProcess")
    probability = normalised(log_joint)
    largest = np.array([sizes[0] for sizes in by_hand.sizes_of_all(6)])
    for size in (2, 3, 4):
        assert probability[largest == size].sum() > 0.08


@pytest.mark.parametrize("name", FIXED)
def test_visits_and_attaching_keep_the_posterior(name):
    """Records one by one, as in clusters too large to enumerate, and loose links."""
    model, log_joint = problem(name)
    probability = normalised(log_joint)
    driver = driver_of(model, name, "uniform", 2)
    listed = np.array(list(combinations(range(6), 2))[1:], dtype=np.int32)
    odds = np.linspace(-6.0, -2.4, len(listed))
    lists = build_attach_lists(Layout.single(6), listed, odds)
    attach = AttachMove(lists._replace(share=4.0, joinings=99.0))
    start = np.random.default_rng(2).choice(probability.size, 10_000, p=probability)
    result = np.empty((start.size, 6), dtype=np.int32)
    driver.set_weights(largest_enumerated=2)
    for k, index in enumerate(start):
        driver.set_partition(index)
        driver.step(attach)
        driver.move(10)
        result[k] = driver.state.following
    assert partition_test(by_hand.index_of_rings(result), probability) > SMALLEST_P


def test_one_way_exemplars_would_be_wrong():
    """A product over all pairs of a cluster, the tempting shortcut, is another posterior."""
    model, log_joint = problem("DirichletProcess")
    pairs, levels = outcome()
    pairs = [tuple(pair) for pair in pairs.tolist()]
    shortcut = np.zeros(203)
    for k, row in enumerate(partitions(6)):
        for i, j in combinations(range(6), 2):
            if row[i] == row[j]:
                shortcut[k] += np.log(ratio(i, j, M, U, pairs, levels))
    wrong = normalised(log_joint - np.log(evidence_of_all(M, U)) + shortcut)
    start = np.random.default_rng(1).choice(203, 20_000, p=wrong)
    found = Driver(model, None, 1).moved(start, 40)
    assert partition_test(found, wrong) < 1e-6


def test_exemplars_that_are_equally_likely_whatever_they_show_would_be_another_posterior():
    model, log_joint = problem("DirichletProcess")
    equal = np.log(evidence_of_all(M, U, more_shown=1.0))
    wrong = normalised(log_joint - np.log(evidence_of_all(M, U)) + equal)
    start = np.random.default_rng(1).choice(203, 20_000, p=wrong)
    found = Driver(model, None, 1).moved(start, 40)
    assert partition_test(found, wrong) < 1e-6


@pytest.mark.parametrize("other", [{"from_slip": 1.0}, {"with_slip": 1.0}])
def test_slips_that_say_as_much_as_other_values_would_be_another_posterior(other):
    model, log_joint = problem("DirichletProcess")
    equal = np.log(evidence_of_all(M, U, **other))
    wrong = normalised(log_joint - np.log(evidence_of_all(M, U)) + equal)
    start = np.random.default_rng(1).choice(203, 20_000, p=wrong)
    found = Driver(model, None, 1).moved(start, 40)
    assert partition_test(found, wrong) < 1e-6


def test_what_the_exemplar_does_not_show_hides_little():
    """A and C differ in all but one field, which is all that B shows: they stay apart."""
    shows = np.array([[True, True, True], [True, False, False], [True, True, True]])
    pairs = np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int32)
    levels = np.array([[0, -1, -1], [0, 1, 1], [0, -1, -1]], dtype=np.int8)
    chance = np.where(levels < 0, 1.0, np.where(levels == 0, 0.01, 0.99))
    outcomes = Outcomes(pairs, levels, chance, (2, 2, 2), np.full(3, 0.99), shows)
    likelihood = Exemplar(outcomes, "abc", [[0.95, 0.05]] * 3, fixed=True)
    together = likelihood.log_likelihood(np.zeros(3, dtype=int), likelihood.start())
    first_two = likelihood.log_likelihood(np.array([0, 0, 1]), likelihood.start())
    # With each exemplar as likely as the others it would be 95 / 3.
    assert together - first_two < np.log(95 * 2 / 400 + 1)


def test_m_and_the_partition_keep_their_joint_posterior():
    """m of one field with two levels has a grid; the exemplars are drawn on the way."""
    n_levels, u, weights = (2,), ([0.25, 0.75],), [[2.0, 1.0]]
    likelihood = Exemplar(compared(6, n_levels, u), "a", weights)
    data = codes(True)[:, :1]
    records = Records.from_codes(data, FREQUENCIES[:1])
    model = kp.Model(records, kp.DirichletProcess(0.8), delta=0.6, likelihood=likelihood)
    edges = np.linspace(0, 1, 401)
    middle = 0.5 * (edges[1:] + edges[:-1])
    evidence = evidence_of_all(([middle, 1 - middle],), u, 6, n_levels)
    assert evidence.shape == (203, 400)
    own = log_of_all(FIXED["DirichletProcess"][1], 6)
    own = own + by_hand.log_evidence_of_all(data, FREQUENCIES[:1], 0.6).sum(axis=1)
    weight = np.exp(own)[:, None] * evidence * stats.beta(2, 1).pdf(middle)
    weight /= weight.sum()
    rng = np.random.default_rng(3)
    cell = rng.choice(weight.size, 6000, p=weight.ravel())
    value = edges[cell % 400] + rng.random(6000) / 400
    driver = Driver(model, None, 3)
    after = []
    for index, m in zip(cell // 400, value, strict=True):
        driver.set_partition(index)
        driver.set_fields({"delta": np.full(1, 0.6), "m": np.array([m, 1 - m])})
        for _ in range(2):
            driver.move(4)
            driver.update()
        state = driver.state
        after.append((state.following.copy(), state.field_values["m"][0]))
    found = by_hand.index_of_rings(np.array([state[0] for state in after]))
    assert partition_test(found, weight.sum(axis=1)) > SMALLEST_P
    below = np.concatenate([np.zeros((203, 1)), np.cumsum(weight, axis=1)], axis=1)
    below /= below[:, -1:]
    final = np.array([state[1] for state in after])
    uniform = [np.interp(m, edges, below[k]) for k, m in zip(found, final, strict=True)]
    assert uniform_test(np.array(uniform)) > SMALLEST_P


def test_the_log_joint_of_a_draw_is_that_of_the_model():
    likelihood = Exemplar(compared(), "abc")
    records = Records.from_codes(codes(True), FREQUENCIES)
    model = kp.Model(records, kp.NBNB(), likelihood=likelihood)
    posterior = kp.sample(model, chains=2, draws=5, warmup=20, seed=1, progress=False)
    for chain, draw in ((0, 0), (1, 4)):
        parameters = {name: v[chain, draw] for name, v in posterior.parameters.items()}
        slow = model.log_joint(posterior.labels[chain, draw], **parameters)
        assert posterior.log_joint[chain, draw] == pytest.approx(slow)


def test_too_many_fields():
    with pytest.raises(kp.ModelError, match="at most 16"):
        Exemplar(compared(), "abcdefghijklmnopq")


def visited(model, labels, room, seed):
    """Sides after S, the first two clusters, was visited with room for so many rows of logs."""
    driver = Driver(model, None, seed)
    n = model.n_records
    scratch = scratch_for(n, room)
    scratch.side[:] = labels != labels[0]
    partition = driver.state.partition._replace(size_counts=np.zeros(100, dtype=np.int64))
    together = bool(scratch.side.sum() == 0)
    rng = np.random.default_rng(seed)
    state = driver.state
    what = driver.problem.data, state.evidence, state.weights, partition
    visit_all(rng, -1.0, together, *what, n, scratch)
    return scratch.side, scratch.log_sides


@pytest.mark.parametrize("labels", [[0, 1, 0, 1, 1, 0], [0, 1, 1, 1, 1, 1], [0] * 6])
def test_sums_follow_the_sides_with_or_without_room_for_all_pairs(labels):
    """The evidence of each side after a sweep of visits is its formula."""
    model, _ = problem("DirichletProcess")
    likelihood = model.likelihood.compared
    values = likelihood.start()
    found = set()
    for seed in range(40):
        side, log_sides = visited(model, np.array(labels), 6, seed)
        fewer, same = visited(model, np.array(labels), 1, seed)
        np.testing.assert_array_equal(side, fewer)
        np.testing.assert_allclose(log_sides, same, atol=1e-12)
        for own in range(2):
            inside = np.where(side == own, 0, 1 + np.arange(6))
            slow = likelihood.log_likelihood(inside, values)
            np.testing.assert_allclose(log_sides[own], slow, atol=1e-12)
        found.add(tuple(side.tolist()))
    assert len(found) > 2


def test_pairs_are_found_in_lists_of_any_shape():
    """Long and short lists, crowded at one end, and pairs that are not listed."""
    rng = np.random.default_rng(5)
    n = 300
    near = {(i, j) for i in range(n) for j in range(i + 1, min(i + 40, n)) if rng.random() < 0.6}
    star = {(0, j) for j in range(1, n)} | {(i, n - 1) for i in range(150)}
    pairs = np.array(sorted(near | star), dtype=np.int32)
    levels = rng.integers(0, 3, (len(pairs), 1)).astype(np.int8)
    shows = np.ones((n, 1), dtype=bool)
    u = np.array([0.1, 0.2, 0.7])
    chance = u[levels]
    likelihood = Exemplar(Outcomes(pairs, levels, chance, (3,), u[-1:], shows), "a")
    every = np.array(list(combinations(range(n), 2)), dtype=np.int32)
    log_evidence = np.log(np.concatenate(likelihood.compute_ratios(likelihood.start())[:2]))
    expected = log_evidence[likelihood.find_patterns(every)]
    records = Records.from_codes(np.zeros((n, 1), dtype=int), frequencies=[[1.0]])
    model = kp.Model(records, likelihood=likelihood)
    problem = pose_problem(model)
    evidence = model.likelihood.compute_evidence(model.likelihood.start(rng))
    for order in (np.arange(len(every)), rng.permutation(len(every))):
        scores = kernels.compute_pair_scores(problem.data, evidence, every[order])
        np.testing.assert_allclose(scores, expected[order], atol=1e-12)


@pytest.mark.parametrize("name", ["DirichletProcess", "NBD"])
def test_weights_on_the_log_scale_keep_the_posterior(name):
    """As where products of evidence would leave the range of doubles."""
    model, log_joint = problem(name)
    probability = normalised(log_joint)
    start = np.random.default_rng(4).choice(probability.size, 20_000, p=probability)
    driver = driver_of(model, name, "uniform", 4)
    driver.set_weights(safe_pairs=False, safe_products=False)
    assert partition_test(driver.moved(start, 40), probability) > SMALLEST_P


def test_evidence_out_of_range_is_weighed_on_the_log_scale():
    """Of four records, all pairs of 0, 1 and 2 fit by 1e130, and those with 3 by 1e-130."""
    pairs = np.array(list(combinations(range(4), 2)), dtype=np.int32)
    levels = (pairs[:, 1:] == 3).astype(np.int8)
    u = np.array([1e-131, 1e129])
    outcomes = Outcomes(pairs, levels, u[levels], (2,), u[1:], np.ones((4, 1), dtype=bool))
    likelihood = Exemplar(outcomes, "a", [[0.9, 0.1]], fixed=True)
    records = Records.from_codes(np.zeros((4, 1), dtype=int), frequencies=[[1.0]])
    model = kp.Model(records, kp.DirichletProcess(0.8), delta=0.6, likelihood=likelihood)
    driver = Driver(model, None, 5)
    found = driver.moved(np.arange(15), 60)
    together = [row.tolist() for row in partitions(4)].index([0, 0, 0, 1])
    assert (found == together).all()

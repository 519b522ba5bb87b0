"""Every fast increment equals a difference of ``Model.log_joint``, the slow truth."""

import inspect
from itertools import combinations

import enumeration as by_hand
import numpy as np
import pytest
from driving import Driver, scratch_for
from enumeration import entropy, partition_test, partitions, sizes_of_all
from invariance import SAMPLED, SMALLEST_P
from problems import FIXED, FREQUENCIES, MU, codes, log_of_all, problem

import kolchin as kp
from kolchin import kernels
from kolchin.kernels import categorical, divisions, prior
from kolchin.partitions import make_canonical
from kolchin.records import Records

CLOSE = {"rtol": 0, "atol": 1e-9}


class Fast:
    """The kernel's functions, called by the names of their arguments."""

    def __init__(self, driver):
        state = driver.state
        self.known = {
            "data": driver.problem.data,
            "evidence": state.evidence,
            "weights": state.weights,
        }
        self.scratch = scratch_for(kernels.LARGEST_ENUMERATED)
        self.known["scratch"] = self.scratch

    def __call__(self, name, **given):
        homes = [home for home in (categorical, divisions, prior) if hasattr(home, name)]
        function = getattr(homes[0], name)
        known = self.known | given
        return function(*[known[p] for p in inspect.signature(function.py_func).parameters])

    def inside(self, members, wanted=0, **given):
        """Keywords that put some records on one side."""
        side = np.full(len(members), wanted, dtype=np.int8)
        members = np.asarray(members, dtype=np.int32)
        return {
            "members": members,
            "side": side,
            "wanted": wanted,
            "n_members": members.size,
            **given,
        }

    def log_join(self, record, members):
        """Weight of joining a cluster."""
        size = self.known["weights"].log_size
        inside = self.inside(members, record=record)
        return size[len(members) + 1] - size[len(members)] + self("log_predictive", **inside)


def driver_of(name, model):
    """A driver with mu fixed where there is one."""
    driver = Driver(model)
    if name in ("NBD", "ESCD"):
        driver.set_parameters(log_mu=np.log(MU))
    return driver


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", FIXED)
def test_a_record_joins_or_opens(name, missing):
    model, _, parameters = problem(name, missing, 5)
    fast = Fast(driver_of(name, model))
    for labels in partitions(5):
        for n in range(5):
            others = np.delete(np.arange(5), n)
            weight, slow = [], []
            for c in np.unique(labels[others]):
                weight.append(fast.log_join(n, others[labels[others] == c]))
                slow.append(model.log_joint(np.where(np.arange(5) == n, c, labels), **parameters))
            alone = np.where(np.arange(5) == n, 9, labels)
            slow.append(model.log_joint(alone, **parameters))
            n_others = len(np.unique(labels[others]))
            weight.append(fast("log_open_weight", n_others=n_others))
            weight, slow = np.array(weight), np.array(slow)
            possible = np.isfinite(slow)
            if possible[-1]:
                assert np.array_equal(possible, weight > -np.inf)
                weight, slow = weight[possible], slow[possible]
                np.testing.assert_allclose(weight - weight[-1], slow - slow[-1], **CLOSE)


def evidence_by_hand(model, members, delta):
    """Log evidence of a cluster over singletons, by its urn."""
    data = model.records.codes[members]
    frequencies = model.records.frequencies
    together = np.zeros(len(members), dtype=int)
    total = 0.0
    for f in range(data.shape[1]):
        total += by_hand.log_evidence(data, frequencies, together, f, delta)
        total -= by_hand.log_evidence(data, frequencies, np.arange(len(members)), f, delta)
    return float(total)


@pytest.mark.parametrize("missing", [False, True])
def test_evidence_of_sets_of_records(missing):
    model = problem("DirichletProcess", missing)[0]
    fast = Fast(Driver(model))
    for size in range(2, 7):
        for members in combinations(range(6), size):
            hand = evidence_by_hand(model, list(members), 0.6)
            shuffled = np.random.default_rng(size).permutation(members)
            np.testing.assert_allclose(fast("log_evidence", **fast.inside(shuffled)), hand, **CLOSE)
    for i, j in combinations(range(6), 2):
        hand = evidence_by_hand(model, [i, j], 0.6)
        np.testing.assert_allclose(
            np.log(fast("compute_categorical_ratio", i=i, j=j)), hand, **CLOSE
        )
        np.testing.assert_allclose(fast("log_categorical_ratio", i=i, j=j), hand, **CLOSE)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("size", [3, 4])
def test_evidence_of_all_subsets_at_once(size, missing):
    model = problem("DirichletProcess", missing)[0]
    fast = Fast(Driver(model))
    for members in combinations([3, 0, 5, 2, 4, 1], size):
        fast.scratch.members[:size] = members
        assert fast("write_subset_evidence", n_members=size)
        for subset in range(1 << size):
            chosen = [members[k] for k in range(size) if subset >> k & 1] if subset else members
            if subset == 0 or subset & 3 in (1, 2):
                hand = evidence_by_hand(model, list(chosen), 0.6)
                np.testing.assert_allclose(np.log(fast.scratch.subsets[subset]), hand, **CLOSE)


@pytest.mark.parametrize("name", FIXED)
def test_weight_tables_are_differences_of_log_prob(name):
    prior = FIXED[name][0]()
    mu = {"mu": MU[:-1]} if name in ("NBD", "ESCD") else {}
    log_join, log_open = prior.weights(6, **mu)
    assert len(log_open) == 6
    for m in range(1, 6):
        # one of the singletons, beside 6 - m other clusters, joins the cluster of m
        before = prior.log_prob([0] * m + list(range(1, 7 - m)), **mu)
        after = prior.log_prob([0] * (m + 1) + list(range(1, 6 - m)), **mu)
        if np.isfinite(before):
            np.testing.assert_allclose(log_join[m] - log_open[6 - m], after - before, **CLOSE)


@pytest.mark.parametrize("missing", [False, True])
def test_cells_give_the_likelihood(missing):
    records = Records.from_codes(codes(missing), FREQUENCIES)
    likelihood = kp.Model(records, delta=0.6, tied=False).likelihood
    delta = np.array([0.6, 0.01, 30.0])
    for labels in partitions(6):
        members, sizes, _ = kernels.list_members(kernels.make_rings(labels), np.array([0, 6, 0, 0]))
        cells = likelihood.count_cells(
            *kernels.collect_agreement_cells(members, sizes, likelihood.codes)
        )
        slow = likelihood.log_likelihood(labels, {"delta": delta})
        fast = likelihood.log_evidence(cells, delta) + likelihood.log_singletons
        np.testing.assert_allclose(fast, slow, **CLOSE)
        hand = sum(
            by_hand.log_evidence(codes(missing), FREQUENCIES, labels, f, delta[f]) for f in range(3)
        )
        np.testing.assert_allclose(slow, hand, **CLOSE)


@pytest.mark.parametrize("name", SAMPLED)
def test_kept_log_joint_is_the_slow_truth(name):
    model = SAMPLED[name]().model
    driver = Driver(model, seed=8)
    for _ in range(20):
        driver.move(5)
        driver.update()
        draw = driver.snapshot()
        labels = np.arange(6)
        members, sizes, _ = kernels.list_members(draw.following, np.array([0, 6, 0, 0]))
        for group in np.split(members, np.cumsum(sizes)[:-1]):
            labels[group] = labels[group[:1]]
        # mu is integrated out in both
        given = {k: v for k, v in draw.parameters.items() if k != "mu"}
        slow = model.log_joint(make_canonical(labels), **given)
        np.testing.assert_allclose(draw.log_joint, slow, **CLOSE)


# --- evidence that no floating-point number holds --------------------------------------------


def extreme(order, n_agreeing, n_differing, rare, delta):
    """Records that agree on many rare values and differ in many fields, in balance.

    The evidence of a pair is about 1, but its factors are far beyond the range of floats. The
    order of the fields decides whether a plain product overflows or underflows on its way.
    """
    agreeing = np.zeros((6, n_agreeing), dtype=np.int32)
    differing = np.repeat(np.arange(6, dtype=np.int32)[:, None], n_differing, axis=1)
    data = np.hstack([agreeing, differing])
    frequencies = [[rare, 1 - rare]] * n_agreeing + [[1 / 6] * 6] * n_differing
    place = {
        "agreeing first": np.arange(data.shape[1]),
        "differing first": np.arange(data.shape[1])[::-1],
        "mixed": np.random.default_rng(0).permutation(data.shape[1]),
    }[order]
    data, frequencies = np.ascontiguousarray(data[:, place]), [frequencies[f] for f in place]
    prior = kp.PitmanYor(0.5, 0.3)
    model = kp.Model(Records.from_codes(data, frequencies), prior, delta=delta)
    log_joint = log_of_all(lambda sizes: by_hand.pitman_yor(sizes, 0.5, 0.3), 6)
    return model, log_joint + by_hand.log_evidence_of_all(data, frequencies, delta).sum(axis=1)


EXTREMES = {"few fields": (5, 5, 1e-70, 1e-70), "many fields": (60, 120, 1e-6, 1e-3)}
ORDERS = ["agreeing first", "differing first", "mixed"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", EXTREMES)
def test_increments_of_extreme_evidence(kind, order):
    model, log_joint = extreme(order, *EXTREMES[kind])
    slow = np.array([model.log_joint(row) for row in partitions(6)])
    np.testing.assert_allclose(slow, log_joint, rtol=1e-12)
    fast = Fast(Driver(model))
    delta = float(model.likelihood.delta)
    for i, j in combinations(range(6), 2):
        hand = evidence_by_hand(model, [i, j], delta)
        np.testing.assert_allclose(fast("log_categorical_ratio", i=i, j=j), hand, rtol=0, atol=1e-8)
    for size in range(2, 7):
        hand = evidence_by_hand(model, list(range(size)), delta)
        found = fast("log_evidence", **fast.inside(range(size)))
        np.testing.assert_allclose(found, hand, rtol=1e-11, atol=1e-8)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", EXTREMES)
def test_kernel_keeps_the_posterior_under_extreme_evidence(kind, order):
    model, log_joint = extreme(order, *EXTREMES[kind])
    probability = np.exp(log_joint - log_joint.max())
    probability /= probability.sum()
    assert entropy(probability) > 3.0
    pairs = np.array([sizes[0] <= 2 for sizes in sizes_of_all(6)])
    assert probability[pairs].sum() > 0.5
    start = np.random.default_rng(6).choice(203, 8000, p=probability)
    assert partition_test(Driver(model, seed=6).moved(start, 6), probability) > SMALLEST_P

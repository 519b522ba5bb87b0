"""Mistakes made on purpose: the same tests that the engine passes must catch each of them."""

import math
from dataclasses import dataclass

import enumeration as by_hand
import numpy as np
import pytest
from driving import Driver
from enumeration import index_of, partition_test, partitions, sizes_of_all
from invariance import DELTA, SMALLEST_P, Joint, P, R, delta_block, nbnb_joint, p_grid, sizes_block
from problems import FREQUENCIES, codes

import kolchin as kp
from kolchin.partitions import make_canonical
from kolchin.records import Records

CAUGHT = 1e-6
FIXED_NBNB = {"a": 1.5, "q": 0.6, "r": 2.5, "p": 0.5}


class WithoutR(kp.NBNB):
    """The paper's misprint: the open weight lacks the factor r (model section 1)."""

    def weigh_opening(self, n_records, values):
        right = super().weigh_opening(n_records, values)
        return right._replace(log_scale=right.log_scale - np.log(values["r"]))


class StaleK(kp.NBNB):
    """The open weight counts the record's own cluster among the others."""

    def weigh_opening(self, n_records, values):
        right = super().weigh_opening(n_records, values)
        return right._replace(intercept=right.intercept + right.slope)


class OneLess(kp.NBNB):
    """The paper's misprint: Gamma(|c| - 1 + r) in the conditional of r (model section 2)."""

    def log_part(self, name, counts, values):
        right = super().log_part(name, counts, values)
        if name != "r":
            return right
        # Gamma(|c| - 1 + r) / Gamma(|c| + r)
        wrong = -np.log(counts.sizes - 1 + values["r"])
        return right + float(counts.counts @ wrong)


@dataclass(frozen=True)
class Scale(kp.Gamma):
    """The paper's misprint: e^(-r/s) for a rate s."""

    def log_density(self, x):
        return (self.shape - 1) * math.log(x) - x / self.rate


def posterior_of_nbnb():
    """Records, and the posterior of every partition under NBNB with fixed parameters."""
    data = codes(False)
    log_evidence = by_hand.log_evidence_of_all(data, FREQUENCIES, 0.6).sum(axis=1)
    weight = np.array([by_hand.nbnb(s, **FIXED_NBNB) for s in sizes_of_all(6)]) * np.exp(
        log_evidence
    )
    return Records.from_codes(data, FREQUENCIES), weight / weight.sum()


def moved(prior, n_draws=20_000):
    """P-value of the kernel with a prior that claims to be NBNB."""
    records, probability = posterior_of_nbnb()
    driver = Driver(kp.Model(records, prior, delta=0.6), seed=3)
    start = np.random.default_rng(3).choice(203, n_draws, p=probability)
    return partition_test(driver.moved(start, 3), probability)


def test_the_right_weights_pass():
    assert moved(kp.NBNB(**FIXED_NBNB)) > SMALLEST_P


@pytest.mark.parametrize("wrong", [WithoutR, StaleK])
def test_wrong_open_weights_are_caught(wrong):
    assert moved(wrong(**FIXED_NBNB)) < CAUGHT


def test_right_conditionals_pass():
    assert min(nbnb_joint().run(seed=4).values()) > SMALLEST_P


def test_one_less_in_the_conditional_of_r_is_caught():
    assert nbnb_joint(OneLess(1.5, 0.6, R, P)).run(seed=4)["r"] < CAUGHT


def test_a_scale_for_a_rate_is_caught():
    # the posterior has the rate of R, 1.5; Scale uses 1 / 1.5
    assert nbnb_joint(kp.NBNB(1.5, 0.6, Scale(R.shape, R.rate), P)).run(seed=4)["r"] < CAUGHT


def test_a_scale_for_a_rate_of_delta_is_caught():
    block = sizes_block(["p"], [p_grid()], lambda s, p: by_hand.nbnb(s, 1.5, 0.6, 2.5, p))
    prior = kp.NBNB(1.5, 0.6, 2.5, P)
    blocks = [block, delta_block()]
    assert Joint(prior, DELTA, blocks).run(seed=4)["delta"] > SMALLEST_P
    wrong = Scale(DELTA.shape, DELTA.rate)
    assert Joint(prior, wrong, blocks).run(seed=4)["delta"] < CAUGHT


def with_replacement(share):
    """P-value after moves of which a share has i = j.

    There the record may open a cluster, but a record alone stays alone: one-way splits.
    """
    records, probability = posterior_of_nbnb()
    rng = np.random.default_rng(5)
    driver = Driver(kp.Model(records, kp.NBNB(**FIXED_NBNB), delta=0.6), seed=5)
    split = np.empty((203, 6), dtype=int)
    for k, labels in enumerate(partitions(6)):
        alone = np.where(np.eye(6, dtype=bool), 6, labels)
        split[k] = index_of([make_canonical(row) for row in alone])
    found = rng.choice(203, 10_000, p=probability)
    for _ in range(6):
        opened = split[found, rng.integers(6, size=found.size)]
        odds = probability[opened] / probability[found]
        opens = (rng.random(found.size) < odds / (1 + odds)) & (opened != found)
        same = rng.random(found.size) < share
        result = np.where(opens, opened, found)
        result[~same] = driver.moved(found[~same], 1)
        found = result
    return partition_test(found, probability)


def test_pairs_drawn_with_replacement_are_caught():
    assert with_replacement(0.0) > SMALLEST_P
    assert with_replacement(1 / 6) < CAUGHT

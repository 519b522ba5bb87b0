"""What the technical note claims of the exemplar likelihood, and not of any sampler."""

from itertools import product

import numpy as np
import pytest

from kolchin.likelihoods import Exemplar, Outcomes

M, U = ([0.7, 0.2, 0.1], [0.6, 0.4]), ([0.1, 0.3, 0.6], [0.25, 0.75])


def likelihood_of(rows, n_records):
    """The likelihood of some records, given the levels of all their pairs."""
    pairs = np.array([(i, j) for j in range(n_records) for i in range(j)], dtype=np.int32)
    order = np.lexsort([pairs[:, 1], pairs[:, 0]])
    levels = np.array(rows, dtype=np.int8)[order]
    chance = np.column_stack([np.array(u)[levels[:, f]] for f, u in enumerate(U)])
    last = np.array([u[-1] for u in U])
    shows = np.ones((n_records, len(U)), dtype=bool)
    outcomes = Outcomes(pairs[order], levels, chance, tuple(map(len, U)), last, shows)
    return Exemplar(outcomes, ["a", "b"], M, fixed=True), float(chance.prod())


def log_ratio(rows, labels):
    """Log probability of the levels given a partition, over that given singletons."""
    likelihood, _ = likelihood_of(rows, len(labels))
    return likelihood.log_likelihood(np.array(labels), likelihood.start())


ALL_LEVELS = list(product(range(3), range(2)))


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 2]])
def test_chances_of_all_levels_add_up_to_one(labels):
    """Of the levels of all pairs, summed over everything they could be."""
    total, without_mean = 0.0, 0.0
    for rows in product(ALL_LEVELS, repeat=3):
        likelihood, chance = likelihood_of(rows, 3)
        ratio = np.exp(likelihood.log_likelihood(np.array(labels), likelihood.start()))
        total += chance * ratio
        # Negative control: the sum over exemplars in place of the mean is no probability.
        without_mean += chance * ratio * max(np.bincount(labels))
    assert total == pytest.approx(1, abs=1e-12)
    assert (without_mean == pytest.approx(1)) == (len(set(labels)) == 3)


def test_a_record_that_fits_all_adds_its_evidence_once():
    """Not once for every record of its cluster, as a product over all pairs would have it."""
    exact = [(0, 0)] * 3
    rows = np.random.default_rng(1).choice(len(ALL_LEVELS), 3)
    others = [ALL_LEVELS[k] for k in rows]
    least = np.log(M[0][0] * M[1][0] / (U[0][0] * U[1][0]))
    before, after = log_ratio(others, [0] * 3), log_ratio(others + exact, [0] * 4)
    assert after >= before + least + np.log(3 / 4) - 1e-12
    # Clusters of records that all agree: evidence grows with their number, not with that of pairs.
    for n in (2, 3, 4):
        n_pairs = n * (n - 1) // 2
        assert log_ratio([(0, 0)] * n_pairs, [0] * n) == pytest.approx((n - 1) * least)

"""Exact draws of NBD sizes must follow the enumerated prior."""

import math

import numpy as np
import pytest
from scipy.stats import chisquare

from kolchin.partitions import list_partitions, size_counts
from kolchin.priors.free_sizes import FreeSizes


def probabilities_of_sizes(
    n_records: int, q: float, alpha: float, base: float
) -> dict[tuple[int, ...], float]:
    """Add up P(C, N) of NBD, mu integrated out, over the partitions with the same sizes."""
    totals: dict[tuple[int, ...], float] = {}
    for labels in list_partitions(n_records):
        counts = size_counts(labels)[1:]
        n_clusters = int(counts.sum())
        log_p = math.lgamma(n_clusters + alpha) + n_clusters * math.log(q)
        log_p -= math.lgamma(alpha + n_clusters)
        for size, count in enumerate(counts.tolist(), 1):
            mass = alpha * base * (1 - base) ** (size - 1)
            log_p += count * math.lgamma(size + 1) + math.lgamma(mass + count) - math.lgamma(mass)
        sizes = tuple(np.repeat(np.arange(1, counts.size + 1), counts).tolist())
        totals[sizes] = totals.get(sizes, 0.0) + math.exp(log_p)
    total = sum(totals.values())
    return {sizes: weight / total for sizes, weight in totals.items()}


@pytest.mark.exact
@pytest.mark.parametrize(("q", "alpha", "base"), [(0.5, 1.0, 0.5), (0.9, 2.5, 0.3)])
def test_draws_follow_the_enumerated_prior(q: float, alpha: float, base: float) -> None:
    n_records, n_draws = 7, 5_000
    expected = probabilities_of_sizes(n_records, q, alpha, base)
    rng = np.random.default_rng(1)
    drawing = FreeSizes(q, alpha, base * (1 - base) ** np.arange(9))
    observed = dict.fromkeys(expected, 0)
    for _ in range(n_draws):
        observed[tuple(sorted(drawing.draw(rng, n_records).tolist()))] += 1
    expected_counts = np.array(list(expected.values())) * n_draws
    assert chisquare(list(observed.values()), expected_counts).pvalue > 1e-3


def test_clusters_of_many_records_are_about_as_large_as_they_are_many() -> None:
    rng = np.random.default_rng(2)
    drawing = FreeSizes(0.5, 1.0, 0.5 ** np.arange(1, 2_501))
    largest = [drawing.draw(rng, 2_500).max() for _ in range(50)]
    assert 40 < np.median(largest) < 62
    assert drawing.draw(rng, 2_500).sum() == 2_500

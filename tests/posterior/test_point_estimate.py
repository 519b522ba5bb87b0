"""The point estimate against all partitions."""

import numpy as np
import pytest

from kolchin.errors import DataError
from kolchin.evaluation import evaluate
from kolchin.partitions import Certain, has_clash, list_partitions, make_canonical
from kolchin.posterior import Posterior, point_estimate

LOSSES = ("vi", "binder")


def loss_between(one, two, loss):
    result = evaluate(one, two)
    if loss == "vi":
        return result.variation_of_information
    return result.linked_pairs + result.true_pairs - 2 * result.correct_pairs


def random_posterior(seed, posterior_of, n_records, concentration):
    """Draw from a random distribution over all partitions: no structure helps the search."""
    rng = np.random.default_rng(seed)
    partitions = list(list_partitions(n_records))
    probabilities = rng.dirichlet(np.full(len(partitions), concentration))
    picks = rng.choice(len(partitions), int(rng.integers(2, 30)), p=probabilities)
    return posterior_of([[partitions[k] for k in picks]])


@pytest.mark.parametrize("loss", LOSSES)
def test_expected_loss_is_a_mean_over_draws(posterior, loss):
    for labels in (posterior.partition(0, 0), np.zeros(10, int), np.arange(10)):
        mean = np.mean([loss_between(labels, draw, loss) for draw in posterior])
        assert posterior.expected_loss(labels, loss) == pytest.approx(mean)


@pytest.mark.exact
@pytest.mark.parametrize("loss", LOSSES)
def test_no_partition_is_better(posterior_of, loss):
    """Greedy search may miss the optimum; on these 120 arbitrary cases it may once."""
    misses = 0
    for seed in range(120):
        n_records, concentration = 2 + seed % 5, (0.02, 0.1, 1.0)[seed % 3]
        posterior = random_posterior(seed, posterior_of, n_records, concentration)
        found = posterior.expected_loss(posterior.point_estimate(loss), loss)
        least = min(posterior.expected_loss(p, loss) for p in list_partitions(n_records))
        misses += found > least + 1e-9
        starts = [*posterior, posterior.point_estimate("paper"), np.arange(n_records)]
        assert found <= min(posterior.expected_loss(p, loss) for p in starts) + 1e-9
    assert misses <= 1


@pytest.mark.exact
@pytest.mark.parametrize("loss", LOSSES)
def test_independent_parts_are_solved_independently(posterior_of, loss):
    """Many small problems side by side have the sum of their optima."""
    rng = np.random.default_rng(6)
    parts = rng.integers(0, 3, (40, 25, 4))  # 40 groups of 4 records, 25 draws
    labels = parts + 10 * np.arange(40)[:, None, None]
    whole = posterior_of([np.moveaxis(labels, 1, 0).reshape(25, -1)])
    least = 0.0
    for group in parts:
        alone = posterior_of([group])
        losses = [alone.expected_loss(p, loss) for p in list_partitions(4)]
        least += min(losses) * (4 / 160 if loss == "vi" else 1)
    found = whole.expected_loss(whole.point_estimate(loss), loss)
    assert found == pytest.approx(least)


def test_the_paper_links_pairs_above_one_half(posterior_of):
    # 0-1 and 1-2 are linked in two of three draws, 0-2 in one; 3-4 in half of the draws at most.
    chains = [[[0, 0, 0, 1, 2], [0, 0, 1, 2, 2], [0, 1, 1, 2, 3]]]
    assert posterior_of(chains).point_estimate("paper").tolist() == [0, 0, 0, 1, 2]
    halves = [[[0, 0], [0, 1]]]
    assert posterior_of(halves).point_estimate("paper").tolist() == [0, 1]


@pytest.mark.parametrize("loss", point_estimate.LOSSES)
def test_a_certain_posterior_is_its_own_estimate(posterior_of, loss):
    labels = [2, 0, 2, 1, 0, 2, 3]
    posterior = posterior_of([[labels, labels], [labels, labels]])
    estimate = posterior.point_estimate(loss)
    assert estimate.tolist() == make_canonical(labels).tolist()
    assert estimate.dtype == np.int64
    if loss != "paper":
        assert posterior.expected_loss(estimate, loss) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_tight_budgets_change_little(posterior_of, monkeypatch, loss):
    rng = np.random.default_rng(7)
    posterior = posterior_of(rng.integers(0, 12, (2, 30, 20)))
    full = posterior.expected_loss(posterior.point_estimate(loss), loss)
    monkeypatch.setattr(point_estimate, "DRAWS_BUDGET", 1)
    monkeypatch.setattr(point_estimate, "SINGLETONS_BUDGET", 1)
    tight = posterior.expected_loss(posterior.point_estimate(loss), loss)
    assert tight <= posterior.expected_loss(posterior.partition(0, 0), loss)
    assert tight == pytest.approx(full, rel=0.2)


def test_the_estimate_is_the_same_every_time(posterior):
    first = posterior.point_estimate()
    again = Posterior.from_draws(
        10, [[posterior.draw(c, t) for t in range(6)] for c in range(2)]
    ).point_estimate()
    assert first.tolist() == again.tolist()


def test_unknown_losses_and_empty_posteriors_are_refused(posterior):
    with pytest.raises(DataError, match=r"'loss' parameter must be one of .* Got 'bind' instead"):
        posterior.point_estimate("bind")
    with pytest.raises(DataError, match="'loss' parameter"):
        posterior.expected_loss(np.arange(10), "paper")
    with pytest.raises(DataError, match="at least one draw"):
        Posterior.from_draws(3, [[]]).point_estimate()


def test_sources_are_kept_apart(posterior_of):
    """Random halves, two records never together: the best partition is one cluster, but may not."""
    sources = np.array([5, 5] + [-1] * 14, dtype=np.int32)
    drawn = np.random.default_rng(1).integers(0, 2, (1, 60, 16))
    drawn[..., :2] = [0, 1]
    posterior = posterior_of(drawn)
    assert posterior.point_estimate().max() == 0
    estimate = posterior.point_estimate(sources=sources)
    assert not has_clash(estimate, sources)
    best = min(posterior.expected_loss(row) for row in drawn[0])
    assert posterior.expected_loss(estimate) <= best + 1e-12


def test_what_is_certain_holds_in_the_estimate(posterior_of):
    """Random halves, two records never together and two always: the best partition may not be."""
    certain = Certain(np.array([[2, 3]], np.int32), np.array([[0, 1]], np.int32))
    drawn = np.random.default_rng(1).integers(0, 2, (1, 60, 16))
    drawn[..., :2] = [0, 1]
    drawn[..., 3] = drawn[..., 2]
    posterior = posterior_of(drawn)
    assert certain.find_broken(posterior.point_estimate()).tolist() == [0, 1]
    estimate = point_estimate.find_point_estimate(posterior, certain=certain)
    assert not certain.find_broken(estimate).size
    best = min(posterior.expected_loss(row) for row in drawn[0])
    assert posterior.expected_loss(estimate) <= best + 1e-12
    assert certain.find_broken(np.arange(16)).tolist() == [2, 3]

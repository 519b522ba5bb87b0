"""What every prior promises: a new one is a file, and a line here."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kolchin as kp
from kolchin import priors
from kolchin.cli.arguments import PriorName
from kolchin.partitions import list_partitions, make_canonical
from kolchin.priors.base import Prior

N_RECORDS = 5
MU = {"mu": [0.4, 0.25, 0.15, 0.1, 0.1]}

PRIORS: dict[str, tuple[Callable[[], Prior], dict[str, Any]]] = {
    "DirichletProcess": (lambda: kp.DirichletProcess(0.8), {}),
    "ESCD": (lambda: kp.ESCD(alpha=1.0, r=1.8, p=0.6), MU),
    "ESCNB": (lambda: kp.ESCNB(r=1.8, p=0.6), {}),
    "KolchinPartition": (lambda: kp.KolchinPartition(mu=[0.5, 0.3, 0.2]), {}),
    "NBD": (lambda: kp.NBD(a=1.0, q=0.55), MU),
    "NBNB": (lambda: kp.NBNB(a=1.5, q=0.6, r=2.5, p=0.5), {}),
    "PitmanYor": (lambda: kp.PitmanYor(0.5, 0.3), {}),
}
"""One line a prior: how it is made with numbers, and what else its probabilities are given."""


def largest_fault(log_prob: Callable[..., float], prior: Prior, given: dict[str, Any]) -> float:
    """Return how far weights to join or open are from differences of log probabilities, at most.

    Of each partition, each record goes from where it is to every other cluster, or alone.
    """
    log_join, log_open = prior.weights(N_RECORDS, **given)
    faults = [0.0]
    for labels in list_partitions(N_RECORDS):
        for record in range(N_RECORDS):
            others = np.delete(labels, record)
            alone = labels.copy()
            alone[record] = N_RECORDS
            opened = log_prob(make_canonical(alone), **given) - log_open[len(set(others.tolist()))]
            for cluster in sorted(set(others.tolist())):
                joined = np.where(np.arange(N_RECORDS) == record, cluster, labels)
                joining = log_join[int((others == cluster).sum())]
                after = log_prob(make_canonical(joined), **given)
                if np.isfinite(opened) and (np.isfinite(after) or np.isfinite(joining)):
                    faults.append(abs(after - joining - opened))
    return float(max(faults))


def test_every_prior_has_a_line() -> None:
    kinds = {name for name in priors.__all__ if inspect.isclass(getattr(priors, name))}
    made = {name for name in kinds if not inspect.isabstract(getattr(priors, name))}
    assert made == set(PRIORS)
    assert made <= set(kp.__all__)


@pytest.mark.exact
@pytest.mark.parametrize("name", PRIORS)
def test_weights_are_differences_of_probabilities(name: str) -> None:
    make, given = PRIORS[name]
    prior = make()
    assert largest_fault(prior.log_prob, prior, given) < 1e-9


@pytest.mark.exact
def test_a_table_for_the_number_of_clusters_counts() -> None:
    prior = kp.KolchinPartition(kappa=[0.1, 0.3, 0.05, 0.35, 0.2], mu=[0.4, 0.3, 0.1, 0.1, 0.1])
    assert largest_fault(prior.log_prob, prior, {}) < 1e-9


@pytest.mark.exact
@pytest.mark.parametrize("name", PRIORS)
def test_wrong_weights_would_be_seen(name: str) -> None:
    """A probability that also depends on the number of clusters is not that of the weights."""
    make, given = PRIORS[name]
    prior = make()

    def wrong(labels: Any, **given: Any) -> float:
        return prior.log_prob(labels, **given) + 0.01 * len(set(labels.tolist()))

    assert largest_fault(wrong, prior, given) > 1e-3


@pytest.mark.exact
@pytest.mark.parametrize("name", PRIORS)
def test_nothing_but_the_sizes_matters(name: str) -> None:
    make, given = PRIORS[name]
    prior, rng = make(), np.random.default_rng(1)
    for labels in list_partitions(N_RECORDS):
        shuffled = make_canonical(rng.permutation(labels))
        assert prior.log_prob(shuffled, **given) == prior.log_prob(labels, **given)


@pytest.mark.parametrize("name", PRIORS)
def test_draws_are_partitions_that_the_seed_repeats(name: str) -> None:
    make, _ = PRIORS[name]
    first = make().draw(40, 1)
    assert first.shape == (40,)
    assert np.array_equal(make_canonical(first), first)
    assert np.array_equal(make().draw(40, 1), first)
    assert not np.array_equal(make().draw(40, 2), first)


def test_every_prior_has_a_name_for_commands_and_files():
    """But for the one that is made of tables, which no file holds."""
    named = {kind.__name__ for kind in priors.PRIORS.values()}
    assert named == set(PRIORS) - {"KolchinPartition"}
    assert [name.value for name in PriorName] == list(priors.PRIORS)

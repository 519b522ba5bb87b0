"""Records that are added given parameters: the partition is a draw from its posterior."""

import numpy as np
import pytest
from enumeration import index_of, partition_test, partitions
from test_compared import M, compared

import kolchin as kp
from kolchin.likelihoods import Exemplar
from kolchin.partitions import make_canonical
from kolchin.posterior import Posterior
from kolchin.posterior.draws import Draw
from kolchin.records import Records
from kolchin.sampling import updating

SMALLEST_P = 1e-4
N_CHAINS, N_DRAWS = 4, 250
PRIORS = {
    "nbd": kp.NBD(a=1, q=0.7, alpha=1, base=0.5),
    "nbnb": kp.NBNB(a=1, q=0.6, r=1.5, p=0.4),
    "pyp": kp.PitmanYor(theta=1.5, discount=0.3),
}


def model_of_all(prior, n_records=6):
    records = Records.from_codes(np.zeros((n_records, 1), dtype=int)).select([])
    own = Exemplar(compared(n_records), ["a", "b", "c"], M, fixed=True)
    return kp.Model(records, prior=prior, delta=1.0, likelihood=own)


def earlier(n_records, members=(), sizes=()):
    """Draws that all have the same clusters: where a chain begins does not matter."""
    one = Draw(np.array(list(members), dtype=np.int32), np.array(sizes, dtype=np.int32), {}, 0.0)
    return Posterior.from_draws(n_records, [[one] * N_DRAWS] * N_CHAINS)


def probabilities(model):
    log = np.array([model.log_joint(row) for row in partitions(model.n_records)])
    weight = np.exp(log - log.max())
    return weight / weight.sum()


def drawn(posterior):
    labels = posterior.labels.reshape(-1, posterior.n_records)
    return index_of(np.array([make_canonical(row) for row in labels]))


@pytest.mark.parametrize("name", PRIORS)
def test_added_records_are_drawn_from_the_posterior(name):
    model = model_of_all(PRIORS[name])
    row_before = np.array([0, 1, 2, 3, -1, -1])
    posterior = updating.update_draws(earlier(4), model, row_before, row_before < 0, 5)
    exact = probabilities(model)
    assert partition_test(drawn(posterior), exact) > SMALLEST_P
    other = probabilities(model_of_all(kp.NBNB(a=1, q=0.3, r=3, p=0.5)))
    assert partition_test(drawn(posterior), other) < SMALLEST_P


SAID = [(4, 0, "same", 0.1), (5, 1, "different"), (2, 5, "same"), (3, 4, "different", 0.2)]


def test_what_is_said_of_added_records_counts():
    """As of records that are changed: people said it of whoever has their ids."""
    free = model_of_all(PRIORS["nbd"])
    model = kp.Model(free.records, free.prior, 1.0, likelihood=free.likelihood, answers=SAID)
    row_before = np.array([0, 1, 2, 3, -1, -1])
    posterior = updating.update_draws(earlier(4), model, row_before, row_before < 0, 5)
    assert partition_test(drawn(posterior), probabilities(model)) > SMALLEST_P
    assert partition_test(drawn(posterior), probabilities(free)) < SMALLEST_P


def test_of_whom_something_is_said_with_an_added_record_is_drawn_anew(monkeypatch):
    monkeypatch.setattr(updating, "LEAST_LOG_ODDS", np.inf)
    free = model_of_all(PRIORS["nbd"])
    model = kp.Model(free.records, free.prior, 1.0, likelihood=free.likelihood, answers=SAID)
    row_before = np.array([0, 1, 2, 3, -1, -1])
    region = updating.find_region(earlier(4), model, row_before, row_before < 0)
    assert region.rows.tolist() == [0, 1, 2, 3, 4, 5]
    alone = updating.find_region(earlier(4), free, row_before, row_before < 0)
    assert alone.rows.tolist() == [4, 5]


def test_what_is_taken_out_leaves_the_posterior_of_the_rest():
    """The first of six records is gone and another is added; the rest come one place up."""
    model = model_of_all(PRIORS["nbd"])
    row_before = np.array([1, 2, 3, 4, 5, -1])
    posterior = updating.update_draws(
        earlier(6, range(6), [6]), model, row_before, row_before < 0, 5
    )
    assert partition_test(drawn(posterior), probabilities(model)) > SMALLEST_P


def test_what_no_added_record_reaches_stays(monkeypatch):
    """Of pairs that are no links, the known records stay as they were drawn, and count."""
    monkeypatch.setattr(updating, "LEAST_LOG_ODDS", np.inf)
    model = model_of_all(PRIORS["nbd"])
    row_before = np.array([0, 1, 2, 3, -1, -1])
    posterior = updating.update_draws(earlier(4, [0, 2], [2]), model, row_before, row_before < 0, 5)
    labels = posterior.labels.reshape(-1, 6)
    assert (labels[:, :4] == [0, 1, 0, 2]).all()
    # Whether the two that were added are one, given all others, by two evaluations of the joint.
    apart, together = (model.log_joint([0, 1, 0, 2, 3, last]) for last in (4, 3))
    chance = 1 / (1 + np.exp(apart - together))
    seen = (labels[:, 4] == labels[:, 5]).mean()
    assert abs(seen - chance) < 4 * np.sqrt(chance * (1 - chance) / (N_CHAINS * N_DRAWS))

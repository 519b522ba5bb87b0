"""Summaries made portion by portion are those of the whole."""

import numpy as np
import pytest

import kolchin as kp
from kolchin.posterior import summaries
from kolchin.posterior.draws import Draw, Posterior
from kolchin.posterior.summaries import cut_into_portions, summarise


def drawn(n_groups=40, n_draws=30, seed=1):
    """Draws of groups of five records, the records of a group spread over the table."""
    rng = np.random.default_rng(seed)
    place = rng.permutation(5 * n_groups).astype(np.int32)
    chains = []
    for _ in range(2):
        chain = []
        for _ in range(n_draws):
            members, sizes = [], []
            for group in range(n_groups):
                labels = rng.integers(0, 1 + group % 5, 5)
                for label in range(5):
                    inside = np.sort(place[5 * group + np.flatnonzero(labels == label)])
                    if inside.size > 1:
                        members.append(inside)
                        sizes.append(inside.size)
            chain.append(Draw(np.concatenate(members), np.array(sizes), {}, 0.0))
        chains.append(chain)
    return Posterior.from_draws(5 * n_groups, chains)


@pytest.fixture
def whole():
    return drawn()


def test_portions_are_posteriors_of_their_own(whole):
    found = list(cut_into_portions(whole, np.arange(200), 3))
    assert len(found) == 3
    assert np.array_equal(np.sort(np.concatenate([one.records for one in found])), np.arange(200))
    for records, some, sources, _ in found:
        assert np.array_equal(sources, records)
        for c, t in ((0, 0), (1, 17)):
            expected = whole.partition(c, t)[records]
            same = expected[:, None] == expected
            own = some.partition(c, t)
            assert np.array_equal(own[:, None] == own, same)


def test_summaries_are_those_of_the_whole(whole, monkeypatch):
    monkeypatch.setattr(summaries, "RECORDS_A_PORTION", 70)
    found = summarise(whole, 0.05)
    assert found.links.equals(whole.links(0.05))
    assert np.array_equal(found.confidence, whole.confidence(found.labels))
    expected = whole.point_estimate()
    assert whole.expected_loss(found.labels) <= whole.expected_loss(expected) + 1e-12
    assert found.largest is None
    assert np.array_equal(found.linked, whole.point_estimate("paper"))


def test_one_portion_is_the_whole(whole):
    found = summarise(whole, 0.01)
    assert np.array_equal(found.labels, whole.point_estimate())
    assert found.links.equals(whole.links(0.01))


def test_a_result_is_made_in_portions(monkeypatch):
    people = {"name": ["ann", "ann", "bob", "eve", "eva"] * 20, "year": [1, 1, 2, 3, 4] * 20}
    asked = {"chains": 2, "draws": 20, "seed": 1}
    expected = kp.resolve(people, **asked).links
    monkeypatch.setattr(summaries, "RECORDS_A_PORTION", 30)
    assert kp.resolve(people, **asked).links.equals(expected)

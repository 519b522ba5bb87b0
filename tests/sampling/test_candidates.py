"""Pairs worth proposing are found by keys, without comparing all pairs."""

import numpy as np
import pytest

import kolchin as kp
from kolchin import kernels
from kolchin.likelihoods import categorical_candidates
from kolchin.likelihoods.categorical_candidates import choose_keys, hash_fields
from kolchin.partitions import find_clashing
from kolchin.sampling.problem import make_kernel_data
from kolchin.sampling.proposals.candidates import find_candidate_pairs

N_VALUES = (2, 7, 12, 31, 20, 40, 25, 10)


def found(model):
    pairs, scores = find_candidate_pairs(model)
    return pairs, pairs[scores > np.log(model.n_records)]


def as_set(pairs):
    return set(map(tuple, pairs.tolist()))


def check_sources(model):
    """With sources, the candidates are those without that are not of one source."""
    sources = np.random.default_rng(1).integers(-1, 2, model.n_records)
    for free, kept in zip(
        found(model), found(kp.Model(model.records, sources=sources)), strict=True
    ):
        wrong = find_clashing(sources, free)
        assert wrong.any()
        assert as_set(kept) == as_set(free[~wrong])


def recall(pairs, entities) -> float:
    sizes = np.bincount(entities)
    linked = entities[pairs[:, 0]] == entities[pairs[:, 1]]
    return float(linked.sum() / (sizes * (sizes - 1) // 2).sum())


@pytest.fixture(scope="module")
def large(simulate_records):
    records, entities = simulate_records(20_000, n_values=N_VALUES)
    return kp.Model(records), entities


@pytest.fixture
def _no_comparison_of_all_pairs(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("all pairs were compared")

    monkeypatch.setattr(kernels, "count_pairs_by_score", refuse)
    monkeypatch.setattr(kernels, "list_pairs_above", refuse)


@pytest.mark.usefixtures("_no_comparison_of_all_pairs")
class TestLargeTable:
    def test_true_matches_are_found(self, large):
        model, entities = large
        pairs, likely = found(model)
        assert recall(pairs, entities) > 0.98
        assert recall(likely, entities) > 0.9
        assert as_set(likely) <= as_set(pairs)

    def test_pairs_of_one_source_are_left_out(self, large):
        check_sources(large[0])

    def test_pairs_are_listed_once_and_in_order(self, large):
        pairs, _ = found(large[0])
        assert np.all(pairs[:, 0] < pairs[:, 1])
        assert pairs.min() >= 0
        assert pairs.max() < 20_000
        assert len(as_set(pairs)) == len(pairs)

    def test_list_grows_with_the_number_of_records_alone(self, simulate_records):
        lengths = {}
        for n_records in (10_000, 40_000):
            records, entities = simulate_records(n_records, n_values=N_VALUES)
            pairs, _ = found(kp.Model(records))
            assert recall(pairs, entities) > 0.98
            assert len(pairs) <= categorical_candidates.PAIRS_PER_RECORD * n_records
            lengths[n_records] = len(pairs)
        # Four times the records, sixteen times the pairs: the list stays near the former.
        assert lengths[40_000] < 8 * lengths[10_000]

    def test_no_field_that_tells_records_apart(self):
        codes = np.random.default_rng(1).integers(0, 2, size=(9_000, 2))
        pairs, likely = found(kp.Model(kp.Records.from_codes(codes)))
        assert len(pairs) <= max(
            categorical_candidates.FEWEST_LISTED, categorical_candidates.PAIRS_PER_RECORD * 9_000
        )
        assert len(likely) == 0

    def test_missing_values_agree_with_nothing(self):
        codes = np.random.default_rng(1).integers(0, 5_000, size=(9_000, 3))
        codes[:4_000] = -1
        pairs, _ = found(kp.Model(kp.Records.from_codes(codes)))
        assert pairs.min() >= 4_000


class TestKeys:
    def test_keys_hold_chance_agreements_linear(self, large):
        likelihood = large[0].likelihood
        parts = np.split(likelihood.frequency, likelihood.offsets[1:-1])
        seen = (likelihood.codes >= 0).mean(axis=0)
        chance = np.array([part @ part for part in parts]) * seen**2
        keys = choose_keys(likelihood)
        assert 2 <= len(keys) <= categorical_candidates.MOST_KEYS
        for key in keys:
            by_chance = 0.5 * 20_000 * np.prod(chance[list(key)])
            assert by_chance <= categorical_candidates.CHANCE_PAIRS_PER_RECORD

    def test_no_field_is_in_every_key(self, large):
        keys = choose_keys(large[0].likelihood)
        assert set.intersection(*map(set, keys)) == set()

    def test_equal_fields_have_equal_keys(self):
        rng = np.random.default_rng(1)
        codes = rng.integers(-1, 3, size=(500, 3)).astype(np.int32)
        key = hash_fields(codes, (0, 2))
        whole = (codes[:, [0, 2]] >= 0).all(axis=1)
        equal = (codes[:, None, [0, 2]] == codes[None, :, [0, 2]]).all(axis=2)
        wanted = (equal & whole) | np.eye(500, dtype=bool)
        assert np.array_equal(key[:, None] == key, wanted)


class TestSmallTable:
    def test_pairs_of_one_source_are_left_out(self, medium_model):
        check_sources(medium_model)

    def test_all_pairs_above_the_bound_are_listed(self, medium_model):
        delta = medium_model.likelihood.choose_generous_delta()
        data = make_kernel_data(medium_model)
        pairs, _ = found(medium_model)
        every = np.stack(np.triu_indices(300, 1), axis=1).astype(np.int32)
        scores = kernels.compute_pair_scores(data, kernels.Evidence(delta), every)
        assert as_set(pairs) == as_set(every[scores >= np.log(300) - 9.0])

    def test_scores_are_bayes_factors(self, medium_model):
        """Model section 3: the evidence of a pair is the difference of two log joints."""
        model = kp.Model(medium_model.records, kp.DirichletProcess(theta=1.0), delta=0.1)
        pairs, _ = found(model)
        data = make_kernel_data(model)
        scores = kernels.compute_pair_scores(data, kernels.Evidence(np.full(5, 0.1)), pairs[:20])
        apart = np.arange(300)
        for (i, j), score in zip(pairs[:20], scores, strict=True):
            together = apart.copy()
            together[j] = i
            difference = model.log_joint(together) - model.log_joint(apart)
            # Under this prior with theta = 1, two records together are as probable as apart.
            assert score == pytest.approx(difference, abs=1e-8)

    def test_keys_and_all_pairs_agree_where_keys_reach(self, large, simulate_records, monkeypatch):
        records, entities = simulate_records(3_000, n_values=N_VALUES)
        model = kp.Model(records)
        exhaustive, _ = found(model)
        monkeypatch.setattr(categorical_candidates, "ALL_PAIRS_UP_TO", 10)
        by_key, _ = found(model)
        assert as_set(by_key) <= as_set(exhaustive)
        assert recall(by_key, entities) > 0.98 * recall(exhaustive, entities)

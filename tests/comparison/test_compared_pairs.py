"""In whatever parts records are compared, and wherever: the same comes out."""

import numpy as np
import pytest
from inline import Inline

import kolchin as kp
from kolchin.comparison import compare, comparing
from kolchin.comparison.blocking import blocked_pairs, keys, pair_budget
from kolchin.likelihoods import Exemplar, compare_records, neighbour_lists
from kolchin.records.loading import load
from kolchin.sampling.layout import Layout
from kolchin.sampling.problem import make_kernel_data
from kolchin.sampling.proposals.candidates import find_candidate_pairs
from kolchin.sampling.shards import shared_problem
from kolchin.simulation.people import simulate_people
from kolchin.store import DirectoryStore
from kolchin.workplace import Workplace


@pytest.fixture(scope="module")
def records():
    return load(simulate_people(2_500, seed=4), id="rec_id", truth="ent_id").records


@pytest.fixture
def in_parts(monkeypatch):
    """Let few records be many parts."""
    monkeypatch.setattr(blocked_pairs, "FEWEST", 20_000)
    monkeypatch.setattr(blocked_pairs, "RECORDS_A_SECTION", 900)
    monkeypatch.setattr(comparing, "RECORDS_A_PORTION", 700)
    monkeypatch.setattr(comparing, "AT_ONCE", 2)
    monkeypatch.setattr(keys, "SCANNED", 400)
    monkeypatch.setattr(pair_budget, "RANGE", 5_000)
    monkeypatch.setattr(neighbour_lists, "PLACES_A_TASK", 600)


@pytest.fixture
def work(tmp_path):
    return Workplace(Inline(), DirectoryStore(tmp_path))


def assert_same(one, other):
    assert np.array_equal(one.pairs, other.pairs)
    assert np.array_equal(one.levels, other.levels)
    assert np.array_equal(one.bands, other.bands)
    assert np.array_equal(one.outcomes, other.outcomes)
    assert all(map(np.array_equal, one.u, other.u))
    assert one.report.n_likely == other.report.n_likely
    assert one.report.missed == other.report.missed


def test_parts_find_and_tell_what_the_whole_does(records, in_parts, monkeypatch):
    divided = compare(records, keys=[("last_name",)])
    assert len(divided.parts) == 4
    for module, name in ((blocked_pairs, "RECORDS_A_SECTION"), (comparing, "RECORDS_A_PORTION")):
        monkeypatch.setattr(module, name, 10_000)
    whole = compare(records, keys=[("last_name",)])
    assert len(whole.parts) == 1
    assert_same(divided, whole)


def test_an_engine_finds_and_tells_what_threads_do(records, in_parts, work, tmp_path):
    there = compare(records, keys=[("last_name",)], work=work)
    assert_same(there, compare(records, keys=[("last_name",)]))
    assert {"_tabulate_costs", "_list_section", "_compare_range", "_renumber"} == set(
        work.engine.tasks
    )
    # Nothing is left but the pairs and which outcome each has.
    assert {path.name.split("-")[0] for path in tmp_path.iterdir()} == {"pairs", "which"}


def test_pairs_are_found_again_in_their_parts(records, in_parts):
    parts = compare(records).parts
    pairs, which = parts.pairs, parts.which
    assert np.array_equal(parts.outcomes_of(pairs[::-1, ::-1]), which[::-1])
    assert np.array_equal(np.bincount(which), parts.counts)
    known = set(map(tuple, pairs.tolist()))
    i, j = np.random.default_rng(1).integers(0, 2_500, (2, 5_000))
    some = np.column_stack([i, j])[i != j]
    told = parts.outcomes_of(some) >= 0
    assert told.tolist() == [tuple(sorted(pair)) in known for pair in some.tolist()]


def model_of(records, work=None):
    """A model of compared records; ``work`` is where they are compared."""
    return kp.Model(records, likelihood=Exemplar.fit(compare_records(records, work=work)))


def test_tasks_list_what_a_model_in_memory_does(records, in_parts, work, tmp_path):
    there, in_memory = model_of(records, work), model_of(records)
    for one, other in zip(
        find_candidate_pairs(there, work), find_candidate_pairs(in_memory), strict=True
    ):
        assert np.array_equal(one, other)
    layout = Layout(np.array([0, 1_000, 2_500]), np.random.default_rng(2).permutation(2_500))
    made, expected = (
        shared_problem.share_problem(there, layout, work).data,
        make_kernel_data(in_memory, layout),
    )
    assert all(map(np.array_equal, made, expected))
    assert {path.name.split("-")[0] for path in tmp_path.iterdir()} == {"pairs", "which", "problem"}


def test_results_ask_for_pairs_where_they_are(records, in_parts, work):
    there, in_memory = model_of(records, work), model_of(records)
    some = np.random.default_rng(3).permutation(2_500)[:1_000].reshape(-1, 2)
    assert np.array_equal(
        there.likelihood.find_patterns(some), in_memory.likelihood.find_patterns(some)
    )
    assert np.array_equal(there.comparisons.levels_of(some), in_memory.comparisons.levels_of(some))


def test_a_comparator_that_cannot_be_sent_is_refused(work):
    field = kp.Text("first_name", comparator=lambda a, b: float(a == b))
    people = kp.Records.from_table(simulate_people(200, seed=1), [field, kp.Text("last_name")])
    with pytest.raises(kp.ModelError, match=r"'first_name'.*module"):
        model_of(people, work)
    assert model_of(people).comparisons.report.n_pairs == 200 * 199 // 2


def test_a_model_judges_links_by_what_it_has_learnt(records):
    """The unrelated of a household look like links only while fields count as independent."""
    rough, learnt = compare(records), model_of(records).comparisons
    assert learnt.report.n_likely < 0.9 * rough.report.n_likely
    every = rough.judge_links(np.ones(len(rough.outcomes), dtype=bool))
    assert every.report.n_likely == len(rough.pairs) == every.report.n_pairs
    assert rough.judge_links(np.zeros(len(rough.outcomes), dtype=bool)).report.missed == 0

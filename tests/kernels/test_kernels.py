"""The compiled code against itself: as plain Python, with bounds checks, and round trips."""

import json
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kolchin as kp
from kolchin import kernels
from kolchin.comparison.pairs_by_record import list_numbered_pairs
from kolchin.kernels.rings import is_first
from kolchin.partitions import list_clusters, make_canonical

PRIORS = ("NBNB()", "NBD()", "PitmanYor()", "ESCD()", "KolchinPartition(kappa=[1] * 40)")

RUN = """
import json, sys
import numpy as np
import kolchin as kp

rng = np.random.default_rng(3)
codes = np.repeat(rng.integers(0, 4, size=(12, 3)), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 1, 2], axis=0)
codes[rng.random(codes.shape) < 0.1] = -1
result = {}
for name in %r:
    for delta, tied in ((0.3, True), (kp.Gamma(1, 1), False)):
        model = kp.Model(kp.Records.from_codes(codes), eval("kp." + name), delta, tied)
        posterior = kp.sample(
            model, chains=3, draws=4, warmup=6, thin=1, moves=120, seed=5, cores=1, progress=False
        )
        parameters = {key: array.ravel().tolist() for key, array in posterior.parameters.items()}
        parameters["log_joint"] = posterior.log_joint.ravel().tolist()
        result[f"{name}, tied {tied}"] = [posterior.labels.ravel().tolist(), parameters]
json.dump(result, sys.stdout)
"""


def run(tmp_path, **environment):
    """Run short chains of every kind in a process of its own."""
    source = str(Path(kp.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN % (PRIORS,)],
        env=os.environ | {"PYTHONPATH": source} | environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    return run(tmp_path_factory.mktemp("compiled"))


def test_plain_python_makes_the_same_chains(compiled, tmp_path):
    plain = run(tmp_path, NUMBA_DISABLE_JIT="1")
    assert plain.keys() == compiled.keys()
    for name, (labels, parameters) in compiled.items():
        assert plain[name][0] == labels, name
        assert plain[name][1] == parameters, name


def test_no_index_is_out_of_bounds(compiled, tmp_path):
    cache = str(tmp_path / "cache")
    assert run(tmp_path, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=cache) == compiled


partitions = st.lists(st.integers(0, 9), min_size=1, max_size=40).map(make_canonical)


@given(partitions)
def test_rings_close_and_hold_the_clusters(labels):
    following = kernels.make_rings(labels)
    assert sorted(following) == list(range(labels.size))
    for members in list_clusters(labels):
        ring = [int(members[0])]
        while following[ring[-1]] != ring[0]:
            ring.append(int(following[ring[-1]]))
        assert ring == members.tolist()


def whole_groups(labels):
    """All clusters of two or more: none leaves a shard that is the whole."""
    members, sizes, leaving = kernels.list_members(kernels.make_rings(labels), whole(labels.size))
    assert leaving.size == 0
    return members, sizes


def whole(n_records):
    return np.array([0, n_records, 0, 0])


@given(partitions, st.data())
def test_clusters_of_a_shard_and_those_that_leave_it(labels, data):
    bounds = sorted(data.draw(st.integers(0, labels.size)) for _ in range(4))
    within = np.array(bounds)
    members, sizes, leaving = kernels.list_members(kernels.make_rings(labels), within)
    inside = np.zeros(labels.size, dtype=bool)
    inside[bounds[0] : bounds[1]] = inside[bounds[2] : bounds[3]] = True
    groups = [group for group in list_clusters(labels) if group.size > 1]
    wanted = [group.tolist() for group in groups if inside[group].all()]
    found = np.split(members, np.cumsum(sizes)[:-1]) if sizes.size else []
    assert [group.tolist() for group in found] == wanted
    cut = [n for group in groups if not inside[group].all() for n in group if inside[n]]
    assert sorted(leaving.tolist()) == sorted(cut)


@given(partitions)
def test_clusters_of_some_records(labels):
    some = [group.tolist() for group in list_clusters(labels)][::2]
    records = np.array(sorted(n for group in some for n in group), dtype=np.int32)
    members, sizes = kernels.list_members_among(kernels.make_rings(labels), records)
    assert [group.tolist() for group in np.split(members, np.cumsum(sizes)[:-1])] == some


@given(partitions)
def test_grouped_gives_the_clusters_of_two_or_more_back(labels):
    members, sizes = whole_groups(labels)
    assert members.dtype == sizes.dtype == np.int32
    assert sizes.sum() == members.size
    found = np.split(members, np.cumsum(sizes)[:-1]) if sizes.size else []
    wanted = [group.tolist() for group in list_clusters(labels) if group.size > 1]
    assert [group.tolist() for group in found] == wanted


@given(partitions)
def test_labels_survive_the_round_trip(labels):
    members, sizes = whole_groups(labels)
    again = np.arange(labels.size) + labels.size
    again[members] = np.repeat(np.arange(sizes.size), sizes)
    assert np.array_equal(make_canonical(again), labels)


@given(partitions)
def test_first_records_are_the_smallest(labels):
    following = kernels.make_rings(labels)
    first = [n for n in range(labels.size) if is_first(following, n)]
    assert first == [int(group[0]) for group in list_clusters(labels)]


@given(partitions, st.data())
def test_cells_are_those_of_a_plain_count(labels, data):
    """Every value that k records of a cluster share gives the steps 1, ..., k - 1."""
    values = st.lists(st.integers(-1, 3), min_size=labels.size, max_size=labels.size)
    codes = np.array([data.draw(values), data.draw(values)], dtype=np.int32).T.copy()
    codes[:, 1] = np.where(codes[:, 1] >= 0, codes[:, 1] + 4, -1)
    members, sizes = whole_groups(labels)
    steps, n_cells, observed = kernels.collect_agreement_cells(members, sizes, codes)
    wanted_steps, wanted_cells, wanted_observed = [], [0, 0], np.zeros_like(observed)
    for group in list_clusters(labels):
        for f in range(2):
            seen = codes[group, f][codes[group, f] >= 0]
            if group.size > 1:
                wanted_observed[f, : seen.size] += 1
                wanted_cells[f] += np.unique(seen).size
                for value, count in zip(*np.unique(seen, return_counts=True), strict=True):
                    wanted_steps += [(int(value), step) for step in range(1, count)]
    assert sorted(map(tuple, steps.tolist())) == sorted(wanted_steps)
    assert n_cells.tolist() == wanted_cells
    assert np.array_equal(observed, wanted_observed)


def test_alias_table_holds_the_weights():
    """The chances of the rows add up to the weights of the pairs."""
    rng = np.random.default_rng(1)
    pairs = np.stack([np.arange(50), np.arange(50) + 50], axis=1).astype(np.int32)
    weight = rng.gamma(0.3, size=50)
    table = kernels.build_alias_tables(pairs, weight, np.array([0, 50])).astype(float)
    chance = table[:, 4] / 2147483647
    total = np.zeros(50)
    np.add.at(total, table[:, 0].astype(int), chance / 50)
    np.add.at(total, table[:, 2].astype(int), (1 - chance) / 50)
    assert total == pytest.approx(weight / weight.sum(), abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_rivals_by_hand(seed):
    rng = np.random.default_rng(seed)
    n_records, most = 30, 5
    pairs = np.unique(np.sort(rng.integers(n_records, size=(45, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]].astype(np.int32)
    company = {n: {int(m) for pair in pairs if n in pair for m in pair} - {n} for n in range(30)}
    rivals = {
        (a, b)
        for near in company.values()
        if len(near) <= most
        for a, b in combinations(sorted(near), 2)
        if b not in company[a]
    }
    begins, others, _ = list_numbered_pairs(pairs, n_records)
    found = kernels.list_rival_pairs(begins, others, most)
    assert [tuple(pair) for pair in found.tolist()] == sorted(rivals)
    assert len(rivals) > 10
    begins, others, _ = list_numbered_pairs(pairs[:0], n_records)
    assert kernels.list_rival_pairs(begins, others, most).shape == (0, 2)

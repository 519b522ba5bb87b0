"""Where a source has a thing once, its own pairs are no candidates and no coincidences."""

from itertools import combinations

import numpy as np
import pytest

import kolchin as kp
from kolchin.comparison import compare
from kolchin.comparison.levels.level_chances import count_agreeing_pairs
from kolchin.comparison.levels.possible_pairs import MOST_DRAWN, SAMPLED_PAIRS, Possible
from kolchin.likelihoods.chance import Coincidences
from kolchin.likelihoods.exemplar import Exemplar


def possible_by_hand(sources):
    return [
        (i, j)
        for i, j in combinations(range(len(sources)), 2)
        if sources[i] < 0 or sources[i] != sources[j]
    ]


@pytest.mark.parametrize("seed", range(5))
def test_counts_by_hand(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    sources = rng.integers(-1, 3, n).astype(np.int32)
    codes = [rng.integers(-1, 4, n).astype(np.int32) for _ in range(2)]
    possible, pairs = Possible(n, sources), possible_by_hand(sources)
    agreeing = [[sum(c[i] == c[j] == form for i, j in pairs) for form in range(4)] for c in codes]
    for of_field, counts in zip(codes, agreeing, strict=True):
        assert possible.count_agreeing(of_field, 4).tolist() == counts
    both = sum(all(c[i] == c[j] >= 0 for c in codes) for i, j in pairs)
    assert count_agreeing_pairs(codes, rng, possible)[0, 1] == both
    every = np.column_stack(np.triu_indices(n, 1))
    assert every[possible.keeps(every)].tolist() == [list(pair) for pair in pairs]
    shown = codes[0] >= 0
    n_shown = int(shown.sum())
    expected = sum(shown[i] and shown[j] for i, j in pairs)
    assert possible.share(shown) * n_shown * (n_shown - 1) / 2 == pytest.approx(max(expected, 1))


def partitions_of(records):
    """Give all partitions of some records."""
    if not records:
        yield []
        return
    first, *rest = records
    for partition in partitions_of(rest):
        yield [[first], *partition]
        for k, cluster in enumerate(partition):
            yield [*partition[:k], [first, *cluster], *partition[k + 1 :]]


@pytest.mark.parametrize("sources", [[0, 0, 0, 1, 1, 2], [0, 0, 0, 0], [0, 1, 2, 2, 1], [1, 1, 0]])
def test_most_links_by_enumeration(sources):
    def count_linked(partition):
        return sum(len(cluster) * (len(cluster) - 1) // 2 for cluster in partition)

    allowed = [
        partition
        for partition in partitions_of(list(range(len(sources))))
        if all(len({sources[n] for n in cluster}) == len(cluster) for cluster in partition)
    ]
    possible = Possible(len(sources), np.array(sources, dtype=np.int32))
    assert possible.most_linked == max(map(count_linked, allowed))


def test_records_without_a_source_may_be_linked_to_any():
    assert Possible.of(3, np.array([0, 0, -1], dtype=np.int32)).most_linked == np.inf
    assert Possible.of(3).most_linked == np.inf


def test_random_pairs_are_of_two_sources():
    sources = (np.arange(3_000) < 30).astype(np.int32)
    possible = Possible(3_000, sources)
    pairs = possible.random_pairs(np.random.default_rng(1))
    assert possible.keeps(pairs).all()
    expected = MOST_DRAWN * possible.share(np.ones(3_000, dtype=bool))
    assert len(pairs) == pytest.approx(min(SAMPLED_PAIRS, expected), rel=0.05)


def two_lists(n=60):
    """Each of two lists writes the same names, and a category of its own always."""
    names = [f"name {k}" for k in range(n)]
    return kp.Records.from_table(
        {"name": [*names, *names], "kind": ["new"] * n + ["used"] * (n - 1) + ["new"]},
        fields=[kp.Text("name"), kp.Categorical("kind")],
    ).as_compared()


def test_pairs_of_one_source_are_no_candidates():
    records, sources = two_lists(), np.repeat([0, 1], 60).astype(np.int32)
    compared = compare(records, sources=sources)
    assert (sources[compared.pairs[:, 0]] != sources[compared.pairs[:, 1]]).all()
    assert compared.report.n_pairs == 60 * 60
    assert compare(records).report.n_pairs == 120 * 119 / 2


def test_chance_is_that_of_possible_pairs():
    """In one list 'new' always agrees; between the two it does for one record of 60."""
    records, sources = two_lists(), np.repeat([0, 1], 60).astype(np.int32)
    compared = compare(records, sources=sources)
    assert compared.u[1][0] == pytest.approx(1 / 60, abs=0.02)
    assert compare(records).u[1][0] == pytest.approx(0.5, abs=0.02)
    found = Coincidences.of(compared, Exemplar.fit(compared).bands)
    assert found.agreeing[1].sum() == pytest.approx(60)
    assert found.agreeing[0].sum() == pytest.approx(60)
    u, _ = found.estimate_chances(
        [np.zeros(one.size) for one in found.agreeing], np.zeros(2), unseen=False
    )
    assert u[1][0] == pytest.approx(1 / 60, rel=0.1)


ALONE = pytest.mark.xfail(
    reason="Of one column of texts alone, families and links cannot be told.", strict=True
)


@pytest.mark.parametrize("columns", [["title", "price"], pytest.param(["title"], marks=ALONE)])
def test_lists_that_repeat_themselves_are_linked_across(columns):
    """Each list has every product in four colours, which the other list has as well."""
    rng = np.random.default_rng(1)
    words = [f"w{letter}{k}" for k in range(40) for letter in "abcdefgh"]
    lines = [" ".join(rng.choice(words, 4, replace=False)) for _ in range(40)]
    titles = [f"{line} {colour}" for line in lines for colour in ("red", "blue", "green", "black")]
    own = [" ".join(rng.permutation(title.split())) for title in titles]
    price = rng.lognormal(3, 1, 160)
    prices = [*price, *(price * rng.uniform(0.9, 1.1, 160))]
    table = {
        "price": [f"{paid:.2f}" for paid in prices],
        "title": [*titles, *own],
        "shop": ["a"] * 160 + ["b"] * 160,
        "truth": [*range(160), *range(160)],
    }
    result = kp.resolve(
        *(table,),
        fields=columns,
        source="shop",
        one_per_source=True,
        truth="truth",
        seed=1,
        draws=200,
        cores=1,
    )
    assert result.evaluate(table["truth"])["point_estimate"]["f1"] > 0.95

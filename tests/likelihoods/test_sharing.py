"""Fields that move together are found where they were planted, and nowhere else."""

import time
from itertools import product

import numpy as np
import pytest

import kolchin as kp
from kolchin.likelihoods import Exemplar, Outcomes, sharing
from kolchin.likelihoods.dependence import make_typed_levels
from kolchin.likelihoods.fitting import LARGEST_SHARE
from kolchin.likelihoods.learning import learn_dependence
from kolchin.likelihoods.sharing import (
    LEAST_PAIRS,
    Patterns,
    UnrelatedChances,
    compute_shown_shares,
    find_sets,
)

N_RECORDS = 10_000
FIELDS = ("first", "surname", "born", "city", "postcode")
EXACT = {"first": 0.01, "surname": 0.005, "born": 1e-4, "city": 0.03, "postcode": 0.002}
U = {name: np.array([e, e, 0.03, 0.97 - 2 * e]) for name, e in EXACT.items()}
M = np.array([0.85, 0.08, 0.04, 0.03])
TYPED = make_typed_levels(4)
NEAR = np.array([0.02, 0.9, 0.05, 0.03])
ADDRESS = frozenset({"city", "postcode"})
HOUSEHOLD = frozenset({"surname", "city", "postcode"})
LINKED = 0.4
AGREES = np.arange(4) < 2


def rates(levels, tables, shows):
    """The chance of each pattern, fields independent; ``shows``: that a record has a value."""
    result = np.ones(len(levels))
    for f, table in enumerate(tables):
        shown = table[levels[:, f]] * shows**2
        result *= np.where(levels[:, f] >= 0, shown, 1 - shows**2)
    return result


def planted(shared=None, replaced=None, linked=LINKED, shows=1.0, seed=0, fields=FIELDS, alike=0.0):
    """Counts of patterns from known rates (pairs a record), as far as pairs are candidates.

    ``alike`` pairs a record are namesakes whose postcodes are nearly the same.
    """
    rng = np.random.default_rng(seed)
    replaced = replaced or {}
    levels = np.array(list(product(range(-1 if shows < 1 else 0, 4), repeat=len(fields))))
    chance = [U[name] for name in fields]
    rate = N_RECORDS * (N_RECORDS - 1) / 2 * rates(levels, chance, shows)
    for inside, share in (shared or {}).items():
        tables = [TYPED if name in inside else U[name] for name in fields]
        rate += share * N_RECORDS * rates(levels, tables, shows)
    namesakes = {"first": TYPED, "surname": TYPED, "postcode": NEAR}
    tables = [namesakes.get(name, U[name]) for name in fields]
    rate += alike * N_RECORDS * rates(levels, tables, shows)
    classes = {frozenset(): 1 - sum(replaced.values())} | replaced
    for inside, share in classes.items():
        tables = [U[name] if name in inside else M for name in fields]
        rate += share * linked * N_RECORDS * rates(levels, tables, shows)
    # Drawn in one order, whichever the fields have, so that order alone can be changed.
    sorting = np.lexsort([levels[:, fields.index(name)] for name in FIELDS if name in fields])
    number = np.empty(len(levels))
    number[sorting] = rng.poisson(rate[sorting])
    same = (levels == 0).astype(float)
    together = (same * number[:, None]).T @ same
    near = (levels >= 0) & (levels < 2)
    found = (number > 0) & ((near.sum(axis=1) >= 2) | (levels[:, fields.index("born")] == 0))
    levels = levels[found].astype(np.int8)
    gain = np.column_stack([-np.log(u[level]) for u, level in zip(chance, levels.T, strict=True)])
    patterns = Patterns(levels, np.where(levels >= 0, gain, 0.0), number[found])
    shown = np.array([shows ** one.bit_count() for one in range(1 << len(fields))])
    agrees = (AGREES,) * len(fields)
    return patterns, UnrelatedChances(N_RECORDS, tuple(chance), agrees, shown, together)


def named(masks, fields=FIELDS):
    return [frozenset(f for f, inside in zip(fields, row, strict=True) if inside) for row in masks]


def shares(dependence, fields=FIELDS):
    """Shared sets and their pairs a record, and replaced sets with their chances."""
    shared = dict(zip(named(dependence.shared, fields), dependence.n_shared, strict=True))
    replaced = dict(zip(named(dependence.replaced, fields), dependence.rho, strict=True))
    return {one: n / N_RECORDS for one, n in shared.items()}, replaced


def learn(patterns, chances):
    """What is learnt, without the sets that are only asked about."""
    found, sets = learn_dependence(patterns, chances).dependence, find_sets(patterns, chances)
    bits = 1 << np.arange(found.shared.shape[1])
    kept = np.isin(found.shared @ bits, list(sets.shared)) & (found.n_shared > LEAST_PAIRS)
    stays = np.isin(found.replaced @ bits, [0, *sets.replaced])
    rho = found.rho[stays] / found.rho[stays].sum()
    return found._replace(
        shared=found.shared[kept],
        n_shared=found.n_shared[kept],
        leak=found.leak[kept],
        loose=found.loose[kept],
        sampled=found.sampled[kept],
        replaced=found.replaced[stays],
        rho=rho,
        rho_weights=found.rho_weights[stays],
    )


def sets_of(bits):
    return [frozenset(FIELDS[f] for f in range(len(FIELDS)) if (one >> f) & 1) for one in bits]


# --- what is planted is found ----------------------------------------------------------------


@pytest.mark.parametrize("shows", [1.0, 0.9])
@pytest.mark.parametrize("seed", range(6))
def test_nothing_is_found_where_fields_are_independent(seed, shows):
    dependence = learn(*planted(shows=shows, seed=seed))
    shared, replaced = shares(dependence)
    assert shared == {}
    assert replaced == {frozenset(): 1.0}
    np.testing.assert_allclose(dependence.m, np.tile(M, 5), atol=0.03)


@pytest.mark.parametrize("shows", [1.0, 0.9])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [5.0, 20.0])
def test_a_couple_of_fields_that_many_share(share, seed, shows):
    patterns, chances = planted({ADDRESS: share}, shows=shows, seed=seed)
    sets = find_sets(patterns, chances)
    assert sets_of(sets.known) == [ADDRESS]
    assert ADDRESS in sets_of(sets.replaced)
    dependence = learn(patterns, chances)
    shared, replaced = shares(dependence)
    assert shared[ADDRESS] == pytest.approx(share, rel=0.05)
    # Others are noise: a small part of the agreement that chance adds to the couple's.
    assert all(n < 0.01 * share for one, n in shared.items() if one != ADDRESS)
    assert replaced.get(ADDRESS, 0.0) < 0.01
    np.testing.assert_allclose(dependence.m, np.tile(M, 5), atol=0.03)


@pytest.mark.parametrize("with_couple", [True, False])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_households_are_found_though_they_are_rare(share, seed, with_couple):
    couple = {ADDRESS: 5.0} if with_couple else {}
    dependence = learn(*planted(couple | {HOUSEHOLD: share}, seed=seed))
    shared, _ = shares(dependence)
    assert shared[HOUSEHOLD] == pytest.approx(share, rel=0.25)
    assert set(shared) - {ADDRESS, HOUSEHOLD} <= {frozenset({"first", "city", "postcode"})}
    np.testing.assert_allclose(dependence.m, np.tile(M, 5), atol=0.04)


@pytest.mark.parametrize("seed", range(3))
def test_households_are_found_though_values_are_missing(seed):
    patterns, chances = planted({ADDRESS: 5.0, HOUSEHOLD: 0.3}, shows=0.9, seed=seed)
    shared, _ = shares(learn(patterns, chances))
    assert shared[HOUSEHOLD] == pytest.approx(0.3, rel=0.3)


@pytest.mark.parametrize("shows", [1.0, 0.9])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_who_moved_is_not_taken_for_related(share, seed, shows):
    planting = {ADDRESS: 5.0, HOUSEHOLD: 0.1}
    dependence = learn(*planted(planting, {ADDRESS: share}, shows=shows, seed=seed))
    shared, replaced = shares(dependence)
    assert set(replaced) == {frozenset(), ADDRESS}
    assert share / 2 < replaced[ADDRESS] < 1.1 * share
    assert not any({"first", "born"} <= one for one in shared)
    np.testing.assert_allclose(dependence.m, np.tile(M, 5), atol=0.04)


@pytest.mark.parametrize("share", [0.2, 0.3])
@pytest.mark.parametrize("seed", range(2))
def test_a_couple_takes_other_fields_along(share, seed):
    """Surname, city and postcode change at once, though only the couple is ever shared."""
    patterns, chances = planted({ADDRESS: 5.0}, replaced={HOUSEHOLD: share}, seed=seed)
    shared, replaced = shares(learn(patterns, chances))
    assert frozenset({"first", "born"}) not in shared
    # The couple alone may have a part.
    moved = sum(rho for one, rho in replaced.items() if one >= ADDRESS)
    assert 0.6 * share < moved < 1.1 * share


NAMESAKES = frozenset({"first", "surname", "postcode"})


@pytest.mark.parametrize("couple", [{}, {frozenset({"born", "city"}): 5.0}])
@pytest.mark.parametrize("seed", range(3))
def test_namesakes_whose_codes_are_made_from_names_are_not_one_person(seed, couple, monkeypatch):
    """Even where what differs moves together: entities would have the same code, not a like one."""
    counts = planted(couple, alike=0.03, seed=seed)
    dependence = learn(*counts)
    shared, replaced = shares(dependence)
    assert shared[NAMESAKES] == pytest.approx(0.03, rel=0.5)
    assert replaced[frozenset()] > 0.97
    monkeypatch.setattr(
        sharing, "_count_nearly_agreeing", lambda *given: np.zeros(1 << len(FIELDS))
    )
    assert NAMESAKES not in shares(learn(*counts))[0]


@pytest.mark.parametrize("seed", range(3))
def test_movers_who_mistype_are_still_movers(seed):
    planting = {ADDRESS: 5.0}
    dependence = learn(*planted(planting, {ADDRESS: 0.3}, seed=seed))
    shared, _ = shares(dependence)
    assert not any({"first", "born"} <= one or {"surname", "born"} <= one for one in shared)


def test_few_links_are_told_from_many_that_share():
    """Entities are outnumbered two hundred to one."""
    planting = {ADDRESS: 10.0, HOUSEHOLD: 0.1}
    dependence = learn(*planted(planting, {ADDRESS: 0.1}, linked=0.05))
    shared, replaced = shares(dependence)
    assert shared[HOUSEHOLD] == pytest.approx(0.1, rel=0.3)
    assert replaced[ADDRESS] < 0.1
    np.testing.assert_allclose(dependence.m[::4], M[0], atol=0.06)


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_fields_does_not_matter(seed):
    plant = {ADDRESS: 5.0, HOUSEHOLD: 0.1}, {ADDRESS: 0.2}
    first = learn(*planted(*plant, seed=seed))
    for order in ((4, 2, 0, 3, 1), (1, 3, 4, 0, 2)):
        fields = tuple(FIELDS[f] for f in order)
        again = learn(*planted(*plant, seed=seed, fields=fields))
        for one, other in zip(shares(first), shares(again, fields), strict=True):
            assert one == pytest.approx(other)
        np.testing.assert_allclose(again.m.reshape(5, 4), first.m.reshape(5, 4)[list(order)])


# --- values that are missing together --------------------------------------------------------


def test_shares_shown_by_counting():
    shows = np.random.default_rng(1).random((50, 4)) < [0.9, 0.5, 0.7, 0.2]
    found = compute_shown_shares(shows)
    for one in range(16):
        inside = [f for f in range(4) if (one >> f) & 1]
        assert found[one] == pytest.approx(shows[:, inside].all(axis=1).mean())


def test_values_missing_together_are_no_dependence():
    """Half of the records have neither value: the pairs that agree on both are those of chance."""
    shows = np.zeros((N_RECORDS, 2), dtype=bool)
    shows[::2] = True
    u = (np.array([0.05, 0.05, 0.9]),) * 2
    n_pairs = N_RECORDS * (N_RECORDS - 1) / 2
    together = np.full((2, 2), n_pairs * 0.05**2 / 4)
    agrees = (np.array([True, False, False]),) * 2
    chances = UnrelatedChances(N_RECORDS, u, agrees, compute_shown_shares(shows), together)
    none = Patterns(np.zeros((0, 2), dtype=np.int8), np.zeros((0, 2)), np.zeros(0))
    assert find_sets(none, chances).known == {}
    more = chances._replace(together=together + 3 * N_RECORDS)
    (excess,) = find_sets(none, more).known.values()
    assert excess == pytest.approx(3 * N_RECORDS * 4, rel=0.01), "scaled to records that show both"


# --- nothing breaks --------------------------------------------------------------------------


def arbitrary(n_fields, n_patterns=0, n_records=200, missing=0.3, seed=0):
    """Patterns without sense."""
    rng = np.random.default_rng(seed)
    u = tuple(rng.dirichlet([1.0, 2.0, 8.0]) for _ in range(n_fields))
    levels = rng.integers(0, 3, (n_patterns, n_fields))
    levels[rng.random(levels.shape) < missing] = -1
    gain = np.column_stack([-np.log(of[level]) for of, level in zip(u, levels.T, strict=True)])
    number = rng.integers(1, 400, n_patterns).astype(float)
    patterns = Patterns(levels.astype(np.int8), np.where(levels < 0, 0.0, gain), number)
    shown = np.array([(1 - missing) ** one.bit_count() for one in range(1 << n_fields)])
    agrees = (np.array([True, False, False]),) * n_fields
    together = np.full((n_fields, n_fields), float(number.sum()))
    return patterns, UnrelatedChances(n_records, u, agrees, shown, together)


def check(dependence, n_fields, n_levels=3):
    """All is finite, and a distribution."""
    masks, chance = dependence.unrelated_classes
    assert masks.shape == (len(chance), n_fields)
    assert not masks[0].any()
    assert not dependence.replaced[0].any()
    assert (chance >= 0).all()
    assert chance[0] > 1 - LARGEST_SHARE - 1e-9
    assert chance.sum() == pytest.approx(1)
    assert dependence.rho.sum() == pytest.approx(1)
    assert len(dependence.rho) == len(dependence.rho_weights) == len(dependence.replaced)
    for table in (dependence.m, dependence.typed):
        np.testing.assert_allclose(table.reshape(n_fields, n_levels).sum(axis=1), 1)
        assert (table > 0).all()


@pytest.mark.parametrize("n_records", [0, 1, 2, 200])
@pytest.mark.parametrize("n_fields", [1, 2, 5])
def test_no_patterns(n_fields, n_records):
    check(learn_dependence(*arbitrary(n_fields, n_records=n_records)).dependence, n_fields)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_fields", [1, 2, 3, 7])
def test_patterns_without_sense(n_fields, seed):
    check(learn_dependence(*arbitrary(n_fields, 80, seed=seed)).dependence, n_fields)


@pytest.mark.parametrize("n_fields", [1, 2, 6])
def test_all_values_missing(n_fields):
    patterns, chances = arbitrary(n_fields, 40, missing=1.0)
    assert (patterns.levels == -1).all()
    dependence = learn(patterns, chances._replace(together=0 * chances.together))
    check(dependence, n_fields)
    assert len(dependence.shared) == 0


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_sixteen_fields_are_fast(missing):
    patterns, chances = arbitrary(16, 3000, n_records=5000, missing=missing)
    start = time.process_time()
    dependence = learn(patterns, chances)
    assert time.process_time() - start < 10
    check(dependence, 16)


def test_sets_counted_several_times_stay_a_distribution():
    """Five fields, every two of which a fifth of all pairs share: more than all pairs."""
    patterns, chances = arbitrary(5, missing=0.0)
    chances = chances._replace(
        u=(np.array([0.3, 0.1, 0.6]),) * 5, together=np.full((5, 5), 0.3 * chances.n_pairs)
    )
    dependence = learn(patterns, chances)
    assert len(dependence.shared) == 10
    assert find_sets(patterns, chances).known[3] == pytest.approx(0.21 * chances.n_pairs)
    check(dependence, 5)
    apart = np.array([[2, 5, 8, 11, 14]])
    log_u = dependence.log_unlinked(apart, -np.log(np.full((1, 5), 0.6)))
    assert np.log(1 - LARGEST_SHARE) - 1e-9 <= log_u[0] < 0, "to differ in all is as likely as ever"


def test_from_records_to_dependence():
    """A table whose postcodes tell the city, from its values to the sets."""
    rng = np.random.default_rng(1)
    n_entities = 900
    postcode = rng.integers(0, 60, n_entities)
    people = {
        "name": np.array([f"{''.join(rng.choice(list('abcdefghij'), 7))}" for _ in postcode]),
        "born": np.array([f"{a}-{b:02d}-01" for a, b in rng.integers(1, 13, (n_entities, 2)) + 0]),
        "city": np.array(["bern", "basel", "zug", "genf", "chur"])[postcode % 5],
        "postcode": (3000 + 17 * postcode).astype(str),
    }
    twice = np.concatenate([np.arange(n_entities), np.arange(100)])
    table = {name: column[twice].tolist() for name, column in people.items()}
    fields = [kp.Text("name"), kp.Text("born"), kp.Text("city"), kp.Text("postcode")]
    records = kp.Records.from_table(table, fields)
    likelihood = kp.compare(records)
    model = kp.Model(records, kp.NBNB(), likelihood=likelihood)
    found = [likelihood.list_names(row) for row in likelihood.dependence.shared]
    assert ["city", "postcode"] in found
    assert model.comparisons.together[2, 3] == model.comparisons.together[3, 3]


def test_evidence_of_sixteen_fields():
    """Pairs that were not compared have a pattern for each set of fields that both show."""
    outcomes = Outcomes(
        np.array([[0, 1]], dtype=np.int32),
        np.zeros((1, 16), dtype=np.int8),
        np.full((1, 16), 0.1),
        (2,) * 16,
        np.full(16, 0.9),
        np.ones((3, 16), dtype=bool),
    )
    likelihood = Exemplar(outcomes, "abcdefghijklmnop")
    apart = likelihood.compute_ratios(likelihood.start()).apart
    assert apart.shape == (1 << 16,)
    assert np.isfinite(apart).all()
    assert (apart > 0).all()

"""What unrelated records have in common by chance."""

from itertools import combinations

import numpy as np
import pytest

import kolchin as kp
from kolchin.comparison import compare
from kolchin.comparison.levels import level_chances
from kolchin.comparison.levels.level_chances import count_agreeing_pairs, make_bands
from kolchin.comparison.levels.possible_pairs import SAMPLED_PAIRS, Possible

NAMES = ["anna", "ana", "berta", "carla", None]


def table(n: int, seed: int = 1) -> dict:
    rng = np.random.default_rng(seed)
    return {"name": rng.choice(np.array(NAMES, dtype=object), n, p=[0.4, 0.1, 0.2, 0.1, 0.2])}


@pytest.mark.parametrize("n", [50, 2_000])
def test_chances_are_those_of_random_pairs(n):
    records = kp.Records.from_table(table(n), [kp.Text("name")])
    compared = compare(records)
    (u,) = compared.u
    frequency = dict(zip(records.vocabularies[0], records.frequencies[0], strict=True))
    assert u.sum() == pytest.approx(1)
    assert u[0] == pytest.approx(sum(f**2 for f in frequency.values()), abs=1e-12)
    assert u[1] == pytest.approx(2 * frequency["anna"] * frequency["ana"], rel=0.1)
    assert (u > 0).all()


def test_bands_divide_the_chance_of_agreement():
    records = kp.Records.from_table(table(300), [kp.Text("name")])
    compared = compare(records)
    assert compared.band_u[0].sum() == pytest.approx(compared.u[0][0])
    assert compared.band_m[0].sum() == pytest.approx(1)
    near = (compared.levels[:, 0] >= 0) & (compared.levels[:, 0] < len(compared.u[0]) - 1)
    names = records.codes[compared.pairs[near], 0]
    counts = np.bincount(records.codes[records.codes >= 0])[names].max(axis=1)
    expected = np.floor(np.emath.logn(4, counts) + 1e-12)
    assert np.array_equal(compared.bands[near, 0], expected)
    assert not compared.bands[~near].any()


def test_near_levels_divide_among_bands():
    compared = compare(kp.Records.from_table(table(300), [kp.Text("name")]))
    in_band = compared.in_band[0]
    assert in_band[1:-1].sum(axis=1) == pytest.approx(1)
    assert not in_band[[0, -1]].any()


def test_missing_values_have_no_level():
    records = kp.Records.from_table(table(60), [kp.Text("name")])
    compared = compare(records)
    missing = (records.codes[compared.pairs, 0] < 0).any(axis=1)
    assert missing.any()
    assert np.array_equal(compared.levels[:, 0] == -1, missing)


def test_values_of_one_form_agree_and_share_their_frequency():
    records = kp.Records.from_table(
        {"phone": ["031 12", "03112", "99 99", "(031) 12"]}, [kp.Phone("phone")]
    )
    compared = compare(records)
    assert compared.levels[:, 0].tolist() == [0, 4, 0, 4, 0, 4]
    assert compared.u[0][0] == pytest.approx((3 / 4) ** 2 + (1 / 4) ** 2)


def test_constant_and_empty_comparisons_stay_finite():
    records = kp.Records.from_table(
        {"a": ["x", "x", "x"], "b": ["y", None, None]}, [kp.Text("a"), kp.Text("b")]
    )
    compared = compare(records)
    for u in compared.u:
        assert u.sum() == pytest.approx(1)
        assert (u > 0).all()


def test_random_pairs_are_of_different_records():
    pairs = Possible.of(5_000).random_pairs(np.random.default_rng(1))
    assert len(pairs) == SAMPLED_PAIRS
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert pairs.min() == 0
    assert pairs.max() == 4_999


def test_bands_by_hand():
    bands = make_bands(np.array([1, 3, 4, 8]))
    assert bands.of_form.tolist() == [0, 0, 1, 1]
    assert bands.u.tolist() == [10 / 256, 80 / 256]
    assert bands.m.tolist() == [4 / 16, 12 / 16]


def test_without_a_compared_field_there_is_nothing_to_do():
    records = kp.Records.from_table({"a": ["x", "y"]}, "a")
    with pytest.raises(kp.DataError, match="No field is compared"):
        compare(records)
    with pytest.raises(kp.DataError, match=r"no field 'b'"):
        compare(records, [kp.Text("b")])


@pytest.mark.parametrize("source", ["table", "load"])
def test_compared_fields_are_coded_like_categorical_ones(source):
    from kolchin.records import load

    names = {"a": ["anna", "ana", None, "anna"]}
    if source == "table":
        records = kp.Records.from_table(names, [kp.Text("a")])
    else:
        records = load(names, fields=[kp.Text("a")]).records
    same = kp.Records.from_table(names, "a")
    assert records.fields == (kp.Text("a"),)
    assert np.array_equal(records.codes, same.codes)
    assert records.vocabularies == same.vocabularies
    assert np.array_equal(records.frequencies[0], same.frequencies[0])


def test_fields_given_stand_for_those_of_the_records():
    records = kp.Records.from_table({"a": ["anna", "ana"]}, "a")
    assert compare(records, [kp.Text("a")]).levels.tolist() == [[1]]


def agreeing_by_hand(columns):
    """Go through all pairs of records."""
    n_fields = len(columns)
    result = np.zeros((n_fields, n_fields))
    for i, j in combinations(range(len(columns[0])), 2):
        same = [of[i] == of[j] and of[i] >= 0 for of in columns]
        result += np.outer(same, same)
    return result


@pytest.mark.parametrize("seed", range(5))
def test_agreeing_pairs_by_hand(seed):
    rng = np.random.default_rng(seed)
    n_records, n_fields = int(rng.integers(0, 40)), int(rng.integers(1, 5))
    codes = [rng.integers(-1, 1 + 3 * f, n_records).astype(np.int32) for f in range(n_fields)]
    found = count_agreeing_pairs(codes, rng)
    assert np.array_equal(found, agreeing_by_hand([one.tolist() for one in codes]))


def test_agreeing_pairs_of_many_records_are_scaled_up(monkeypatch):
    monkeypatch.setattr(level_chances, "COUNTED_RECORDS", 2_000)
    rng = np.random.default_rng(1)
    first = rng.integers(0, 20, 6_000).astype(np.int32)
    codes = [first, (first // 4).astype(np.int32), rng.integers(-1, 9, 6_000).astype(np.int32)]
    found = count_agreeing_pairs(codes, rng)
    pairs = 6_000 * 5_999 / 2
    assert found[0, 1] == found[0, 0]
    np.testing.assert_allclose(found[0, 1], pairs / 20, rtol=0.05)
    np.testing.assert_allclose(found[1, 2], pairs * 0.9**2 / 5 / 9, rtol=0.05)


def test_pairs_that_agree_on_two_fields_are_of_all_records():
    """Counted in the table, whether or not they are candidates; by form, missing ones never."""
    rng = np.random.default_rng(2)
    values = {
        "name": rng.choice(np.array(NAMES, dtype=object), 80).tolist(),
        "phone": rng.choice(
            np.array(["031 12", "03112", "99 99", None], dtype=object), 80
        ).tolist(),
    }
    records = kp.Records.from_table(values, [kp.Text("name"), kp.Phone("phone")])
    names = [-1 if v is None else NAMES.index(v) for v in values["name"]]
    phones = [-1 if v is None else int(v.replace(" ", "")) for v in values["phone"]]
    assert np.array_equal(compare(records).together, agreeing_by_hand([names, phones]))

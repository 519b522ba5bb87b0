"""How often descriptions are alike is known by whether the names are."""

import numpy as np
import pytest

import kolchin as kp
from kolchin.comparison import compare
from kolchin.comparison.kinds.preparing import prepare_all
from kolchin.comparison.levels.companions import NO_SHARE, companions_of, without_alike
from kolchin.comparison.levels.level_chances import Bands, LevelChances
from kolchin.likelihoods.chance import chances_of_values
from kolchin.likelihoods.exemplar import outcomes_of

N_LINES, OF_A_LINE = 60, 5


@pytest.fixture(scope="module")
def compared():
    """Products in lines: names share the line's words, descriptions too, and repeat the name."""
    rng = np.random.default_rng(1)
    words = [f"{a}{b}{c}" for a in "bdgklmprst" for b in "aeiou" for c in ("la", "ne", "ro", "x")]
    names, texts = [], []
    for _ in range(N_LINES):
        line, blurb = rng.choice(words, 3, replace=False), rng.choice(words, 10, replace=False)
        for _ in range(OF_A_LINE):
            names.append(" ".join([*line, rng.choice(words)]))
            texts.append(" ".join([names[-1], *blurb, *rng.choice(words, 3)]))
    table = {"name": names, "text": texts}
    records = kp.Records.from_table(table, fields=[kp.Words("name"), kp.Words("text")])
    return compare(records)


def test_pairs_whose_names_are_alike_are_in_the_last_band(compared):
    names = compared.levels[:, 0]
    last = len(compared.level_names[0]) - 1
    alike = (names >= 0) & (names < last)
    assert np.array_equal((compared.bands[:, 1] == compared.band_m[1].size - 1), alike)
    assert alike.any()


def test_beside_names_that_are_alike_the_same_text_is_no_surprise(compared):
    outcomes = outcomes_of(compared, compared.shows)
    bands, levels = compared.outcome_bands[:, 1], compared.outcomes[:, 1]
    beside = (bands == bands.max()) & (levels > 0)
    pairs = zip(levels[beside].tolist(), outcomes.chance[beside, 1], strict=True)
    chance = dict(pairs)
    alike = sum(c for level, c in chance.items() if level < 4)
    assert alike > 10 * compared.u[1][1:4].sum()
    assert (outcomes.chance > 0).all()


def test_the_chances_beside_texts_that_are_alike_add_up(compared):
    chances = chances_of_values(
        compared.band_u[1], compared.u[1], compared.in_band[1], compared.band_m[1]
    )
    assert chances[:, -1].sum() == pytest.approx(1, abs=1e-5)
    assert chances[1:, 0] == pytest.approx(compared.u[1][1:])  # elsewhere they are as they were


def test_agreement_beside_texts_that_are_alike_is_not_counted_elsewhere():
    bands = [Bands(np.zeros(3, np.int8), np.array([0.02, 0.0]), np.array([1.0, NO_SHARE]))]
    levels, marks = np.array([[0], [0], [2]], np.int8), np.array([[1], [0], [1]], np.int8)
    chances = [LevelChances(np.ones(3) / 3, np.full((3, 2), 1e-13))]
    (found,) = without_alike(bands, chances, {0: 1}, (levels, marks, np.array([20, 7, 1])), [100])
    before, after = (np.maximum(u[0] * 100**2 - 100, 0) / 2 for u in (bands[0].u, found.u))
    assert before - after == pytest.approx(20)


def test_values_that_are_all_frequent_leave_no_chance_at_zero():
    rng = np.random.default_rng(3)
    words = [f"{a}{b}{c}" for a in "bdgklm" for b in "aeiou" for c in ("la", "ne", "ro", "st", "x")]
    titles = [" ".join(rng.choice(words, 4)) for _ in range(150)]
    table = {"title": titles, "year": rng.choice(["1998", "1999"], 150).tolist()}
    fields = [kp.Words("title"), kp.Number("year")]
    compared = compare(kp.Records.from_table(table, fields=fields))
    assert compared.band_m[1][0] == 0
    assert outcomes_of(compared, compared.shows).chance.min() > 1e-12


def test_fields_go_with_the_shortest_text_and_texts_with_what_they_repeat():
    names = ["alba brio gt", "cosmo dart lx", "elan fiat mk", "gala hugo nx"]
    table = {
        "text": [f"{name} and more words of it, {name[::-1]}" for name in names],
        "price": ["1", "2", "3", "4"],
        "name": names,
        "short": ["of", "it", "me", "us"],
    }
    fields = [kp.Words("text"), kp.Number("price"), kp.Words("name"), kp.Words("short")]
    prepared = prepare_all(kp.Records.from_table(table, fields=fields), None)
    assert companions_of(prepared) == {0: 2, 1: 3, 2: 3}


def test_without_texts_there_are_no_companions():
    records = kp.Records.from_table({"a": ["x", "y"]}, fields=[kp.Text("a")])
    assert companions_of(prepare_all(records, None)) == {}

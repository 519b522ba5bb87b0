"""How often descriptions are alike is known by whether the names are."""

import numpy as np
import pytest

import kolchin as kp
from kolchin.comparison import compare
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


def test_the_bands_of_long_texts_say_whether_names_are_alike(compared):
    names, texts = compared.levels.T
    bands = compared.bands[:, 1]
    last = len(compared.level_names[0]) - 1
    assert set(np.unique(bands)) == {bands.max() - 1, bands.max()}
    assert np.array_equal(bands == bands.max(), (names >= 0) & (names < last))
    assert not (texts == 0).any()  # the same words are the first of those that are alike


def test_beside_names_that_are_alike_the_same_text_is_no_surprise(compared):
    outcomes = outcomes_of(compared, compared.shows)
    bands, levels = compared.outcome_bands[:, 1], compared.outcomes[:, 1]
    for level in (1, 2, 3):
        alike = outcomes.chance[(levels == level) & (bands == bands.max()), 1]
        assert (alike > 10 * compared.u[1][level]).all()
    assert (outcomes.chance > 0).all()


def test_chances_of_both_bands_add_up(compared):
    u, in_band, share = compared.u[1], compared.in_band[1], compared.band_m[1]
    chances = u[1:, None] * in_band[1:, -2:] / share[-2:]
    assert chances.sum(axis=0) == pytest.approx([1, 1], abs=1e-6)


def test_texts_that_repeat_nothing_have_no_companion():
    rng = np.random.default_rng(2)
    words = [f"{a}{b}{c}" for a in "bdgklm" for b in "aeiou" for c in ("la", "ne", "ro", "st", "x")]
    table = {
        "title": [" ".join(rng.choice(words[:70], 4)) for _ in range(200)],
        "authors": [" ".join(rng.choice(words[70:], 5)) for _ in range(200)],
    }
    compared = compare(
        kp.Records.from_table(table, fields=[kp.Words("title"), kp.Words("authors")])
    )
    assert not compared.in_band[0].any()
    assert not compared.in_band[1].any()

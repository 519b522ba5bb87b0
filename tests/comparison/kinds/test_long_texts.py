"""Texts of many words: how they become words, what is shared, how often by chance."""

import itertools

import numpy as np
import polars as pl
import pytest

import kolchin as kp
from kolchin.comparison import compare
from kolchin.comparison.kinds.long_texts import WordsComparer, list_shared_words, write_word_forms
from kolchin.comparison.kinds.preparing import prepare_all
from kolchin.comparison.kinds.tokens import split_tokens
from kolchin.comparison.levels.repeated_words import mark_repeated_words, measure_repeated_share
from kolchin.comparison.levels.similarity_tails import SimilarityTail
from kolchin.comparison.text_kernels.joined_words import choose_joined
from kolchin.comparison.text_kernels.word_similarity import ALIKE

NAMES = [
    "Sony Cyber-shot DSC-W120/B 7.2 MP camera, black",
    "SONY DSCW120 digital camera (silver)",
    "Sony Cybershot DSCW130B 8.1 MP camera",
    "Panasonic KX-TG5673 phone",
    "panasonic telephone KXTG5673B",
    "Art's Delicatessen, 12 Ventura Blvd.",
    "arts deli 12 ventura boulevard",
    "the of and",
    "?!",
]


def words_of(text: str, among=()) -> list[str]:
    rows = split_tokens(pl.Series([text, *among]))
    return rows.filter(pl.col("text") == 0)["word"].to_list()


@pytest.mark.parametrize(
    ("text", "among", "expected"),
    [
        ("DSC-W120/B", ["dscw120"], ["dscw120", "b"]),
        ("DSC-W120/B", ["dscw120b"], ["dscw120b"]),
        ("DSC W120", ["dscw120"], ["dscw120"]),
        ("DSC-W120", ["dsc w120"], ["dsc", "w120"]),
        ("7-11719-70670-0", ["711719706700"], ["711719706700"]),
        ("wi fi", ["wifi"], ["wi", "fi"]),  # too short to be sure
        ("blue tooth", ["bluetooth"], ["bluetooth"]),
        ("7.2 of 1,000", [], ["7·2", "of", "1000"]),
        ("Müller's café", [], ["müllers", "café"]),
        ("!?", [], []),
    ],
)
def test_codes_are_one_word_however_they_are_divided(text, among, expected):
    assert words_of(text, among) == expected


def test_words_are_not_joined_across_texts():
    assert split_tokens(pl.Series(["dsc", "w120", "dscw120"]))["word"].to_list() == [
        *("dsc", "w120", "dscw120")
    ]


@pytest.mark.parametrize("lengths", list(itertools.product([1, 2, 3], repeat=5)))
def test_of_words_that_overlap_the_first_is_chosen(lengths):
    given = np.array(lengths, dtype=np.int8)
    kept, k = [], 0
    while k < given.size:
        kept.append(k)
        k += lengths[k]
    assert np.flatnonzero(choose_joined(given)).tolist() == kept


def test_forms_have_each_word_once_in_order_and_keep_what_has_none():
    assert write_word_forms(["b a b", "?  !", "1 2", " "]).to_list() == ["a b", "?!", "1 2", "?"]


def is_alike(one: str, other: str, kinds: dict[str, int], counts: dict[str, int]) -> bool:
    """Tell it slowly, by words: an initial, a start, letters left out, one edit."""
    if kinds[one] != kinds[other] or kinds[one] == 1 or one[0] != other[0]:
        return False
    short, long = sorted([one, other], key=len)
    rest = long[len(short) :]
    if kinds[one] == 2:
        return (
            long.startswith(short)
            and len(short) >= 5
            and len(rest) <= 3
            and not (rest and rest[0].isdigit())
        )
    if long.startswith(short) and (len(short) == 1 or len(short) >= 3):
        return True
    if min(counts[one], counts[other]) == 1 and len(short) >= 5 and is_one_edit(short, long):
        return True
    letters = iter(long[1:])
    inside = all(letter in letters for letter in short[1:])
    ends = 2 <= len(short) <= 5 and len(long) >= len(short) + 2 and short[-1] == long[-1]
    return inside and ends


def is_one_edit(one: str, other: str) -> bool:
    edits = {one[:k] + one[k + 1 :] for k in range(len(one))}
    back = {other[:k] + other[k + 1 :] for k in range(len(other))}
    swapped = {one[:k] + one[k + 1] + one[k] + one[k + 2 :] for k in range(len(one) - 1)}
    same_length = len(one) == len(other)
    other_letter = same_length and sum(a != b for a, b in zip(one, other, strict=True)) <= 1
    return one in back or other in edits or other in swapped or other_letter


def slow_similarity(comparing: WordsComparer, a: int, b: int) -> tuple[float, int]:
    """Return the cosine of the weights of words, those alike counted as the more frequent one.

    And whether both texts have words of their own (1), and numbers (2).
    """
    vocabulary = comparing.vocabulary.to_list()
    weights = dict(zip(vocabulary, comparing.weights, strict=True))
    kinds = {w: int(c) % 3 for w, c in zip(vocabulary, comparing.classes, strict=True)}
    counts = dict(zip(vocabulary, np.bincount(comparing.words).tolist(), strict=True))
    texts = []
    for text in (a, b):
        places = range(comparing.starts[text], comparing.starts[text + 1])
        texts.append({vocabulary[comparing.words[p]]: bool(comparing.told[p]) for p in places})
    one, other = texts
    same = {w for w in one.keys() & other.keys() if not (one[w] and other[w])}
    left = [w for w in vocabulary if w in one and w not in other and not one[w]]
    right = [w for w in vocabulary if w in other and w not in one and not other[w]]
    both = sum(weights[w] ** 2 for w in same)
    first = both + sum(weights[w] ** 2 for w in left)
    second = both + sum(weights[w] ** 2 for w in right)
    for w in left:
        fitting = [v for v in right if is_alike(w, v, kinds, counts)]
        best = max(fitting, key=lambda v: min(weights[w], weights[v]), default=None)
        if best is not None and min(weights[w], weights[best]) > 0:
            least = min(weights[w], weights[best]) ** 2
            both += ALIKE * least
            first += least - weights[w] ** 2
            second += least - weights[best] ** 2
            right.remove(best)
            left = [v for v in left if v != w]
    numbers = all(any(kinds[w] in (1, 2) for w in rest) for rest in (left, right))
    differ = 2 if numbers else int(bool(left) and bool(right))
    return (both / np.sqrt(first * second), differ) if both else (0.0, 0)


@pytest.mark.parametrize("mark", [False, True])
def test_similarity_is_that_of_a_slow_twin(mark):
    forms = write_word_forms(NAMES)
    if mark:
        forms = forms.str.replace("(sony|panasonic|camera)", "=$1")
    comparing = WordsComparer(kp.Words("name"), forms)
    a, b = np.triu_indices(len(NAMES), 1)
    found, differ = comparing.similarity(a.astype(np.int32), b.astype(np.int32))
    pairs = np.column_stack([a, b]).tolist()
    slow, expected = zip(*(slow_similarity(comparing, i, j) for i, j in pairs), strict=True)
    assert found == pytest.approx(slow, abs=1e-6)
    assert differ.tolist() == list(expected)
    assert found.max() > 0.5


def test_random_texts_have_the_similarity_of_the_slow_twin():
    rng = np.random.default_rng(1)
    syllables = ["ka", "lo", "mi", "ne", "ru", "t", "12", "x9"]
    texts = [
        " ".join("".join(rng.choice(syllables, rng.integers(1, 4))) for _ in range(n))
        for n in rng.integers(1, 9, 60)
    ]
    comparing = WordsComparer(kp.Words("x"), write_word_forms(texts))
    a, b = np.triu_indices(60, 1)
    found, differ = comparing.similarity(a.astype(np.int32), b.astype(np.int32))
    pairs = np.column_stack([a, b]).tolist()
    slow, expected = zip(*(slow_similarity(comparing, i, j) for i, j in pairs), strict=True)
    assert found == pytest.approx(slow, abs=1e-6)
    assert differ.tolist() == list(expected)


def test_a_rare_word_counts_more_than_frequent_ones_and_a_code_more_than_a_word():
    rest = [f"new red camera {word}" for word in ("ala", "bela", "cela", "dela", "ela")]
    texts = [
        "new red camera zyx",
        "old blue thing zyx",
        "new red camera qrs",
        "old kl77 zyx",
        "kl77 a",
    ]
    comparing = WordsComparer(kp.Words("x"), write_word_forms([*texts, *rest]))

    def similarity(a: int, b: int) -> float:
        return float(comparing.similarity(np.array([a], np.int32), np.array([b], np.int32))[0][0])

    assert similarity(0, 1) > similarity(0, 2)
    assert similarity(3, 4) > similarity(3, 1)


def test_levels_say_what_differs():
    texts = [
        "sony camera dscw120 silver new",
        "sony camera dscw120 silver",
        "sony camera dscw130 silver",
    ]
    texts += ["sony camera dscw120 black", *(f"{word} 77 lens" for word in ("ala", "bela", "cela"))]
    comparing = WordsComparer(kp.Words("x", cuts=(0.9, 0.05)), write_word_forms(texts))
    first = np.array([1, 1, 1], np.int32)
    levels = comparing.levels(first, np.array([0, 2, 3], np.int32))
    names = [comparing.names[level].split(", ")[-1] for level in levels]
    assert names[0] == "one has more"
    assert names[1] == "other numbers"
    assert names[2].startswith("words")
    assert not comparing.agrees[[n.endswith("numbers") for n in comparing.names]].any()


def test_chance_falls_on_beyond_what_can_be_counted():
    rng = np.random.default_rng(2)
    n_records = 2_000
    scores = np.minimum(rng.exponential(0.1, 300_000), 1.0)
    links = rng.uniform(0.7, 1.0, 150).astype(np.float32)  # of 1,000 in two million pairs
    tail = SimilarityTail(np.concatenate([scores.astype(np.float32), links]), n_records)
    cuts = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    # By chance exp(-9) of the pairs reach 0.9; with the links it is twice as many.
    assert np.log(tail.estimate_reaching(cuts)) == pytest.approx(-10 * cuts, abs=0.8)
    assert tail.levels((0.9, 0.5, 0.1)).sum() == pytest.approx(1)


def test_no_text_shares_anything():
    tail = SimilarityTail(np.zeros(1_000, dtype=np.float32), 100)
    levels = tail.levels((0.8, 0.5))
    assert levels[-1] > 0.9
    assert (levels > 0).all()


def prepared(table, fields):
    return prepare_all(kp.Records.from_table(table, fields=fields), None)


TABLE = {
    "brand": ["sony", "sony", None, "nikon"],
    "name": ["sony pslx350h turntable black", "sony turntable", "sony amp", "nikon"],
    "text": [
        "sony turntable pslx350h with belt and motor control",
        "belt and motor control for sony",
        "an amp by sony with two jacks and lamp",
        "nikon",
    ],
}
FIELDS = [kp.Text("brand"), kp.Words("name"), kp.Words("text")]


def test_words_of_shorter_fields_are_marked_record_by_record():
    _, name, text = mark_repeated_words(prepared(TABLE, FIELDS))
    shown = [name.forms[int(code)] if code >= 0 else None for code in name.codes]
    assert shown == ["=sony black pslx350h turntable", "=sony turntable", "amp sony", None]
    first = text.forms[int(text.codes[0])].split()
    assert [word for word in first if word.startswith("=")] == ["=pslx350h", "=sony", "=turntable"]


def test_how_much_of_a_text_stands_in_another_one():
    _, name, text = prepared(TABLE, FIELDS)
    assert measure_repeated_share(text, name) == pytest.approx((3 + 1 + 2 + 1) / (8 + 6 + 9 + 1))


def test_what_a_name_says_a_description_does_not_say_again():
    texts = [f"{name} {name}" for name in ("alba brio", "cosmo dart", "elan fiat")]
    table = {"name": ["alba brio", "cosmo dart", "elan fiat"] * 2, "text": texts * 2}
    compared = compare(kp.Records.from_table(table, fields=[kp.Words("name"), kp.Words("text")]))
    assert compared.shows[:, 0].all()
    assert not compared.shows[:, 1].any()


def test_shared_words_are_named_codes_first():
    assert list_shared_words(NAMES[0], NAMES[1]) == ["dscw120", "camera", "sony"]
    assert list_shared_words(NAMES[5], NAMES[6])[:3] == ["ventura", "arts", "12"]
    assert "deli ~ delicatessen" in list_shared_words(NAMES[5], NAMES[6])
    assert list_shared_words("a b", "c d") == []

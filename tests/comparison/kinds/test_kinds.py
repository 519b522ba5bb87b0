"""Each kind of field compares as people err in it."""

import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kolchin as kp
from kolchin.comparison import compare
from kolchin.comparison.kinds.dates import parse_date, write_dates_alike
from kolchin.comparison.kinds.preparing import KINDS, prepare
from kolchin.comparison.kinds.sounds import encode_sounds
from kolchin.comparison.kinds.strings import Strings
from kolchin.comparison.levels.pair_levels import compare_codes
from kolchin.comparison.text_kernels.name_matching import compare_words
from kolchin.errors import DataError

EXAMPLES = [
    (kp.Text, "Meier", "meier", "exact"),
    (kp.Text, "o'brien", "obrien", "exact"),
    (kp.Text, "meier", "meyer", "mistyped"),
    (kp.Text, "meier", "neier", "mistyped"),
    (kp.Text, "martha", "marhta", "mistyped"),
    (kp.Text, "anna maria", "maria anna", "mistyped"),
    (kp.Text, "goldfinch circuit", "goldfnch circiut", "mistyped"),
    (kp.Text, "art's deli", "arts delicatessen", "similarity 0.88"),
    (kp.Text, "dixon", "dicksonx", "similarity 0.75"),
    (kp.Text, "ab", "ax", "different"),
    (kp.Text, "jones", "smith", "different"),
    (kp.Text, "東京", "東京都", "similarity 0.88"),
    (kp.Text, "东", "山", "different"),
    (kp.Name, "Smith, John", "smith john", "exact"),
    (kp.Name, "john smith", "smith, john", "other order"),
    (kp.Name, "jon smyth", "john smith", "mistyped"),
    (kp.Name, "smyth jon", "john smith", "mistyped"),
    (kp.Name, "j. smith", "john smith", "initials"),
    (kp.Name, "smith, j. a.", "john adam smith", "initials"),
    (kp.Name, "john smith", "john adam smith", "initials"),
    (kp.Name, "j. s.", "john smith", "different"),
    (kp.Name, "john smith", "johnny smithson", "similarity 0.85"),
    (kp.Name, "mary jones", "john smith", "different"),
    (kp.Date, "1971-06-24", "24/06/1971", "exact"),
    (kp.Date, "24 Jun 71", "19710624", "exact"),
    (kp.Date, "1971-06-24", "1971-06-25", "mistyped"),
    (kp.Date, "1971-06-24", "1917-06-24", "mistyped"),
    (kp.Date, "19711331", "19711332", "mistyped"),
    (kp.Date, "1971-03-05", "1971-05-03", "swapped"),
    (kp.Date, "1971-06-24", "1971-06-03", "two parts"),
    (kp.Date, "1971-06-24", "1989-06-24", "two parts"),
    (kp.Date, "1971", "1971-06-24", "two parts"),
    (kp.Date, "1971-06-24", "1972-01-03", "within 366 days"),
    (kp.Date, "1971-06-24", "1999-01-01", "different"),
    (kp.Date, "spring", "sprng", "mistyped"),
    (kp.Date, "spring", "1999-01-01", "different"),
    (kp.Number, "007", "7.0", "exact"),
    (kp.Number, "1,5", "1.5", "exact"),
    (kp.Number, "1949", "1994", "mistyped"),
    (kp.Number, "6", "9", "different"),
    (kp.Number, "x", "7", "different"),
    (kp.Email, "A@b.org", "a@b.org ", "exact"),
    (kp.Email, "ann.lee@x.org", "ann.le@x.org", "mistyped"),
    (kp.Email, "robert255@smith.net", "robert255@gmail.com", "same user"),
    (kp.Email, "robert.smith@a.org", "robert.smithson@b.com", "user similarity 0.88"),
    (kp.Email, "tom@example.org", "ann@example.org", "different"),
    (kp.Phone, "310/246-1501", "(310) 2461501", "exact"),
    (kp.Phone, "+41 (0)31 123 45 67", "0041311234567", "exact"),
    (kp.Phone, "+41 31 123 45 67", "031 123 45 67", "same ending"),
    (kp.Phone, "726264816", "726264817", "1 wrong"),
    (kp.Phone, "726264816", "726264857", "2 wrong"),
    (kp.Phone, "726264816", "111111111", "different"),
    (kp.Code, "SW1A 1AA", "sw1a-1aa", "exact"),
    (kp.Code, "83429", "83249", "mistyped"),
    (kp.Code, "sw1a 1aa", "sw1a 2bb", "same start 50%"),
    (kp.Code, "4011", "9999", "different"),
]


@pytest.mark.parametrize(("kind", "first", "second", "expected"), EXAMPLES)
def test_examples(level, kind, first, second, expected):
    assert level(kind("x"), first, second) == expected
    assert level(kind("x"), second, first) == expected


def test_numbers_are_near_relative_to_their_size_or_the_spread_of_the_column():
    years = [str(year) for year in range(1930, 1991)]
    prepared = prepare(kp.Number("year"), np.arange(61, dtype=np.int32), years)
    names, codes = prepared.comparing.names, prepared.codes
    levels = compare_codes(prepared.comparing, codes[[29, 29, 29]], codes[[30, 33, 60]])
    assert [names[k] for k in levels] == ["within 2%", "within 10%", "different"]


values = st.text(max_size=12) | st.sampled_from([one for row in EXAMPLES for one in row[1:3]])


@pytest.mark.parametrize("kind", list(KINDS))
@given(st.lists(values, min_size=2, max_size=12, unique=True))
def test_comparisons_are_symmetric_within_range_and_never_exact_between_forms(kind, vocabulary):
    prepared = prepare(kind("x"), np.arange(len(vocabulary), dtype=np.int32), vocabulary)
    comparing, n = prepared.comparing, prepared.forms.len()
    left, right = (places.astype(np.int32) for places in np.nonzero(~np.eye(n, dtype=bool)))
    levels = comparing.levels(left, right)
    assert np.array_equal(levels, comparing.levels(right, left))
    assert ((levels >= 1) & (levels <= comparing.different)).all()


@pytest.mark.parametrize("kind", list(KINDS))
@given(st.lists(values, min_size=1, max_size=8), st.integers(0, 2**32 - 1))
def test_comparing_each_pair_of_values_once_changes_nothing(kind, vocabulary, seed):
    prepared = prepare(kind("x"), np.arange(len(vocabulary), dtype=np.int32), vocabulary)
    comparing = prepared.comparing
    rng = np.random.default_rng(seed)
    left, right = rng.integers(-1, prepared.forms.len(), (2, 40), dtype=np.int32)
    for a, b, level in zip(left, right, compare_codes(comparing, left, right), strict=True):
        if min(a, b) < 0:
            assert level == -1
        elif a == b:
            assert level == 0
        else:
            assert level == comparing.levels(np.array([a]), np.array([b]))[0]


@given(st.text("abc", min_size=1, max_size=6), st.text("abc", min_size=1, max_size=6))
def test_words_alike_agrees_with_the_edit_distance(first, second):
    from rapidfuzz.distance import OSA

    letters = np.frombuffer((first + second).encode("utf-32-le"), dtype=np.uint32)
    found = compare_words(letters, 0, len(first), len(first), len(first) + len(second))
    if first == second:
        assert found == 3
    elif min(len(first), len(second)) == 1:
        assert found == (first[0] == second[0])
    else:
        long = min(len(first), len(second)) >= 3
        assert found == (2 if long and OSA.distance(first, second) == 1 else 0)


def test_strings_are_sent_as_letters():
    """These are arrays, which tasks map, and not the text that they were made of."""
    strings = Strings(pl.Series([f"somebody {number}" for number in range(1000)]))
    buffers = []
    sent = pickle.dumps(strings, protocol=5, buffer_callback=buffers.append)
    assert len(sent) < 2_000
    received = pickle.loads(sent, buffers=buffers)
    one, other = np.arange(1000, dtype=np.int32), np.arange(1000, dtype=np.int32)[::-1].copy()
    assert np.array_equal(received.similarity(one, other), strings.similarity(one, other))
    assert np.array_equal(received.find_mistyped(one, other), strings.find_mistyped(one, other))


@given(
    st.lists(st.text("ab山", max_size=7), min_size=2, max_size=6)
    | st.lists(st.text("abcdé", max_size=70), min_size=2, max_size=6)
)
def test_strings_compare_as_rapidfuzz_does_one_by_one(texts):
    from rapidfuzz.distance import OSA, JaroWinkler, Postfix, Prefix

    strings = Strings(pl.Series(texts))
    left, right = (places.astype(np.int32) for places in np.indices((len(texts),) * 2))
    left, right = left.ravel(), right.ravel()
    both = [(texts[a], texts[b]) for a, b in zip(left, right, strict=True)]
    for most in (1, 2, 3, 5):
        expected = [min(OSA.distance(a, b), most + 1) for a, b in both]
        assert strings.edits(left, right, most).tolist() == expected
    assert strings.common_start(left, right).tolist() == [Prefix.similarity(*one) for one in both]
    assert strings.common_end(left, right).tolist() == [Postfix.similarity(*one) for one in both]
    assert strings.same(left, right).tolist() == [a == b for a, b in both]
    similar = np.array([JaroWinkler.similarity(*one) for one in both], dtype=np.float32)
    assert np.array_equal(strings.similarity(left, right), similar)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1971-06-24", (1971, 6, 24)),
        ("1971-06-24 00:00:00", (1971, 6, 24)),
        ("19710624", (1971, 6, 24)),
        ("24.6.1971", (1971, 6, 24)),
        ("24 june 1971", (1971, 6, 24)),
        ("june 24, 1971", (1971, 6, 24)),
        ("1971", (1971, 0, 0)),
        ("1971-06", (1971, 6, 0)),
        ("24/06/71", (1971, 6, 24)),
        ("24/06/05", (2005, 6, 24)),
        ("mon 24 1971", None),
        ("hello", None),
    ],
)
def test_dates_are_read(text, expected):
    assert parse_date(text) == expected


def test_the_column_tells_whether_days_come_first_and_which_century_is_meant():
    assert write_dates_alike(["06/24/1971", "03/04/1971"])[1] == "1971-03-04"
    assert write_dates_alike(["24/06/1971", "03/04/1971"])[1] == "1971-04-03"
    assert write_dates_alike(["24/06/1999", "03/04/05"])[1] == "1905-04-03"


def test_dates_of_a_typed_column_compare_like_those_of_text():
    dates = pl.date_range(pl.date(1971, 1, 1), pl.date(1971, 3, 1), eager=True).to_list()
    prepared = prepare(kp.Date("x"), np.arange(len(dates), dtype=np.int32), dates)
    assert prepared.forms[0] == "1971-01-01"


def test_words_of_like_sound_share_a_code_and_others_do_not():
    alike = encode_sounds(pl.Series(["meier", "meyer", "maier", "mayr"]))
    assert alike.n_unique() == 1
    assert encode_sounds(pl.Series(["smith", "jones", "baker"])).n_unique() == 3


def test_cuts_move_the_levels(level):
    assert level(kp.Text("x", cuts=(0.99,)), "dixon", "dicksonx") == "different"
    assert level(kp.Date("x", cuts=(31, 3660)), "1971-06-24", "1979-01-03") == "within 3660 days"


def test_a_function_gives_similarities_or_levels(level):
    start = kp.Text("x", comparator=lambda a, b: a[0] == b[0], cuts=(1,))
    assert level(start, "anna", "alma") == "similarity 1"
    assert level(start, "anna", "berta") == "different"
    named = kp.Text("x", comparator=lambda a, b: 1, levels=("same", "near", "far"))
    assert level(named, "anna", "berta") == "near"


@pytest.mark.parametrize("wrong", [3, -2, 0.5, float("nan")])
def test_a_function_that_returns_no_level_is_told_so(level, wrong):
    field = kp.Text("x", comparator=lambda a, b: wrong, levels=("same", "near", "far"))
    with pytest.raises(DataError, match=r"must return a level from -1 to 2\. Got .* 'anna'"):
        level(field, "anna", "berta")


@pytest.mark.parametrize(
    ("field", "message"),
    [
        (kp.Text("x", cuts=(0.5, 0.9, 0.7)), "must be in order"),
        (kp.Text("x", cuts=("a",)), "must be a tuple of numbers"),
        (kp.Text("x", comparator=3), "must be a function"),
        (kp.Text("x", levels=("a", "b")), "go with a comparator"),
    ],
)
def test_faults_of_fields(field, message):
    with pytest.raises(DataError, match=message):
        kp.Records.from_table({"x": ["a", "b"]}, [field])


def test_very_long_values_are_compared_by_their_beginning():
    long = "ab" * 500_000
    records = kp.Records.from_table(
        {"note": [long, long[:-1] + "c", "c" + long, "short"]}, fields=[kp.Text("note")]
    )
    levels = compare(records).levels[:, 0]
    assert levels[0] == 0
    assert levels[2] == len(compare(records).level_names[0]) - 1

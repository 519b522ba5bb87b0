"""Columns whose words stand in others are left out, and only those."""

import numpy as np

from kolchin.records import inspect, load

FIRST = [f"{a}{b}" for a in ("an", "bo", "ca", "de", "el") for b in ("na", "rt", "lf", "mond")]
LAST = [f"{a}{b}" for a in ("ha", "ke", "lo", "mi") for b in ("ller", "ster", "wick", "ton")]
RNG = np.random.default_rng(1)
N = 300
FIRSTS, LASTS = RNG.choice(FIRST, N).tolist(), RNG.choice(LAST, N).tolist()
WHOLE = [f"{last.upper()}, {first}" for first, last in zip(FIRSTS, LASTS, strict=True)]


def used(table) -> list[str]:
    return [one.column for one in inspect(table).columns if one.used]


def test_a_name_beside_its_parts_is_left_out_with_a_reason():
    loaded = load({"first": FIRSTS, "last": LASTS, "whole": WHOLE})
    assert loaded.records.names == ("first", "last")
    assert "'whole' was left out: its words stand in 'first', 'last' too." in loaded.notes


def test_parts_alone_and_wholes_alone_are_used():
    assert used({"first": FIRSTS, "last": LASTS}) == ["first", "last"]
    assert used({"whole": WHOLE, "last": LASTS}) == ["whole", "last"]


def test_words_of_other_records_do_not_count():
    others = [*LASTS[1:], LASTS[0]]
    assert used({"first": FIRSTS, "other": others, "whole": WHOLE}) == ["first", "other", "whole"]


def test_a_whole_that_has_more_is_used():
    more = [f"{whole} {LAST[k % 16]}" for k, whole in enumerate(WHOLE)]
    assert "whole" in used({"first": FIRSTS, "last": LASTS, "whole": more})
    gaps = [first if k % 3 else None for k, first in enumerate(FIRSTS)]
    assert "whole" in used({"first": gaps, "last": LASTS, "whole": WHOLE})


def test_of_two_wholes_one_is_left_out():
    turned = [" ".join(reversed(whole.split(", "))) for whole in WHOLE]
    assert len(used({"whole": WHOLE, "turned": turned, "x": FIRSTS[::-1]})) == 2


def test_who_names_fields_gets_them():
    table = {"first": FIRSTS, "last": LASTS, "whole": WHOLE}
    assert load(table, fields=list(table)).records.names == tuple(table)

"""Comparisons come back from plain arrays as they were."""

from typing import NamedTuple

import numpy as np

import kolchin as kp
from kolchin.comparison import compare
from kolchin.comparison.plain_arrays import arrays_of, comparisons_of, flatten, rebuild


class Inner(NamedTuple):
    table: np.ndarray
    names: tuple[str, ...]


class Outer(NamedTuple):
    inner: Inner | None
    none: Inner | None
    several: tuple[Inner, ...]
    couple: tuple[int, float]
    empty: tuple[str, ...] = ()


def test_what_is_made_of_other_things_comes_back():
    inner = Inner(np.arange(3), ("a", "b"))
    whole = Outer(inner, None, (inner, inner._replace(names=())), (np.int64(2), 0.1))
    arrays = flatten("x", whole)
    assert all(isinstance(one, np.ndarray) for one in arrays.values())
    back = rebuild(Outer, "x", arrays)
    assert repr(back) == repr(whole._replace(couple=(2, 0.1)))
    assert (type(back.several[1]), back.couple) == (Inner, (2, 0.1))


def test_comparisons_come_back():
    table = {"name": ["ann", "ana", "bob", None], "born": ["1990", "1990", "1985", "1999"]}
    records = kp.Records.from_table(table, [kp.Text("name"), kp.Text("born")])
    one = compare(records)
    back = comparisons_of(arrays_of(one), one.fields)
    assert repr(back.report) == repr(one.report)
    for name, value in vars(one).items():
        if name not in ("parts", "report"):
            assert repr(getattr(back, name)) == repr(value), name
    assert np.array_equal(back.pairs, one.pairs)
    assert np.array_equal(back.parts.counts, one.parts.counts)

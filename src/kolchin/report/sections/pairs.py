"""The undecided pairs: two records side by side, and the evidence field by field."""

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, NamedTuple

import polars as pl

from kolchin.report.report_content import ReportContent
from kolchin.report.wording import LONGEST_VALUE, is_number, write_percent, write_signed, write_text

START = "start"
UNDECIDED = (0.1, 0.9)
"""Pairs with a probability in this range are called undecided."""

MOST_PAIRS = 25
MOST_FIELDS = 25
MOST_OTHERS = 12
ROUNDING = 1e-9
ALIKE = 0.6
"""From this similarity on, two texts are marked where they differ; below, as a whole."""


class Piece(NamedTuple):
    """A part of a value, marked where it differs from the other record's."""

    text: str
    differs: bool


class Bar(NamedTuple):
    """A step of the waterfall, in percent of its width."""

    left: float
    width: float
    direction: str


class FieldComparison(NamedTuple):
    """A field of both records: state is same, differs or missing; other columns have no bits."""

    name: str
    a: list[Piece]
    b: list[Piece]
    state: str
    bits: str = ""
    bar: Bar | None = None


class PairTable(NamedTuple):
    """Two records that may or may not be the same."""

    record_a: str
    record_b: str
    probability: str
    linked: bool
    against_odds: bool
    differing: str
    rows: list[FieldComparison]
    more: list[FieldComparison]
    others: list[FieldComparison]
    start: FieldComparison | None
    total: FieldComparison | None
    zero: float


def count_undecided(content: ReportContent) -> int:
    """Return how many pairs are undecided."""
    return int(_find_undecided(content).height)


def make_undecided_pairs(content: ReportContent) -> list[PairTable]:
    """Return the pairs nearest to one half, so many as a person would look at."""
    nearest = (
        _find_undecided(content)
        .sort((pl.col("probability") - 0.5).abs(), "record_a", "record_b")
        .head(MOST_PAIRS)
    )
    wanted = set(nearest["record_a"]) | set(nearest["record_b"])
    rows = content.entities.select("record").with_row_index().filter(pl.col("record").is_in(wanted))
    place = dict(zip(rows["record"].to_list(), rows["index"].to_list(), strict=True))
    return [_make_pair(content, link, place) for link in nearest.iter_rows(named=True)]


def _find_undecided(content: ReportContent) -> pl.DataFrame:
    return content.links.filter(pl.col("probability").is_between(*UNDECIDED))


def _make_pair(
    content: ReportContent, link: Mapping[str, Any], place: Mapping[Any, int]
) -> PairTable:
    a, b = (_read_record(content, place.get(link[name])) for name in ("record_a", "record_b"))
    bits = {name: float(link[column] or 0.0) for column, name in content.compared.items()}
    shown = _find_largest(bits)
    rest = _sum_rest(content, bits, shown, _compute_log_odds(link["probability"]))
    start = rest.pop(START)
    steps = [*(bits[name] for name in shown), *rest.values()]
    bars, zero = _make_waterfall(start, steps)
    rows = [
        compare_values(name, a.get(name), b.get(name), write_signed(bits[name]), bar)
        for name, bar in zip(shown, bars[1:], strict=False)
    ]
    more = [
        FieldComparison(name, [], [], "", write_signed(step), bar)
        for (name, step), bar in zip(rest.items(), bars[1 + len(shown) :], strict=False)
    ]
    others = [name for name in content.values.columns if name not in bits][:MOST_OTHERS]
    return PairTable(
        record_a=write_text(link["record_a"]),
        record_b=write_text(link["record_b"]),
        probability=write_percent(link["probability"]),
        linked=bool(link["same_entity"]),
        against_odds=bool(link["same_entity"]) != (link["probability"] >= 0.5),
        differing=_list_names(row.name for row in rows if row.state == "differs"),
        rows=rows,
        more=more,
        others=[compare_values(name, a.get(name), b.get(name)) for name in others],
        start=FieldComparison(_describe_start(content), [], [], "", write_signed(start), bars[0])
        if bits
        else None,
        total=FieldComparison("", [], [], "", write_signed(start + sum(steps)), bars[-1])
        if bits
        else None,
        zero=zero,
    )


def _sum_rest(
    content: ReportContent, bits: Mapping[str, float], shown: Sequence[str], log_odds: float
) -> dict[str, float]:
    """Return what leads to the pair's odds beside the fields shown: before them and after."""
    unseen = log_odds - sum(bits.values())
    prior = content.prior_bits
    rest = {START: unseen if prior is None else prior}
    if len(shown) < len(bits):
        left_out = sum(bits.values()) - sum(bits[name] for name in shown)
        rest[f"{len(bits) - len(shown)} more fields"] = left_out
    if prior is not None:
        rest["What other records say"] = unseen - prior
    return rest


def _describe_start(content: ReportContent) -> str:
    return "Odds before the fields" if content.prior_bits is None else "Before looking"


def _read_record(content: ReportContent, row: int | None) -> Mapping[str, Any]:
    return {} if row is None else content.values.row(row)


def _find_largest(bits: Mapping[str, float]) -> list[str]:
    """Return the fields that say most, in the order of the table."""
    most = sorted(bits, key=lambda name: -abs(bits[name]))[:MOST_FIELDS]
    return [name for name in bits if name in most]


def compare_values(
    name: str, a: Any, b: Any, bits: str = "", bar: Bar | None = None
) -> FieldComparison:
    """Return a row that shows two values and marks where they differ."""
    label = write_text(name, 60)
    if a is None or b is None:
        return FieldComparison(
            label, _make_whole_piece(a, False), _make_whole_piece(b, False), "missing", bits, bar
        )
    if a == b:
        return FieldComparison(
            label, _make_whole_piece(a, False), _make_whole_piece(b, False), "same", bits, bar
        )
    left, right = mark_differences(write_text(str(a)), write_text(str(b)))
    return FieldComparison(label, left, right, "differs", bits, bar)


def mark_differences(a: str, b: str) -> tuple[list[Piece], list[Piece]]:
    """Return both texts in pieces, those marked that the other does not have.

    >>> mark_differences("Jon", "John")[1]
    [Piece(text='Jo', differs=False), Piece(text='h', differs=True), Piece(text='n', differs=False)]
    """
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    # Equal texts differ beyond the place where they were cut.
    if a == b or matcher.ratio() < ALIKE:
        return _make_whole_piece(a, True), _make_whole_piece(b, True)
    left, right = [], []
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if a1 > a0:
            left.append(Piece(a[a0:a1], tag != "equal"))
        if b1 > b0:
            right.append(Piece(b[b0:b1], tag != "equal"))
    return left, right


def _make_whole_piece(value: Any, differs: bool) -> list[Piece]:
    return [] if value is None else [Piece(write_text(str(value), LONGEST_VALUE), differs)]


def _make_waterfall(start: float, steps: Sequence[float]) -> tuple[list[Bar], float]:
    """Return a bar for the start, for each step and for the total, and where zero lies."""
    levels = [0.0, start]
    for step in steps:
        levels.append(levels[-1] + step)
    low, high = min(levels), max(levels)
    span = (high - low) or 1.0

    def bar(begin: float, end: float) -> Bar:
        left, right = sorted((begin, end))
        direction = "up" if end > begin - ROUNDING else "down"
        return Bar(
            round(100 * (left - low) / span, 2), round(100 * (right - left) / span, 2), direction
        )

    bars = [bar(begin, end) for begin, end in pairwise(levels)]
    return [*bars, bar(0.0, levels[-1])], round(100 * -low / span, 2)


def _compute_log_odds(probability: Any) -> float:
    """Return log2 of the odds."""
    if not is_number(probability) or not 0 < probability < 1:
        return 0.0
    return math.log2(probability / (1 - probability))


def _list_names(names: Iterable[str], most: int = 4) -> str:
    every = list(names)
    more = [f"{len(every) - most} more"] if len(every) > most else []
    return ", ".join(every[:most] + more)

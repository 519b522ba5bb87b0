"""Entities to look at: their records, how sure they are, and what is least sure about them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.parameters import FloatArray
from kolchin.resolution.tables.input_table import InputTable
from kolchin.terminal import find_width, join_lines, write_table

MOST_OTHERS = 10
"""Records outside an entity that are told of as those who may belong to it."""

MOST_SHOWN = 20
"""Records of an entity that are printed."""

CELL = 24
"""Letters of a value that are printed."""


class EntityLink(NamedTuple):
    """Two records by their ids, and the probability that they are of one entity."""

    record_a: Any
    record_b: Any
    probability: float


@dataclass(frozen=True)
class EntityView:
    """One entity: its records, how sure it is, its weakest link, who else could belong; print it.

    Attributes
    ----------
    entity : its number.
    records : one row a record: its id, then the columns of the input.
    confidence : the probability that these records, and no others, are one entity.
    weakest : the link that holds it together least: of the strongest links that connect all of its
        records the weakest one; None for a single record.
    others : records of other entities that may belong to it: record, entity, and the probability of
        its most probable link with one of these records, ``linked_to``; most probable first.
    """

    entity: int
    records: pl.DataFrame
    confidence: float
    weakest: EntityLink | None
    others: pl.DataFrame

    def __len__(self) -> int:
        return self.records.height

    def __str__(self) -> str:
        return "\n".join([self._headline(), "", *_write_beside(self.records), "", *self._doubts()])

    def _headline(self) -> str:
        number = "1 record" if len(self) == 1 else f"{len(self):,} records"
        return f"Entity {self.entity}: {number}, {_write_percent(self.confidence)} sure."

    def _doubts(self) -> list[str]:
        """Say what is least sure about it."""
        lines = []
        if self.weakest is not None:
            one, two, probability = self.weakest
            lines.append(f"Weakest link: {one} and {two}, {_write_percent(probability)}.")
        if not self.others.height:
            return [*lines, "No other record could belong to it (none reaches 1%)."]
        lines.append("Others that could belong to it:")
        return lines + [
            f"  {row['record']} (entity {row['entity']}), "
            f"{_write_percent(row['probability'])} with "
            f"{row['linked_to']}"
            for row in self.others.iter_rows(named=True)
        ]

    def _repr_html_(self) -> str:
        from kolchin.resolution.results.notebook import write_entity_html

        return write_entity_html(self)


def _write_percent(probability: float) -> str:
    """Write a probability so that what is not certain never reads as certain."""
    if 0.9995 <= probability < 1:
        return "over 99.9%"
    return "100%" if probability >= 1 else f"{100 * probability:.1f}%"


def _write_beside(records: pl.DataFrame) -> list[str]:
    """Write records beside each other, a field a line, as many as fit; differences have a star."""
    shown = records.head(MOST_SHOWN)
    names = [join_lines(name, CELL) for name in ("record", *shown.columns[1:])]
    usual = [find_usual_value(column.to_list()) for column in shown.iter_columns()]
    columns = [
        [join_lines(record, CELL), *map(_write_cell, values, usual[1:])]
        for record, *values in shown.iter_rows()
    ]
    lines: list[str] = []
    while columns:
        number = _count_fitting([names, *columns])
        rows = list(zip(names, *columns[:number], strict=True))
        lines += [*([""] if lines else []), *write_table(rows).split("\n")]
        columns = columns[number:]
    if records.height > MOST_SHOWN:
        lines.append(f"and {records.height - MOST_SHOWN:,} records more")
    return lines


def _count_fitting(columns: Sequence[Sequence[str]]) -> int:
    """Return how many columns after the first fit beside it, at least one."""
    ends = np.cumsum([max(map(len, column)) + 2 for column in columns]) - 2
    return max(int((ends[1:] <= find_width()).sum()), 1)


def _write_cell(value: Any, usual: Any) -> str:
    if value is None:
        return "(missing)"
    return join_lines(value, CELL) if value == usual else f"* {join_lines(value, CELL - 2)}"


def find_usual_value(values: Sequence[Any]) -> Any:
    """Return the value that most have, of several the first; None if all are missing.

    >>> find_usual_value([None, "Ann", "Anne", "Ann"])
    'Ann'
    """
    counts = Counter(value for value in values if value is not None)
    return max(counts, key=lambda value: counts[value]) if counts else None


def view_entity(
    number: int,
    given: InputTable,
    labels: NDArray[np.int64],
    pairs: pl.DataFrame,
    confidence: FloatArray,
) -> EntityView:
    """Return an entity of a list; ``pairs`` has record_a and record_b as rows, and probability."""
    inside = labels == number
    members = np.flatnonzero(inside)
    a, b = (pl.Series(inside).gather(pairs[name]) for name in ("record_a", "record_b"))
    weakest = find_weakest_link(members, pairs.filter(a & b))
    others = find_others_near(inside, pairs.filter(a ^ b), labels)
    ids = given.ids
    rows = given.texts.rows(members.tolist())
    rows = pl.DataFrame([one for one in rows.iter_columns() if one.name != given.id_column])
    named = "record" if "record" not in rows.columns else "kolchin_record"
    return EntityView(
        entity=number,
        records=rows.insert_column(0, ids.gather(members).alias(named)),
        confidence=float(confidence[members[0]]),
        weakest=None
        if weakest is None
        else EntityLink(ids[weakest[0]], ids[weakest[1]], weakest[2]),
        others=pl.DataFrame(
            {
                "record": ids.gather([row for row, *_ in others]),
                "entity": pl.Series([entity for _, entity, *_ in others], dtype=pl.Int64),
                "probability": pl.Series([chance for *_, chance in others], dtype=pl.Float64),
                "linked_to": ids.gather([inner for _, _, inner, _ in others]),
            }
        ),
    )


def find_weakest_link(
    members: NDArray[np.int64], pairs: pl.DataFrame
) -> tuple[int, int, float] | None:
    """Return two rows and the probability of the link that holds some records together least.

    ``pairs`` has the links among the members: record_a and record_b (as rows), probability. The
    strongest come first; the one that makes all of them one is the weakest that is needed. Records
    that no listed link ties to the others count as tied by a link of no probability.
    """
    if members.size < 2:
        return None
    part = {int(row): int(row) for row in members}
    joined = 1
    for a, b, probability in pairs.sort("probability", descending=True).iter_rows():
        one, two = _find_root(part, a), _find_root(part, b)
        if one != two:
            part[one] = two
            joined += 1
        if joined == members.size:
            return a, b, probability
    first = int(members[0])
    apart = next(int(n) for n in members if _find_root(part, int(n)) != _find_root(part, first))
    return first, apart, 0.0


def _find_root(part: dict[int, int], row: int) -> int:
    while part[row] != row:
        part[row] = part[part[row]]
        row = part[row]
    return row


def find_others_near(
    inside: NDArray[np.bool_], pairs: pl.DataFrame, labels: NDArray[np.int64]
) -> list[tuple[int, int, int, float]]:
    """Return rows outside, their entity, the row inside and the probability of the best links."""
    best: dict[int, tuple[int, int, int, float]] = {}
    for a, b, probability in pairs.sort("probability", descending=True).iter_rows():
        outer, inner = (b, a) if inside[a] else (a, b)
        best.setdefault(outer, (outer, int(labels[outer]), inner, probability))
    return list(best.values())[:MOST_OTHERS]


def list_least_sure(
    entities: pl.DataFrame, pairs: pl.DataFrame, labels: NDArray[np.int64], most: int
) -> pl.DataFrame:
    """Return the least sure entities, each with the pair about which it is least sure.

    ``pairs`` has record_a and record_b as rows. A pair is told once, with the less sure entity.
    """
    known = entities.group_by("entity").agg(
        pl.col("entity_size").first(), pl.col("confidence").first()
    )
    open_pairs = _find_open_pairs(pairs, labels)
    ranked = known.filter(pl.col("confidence") < 1).sort("confidence", "entity")
    rows: list[dict[str, Any]] = []
    told: set[tuple[int, int]] = set()
    for row in ranked.iter_rows(named=True):
        if len(rows) >= most:
            break
        found = open_pairs.get(row["entity"])
        if found is not None and found[:2] in told:
            continue
        if found is not None:
            told.add((found[0], found[1]))
        rows.append({**row, **_make_pair_row(found, entities, labels)})
    return pl.DataFrame(rows, schema=_make_schema(entities))


def _find_open_pairs(
    pairs: pl.DataFrame, labels: NDArray[np.int64]
) -> Mapping[int, tuple[int, int, float]]:
    """Return for each entity the pair, inside or across, that is nearest to an even chance."""
    nearest = pairs.filter(pl.col("probability") < 1).sort(
        (pl.col("probability") - 0.5).abs(), "record_a", "record_b"
    )
    found: dict[int, tuple[int, int, float]] = {}
    for a, b, probability in nearest.iter_rows():
        for row in (a, b):
            found.setdefault(int(labels[row]), (a, b, probability))
    return found


def _make_pair_row(
    found: tuple[int, int, float] | None, entities: pl.DataFrame, labels: NDArray[np.int64]
) -> dict[str, Any]:
    if found is None:
        return dict.fromkeys(("record_a", "record_b", "probability", "same_entity"))
    a, b, probability = found
    ids = entities["record"]
    return {
        "record_a": ids[a],
        "record_b": ids[b],
        "probability": probability,
        "same_entity": bool(labels[a] == labels[b]),
    }


def _make_schema(entities: pl.DataFrame) -> dict[str, pl.DataType]:
    own = entities.schema
    return {
        "entity": own["entity"],
        "entity_size": own["entity_size"],
        "confidence": pl.Float64(),
        "record_a": own["record"],
        "record_b": own["record"],
        "probability": pl.Float64(),
        "same_entity": pl.Boolean(),
    }

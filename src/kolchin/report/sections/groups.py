"""Groups to look at: the largest, some that are sure, the least sure, each as a small table."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import polars as pl

from kolchin.report.report_content import ReportContent
from kolchin.report.sections.pairs import Piece, mark_differences
from kolchin.report.wording import write_count, write_percent, write_text

LARGEST, SURE, DOUBTFUL = 3, 5, 5
"""How many groups of each kind are shown."""

SURE_FROM = 0.99
MOST_RECORDS, MOST_COLUMNS, LONGEST = 8, 12, 80
"""What is shown of a group: more would be no small table."""

SAMPLE_SEED = 22
NUMBERS = ("id", "identifier")
"""Kinds of columns that differ in every record."""


class Cell(NamedTuple):
    """A value: its pieces, none where it is missing, and the name of its column."""

    name: str
    pieces: list[Piece]


class RecordRow(NamedTuple):
    """A record of a group by its id, and its values."""

    record: str
    cells: list[Cell]


class GroupTable(NamedTuple):
    """Records that the list has as one entity."""

    entity: str
    size: str
    confidence: str
    differing: str
    columns: list[str]
    records: list[RecordRow]
    n_more: int


class GroupShelf(NamedTuple):
    """Groups of one kind."""

    title: str
    words: str
    groups: list[GroupTable]


def make_shelves(content: ReportContent) -> list[GroupShelf]:
    """Return the groups to show, by kind; none where every record is on its own."""
    known = (
        content.entities.with_row_index("row")
        .filter(pl.col("entity_size") > 1)
        .group_by("entity", maintain_order=True)
        .agg("row", pl.col("confidence").first())
    )
    if not known.height:
        return []
    size = pl.col("row").list.len()
    # Where all groups have as many records, none is the largest.
    largest = known.filter(size.max() > size.min()).sort(size, descending=True, maintain_order=True)
    sure = known.filter(pl.col("confidence") >= SURE_FROM)
    doubtful = known.filter(pl.col("confidence") < SURE_FROM).sort("confidence", "entity")
    sample = sure.sample(min(SURE, sure.height), seed=SAMPLE_SEED).sort("entity")
    found = [
        GroupShelf(
            "Least sure", "Where a look is worth most.", _make_groups(content, doubtful, DOUBTFUL)
        ),
        GroupShelf(
            "Sure",
            f"Picked at random from {write_count(sure.height)} that are at least 99% sure.",
            _make_groups(content, sample, SURE),
        ),
        GroupShelf("Largest", "The most records.", _make_groups(content, largest, LARGEST)),
    ]
    return [shelf for shelf in found if shelf.groups]


def _make_groups(content: ReportContent, known: pl.DataFrame, most: int) -> list[GroupTable]:
    return [
        _make_group(content, entity, rows, confidence)
        for entity, rows, confidence in known.head(most).iter_rows()
    ]


def _make_group(
    content: ReportContent, entity: int, rows: Sequence[int], confidence: float
) -> GroupTable:
    """Return some records of a group; values are marked where they differ from the usual one."""
    shown = list(rows[:MOST_RECORDS])
    names, used = _choose_columns(content), set(content.compared.values())
    values = content.values.rows(shown)
    columns = [values.to_series(values.columns.index(name)).to_list() for name in names]
    usual = [_find_usual(column) for column in columns]
    ids = content.entities["record"].gather(shown).to_list()
    differing = [
        name
        for name, column in zip(names, columns, strict=True)
        if name in used and len(set(column) - {None}) > 1
    ]
    return GroupTable(
        entity=str(entity),  # as it is typed after 'kolchin entity'
        size=write_count(len(rows)),
        confidence=write_percent(confidence),
        differing=_list_names(differing),
        columns=[write_text(name, 60) for name in names],
        records=[
            RecordRow(
                write_text(record, 60),
                [_make_cell(*cell) for cell in zip(names, row, usual, strict=True)],
            )
            for record, row in zip(ids, zip(*columns, strict=True), strict=True)
        ],
        n_more=len(rows) - len(shown),
    )


def _choose_columns(content: ReportContent) -> list[str]:
    """Return the columns to show: those that were compared first, and no identifiers."""
    used = [name for name in content.compared.values() if name in content.values.columns]
    numbers = content.fields.filter(pl.col("kind").is_in(NUMBERS))["column"].to_list()
    others = [name for name in content.values.columns if name not in {*used, *numbers}]
    return [*used, *others][:MOST_COLUMNS]


def _find_usual(column: Iterable[Any]) -> Any:
    counts = Counter(value for value in column if value is not None)
    return max(counts, key=lambda value: counts[value]) if counts else None


def _make_cell(name: str, value: Any, usual: Any) -> Cell:
    label = write_text(name, 60)
    if value is None:
        return Cell(label, [])
    if value == usual:
        return Cell(label, [Piece(write_text(str(value), LONGEST), False)])
    return Cell(
        label, mark_differences(write_text(str(value), LONGEST), write_text(str(usual), LONGEST))[0]
    )


def _list_names(names: Sequence[str], most: int = 4) -> str:
    shown = [write_text(name, 60) for name in names[:most]]
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join(shown + more)

"""Labels that other tools have: Splink's clerical labels, dedupe's training pairs, and our own."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import polars as pl

from kolchin.errors import DataError
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some
from kolchin.records.files.any_table import read_table
from kolchin.review.answers_file import (
    COLUMNS,
    DIFFERENT,
    SAME,
    UNSURE,
    Answer,
    read_clock,
)

SPLINK = ("unique_id_l", "unique_id_r", "clerical_match_score")
SPLINK_SOURCES = ("source_dataset_l", "source_dataset_r")
OWN = COLUMNS[:3]
QUEUE = "import"
WORDS = {
    **dict.fromkeys((SAME, "y", "yes"), SAME),
    **dict.fromkeys((DIFFERENT, "n", "no"), DIFFERENT),
    **dict.fromkeys((UNSURE, "u"), UNSURE),
}
"""What an answer may be called, whatever its case."""


class LabelTable(Protocol):
    """The input's columns as text."""

    @property
    def columns(self) -> list[str]:
        """Their names."""

    def __getitem__(self, column: str) -> pl.Series:
        """Return a column."""


class ImportedLabels(NamedTuple):
    """The answers of a file, and what should be told about it."""

    answers: list[Answer]
    notes: list[str]


def read_labels(path: Path, ids: pl.Series, texts: LabelTable, reviewer: str) -> ImportedLabels:
    """Read labels of whichever form; all faults are told together, and then none are taken."""
    findings = FaultsAndNotes()
    notes: list[str] = []
    if path.suffix.lower() == ".json":
        pairs = _read_dedupe(path, ids, texts, findings, notes)
    else:
        pairs = _read_by_ids(path, ids, findings)
    findings.stop_on_faults()
    time = read_clock()
    return ImportedLabels([Answer(*pair, reviewer, time, QUEUE) for pair in pairs], notes)


def _read_by_ids(
    path: Path, ids: pl.Series, findings: FaultsAndNotes
) -> list[tuple[str, str, str]]:
    """Read pairs of ids with a clerical score, or with an answer in words."""
    table = read_table(path, None, findings)
    findings.stop_on_faults()
    assert table is not None
    names = next((form for form in (SPLINK, OWN) if set(form) <= set(table.columns)), None)
    if names is None:
        raise DataError(
            f"{path} has none of the forms that are known: columns {', '.join(SPLINK)} (Splink), "
            f"columns {', '.join(OWN)}, or dedupe's training file (.json). It has columns "
            f"{list_some(table.columns)}."
        )
    one, two, said = (table[name].cast(pl.String).to_list() for name in names)
    known = {str(name) for name in ids.cast(pl.String).to_list()}
    if set(SPLINK_SOURCES) <= set(table.columns):
        sources = (table[name].cast(pl.String).to_list() for name in SPLINK_SOURCES)
        one, two = (_name_by_source(*own, known) for own in zip(sources, (one, two), strict=True))
    strange = sorted({str(name) for name in [*one, *two]} - known)
    if strange:
        findings.fault(f"{path} names records that the run does not have: {list_some(strange)}.")
    itself = [a for a, b in zip(one, two, strict=True) if a == b]
    if itself:
        findings.fault(f"{path} pairs records with themselves: {list_some(itself)}.")
    read = _read_score if names == SPLINK else _read_word
    answers = [read(value) for value in said]
    wrong = [str(value) for value, answer in zip(said, answers, strict=True) if answer is None]
    if wrong:
        what = "from 0 to 1" if names == SPLINK else f"one of {', '.join(WORDS)}"
        findings.fault(f"column {names[2]!r} must be {what}. Got {list_some(wrong)} instead.")
    return [(a, b, answer or UNSURE) for a, b, answer in zip(one, two, answers, strict=True)]


def _read_score(value: str | None) -> str | None:
    """Return the answer of a clerical score: over one half the same, under it different."""
    try:
        score = float(value or "")
    except ValueError:
        return None
    if not 0 <= score <= 1:
        return None
    return UNSURE if score == 0.5 else SAME if score > 0.5 else DIFFERENT


def _read_word(value: str | None) -> str | None:
    return WORDS.get((value or "").strip().lower())


def _name_by_source(sources: list[str], names: list[str], known: set[str]) -> list[str]:
    """Return names as the run has them: by source and id, where ids recur in several sources."""
    both = [f"{source}:{name}" for source, name in zip(sources, names, strict=True)]
    return [b if b in known else name for b, name in zip(both, names, strict=True)]


def _read_dedupe(
    path: Path, ids: pl.Series, texts: LabelTable, findings: FaultsAndNotes, notes: list[str]
) -> list[tuple[str, str, str]]:
    """Read dedupe's training pairs, whose records are found by their values."""
    pairs = list(_list_training_pairs(path))
    columns = sorted({name for one, two, _ in pairs for name in (*one, *two)})
    unknown = [name for name in columns if name not in texts.columns]
    if unknown:
        findings.fault(f"{path} has fields that the table does not have: {list_some(unknown)}.")
        return []
    rows: dict[tuple[str, ...], list[int]] = {}
    values = [[_make_plain(v) for v in texts[name].to_list()] for name in columns]
    for row, key in enumerate(zip(*values, strict=True)):
        rows.setdefault(key, []).append(row)
    named = ids.cast(pl.String).to_list()
    found, lost, many = [], 0, 0
    for one, two, answer in pairs:
        keys = [tuple(_make_plain(record.get(name)) for name in columns) for record in (one, two)]
        places = [rows.get(key, []) for key in keys]
        if keys[0] == keys[1] and len(places[0]) == 2:
            found.append((named[places[0][0]], named[places[0][1]], answer))
        elif not all(places):
            lost += 1
        elif any(len(place) > 1 for place in places):
            many += 1
        else:
            found.append((named[places[0][0]], named[places[1][0]], answer))
    if lost:
        notes.append(f"{lost:,} of {len(pairs):,} pairs have a record that is not in the table.")
    if many:
        notes.append(f"{many:,} of {len(pairs):,} pairs have a record that is there several times.")
    return found


def _list_training_pairs(path: Path) -> Iterable[tuple[Mapping[str, Any], Mapping[str, Any], str]]:
    """Yield the pairs of a training file, each with its answer."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        for kind, answer in (("match", SAME), ("distinct", DIFFERENT)):
            for pair in data[kind]:
                one, two = pair["__value__"] if isinstance(pair, dict) else pair
                if not isinstance(one, dict) or not isinstance(two, dict):
                    raise ValueError("a pair is two records with named fields")
                yield one, two, answer
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} is no training file of dedupe, which has 'distinct' and 'match', lists of "
            f"pairs of records: {error!r}."
        ) from error


def _make_plain(value: Any) -> str:
    """Return a value as it is compared here: without case and spaces; none is no text."""
    if isinstance(value, dict) and "__value__" in value:
        value = value["__value__"]
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    return "" if value is None else " ".join(str(value).casefold().split())

"""Known answers as users give them: pairs of ids, in a list, a table or a file."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from kolchin.answers import (
    DIFFERENT,
    SAME,
    Answers,
    KnownAnswer,
    describe_rate_fault,
    find_contradictions,
    is_rate,
    list_faults,
)
from kolchin.errors import DataError
from kolchin.partitions import NO_SOURCES, Sources
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some
from kolchin.records.files.any_table import read_table
from kolchin.resolution.tables.input_table import InputTable


class UserAnswers(NamedTuple):
    """What a user says: pairs that are the same, pairs that are different, how often that errs."""

    same: Any = None
    different: Any = None
    error: float = 0.0


def read_known(
    given: UserAnswers, table: InputTable, sources: Sources = NO_SOURCES
) -> tuple[KnownAnswer, ...]:
    """Return the pairs by the rows of a table; all that is wrong is told together."""
    findings = FaultsAndNotes()
    if not is_rate(given.error):
        findings.fault(f"The 'answer_error' parameter: {describe_rate_fault(given.error)}")
    known: list[KnownAnswer] = []
    if given.same is not None or given.different is not None:
        rows = _number_ids(table)
        for answer, pairs in ((SAME, given.same), (DIFFERENT, given.different)):
            listed = [] if pairs is None else _list_pairs(pairs, answer, findings)
            known += _find_answers(listed, answer, given.error, rows, table, findings)
    faults = findings.faults
    if not faults:
        names = table.ids.cast(pl.String)
        answers = Answers.of(table.ids.len(), known)
        faults = find_contradictions(answers, sources, lambda row: repr(names[row]))
    if faults:
        raise DataError("\n".join(["These answers cannot be used:", *list_faults(faults)]))
    return tuple(known)


def _number_ids(table: InputTable) -> dict[str, int]:
    """Return the row of each record by its id as text."""
    return {str(name): row for row, name in enumerate(table.ids.cast(pl.String).to_list())}


def _list_pairs(pairs: Any, answer: str, findings: FaultsAndNotes) -> list[Sequence[Any]]:
    """Return pairs of ids, each with an error rate where it has one of its own."""
    if isinstance(pairs, Iterable) and not isinstance(pairs, str | Mapping | os.PathLike):
        listed = list(pairs) if not hasattr(pairs, "columns") else None
        if listed is not None and all(_is_pair(one) for one in listed):
            return [tuple(one) for one in listed]
        strange = [one for one in listed or () if not _is_pair(one) and not isinstance(one, dict)]
        if strange:
            findings.fault(
                f"'{answer}' must be pairs of ids, such as [(1, 2), (3, 4)], or a table of them. "
                f"Got {strange[0]!r} among them instead."
            )
            return []
    what = f"'{answer}' ({pairs})" if isinstance(pairs, str | os.PathLike) else f"'{answer}'"
    own = FaultsAndNotes()
    frame = read_table(pairs, None, own)
    for fault in own.faults:
        findings.fault(f"{what}: {fault}")
    if frame is None:
        return []
    if frame.width not in (2, 3):
        findings.fault(
            f"{what} must have two columns of ids, and may have a third with the rate at which "
            f"each answer errs. Got columns {list_some(frame.columns)} instead."
        )
        return []
    return [tuple(row) for row in frame.iter_rows()]


def _is_pair(one: Any) -> bool:
    return isinstance(one, Sequence) and not isinstance(one, str | bytes) and len(one) in (2, 3)


def _find_answers(
    listed: Iterable[Sequence[Any]],
    answer: str,
    error: float,
    rows: Mapping[str, int],
    table: InputTable,
    findings: FaultsAndNotes,
) -> list[KnownAnswer]:
    """Find the rows of ids; name those that are of no record, and other faults."""
    known, strange, itself, wrong = [], set(), set(), []
    for one, two, *own in listed:
        rate = _read_rate(own[0], error) if own else error
        if own and not is_rate(rate):
            wrong.append(rate)
        lacking = {str(name) for name in (one, two) if str(name) not in rows}
        strange |= lacking
        if not lacking and str(one) == str(two):
            itself.add(str(one))
        elif not lacking:
            known.append(KnownAnswer(rows[str(one)], rows[str(two)], answer, rate))
    if strange:
        findings.fault(
            f"'{answer}' names records that {table.title} does not have: "
            f"{list_some(sorted(strange))}. "
            f"Records are named {table.describe_naming()}."
        )
    if itself:
        findings.fault(f"'{answer}' pairs records with themselves: {list_some(sorted(itself))}.")
    if wrong:
        findings.fault(f"'{answer}': {describe_rate_fault(wrong[0])}")
    return known


def _read_rate(value: Any, error: float) -> Any:
    """Return an error rate, which a file may hold as text, or leave empty."""
    if value is None or value == "":
        return error
    try:
        return float(value)
    except (TypeError, ValueError):
        return value

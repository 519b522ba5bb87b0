"""Which pairs of records were compared, and how records of one entity compare."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kolchin.report.report_content import ReportContent
from kolchin.report.wording import (
    is_number,
    write_count,
    write_counted,
    write_number,
    write_percent,
    write_text,
)

MOST_KEYS = 15
MOST_FIELDS = 16
MOST_TOGETHER = 10
M = "m["


class KeyRow(NamedTuple):
    """A key: the pairs that it found, and the records whose blocks were too large to list."""

    name: str
    pairs: str
    capped: str


class Share(NamedTuple):
    """A level and how often records of one entity show it."""

    name: str
    share: str
    width: float


class LevelRow(NamedTuple):
    """A compared field with its levels, from exact to different."""

    name: str
    levels: list[Share]


class CandidateSection(NamedTuple):
    """What the page says about comparing."""

    sentences: list[str]
    together: list[str]
    keys: list[KeyRow]
    n_more: int
    levels: list[LevelRow]


def make_candidates(content: ReportContent) -> CandidateSection | None:
    """Return what was compared; None where all fields are categorical."""
    given = content.summary.get("candidates")
    if not isinstance(given, Mapping):
        return None
    keys = sorted(given.get("keys") or [], key=lambda key: -key["pairs"])
    return CandidateSection(
        sentences=_write_sentences(content, given, len(keys)),
        together=describe_sharing(content),
        keys=[_make_key_row(key) for key in keys[:MOST_KEYS]],
        n_more=max(len(keys) - MOST_KEYS, 0),
        levels=make_level_rows(content),
    )


def _write_sentences(content: ReportContent, given: Mapping[str, Any], n_keys: int) -> list[str]:
    n_pairs = given.get("n_pairs")
    if n_pairs == content.n_records * (content.n_records - 1) // 2:
        return [f"All {write_counted(n_pairs, 'pair')} of records were compared."]
    a_record = given.get("pairs_a_record")
    missed, likely = given.get("missed"), given.get("n_likely")
    sentences = [
        f"{write_counted(n_pairs, 'pair')} of records were compared "
        f"({write_number(a_record)} a record): those "
        f"that agree on one of {write_counted(n_keys, 'key')}. All other pairs count as different."
    ]
    if is_number(missed) and is_number(likely):
        lost = likely * missed / max(1 - missed, 1e-9)
        at_least = f"at least about {write_counted(lost, 'such link')} ({write_percent(missed)})"
        sentences.append(
            f"{write_counted(likely, 'pair')} of them look like links. By how often "
            "several keys find "
            f"the same one, the keys miss {at_least if round(lost) else 'hardly any'}."
        )
    return sentences


def describe_sharing(content: ReportContent) -> list[str]:
    """Say which fields unrelated records share, and which change at once in one entity's."""
    found = content.summary.get("dependence")
    if not isinstance(found, Mapping):
        return []
    shared = sorted(found.get("shared") or [], key=lambda one: -one["pairs"])
    lines = [
        f"{_list_names(one['fields'])} are shared by "
        f"{write_counted(round(one['pairs']), 'unrelated pair')}."
        for one in shared[:MOST_TOGETHER]
    ]
    return lines + [
        f"{_list_names(one['fields'])} are replaced together in "
        f"{write_percent(one['share'])} of the pairs "
        "of records of one entity."
        for one in (found.get("replaced") or [])[:MOST_TOGETHER]
    ]


def _list_names(fields: list[str]) -> str:
    names = [write_text(name, 60) for name in fields]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _make_key_row(key: Mapping[str, Any]) -> KeyRow:
    capped = key.get("capped_records") or 0
    return KeyRow(
        write_text(key["key"], 80), write_count(key["pairs"]), write_count(capped) if capped else ""
    )


def make_level_rows(content: ReportContent) -> list[LevelRow]:
    """Return the chances of the levels of each compared field, posterior means."""
    rows: dict[str, list[Share]] = {}
    for name, values in (content.summary.get("parameters") or {}).items():
        field, colon, level = name.removeprefix(M).removesuffix("]").rpartition(": ")
        mean = values.get("mean") if isinstance(values, Mapping) else values
        if name.startswith(M) and colon and is_number(mean):
            share = Share(write_text(level, 40), write_percent(mean), round(100 * float(mean), 1))
            rows.setdefault(field, []).append(share)
    return [LevelRow(write_text(name, 60), levels) for name, levels in rows.items()][:MOST_FIELDS]

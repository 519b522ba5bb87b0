"""Which pairs of records were compared, and how records of one entity compare."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kolchin.report.report_content import Content
from kolchin.report.wording import count, counted, is_number, number, percent, text

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


class Candidates(NamedTuple):
    """What the page says about comparing."""

    sentences: list[str]
    together: list[str]
    keys: list[KeyRow]
    n_more: int
    levels: list[LevelRow]


def candidates(content: Content) -> Candidates | None:
    """Return what was compared; None where all fields are categorical."""
    given = content.summary.get("candidates")
    if not isinstance(given, Mapping):
        return None
    keys = sorted(given.get("keys") or [], key=lambda key: -key["pairs"])
    return Candidates(
        sentences=_sentences(content, given, len(keys)),
        together=together(content),
        keys=[_key_row(key) for key in keys[:MOST_KEYS]],
        n_more=max(len(keys) - MOST_KEYS, 0),
        levels=level_rows(content),
    )


def _sentences(content: Content, given: Mapping[str, Any], n_keys: int) -> list[str]:
    n_pairs = given.get("n_pairs")
    if n_pairs == content.n_records * (content.n_records - 1) // 2:
        return [f"All {counted(n_pairs, 'pair')} of records were compared."]
    a_record = given.get("pairs_a_record")
    missed, likely = given.get("missed"), given.get("n_likely")
    sentences = [
        f"{counted(n_pairs, 'pair')} of records were compared ({number(a_record)} a record): those "
        f"that agree on one of {counted(n_keys, 'key')}. All other pairs count as different."
    ]
    if is_number(missed) and is_number(likely):
        lost = likely * missed / max(1 - missed, 1e-9)
        at_least = f"at least about {counted(lost, 'such link')} ({percent(missed)})"
        sentences.append(
            f"{counted(likely, 'pair')} of them look like links. By how often several keys find "
            f"the same one, the keys miss {at_least if round(lost) else 'hardly any'}."
        )
    return sentences


def together(content: Content) -> list[str]:
    """Say which fields unrelated records share, and which change at once in one entity's."""
    found = content.summary.get("dependence")
    if not isinstance(found, Mapping):
        return []
    shared = sorted(found.get("shared") or [], key=lambda one: -one["pairs"])
    lines = [
        f"{_listed(one['fields'])} are shared by {counted(round(one['pairs']), 'unrelated pair')}."
        for one in shared[:MOST_TOGETHER]
    ]
    return lines + [
        f"{_listed(one['fields'])} are replaced together in {percent(one['share'])} of the pairs "
        "of records of one entity."
        for one in (found.get("replaced") or [])[:MOST_TOGETHER]
    ]


def _listed(fields: list[str]) -> str:
    names = [text(name, 60) for name in fields]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _key_row(key: Mapping[str, Any]) -> KeyRow:
    capped = key.get("capped_records") or 0
    return KeyRow(text(key["key"], 80), count(key["pairs"]), count(capped) if capped else "")


def level_rows(content: Content) -> list[LevelRow]:
    """Return the chances of the levels of each compared field, posterior means."""
    rows: dict[str, list[Share]] = {}
    for name, values in (content.summary.get("parameters") or {}).items():
        field, colon, level = name.removeprefix(M).removesuffix("]").rpartition(": ")
        mean = values.get("mean") if isinstance(values, Mapping) else values
        if name.startswith(M) and colon and is_number(mean):
            share = Share(text(level, 40), percent(mean), round(100 * float(mean), 1))
            rows.setdefault(field, []).append(share)
    return [LevelRow(text(name, 60), levels) for name, levels in rows.items()][:MOST_FIELDS]

"""The choice of fields as a file that people can read, edit and give back."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from kolchin.errors import DataError
from kolchin.options import option
from kolchin.records.columns.column_kinds import Kind
from kolchin.records.columns.inference import COMPARED, ColumnReport
from kolchin.records.faults_and_notes import FaultsAndNotes, list_some, show_value, suggest
from kolchin.records.fields.declarations import Compared, check_comparison

SUFFIX = ".toml"
BARE = re.compile(r"[A-Za-z0-9_-]+")
HEAD = """\
# What each column is, and whether it is compared. Edit it, then give it back:
#     kolchin resolve PEOPLE.csv --fields {name}
# use: true or false. kind: {kinds}.
# cuts: where the levels of nearness of a kind end, nearest first; without it those shown.
"""


class Choice(NamedTuple):
    """Whether to use a column, and as what; a kind that is not given is inferred."""

    use: bool
    kind: Kind | None
    cuts: tuple[float, ...] | None


class ColumnDescriptions(Protocol):
    """Anything that tells about columns: what `load` and `inspect` return."""

    @property
    def columns(self) -> tuple[ColumnReport, ...]:
        """What is known of each column."""


def write_choices(
    described: ColumnDescriptions | Iterable[ColumnReport],
    path: str | Path,
    *,
    overwrite: bool = False,
) -> None:
    """Write a file of fields for people to edit; one that is there stays, unless told otherwise."""
    path = Path(path)
    if path.suffix.lower() != SUFFIX:
        raise DataError(f"The file of fields must end in {SUFFIX}. Got {str(path)!r} instead.")
    text = choices_text(described, path.name)
    try:
        with path.open("w" if overwrite else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise DataError(
            f"file {str(path)!r} is there already; choose another name, or overwrite it "
            f"({option('overwrite')})."
        ) from None


def choices_text(
    described: ColumnDescriptions | Iterable[ColumnReport], name: str = "FIELDS.toml"
) -> str:
    """Return what `write_choices` writes."""
    reports = described if isinstance(described, Iterable) else described.columns
    kinds = ", ".join(kind for kind in Kind if kind.is_field)
    parts = [HEAD.format(name=_clean_text(name), kinds=kinds)]
    parts += [
        f"[fields.{_write_key(one.column)}]\n"
        f"use = {str(one.used).lower()}\n"
        f'kind = "{one.kind}"\n'
        f"{_write_cuts(one)}"
        f"# {_clean_text(_write_facts(one))}\n"
        for one in reports
    ]
    return "\n".join(parts)


def _write_facts(one: ColumnReport) -> str:
    """Say in a line what speaks for or against a column."""
    marked = one.describe_markers()
    missing = f"{one.missing:.1%} missing" + (f", among them {marked}" if marked else "")
    decision = "Used" if one.used else "Left out"
    return f"{one.distinct:,} distinct; {missing}; {one.bits:.1f} bits. {decision}: {one.why}."


def _write_cuts(one: ColumnReport) -> str:
    """Write the cuts that were given, or as a comment those that the kind has."""
    field = one.field
    if not isinstance(field, Compared):
        return ""
    listed = ", ".join(f"{cut:g}" for cut in field.cuts)
    return f"{'# ' if one.cuts is None else ''}cuts = [{listed}]\n"


def _clean_text(text: str) -> str:
    """Take out what a comment may not hold."""
    return re.sub(r"[\x00-\x08\x0a-\x1f\x7f]", " ", text)


def _write_key(name: str) -> str:
    r"""Write a column's name as a TOML key.

    >>> print(_write_key("first_name"), _write_key('a "b"\n'))
    first_name "a \"b\"\u000A"
    """
    if BARE.fullmatch(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda hit: f"\\u{ord(hit[0]):04X}", escaped) + '"'


def read_choices(path: str | Path, findings: FaultsAndNotes) -> dict[str, Choice] | None:
    """Read a file of fields; note everything that is wrong with it, together."""
    name = str(path)
    try:
        content = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n"))
    except OSError as error:
        reason = "it does not exist" if isinstance(error, FileNotFoundError) else error.strerror
        findings.fault(f"the file of fields {name!r} cannot be read: {reason}.")
        return None
    except (ValueError, RecursionError) as error:
        findings.fault(f"the file of fields {name!r} is not TOML: {error}.")
        return None
    tables = content.pop("fields", {})
    for key in content:
        findings.fault(f"{name!r} has {key!r} outside of [fields.COLUMN].")
    if not isinstance(tables, Mapping) or not tables:
        findings.fault(f"{name!r} has no table such as [fields.COLUMN].")
        return None
    choices = {
        column: _read_choice(column, table, name, findings) for column, table in tables.items()
    }
    if not any(choice.use for choice in choices.values()):
        findings.fault(f"{name!r} has no column with use = true.")
    return choices


def _read_choice(column: str, table: Any, name: str, findings: FaultsAndNotes) -> Choice:
    """Check what is said about one column."""
    where = f"in {name!r}, [fields.{_write_key(column)}]"
    if not isinstance(table, Mapping):
        findings.fault(
            f"{where} must be a table with use and kind. Got {show_value(table)} instead."
        )
        return Choice(True, None, None)
    for key in table:
        if key not in Choice._fields:
            hint = suggest(key, Choice._fields)
            findings.fault(f"{where} may have use, kind and cuts. Got {key!r} instead.{hint}")
    use, kind = table.get("use", True), table.get("kind")
    if not isinstance(use, bool):
        findings.fault(f"{where}, use must be true or false. Got {show_value(use)} instead.")
    if kind is not None and kind not in list(Kind):
        kinds = list_some((str(one) for one in Kind if one.is_field), limit=len(Kind))
        hint = suggest(str(kind), map(str, Kind))
        findings.fault(
            f"{where}, kind must be one of {kinds}. Got {show_value(kind)} instead.{hint}"
        )
        kind = None
    chosen = None if kind is None else Kind(kind)
    cuts = _read_cuts(column, table["cuts"], chosen, where, findings) if "cuts" in table else None
    return Choice(bool(use), chosen, cuts)


def _read_cuts(
    column: str, cuts: Any, kind: Kind | None, where: str, findings: FaultsAndNotes
) -> tuple[float, ...] | None:
    """Check the cuts of one column, which mean nothing without its kind."""
    compared = None if kind is None else COMPARED.get(kind)
    if compared is None:
        kinds = list_some((str(one) for one in COMPARED if one.is_field), limit=len(Kind))
        findings.fault(f"{where}, cuts need a kind: one of {kinds}.")
        return None
    field = compared(column, tuple(cuts) if isinstance(cuts, list) else cuts)
    checked = FaultsAndNotes()
    check_comparison(field, checked)
    findings.faults.extend(f"{where}, {fault}" for fault in checked.faults)
    return None if checked.faults else field.cuts

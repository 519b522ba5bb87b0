"""What people write becomes what they mean: one spelling a value, and gaps known as gaps."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kolchin.records.columns.column_kinds import split_name
from kolchin.records.columns.distinct_values import FEW, CodedColumn, encode_column
from kolchin.records.columns.values import is_nested, tidy_values

MISSING_MARKERS = (
    *("", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "(null)", "\\n", "none", "nil"),
    *("-", "--", "---", ".", "?", "??", "???", "unknown", "(unknown)", "missing"),
    *("not available", "not known", "not given"),
    *("k.a.", "k. a.", "keine angabe", "unbekannt", "inconnu", "non renseigné"),
    *("desconocido", "sconosciuto", "onbekend"),
)
UNCLEAN = r"[^\x21-\x40\x5b-\x7e ]|  |^ | $"  # capitals, white space to mend, beyond ASCII
MOSTLY = 0.5
ACCENTS = re.compile("([a-z])[\u0300-\u036f]+")
INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))


NAMESAKES = frozenset(
    {"na", "nan", "null", "none", "nil", "unknown", "missing", "k.a.", "k. a.", "unbekannt"}
)
"""Markers that are names of people, or their initials, too."""

NAME_WORDS = {
    *("name", "names", "surname", "forename", "firstname", "lastname", "fullname", "fname"),
    *("lname", "gname", "given", "family", "first", "last", "middle", "nickname"),
}


class CleaningRules(NamedTuple):
    """Whether to normalise text, and which values, whatever their case, stand for none.

    With ``spare_names`` those that are names in a column of names stand for themselves.
    """

    normalise: bool
    markers: frozenset[str]
    spare_names: bool = False

    def plain(self, value: str) -> str:
        """Return a value that is none of the markers as it is compared."""
        return normalise_text(value) if self.normalise else value

    def find_meaning(self, value: str) -> str | None:
        """Return what a value means, None where it stands for none."""
        if self.normalise:
            value = normalise_text(value)
            return None if value in self.markers else value
        return None if value.lower() in self.markers else value


def make_cleaning_rules(
    normalise: bool = True, missing: Iterable[str] = MISSING_MARKERS, spare_names: bool = False
) -> CleaningRules:
    """Prepare what `clean` needs; the empty value is always missing."""
    plain = normalise_text if normalise else str.lower
    return CleaningRules(normalise, frozenset(map(plain, ("", *missing))), spare_names)


AS_IT_IS = make_cleaning_rules(normalise=False, missing=())


class CleanColumn(NamedTuple):
    """A column's cleaned values, and how often each missing marker stood in it, as written.

    ``spared`` are values that would be markers elsewhere, and are names here.
    """

    values: CodedColumn
    markers: Mapping[str, int]
    spared: tuple[str, ...] = ()


def clean(column: pl.Series, how: CleaningRules) -> CleanColumn:
    """Clean a column of single values; each distinct value is looked at once."""
    # Polars takes a series' own name for a pattern when it is "*" or like "^...$".
    values = encode_column(tidy_values(column.alias("value")))
    n_empty = int(np.count_nonzero(values.codes < 0))
    markers = {"": n_empty} if n_empty else {}
    if values.vocabulary.dtype != pl.String:
        return CleanColumn(values, markers)
    suspects = _find_suspects(values.vocabulary, how)
    spelt = values.vocabulary.gather(suspects).to_list()
    meant = [how.find_meaning(value) for value in spelt]
    spared: tuple[str, ...] = ()
    if how.spare_names and None in meant:
        spared = find_names(
            [v for v, m in zip(spelt, meant, strict=True) if m is None], values, column.name
        )
        meant = [how.plain(v) if v in spared else m for v, m in zip(spelt, meant, strict=True)]
    if meant == spelt:
        return CleanColumn(values, markers, spared)
    if None in meant:
        for marker, means, n in zip(spelt, meant, values.counts[suspects], strict=True):
            if means is None:
                markers[marker.strip()] = markers.get(marker.strip(), 0) + int(n)
    replaced = values.vocabulary.scatter(suspects, pl.Series(meant, dtype=pl.String))
    return CleanColumn(values.replace_values(replaced), markers, spared)


def find_names(markers: Iterable[str], values: CodedColumn, column: str) -> tuple[str, ...]:
    """Return the markers that are names: in a column of names, written and as rare as others are.

    'Nan' is a name beside 'Ann' and 'Bob'; 'nan' and 'NaN' are not, nor is 'None' where it stands
    more often than any name.
    """
    if not NAME_WORDS & set(split_name(column)):
        return ()
    known = dict(zip(values.vocabulary.to_list(), values.counts.tolist(), strict=True))
    alike = [n for text, n in known.items() if text.istitle() and text.lower() not in NAMESAKES]
    if len(alike) < MOSTLY * len(known):
        return ()
    return tuple(
        one
        for one in markers
        if one.lower() in NAMESAKES and one.istitle() and known[one] <= max(alike)
    )


def _find_suspects(vocabulary: pl.Series, how: CleaningRules) -> NDArray[np.uint32]:
    """Return where the values stand that cleaning may change; most of a million are clean."""
    if vocabulary.len() <= FEW:
        return np.arange(vocabulary.len(), dtype=np.uint32)
    may_change = vocabulary.str.contains(UNCLEAN) | vocabulary.is_in(list(how.markers))
    return may_change.arg_true().to_numpy()


def clean_table(frame: pl.DataFrame, how: CleaningRules) -> dict[str, CleanColumn]:
    """Clean every column of a frame that holds single values."""
    return {column.name: clean(column, how) for column in frame if not is_nested(column)}


def normalise_text(value: str) -> str:
    r"""Write equal words equally: one Unicode form, one case, single spaces, no accents.

    Accents of Latin letters go, because keyboards and systems that cannot write them are the most
    common reason why one person is spelt in two ways, and few pairs of values differ in nothing
    else. Marks of other scripts stay, where they make another letter or vowel.

    >>> [normalise_text(value) for value in ("  ZOË\u00a0van  DYK", "Straße", "がく")]
    ['zoe van dyk', 'strasse', 'がく']
    """
    if value.isascii():
        return " ".join(value.lower().split())
    visible = unicodedata.normalize("NFKC", value.translate(INVISIBLE)).casefold()
    plain = ACCENTS.sub(r"\1", unicodedata.normalize("NFD", visible))
    return " ".join(unicodedata.normalize("NFKC", plain).split())


def clean_weights(weights: Mapping[Any, float], how: CleaningRules) -> dict[Any, float]:
    """Clean the values that have weights, and add up those of values that become one."""
    if not how.normalise:
        return dict(weights)
    result: dict[Any, float] = {}
    for value, weight in weights.items():
        key = normalise_text(value) if isinstance(value, str) else value
        result[key] = result[key] + weight if key in result else weight
    return result

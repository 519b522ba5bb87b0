"""The kinds of columns, told from the shape of their values and from their names."""

import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

import polars as pl

from kolchin.records.columns.amounts import read_amounts

FEW = 50
SAMPLE = 1_000
LONGEST = 1_000
MOST = 0.8

NUMBER = r"^[+-]?(0|[1-9]\d*)?([.,]\d+)?$"
DATES = (
    r"^((1[89]|20)\d\d([-/.]?)|[01]\d{3}[-/.])(0?[1-9]|1[0-2])([-/.]?)(0?[1-9]|[12]\d|3[01])"
    r"([t ].*)?$",
    r"^(0?[1-9]|[12]\d|3[01])[-/. ](0?[1-9]|1[0-2]|[a-z]{3,9})[-/. ](\d\d|(1\d|20)\d\d)$",
    r"^(0?[1-9]|1[0-2])[-/.](0?[1-9]|[12]\d|3[01])[-/.](\d\d|(1\d|20)\d\d)$",
    r"^(1[5-9]|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$",
    r"^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-/. ]+(0?[1-9]|[12]\d|3[01])"
    r"[-/., ]+(\d\d|(1\d|20)\d\d)$",
)
DATE = "|".join(DATES)
"""Two lists may write dates in two ways."""

EMAIL = r"^\S+@\S+$"
PHONE = r"^\+?[\d(][\d\s()./+-]{5,24}(\s*(x|ext)\.?\s*\d+)?$"
PUNCTUATED = r"^\+|\d[\s()./-]+\d"
CODE = r"^(?=.*\d)(?!.*[a-z]{4})[a-z0-9]+([-/. ][a-z0-9]+){0,3}$"

NAMES = {
    "email": {"email", "mail"},
    "phone": {"phone", "telephone", "tel", "mobile", "cell", "fax", "phonenumber"},
    "postcode": {"zip", "zipcode", "postcode", "postal", "postalcode", "plz"},
    "text": {
        *("name", "names", "surname", "forename", "firstname", "lastname", "fullname"),
        *("fname", "lname", "gname", "street", "address", "addr", "city", "town", "suburb"),
    },
    "name": {
        *("name", "names", "fullname", "person", "people", "patient", "customer", "client"),
        *("member", "employee", "author", "student", "contact", "holder"),
    },
}
WHOLE_NAMES = {"first", "given", "last", "family", "middle", "vorname", "nachname", "prenom"}
"""Columns of names of people, where nothing else stands in the column's name."""
ADDRESSES = {"street", "address", "addr", "city", "town", "suburb"}
NOT_OF_A_PERSON = {
    *("street", "address", "city", "town", "suburb", "company", "business", "firm", "shop"),
    *("organisation", "organization", "employer", "brand", "product", "title", "user", "domain"),
}
PERSON = r"^[^\W\d_]+[^\w,]*([ ,]+[^\W\d_][^\d&@/]*){1,5}$"
FIRM = (
    r"(^the | of | at |&|\b(inc|ltd|llc|gmbh|plc|corp|company|group|bank|hotel|restaurant|cafe|bar"
    r"|grill|house|club|kitchen|street|st|road|rd|avenue|ave|school|university)\b)"
)
MOST_FIRMS = 0.1
WRITTEN = r"^\D+$|[^\W\d_]{3,}.*\s|\s.*[^\W\d_]{3,}"


class Kind(StrEnum):
    """What a column is: kinds of fields, kinds that are left out, and parts that users assign."""

    CATEGORICAL = "categorical"
    TEXT = "text"
    NAME = "name"
    WORDS = "words"
    DATE = "date"
    NUMBER = "number"
    EMAIL = "email"
    PHONE = "phone"
    POSTCODE = "postcode"
    CODE = "code"

    IDENTIFIER = "identifier"
    NEAR_KEY = "near-key"
    FREE_TEXT = "free-text"
    CONSTANT = "constant"
    EMPTY = "empty"
    COMPOUND = "compound"

    ID = "id"
    SOURCE = "source"
    TRUTH = "truth"

    @property
    def is_field(self) -> bool:
        """Whether columns of this kind are fields unless told otherwise."""
        return self in (
            *(Kind.CATEGORICAL, Kind.TEXT, Kind.NAME, Kind.WORDS, Kind.DATE, Kind.NUMBER),
            *(Kind.EMAIL, Kind.PHONE, Kind.POSTCODE, Kind.CODE),
        )


MANY_WORDS = {Kind.TEXT: 2.75, Kind.NAME: 4.5}
MANY_IN_ADDRESSES = 3.5
"""Texts have many words from so many on average; several names of people, whole addresses."""

LONG_NUMBER = r"^\d{5,}$"


def split_name(name: str) -> list[str]:
    """Split a column's name into words.

    >>> split_name("entityID"), split_name("Zip-Code 2"), split_name("rec_id")
    (['entity', 'id'], ['zip', 'code', '2'], ['rec', 'id'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+", name)]


def infer_kind(name: str, vocabulary: pl.Series) -> Kind:
    """Tell the kind of a column that may be a field from its name and its distinct values."""
    dtype = vocabulary.dtype
    if dtype.is_temporal():
        return Kind.DATE
    if dtype != pl.String and not dtype.is_numeric():
        return _infer_by_name(name, ["0"]) or Kind.CATEGORICAL
    # Numbers are judged as a file has them: as text.
    values = take_sample(vocabulary if dtype == pl.String else vocabulary.cast(pl.String))
    if _are_most(values, EMAIL):
        return Kind.EMAIL
    if _are_most(values, DATE):
        return Kind.DATE
    named = _infer_by_name(name, values)
    kind = _infer_by_shape(vocabulary.len(), values) if named is None else named
    return Kind.WORDS if kind in (Kind.TEXT, Kind.NAME) and _has_many(name, values, kind) else kind


def _has_many(name: str, values: Sequence[str], kind: Kind) -> bool:
    """Tell texts of many words, and lists of names, from names and streets."""
    n_words = sum(len(re.findall(r"[^\W_]+", value)) for value in values)
    least = MANY_IN_ADDRESSES if ADDRESSES & set(split_name(name)) else 0.0
    return n_words >= max(MANY_WORDS[kind], least) * len(values)


def are_long_numbers(vocabulary: pl.Series) -> bool:
    """Tell numbers that are codes, such as those of articles, from amounts."""
    return _are_most([str(value) for value in vocabulary.head(SAMPLE).to_list()], LONG_NUMBER)


def _infer_by_shape(n_values: int, values: Sequence[str]) -> Kind:
    """Tell the kind of text by its shape alone."""
    read = read_amounts(pl.Series(values, dtype=pl.String))
    if read is not None and not _are_most(values, NUMBER) and not _are_most(values, PHONE):
        return Kind.NUMBER
    if n_values <= FEW:
        return Kind.CATEGORICAL
    if _are_most(values, NUMBER):
        return Kind.NUMBER
    if _are_most(values, PHONE) and _are_most(values, PUNCTUATED):
        return Kind.PHONE
    if _are_most(values, CODE):
        return Kind.CODE
    return Kind.TEXT


def _infer_by_name(name: str, values: Sequence[str]) -> Kind | None:
    """Tell the kind by the name, where the values do not speak against it."""
    words = split_name(name)
    names = {*words, *(first + second for first, second in pairwise(words))}
    digits = _are_most(values, r"\d")
    if names & NAMES["phone"] and digits:
        return Kind.PHONE
    if names & NAMES["postcode"] and digits:
        return Kind.POSTCODE
    if names & NAMES["name"] and _are_persons(names, values):
        return Kind.NAME
    named = names & NAMES["text"] or (len(words) == 1 and names <= WHOLE_NAMES)
    if named and _are_most(values, r"[^\W\d_]"):
        return Kind.TEXT
    return None


def _are_persons(names: set[str], values: Sequence[str]) -> bool:
    """Tell full names of people from single names, and from those of firms and streets."""
    if names & NOT_OF_A_PERSON or not _are_most(values, PERSON):
        return False
    return sum(re.search(FIRM, value) is not None for value in values) <= MOST_FIRMS * len(values)


def is_written(name: str, vocabulary: pl.Series) -> bool:
    """Tell values that people write, and mistype, from the numbers and codes of identifiers."""
    kind = infer_kind(name, vocabulary)
    if kind in (Kind.TEXT, Kind.WORDS):
        return _are_most(take_sample(vocabulary), WRITTEN)
    return kind in (Kind.NAME, Kind.DATE, Kind.EMAIL, Kind.PHONE, Kind.POSTCODE)


def take_sample(vocabulary: pl.Series) -> list[str]:
    """Return values evenly spread over the sorted ones, in lower case, cut where they are long."""
    step = -(-vocabulary.len() // SAMPLE)
    few = vocabulary.gather_every(step) if step > 1 else vocabulary
    return [value[:LONGEST].lower() for value in few.to_list()]


def _are_most(values: Sequence[str], pattern: str) -> bool:
    matches = sum(re.search(pattern, value) is not None for value in values)
    return matches >= MOST * len(values) > 0
